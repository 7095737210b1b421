//! regreen.toml decides how tasks are checked. It belongs to people while foreign code runs: what
//! that changes in it is taken back, and kept.

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

/// Guards the workspace's configuration file while commands are performed.
#[derive(Debug)]
pub(crate) struct SettingsGuard {
    path: PathBuf,
    /// A copy for the next process, if this one is killed.
    copy: PathBuf,
    /// The file when foreign code last began to run.
    before: Option<Settings>,
    /// Foreign code runs that must not change it.
    is_on: bool,
}

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
            path: paths.root.join(FILE),
            copy: copy_in(paths),
            before: None,
            is_on: false,
        }
    }

    /// Remembers the file before foreign code runs.
    pub(crate) fn begin(&mut self) -> Result<(), PerformError> {
        let now = read(&self.path)?;
        if self.before.as_ref() != Some(&now) {
            write_atomically(&self.copy, now.as_deref().unwrap_or_default())?;
            self.before = Some(now);
        }
        self.is_on = true;
        Ok(())
    }

    /// Lets what runs now change the file.
    pub(crate) fn allow_changes(&mut self) {
        self.is_on = false;
    }

    /// Takes back what has changed since, and returns what it was.
    fn end(&mut self, kept_in: &Path) -> Result<Option<Change>, PerformError> {
        let is_on = std::mem::take(&mut self.is_on);
        let Some(before) = self.before.as_ref().filter(|_| is_on) else {
            return Ok(None);
        };
        if read(&self.path).is_ok_and(|now| now == *before) {
            return Ok(None);
        }
        let change = if self.path.symlink_metadata().is_ok() {
            let kept = free_name(kept_in);
            fs::create_dir_all(kept_in)?;
            fs::rename(&self.path, &kept)?;
            Change::Written { kept }
        } else {
            Change::Removed
        };
        if let Some(before) = before {
            write_atomically(&self.path, before)?;
        }
        Ok(Some(change))
    }
}

impl Drop for SettingsGuard {
    /// A process that ends by itself has taken everything back.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.copy);
    }
}

impl Performer {
    /// Takes back what foreign code has changed in the file.
    pub(crate) fn end_settings_guard(&mut self) -> Result<(), PerformError> {
        let folder = self.paths.run_folder(&self.run);
        let how = match self.settings.end(&folder)? {
            None => return Ok(()),
            Some(Change::Removed) => "removed".to_owned(),
            Some(Change::Written { kept }) => {
                let kept = self.paths.shown(&kept);
                format!("changed (that version is kept as {kept})")
            }
        };
        self.notices.add(format!(
            "{FILE} decides how tasks are checked, and it was {how} while a task ran; it was restored. A task may change it if its Files name it"
        ));
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

fn free_name(folder: &Path) -> PathBuf {
    let names = (2..).map(|n| format!("{FILE}.{n}"));
    let mut paths = std::iter::once(FILE.to_owned())
        .chain(names)
        .map(|name| folder.join(name));
    let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
    paths.find(is_free).unwrap_or_else(|| folder.join(FILE))
}
