//! Files that tasks and checks name although git ignores them: no snapshot and no commit has them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use regreen_documents::{TaskFile, inputs_of, needs_of};
use regreen_model::{CommandInput, Expectation, TaskKey};
use regreen_workspace::{AttemptName, MAX_FILE, PathStatus, RelPath, path_status, read_text_file};
use serde::{Deserialize, Serialize};

use super::weakened_checks::own_files;
use crate::atomic_file::write_atomically;
use crate::performer::{PerformError, Performer};
use crate::tree::shell_quoted;

/// Larger files are no scripts.
const MAX_SCRIPT: u64 = 256 * 1024;
/// Folders that builds and installers fill: what a check reads there is made again.
const MADE: [&str; 9] = [
    "node_modules",
    ".venv",
    "venv",
    "env",
    "vendor",
    "target",
    "dist",
    "build",
    ".regreen",
];

/// The scripts that checks run and that git ignores, as they were before an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IgnoredScripts(BTreeMap<String, Script>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Script {
    text: String,
    mode: u32,
}

/// A script that git ignores, before and after an attempt.
#[derive(Debug)]
pub(super) struct ScriptChange {
    pub(super) path: String,
    pub(super) before: String,
    pub(super) after: Option<String>,
}

fn saved_in(performer: &Performer) -> PathBuf {
    let folder = performer.paths.run_folder(&performer.run);
    folder.join("ignored-scripts.json")
}

/// Remembers the ignored scripts of checks before an attempt, also for the next process.
pub(super) fn remember_ignored_scripts(performer: &mut Performer) -> Result<(), PerformError> {
    let root = performer.paths.root.clone();
    let commands = performer.known_commands.iter().chain(&performer.gate);
    let inputs = commands.flat_map(|command| needs_of(command));
    let scripts = ignored_among(performer, inputs.filter_map(path_of));
    let read = scripts.into_iter().filter_map(|path| {
        let script = read_script(&root, &path)?;
        Some((path.to_string(), script))
    });
    let scripts = IgnoredScripts(read.collect());
    let known = performer.ignored_scripts.clone().unwrap_or_default();
    if known != scripts || saved_in(performer).exists() {
        let text = serde_json::to_string(&scripts).unwrap_or_default();
        write_atomically(&saved_in(performer), text.as_bytes())?;
        performer.ignored_scripts = Some(scripts);
    }
    Ok(())
}

/// Returns the ignored scripts that an attempt has changed.
pub(super) fn changed_scripts(performer: &mut Performer) -> Vec<ScriptChange> {
    let scripts = performer.ignored_scripts.take().or_else(|| {
        let text = read_text_file(&saved_in(performer), MAX_FILE).ok()?;
        serde_json::from_str(&text).ok()
    });
    let scripts = scripts.unwrap_or_default();
    let changes = scripts.0.iter().filter_map(|(name, script)| {
        let path = RelPath::new(name.as_bytes()).ok()?;
        let after = read_script(&performer.paths.root, &path).map(|script| script.text);
        (after.as_ref() != Some(&script.text)).then(|| ScriptChange {
            path: name.clone(),
            before: script.text.clone(),
            after,
        })
    });
    let changes = changes.collect();
    performer.ignored_scripts = Some(scripts);
    changes
}

/// Restores those of these files that are ignored scripts, and keeps what the agent made of them beside
/// the attempt's log. Returns those that it wrote.
pub(super) fn restore_scripts(
    performer: &Performer,
    name: &AttemptName,
    task: &TaskKey,
    paths: &[&str],
) -> Result<Vec<String>, PerformError> {
    let mut restored = Vec::new();
    let scripts = performer.ignored_scripts.iter().flat_map(|all| &all.0);
    for (path, script) in scripts.filter(|(path, _)| paths.contains(&path.as_str())) {
        let Ok(inner) = RelPath::new(path.as_bytes()) else {
            continue;
        };
        let place = inner.under(&performer.paths.root);
        if !is_inside(&performer.paths.root, &place) {
            continue;
        }
        if let Ok(changed) = read_text_file(&place, MAX_FILE) {
            let folder = performer.paths.task_folder(&performer.run, task);
            let file = place.file_name().unwrap_or_default().to_string_lossy();
            fs::create_dir_all(&folder)?;
            fs::write(folder.join(format!("{}.{file}", name.attempt)), changed)?;
        }
        write_atomically(&place, script.text.as_bytes())?;
        fs::set_permissions(&place, fs::Permissions::from_mode(script.mode))?;
        restored.push(path.clone());
    }
    Ok(restored)
}

/// Names the files of a task that its commit can't contain.
pub(super) fn warn_of_uncommitted(performer: &mut Performer, file: &TaskFile, task: &TaskKey) {
    let Some(row) = file
        .resolve(task)
        .filter(|_| performer.tree.git().is_some())
    else {
        return;
    };
    let commands = file.verify_commands(row);
    let read = commands
        .iter()
        .flat_map(|command| inputs_of(&command.command, Some(&Expectation::Fails)))
        .filter_map(path_of)
        .filter(|path| !path.to_string().split('/').any(|part| MADE.contains(&part)));
    let named = own_files(file, task);
    let named = named
        .iter()
        .filter_map(|name| RelPath::new(name.as_bytes()).ok());
    let named: Vec<RelPath> = named.collect();
    for (paths, who) in [
        (named, "a task's Files name"),
        (read.collect(), "a Verify reads"),
    ] {
        for path in ignored_among(performer, paths.into_iter()) {
            let quoted = shell_quoted(&path);
            performer.notices.add(format!(
                "git ignores {path}, which {who}: no commit contains it. To have it committed, run `git add -f -- {quoted}`"
            ));
        }
    }
}

fn path_of(input: CommandInput) -> Option<RelPath> {
    let CommandInput::Path(path) = input else {
        return None;
    };
    let path = path.strip_prefix("./").unwrap_or(&path);
    RelPath::new(path.as_bytes()).ok()
}

/// Returns the existing files among these that git ignores.
fn ignored_among(performer: &Performer, paths: impl Iterator<Item = RelPath>) -> Vec<RelPath> {
    let root = &performer.paths.root;
    let is_file = |path: &RelPath| {
        let found = path.under(root).symlink_metadata();
        found.is_ok_and(|found| found.is_file())
    };
    if performer.tree.git().is_none() {
        return Vec::new();
    }
    let mut found: BTreeSet<RelPath> = paths.filter(is_file).collect();
    if !found.is_empty() {
        for listed in performer.tree.listed_files().unwrap_or_default() {
            found.remove(&listed);
        }
        found.retain(|path| path_status(root, path) == PathStatus::Ignored);
    }
    found.into_iter().collect()
}

fn read_script(root: &Path, path: &RelPath) -> Option<Script> {
    let place = path.under(root);
    let found = place.symlink_metadata().ok()?;
    let is_script = found.is_file() && is_inside(root, &place);
    let text = is_script.then(|| read_text_file(&place, MAX_SCRIPT).ok())??;
    Some(Script {
        text,
        mode: found.permissions().mode(),
    })
}

/// Whether no folder above the file leads out of the workspace.
fn is_inside(root: &Path, place: &Path) -> bool {
    let folder = place.parent().and_then(|folder| folder.canonicalize().ok());
    let top = root.canonicalize();
    folder.is_some_and(|folder| top.is_ok_and(|top| folder.starts_with(top)))
}
