//! Guards the plans of the workspace's other specs while foreign code runs: an agent that ticks their
//! rows, or rewrites their Verify, would make a later run of theirs green.
//!
//! The rules are those of the run's own plan (`documents::plan_review`): new rows and texts may stay,
//! because people write the next plan while a run is at work.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use regreen_documents::{EditError, ForeignCode, PlanReview, TaskFile, review_after};
use regreen_workspace::{
    EditFileError, MAX_FILE, ReadError, RealDisk, RelPath, create_dir_all, create_file, edit_file,
    read_text_file, specs_folders,
};

use crate::atomic_file::write_atomically;
use crate::performer::{PerformError, Performer};
use crate::spec_paths::SpecPaths;

/// The most rows that a message names.
const NAMED: usize = 5;

/// The texts of the plans, by their path in the workspace.
type Plans = BTreeMap<String, String>;

/// Guards the plans of other specs while commands are performed.
#[derive(Debug)]
pub(crate) struct OtherPlansGuard {
    paths: SpecPaths,
    /// The plans as they were when foreign code last started to run.
    before: Plans,
    /// What the copy for the next process holds, in case this one is killed.
    saved: Plans,
    is_on: bool,
}

impl OtherPlansGuard {
    pub(crate) fn new(paths: &SpecPaths) -> Self {
        Self {
            paths: paths.clone(),
            before: Plans::new(),
            saved: Plans::new(),
            is_on: false,
        }
    }

    /// Remembers the plans before foreign code runs.
    pub(crate) fn begin(&mut self) -> Result<(), PerformError> {
        self.before = plans_of_others(&self.paths);
        if self.before != self.saved {
            let text = serde_json::to_string(&self.before).unwrap_or_default();
            write_atomically(&copy_in(&self.paths), text.as_bytes())?;
            self.saved = self.before.clone();
        }
        self.is_on = true;
        Ok(())
    }

    /// Reverts what must not change, and returns messages about it.
    fn end(&mut self, kept_in: &Path, code: ForeignCode) -> Result<Vec<String>, PerformError> {
        if !self.is_on {
            return Ok(Vec::new());
        }
        let messages = review_plans(&self.paths, &self.before, kept_in, code)?;
        self.is_on = false;
        Ok(messages)
    }
}

impl Drop for OtherPlansGuard {
    /// What could not be reviewed is left to the next process.
    fn drop(&mut self) {
        if !self.is_on && !self.saved.is_empty() {
            let _ = fs::remove_file(copy_in(&self.paths));
        }
    }
}

impl Performer {
    /// Reverts what foreign code must not change in the plans of other specs.
    pub(crate) fn end_other_plans_guard(&mut self, code: ForeignCode) -> Result<(), PerformError> {
        let folder = self.paths.run_folder(&self.run);
        let messages = self.other_plans.end(&folder, code)?;
        self.notices.add_all(messages);
        Ok(())
    }
}

/// Reviews the plans that a killed process had guarded, whichever spec it was running.
pub(crate) fn review_left_plans(paths: &SpecPaths) -> Result<Vec<String>, PerformError> {
    let copy = copy_in(paths);
    let Ok(text) = read_text_file(&copy, MAX_FILE) else {
        return Ok(Vec::new());
    };
    let before: Plans = serde_json::from_str(&text).unwrap_or_default();
    let kept_in = paths.own().join("runs");
    let messages = review_plans(paths, &before, &kept_in, ForeignCode::Unknown)?;
    match fs::remove_file(&copy) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(messages),
    }
}

fn copy_in(paths: &SpecPaths) -> PathBuf {
    paths.scratch().join("other-plans.json")
}

/// Reads the plans in the folders for specs, but for the run's own.
fn plans_of_others(paths: &SpecPaths) -> Plans {
    let folders = specs_folders(&RealDisk, &paths.root);
    let specs = folders.iter().flat_map(|folder| {
        let entries = fs::read_dir(paths.root.join(folder));
        entries.into_iter().flatten().flatten()
    });
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let files = specs
        .filter(is_folder)
        .map(|entry| entry.path().join("tasks.md"));
    let files = files.filter(|file| *file != paths.spec.tasks);
    let plans = files.filter_map(|file| {
        let text = read_text_file(&file, MAX_FILE).ok()?;
        Some((paths.shown(&file), text))
    });
    plans.collect()
}

fn review_plans(
    paths: &SpecPaths,
    before: &Plans,
    kept_in: &Path,
    code: ForeignCode,
) -> Result<Vec<String>, PerformError> {
    let mut messages = Vec::new();
    for (name, text) in before {
        // The copy for the next process could have been written by others.
        let Ok(path) = RelPath::new(name.as_bytes()) else {
            continue;
        };
        let path = path.under(&paths.root);
        if read_text_file(&path, MAX_FILE).is_ok_and(|now| now == *text) {
            continue;
        }
        let before = TaskFile::read(text.clone());
        messages.extend(review_one(paths, &path, &before, kept_in, code)?);
    }
    Ok(messages)
}

fn review_one(
    paths: &SpecPaths,
    path: &Path,
    before: &TaskFile,
    kept_in: &Path,
    code: ForeignCode,
) -> Result<Option<String>, PerformError> {
    let name = paths.shown(path);
    let (mut review, mut changed) = (PlanReview::default(), String::new());
    let edited = edit_file(&RealDisk, path, |now| {
        let file = TaskFile::read(now.to_owned());
        review = review_after(code, before, &file, &[], &BTreeSet::new());
        now.clone_into(&mut changed);
        Ok::<_, EditError>(review.text.clone())
    });
    match edited {
        Err(EditFileError::Read(ReadError::NotFound { .. })) => {
            if let Some(folder) = path.parent() {
                create_dir_all(&RealDisk, folder)?;
            }
            create_file(&RealDisk, path, before.text())?;
            return Ok(Some(format!(
                "{name}, the plan of another spec, was removed while a task ran; it was restored"
            )));
        }
        edited => drop(edited?),
    }
    if review.text.is_none() {
        return Ok(None);
    }
    let kept = keep(kept_in, &name, &changed)?;
    let (rows, kept) = (changed_rows(&review), paths.shown(&kept));
    let (from, to) = (shell_words::quote(&kept), shell_words::quote(&name));
    Ok(Some(format!(
        "{name}, the plan of another spec, was changed while a task ran{rows}; that was reverted, and the changed version is kept. If it is yours: `cp {from} {to}`"
    )))
}

/// Names the rows whose change was reverted.
fn changed_rows(review: &PlanReview) -> String {
    let claims = review.claims.iter().map(|claim| &claim.key);
    let reverted = review.reverted.iter().map(|one| &one.key);
    let rows = claims.chain(reverted).chain(&review.vanished);
    let ids: BTreeSet<String> = rows.map(|key| key.id.to_string()).collect();
    let mut named: Vec<String> = ids.iter().take(NAMED).cloned().collect();
    if ids.len() > NAMED {
        named.push(format!("{} more", ids.len() - NAMED));
    }
    if named.is_empty() {
        String::new()
    } else {
        format!(" (rows {})", named.join(", "))
    }
}

/// Keeps a version of a plan under a name that is still free.
fn keep(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let name = name.replace('/', "-");
    let names = (2..).map(|n| format!("{name}.{n}"));
    let paths = std::iter::once(name.clone()).chain(names);
    let mut paths = paths.map(|name| folder.join(name));
    let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
    let path = paths.find(is_free).unwrap_or_else(|| folder.join(&name));
    fs::write(&path, text)?;
    Ok(path)
}
