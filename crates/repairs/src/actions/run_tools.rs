use std::io::{self, Read};

use regreen_workspace::RelPath;
use toml::{Table, Value};

use crate::context::RepairContext;
use crate::folder::{Folder, is_in_place};
use crate::interrupted::make_ignored;
use crate::plan::{Check, ToolRun};
use crate::plan::{ToolCall, ToolRunner};

use super::files::set_aside;

/// The content of a file before the tools run.
struct Before<'p> {
    path: &'p RelPath,
    bytes: Option<Vec<u8>>,
}

/// Runs the tools, checks that they helped, and restores files that they must not change.
pub(super) fn run_tools(
    context: &RepairContext<'_>,
    run: &ToolRun,
    runner: &mut dyn ToolRunner,
) -> Result<(), String> {
    prepare(context, run)?;
    let kept: Vec<Before<'_>> = run
        .unchanged
        .iter()
        .chain(lock_of(run))
        .map(|path| before(context, path))
        .collect();
    let result = run_all(context, run, runner).and_then(|()| check(context, run, &kept, runner));
    let changed = restore(context, run, &kept, result.is_err());
    let result = result.and(changed);
    if let Some(made) = run.creates.as_ref().filter(|_| result.is_ok()) {
        // The repair has succeeded even if this fails.
        drop(ignore(context, made));
    }
    result
}

/// Adds a `.gitignore` to a virtual environment before it is created, so that it is never
/// committed. (Other folders are left to their managers, some of which must create them.)
fn prepare(context: &RepairContext<'_>, run: &ToolRun) -> Result<(), String> {
    let venv = run
        .creates
        .iter()
        .find(|made| made.as_path().ends_with(".venv"));
    venv.map_or(Ok(()), |venv| {
        ignore(context, venv).map_err(|error| format!("cannot create {venv}: {error}"))
    })
}

/// Fails if the folder in which a tool runs or writes now leads out of the workspace.
fn in_place(context: &RepairContext<'_>, run: &ToolRun, call: &ToolCall) -> Result<(), String> {
    let written = run
        .creates
        .iter()
        .chain(&run.writes_to)
        .map(RelPath::as_path);
    let mut places = written.chain([call.folder.as_path()]);
    places.try_for_each(|place| {
        is_in_place(context.root, place).map_err(|error| {
            format!(
                "{} is not a folder of this workspace: {error}",
                place.display()
            )
        })
    })
}

fn lock_of(run: &ToolRun) -> Option<&RelPath> {
    match &run.check {
        Check::OwnEntriesOnly(lock) => Some(lock),
        Check::ExitCode | Check::Exists(_) | Check::Passes(_) => None,
    }
}

fn before<'p>(context: &RepairContext<'_>, path: &'p RelPath) -> Before<'p> {
    Before {
        path,
        bytes: content(context, path),
    }
}

/// Returns the content of a file, without following a link.
fn content(context: &RepairContext<'_>, path: &RelPath) -> Option<Vec<u8>> {
    let (folder, name) = Folder::of(context.root, path).ok()?;
    let mut bytes = Vec::new();
    folder.file(&name).ok()?.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn run_all(
    context: &RepairContext<'_>,
    run: &ToolRun,
    runner: &mut dyn ToolRunner,
) -> Result<(), String> {
    for (at, call) in run.calls.iter().enumerate() {
        in_place(context, run, call)?;
        let ran = runner.run(call);
        let is_last = at + 1 == run.calls.len();
        let fallback = run.fallback.as_ref().filter(|_| is_last);
        let is_done = ran.succeeded() || fallback.is_some_and(|call| runner.run(call).succeeded());
        if !is_done {
            return Err(call.failure(&ran));
        }
    }
    Ok(())
}

fn check(
    context: &RepairContext<'_>,
    run: &ToolRun,
    kept: &[Before<'_>],
    runner: &mut dyn ToolRunner,
) -> Result<(), String> {
    match &run.check {
        Check::ExitCode => Ok(()),
        Check::Exists(path) if context.root.join(path).exists() => Ok(()),
        Check::Exists(path) => Err(format!(
            "it succeeded, but {} does not exist",
            path.display()
        )),
        Check::Passes(call) if runner.run(call).succeeded() => Ok(()),
        Check::Passes(_) => Err("it succeeded, but the problem remains".to_owned()),
        Check::OwnEntriesOnly(lock) => {
            let then = kept
                .iter()
                .find(|before| before.path == lock)
                .and_then(|before| before.bytes.clone());
            let now = content(context, lock).unwrap_or_default();
            match then {
                Some(then) if only_own_entries_differ(&then, &now) => Ok(()),
                _ => Err(format!(
                    "{lock} would have changed in more than the project's own entries"
                )),
            }
        }
    }
}

/// Restores files that must not change, and a lock file if the repair failed.
fn restore(
    context: &RepairContext<'_>,
    run: &ToolRun,
    kept: &[Before<'_>],
    has_failed: bool,
) -> Result<(), String> {
    let mut changed = Vec::new();
    for before in kept {
        let is_changed = content(context, before.path) != before.bytes;
        let may_change = lock_of(run) == Some(before.path) && !has_failed;
        if is_changed && !may_change {
            put_back(context, before)?;
            changed.push(before.path.to_string());
        }
    }
    match changed.as_slice() {
        [] => Ok(()),
        changed => Err(format!(
            "it changed {}, which was restored",
            changed.join(", ")
        )),
    }
}

fn put_back(context: &RepairContext<'_>, before: &Before<'_>) -> Result<(), String> {
    let cannot = |error: io::Error| {
        format!(
            "{} was changed and cannot be restored: {error}",
            before.path
        )
    };
    let (folder, name) = Folder::of(context.root, before.path).map_err(cannot)?;
    let Some(bytes) = &before.bytes else {
        return set_aside(context, before.path).map_err(cannot);
    };
    let mode = folder.stat(&name).map_or(0o644, |stat| stat.st_mode);
    folder.replace(&name, bytes, mode).map_err(cannot)
}

/// Keeps whatever a repair created out of commits.
fn ignore(context: &RepairContext<'_>, made: &RelPath) -> io::Result<()> {
    let (folder, name) = Folder::of(context.root, made)?;
    make_ignored(&folder, &name)
}

/// Returns whether two versions of a Cargo.lock differ only in entries of the project's own
/// packages, which have no source.
pub(super) fn only_own_entries_differ(before: &[u8], after: &[u8]) -> bool {
    match (foreign(before), foreign(after)) {
        (Some(before), Some(after)) => before == after,
        _ => false,
    }
}

fn foreign(lock: &[u8]) -> Option<Vec<Value>> {
    let table: Table = std::str::from_utf8(lock).ok()?.parse().ok()?;
    let packages = table
        .get("package")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    Some(
        packages
            .into_iter()
            .filter(|package| package.get("source").is_some())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_with_a_source_must_not_change() {
        let lock = |own: &str, other: &str| {
            format!("[[package]]\nname='a'\nversion='{own}'\n[[package]]\nname='b'\nversion='{other}'\nsource='r'\n").into_bytes()
        };
        assert!(only_own_entries_differ(&lock("1", "1"), &lock("2", "1")));
        assert!(!only_own_entries_differ(&lock("1", "1"), &lock("1", "2")));
        assert!(!only_own_entries_differ(&lock("1", "1"), b"no toml ["));
    }
}
