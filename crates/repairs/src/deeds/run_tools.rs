use std::io::{self, Read};

use regreen_workspace::RelPath;

use super::own_entries::only_own_entries_differ;
use super::set_aside::set_aside;
use crate::folder::{Folder, is_in_place};
use crate::half_done::make_ignored;
use crate::plan::{Check, ToolRun};
use crate::runner::{Ran, Runner, ToolCall};
use crate::scene::Scene;

/// How much of what a tool said is quoted.
const QUOTED: usize = 300;

/// A file as it was before.
struct Before<'p> {
    path: &'p RelPath,
    bytes: Option<Vec<u8>>,
}

/// Runs the tools, looks whether they helped and kept their hands off other files.
pub(super) fn carry_out(
    scene: &Scene<'_>,
    run: &ToolRun,
    runner: &mut dyn Runner,
) -> Result<(), String> {
    prepare(scene, run)?;
    let kept: Vec<Before<'_>> = run
        .keeps
        .iter()
        .chain(lock_of(run))
        .map(|path| before(scene, path))
        .collect();
    let result = run_all(scene, run, runner).and_then(|()| check(scene, run, &kept, runner));
    let changed = restore(scene, run, &kept, result.is_err());
    let result = result.and(changed);
    if let Some(made) = run.makes.as_ref().filter(|_| result.is_ok()) {
        // Only a convenience by now.
        drop(ignore(scene, made));
    }
    result
}

/// A virtual environment is ignored before it is made: whatever happens, nobody commits it.
/// (Other folders are left to their managers, some of which want to make them themselves.)
fn prepare(scene: &Scene<'_>, run: &ToolRun) -> Result<(), String> {
    let venv = run
        .makes
        .iter()
        .find(|made| made.as_path().ends_with(".venv"));
    venv.map_or(Ok(()), |venv| {
        ignore(scene, venv).map_err(|error| format!("{venv} cannot be made: {error}"))
    })
}

/// Nothing on the way to where a tool works or writes may lead elsewhere, now.
fn in_place(scene: &Scene<'_>, run: &ToolRun, call: &ToolCall) -> Result<(), String> {
    let written = run.makes.iter().chain(&run.into).map(RelPath::as_path);
    let mut places = written.chain([call.folder.as_path()]);
    places.try_for_each(|place| {
        is_in_place(scene.root, place).map_err(|error| {
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

fn before<'p>(scene: &Scene<'_>, path: &'p RelPath) -> Before<'p> {
    Before {
        path,
        bytes: content(scene, path),
    }
}

/// Of a file of the workspace, not of what a link leads to.
fn content(scene: &Scene<'_>, path: &RelPath) -> Option<Vec<u8>> {
    let (folder, name) = Folder::of(scene.root, path).ok()?;
    let mut bytes = Vec::new();
    folder.file(&name).ok()?.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn run_all(scene: &Scene<'_>, run: &ToolRun, runner: &mut dyn Runner) -> Result<(), String> {
    for (at, call) in run.calls.iter().enumerate() {
        in_place(scene, run, call)?;
        let ran = runner.run(call);
        let is_last = at + 1 == run.calls.len();
        let instead = run.instead.as_ref().filter(|_| is_last);
        let is_done = ran.succeeded() || instead.is_some_and(|call| runner.run(call).succeeded());
        if !is_done {
            return Err(failed(call, &ran));
        }
    }
    Ok(())
}

fn failed(call: &ToolCall, ran: &Ran) -> String {
    let program = call
        .argv
        .first()
        .map(|program| program.to_string_lossy().into_owned());
    let name = program
        .as_deref()
        .and_then(|path| path.rsplit('/').next())
        .unwrap_or_default()
        .to_owned();
    let lines = ran
        .output
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty());
    let last: String = lines
        .take(1)
        .flat_map(str::chars)
        .filter(|c| !c.is_control())
        .take(QUOTED)
        .collect();
    match ran.exit {
        Some(code) => format!("{name} failed with exit code {code}: {last}"),
        None => format!("{name} was not run to its end: {last}"),
    }
}

fn check(
    scene: &Scene<'_>,
    run: &ToolRun,
    kept: &[Before<'_>],
    runner: &mut dyn Runner,
) -> Result<(), String> {
    match &run.check {
        Check::ExitCode => Ok(()),
        Check::Exists(path) if scene.root.join(path).exists() => Ok(()),
        Check::Exists(path) => Err(format!("it ran well, but {} is not there", path.display())),
        Check::Passes(call) if runner.run(call).succeeded() => Ok(()),
        Check::Passes(_) => Err("it ran well, but what was missing still is".to_owned()),
        Check::OwnEntriesOnly(lock) => {
            let then = kept
                .iter()
                .find(|before| before.path == lock)
                .and_then(|before| before.bytes.clone());
            let now = content(scene, lock).unwrap_or_default();
            match then {
                Some(then) if only_own_entries_differ(&then, &now) => Ok(()),
                _ => Err(format!(
                    "{lock} would have changed in more than the project's own entries"
                )),
            }
        }
    }
}

/// Puts back what must not have changed. The lock that was to change goes back only if it
/// failed.
fn restore(
    scene: &Scene<'_>,
    run: &ToolRun,
    kept: &[Before<'_>],
    has_failed: bool,
) -> Result<(), String> {
    let mut changed = Vec::new();
    for before in kept {
        let is_changed = content(scene, before.path) != before.bytes;
        let may_change = lock_of(run) == Some(before.path) && !has_failed;
        if is_changed && !may_change {
            put_back(scene, before)?;
            changed.push(before.path.to_string());
        }
    }
    match changed.as_slice() {
        [] => Ok(()),
        changed => Err(format!(
            "it changed {}, which was put back",
            changed.join(", ")
        )),
    }
}

fn put_back(scene: &Scene<'_>, before: &Before<'_>) -> Result<(), String> {
    let cannot = |error: io::Error| {
        format!(
            "{} was changed and cannot be put back: {error}",
            before.path
        )
    };
    let (folder, name) = Folder::of(scene.root, before.path).map_err(cannot)?;
    let Some(bytes) = &before.bytes else {
        return set_aside(scene, before.path).map_err(cannot);
    };
    let mode = folder.stat(&name).map_or(0o644, |stat| stat.st_mode);
    folder.replace(&name, bytes, mode).map_err(cannot)
}

/// What a repair has made belongs to nobody's commit.
fn ignore(scene: &Scene<'_>, made: &RelPath) -> io::Result<()> {
    let (folder, name) = Folder::of(scene.root, made)?;
    make_ignored(&folder, &name)
}
