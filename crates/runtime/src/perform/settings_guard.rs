//! regreen.toml decides how tasks are checked, and specs/.current-spec which of them the next run is
//! about. They belong to people while foreign code runs: what that changes in them is taken back,
//! and kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use regreen_documents::{RowId, TaskFile};
use regreen_workspace::{MAX_FILE, read_file};

use crate::atomic_file::write_atomically;
use crate::performer::{PerformError, Performer};
use crate::run::RunError;
use crate::spec_paths::SpecPaths;

const FILE: &str = "regreen.toml";
const CURRENT_SPEC: &str = "specs/.current-spec";

/// Guards the workspace's settings while commands are performed.
#[derive(Debug)]
pub(crate) struct SettingsGuard {
    root: PathBuf,
    /// A copy of regreen.toml for the next process, if this one is killed.
    copy: PathBuf,
    /// The files when foreign code last began to run.
    before: [Option<Settings>; 2],
    /// Foreign code runs that must not change regreen.toml.
    is_on: bool,
}

/// What is guarded, and what it decides.
const GUARDED: [(&str, &str); 2] = [
    (FILE, "how tasks are checked"),
    (CURRENT_SPEC, "which spec is run"),
];

/// What is in the file; nothing if there is none.
type Settings = Option<Vec<u8>>;

/// What foreign code did to the file.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    /// Its version is kept.
    Written {
        kept: PathBuf,
    },
    Removed,
}

impl SettingsGuard {
    pub(crate) fn new(paths: &SpecPaths) -> Self {
        Self {
            root: paths.root.clone(),
            copy: copy_in(paths),
            before: [None, None],
            is_on: false,
        }
    }

    /// Remembers the files before foreign code runs.
    pub(crate) fn begin(&mut self) -> Result<(), PerformError> {
        for ((name, _), before) in GUARDED.iter().zip(&mut self.before) {
            // A pipe or a folder in its place decides nothing.
            let Ok(now) = read(&self.root.join(name)) else {
                *before = None;
                continue;
            };
            if before.as_ref() == Some(&now) {
                continue;
            }
            if *name == FILE {
                write_atomically(&self.copy, now.as_deref().unwrap_or_default())?;
            }
            *before = Some(now);
        }
        self.is_on = true;
        Ok(())
    }

    /// Lets what runs now change regreen.toml.
    pub(crate) fn allow_changes(&mut self) {
        self.before[0] = None;
    }

    /// Takes back what has changed since, and returns what it was.
    fn end(&mut self, kept_in: &Path) -> Result<Vec<(usize, Change)>, PerformError> {
        let mut changes = Vec::new();
        if !std::mem::take(&mut self.is_on) {
            return Ok(changes);
        }
        for (at, ((name, _), before)) in GUARDED.iter().zip(&self.before).enumerate() {
            let path = self.root.join(name);
            let Some(before) = before else {
                continue;
            };
            if !read(&path).is_ok_and(|now| now == *before) {
                changes.push((at, restore(&path, before.as_deref(), kept_in)?));
            }
        }
        Ok(changes)
    }
}

/// Writes a file as it was, and keeps what is in its place.
fn restore(path: &Path, before: Option<&[u8]>, kept_in: &Path) -> Result<Change, PerformError> {
    let change = if path.symlink_metadata().is_ok() {
        let kept = free_name(kept_in, path);
        fs::create_dir_all(kept_in)?;
        fs::rename(path, &kept)?;
        Change::Written { kept }
    } else {
        Change::Removed
    };
    if let Some(before) = before {
        write_atomically(path, before)?;
    }
    Ok(change)
}

impl Drop for SettingsGuard {
    /// A process that ends by itself has taken everything back.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.copy);
    }
}

impl Performer {
    /// Takes back what foreign code has changed in the files.
    pub(crate) fn end_settings_guard(&mut self) -> Result<(), PerformError> {
        let folder = self.paths.run_folder(&self.run);
        for (at, change) in self.settings.end(&folder)? {
            let Some((name, decided)) = GUARDED.get(at) else {
                continue;
            };
            let how = match change {
                Change::Removed => "removed".to_owned(),
                Change::Written { kept } => {
                    let kept = self.paths.shown(&kept);
                    format!("changed (that version is kept as {kept})")
                }
            };
            let exception = if *name == FILE {
                ". A task may change it if its Files name it"
            } else {
                ""
            };
            self.notices.add(format!(
                "{name} decides {decided}, and it was {how} while a task ran; it was restored{exception}"
            ));
        }
        Ok(())
    }
}

/// Returns whether it is part of a task to change the file.
pub(super) fn is_about_settings(plan: &TaskFile, row: RowId) -> bool {
    let files = plan.task(row).and_then(|task| task.fields.files);
    files.is_some_and(|files| files.contains(FILE))
}

/// Refuses to go on after a kill if the file is no longer as it was: the settings of the next run
/// may be the agent's.
pub(crate) fn refuse_changed_settings(paths: &SpecPaths) -> Result<(), RunError> {
    let (path, before) = (paths.root.join(FILE), copy_in(paths));
    let Ok(known) = read_file(&before, MAX_FILE) else {
        return Ok(());
    };
    if read(&path).is_ok_and(|now| now.unwrap_or_default() == known) {
        return Ok(());
    }
    Err(RunError::SettingsChanged { path, before })
}

fn copy_in(paths: &SpecPaths) -> PathBuf {
    paths.scratch().join(FILE)
}

fn read(path: &Path) -> io::Result<Settings> {
    match read_file(path, MAX_FILE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn free_name(folder: &Path, path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let names = (2..).map(|n| format!("{name}.{n}"));
    let mut paths = std::iter::once(name.to_string())
        .chain(names)
        .map(|name| folder.join(name));
    let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
    paths.find(is_free).unwrap_or_else(|| folder.join(FILE))
}
