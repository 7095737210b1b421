//! Guards regreen.toml, which decides how tasks are checked, and the files that decide which spec the
//! next run works on. They belong to people while foreign code runs: changes to them are kept aside
//! and reverted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use regreen_workspace::{MAX_FILE, RealDisk, current_spec_file, read_file};

use super::state_file::restore_limits;
use crate::atomic_file::write_atomically;
use crate::performer::{PerformError, Performer};
use crate::run::RunError;
use crate::spec_paths::SpecPaths;

pub(super) const FILE: &str = "regreen.toml";
/// The settings of smart-ralph's plugin.
const PLUGIN: &str = ".claude/ralph-specum.local.md";

/// Guards the workspace's settings while commands are performed.
#[derive(Debug)]
pub(crate) struct SettingsGuard {
    files: [GuardedFile; 3],
    /// A copy of regreen.toml for the next process, in case this one is killed or can't revert.
    copy: PathBuf,
    /// Foreign code is running, or what it changed could not be reverted.
    is_on: bool,
}

/// A file that people decide about.
#[derive(Debug)]
struct GuardedFile {
    path: PathBuf,
    /// What it decides.
    decides: &'static str,
    /// As it was when foreign code last started to run; `None` if that may change it.
    before: Option<Settings>,
}

/// The content of a file; `None` if it doesn't exist.
type Settings = Option<Vec<u8>>;

/// What foreign code did to a file.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    /// It wrote a file, which is kept.
    Written {
        kept: PathBuf,
    },
    Removed,
}

impl SettingsGuard {
    pub(crate) fn new(paths: &SpecPaths) -> Self {
        let file = |path, decides| GuardedFile {
            path,
            decides,
            before: None,
        };
        let root = &paths.root;
        Self {
            files: [
                file(root.join(FILE), "how tasks are checked"),
                file(current_spec_file(&RealDisk, root), "which spec is run"),
                file(root.join(PLUGIN), "where specs are"),
            ],
            copy: copy_in(paths),
            is_on: false,
        }
    }

    /// Remembers the files before foreign code runs.
    pub(crate) fn begin(&mut self) -> Result<(), PerformError> {
        for (at, file) in self.files.iter_mut().enumerate() {
            // A pipe or folder in its place has no effect.
            let Ok(now) = read(&file.path) else {
                file.before = None;
                continue;
            };
            if file.before.as_ref() == Some(&now) {
                continue;
            }
            if at == 0 {
                write_atomically(&self.copy, now.as_deref().unwrap_or_default())?;
            }
            file.before = Some(now);
        }
        self.is_on = true;
        Ok(())
    }

    /// Allows the code that runs now to change regreen.toml.
    pub(crate) fn allow_changes(&mut self) {
        let [settings, ..] = &mut self.files;
        settings.before = None;
    }

    /// Reverts the changes since `begin`, and returns them. After an error, the guard is still on.
    fn end(
        &mut self,
        kept_in: &Path,
    ) -> Result<Vec<(PathBuf, &'static str, Change)>, PerformError> {
        let mut changes = Vec::new();
        if !self.is_on {
            return Ok(changes);
        }
        for file in &self.files {
            let Some(before) = &file.before else {
                continue;
            };
            if !read(&file.path).is_ok_and(|now| now == *before) {
                let change = restore(&file.path, before.as_deref(), kept_in)
                    .map_err(|error| not_restored(&file.path, error))?;
                changes.push((file.path.clone(), file.decides, change));
            }
        }
        self.is_on = false;
        Ok(changes)
    }
}

fn not_restored(path: &Path, error: PerformError) -> PerformError {
    match error {
        PerformError::Broken(why) => PerformError::Broken(format!(
            "{} was changed while a task ran, and it can't be restored: {why}",
            path.display()
        )),
        other => other,
    }
}

/// Restores a file, and keeps the one in its place.
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
    /// A process that exits normally has reverted everything, or leaves that to the next one.
    fn drop(&mut self) {
        if !self.is_on {
            let _ = fs::remove_file(&self.copy);
        }
    }
}

impl Performer {
    /// Reverts the changes that foreign code made to the files, and to the limits in the state file.
    pub(crate) fn end_settings_guard(&mut self) -> Result<(), PerformError> {
        restore_limits(self)?;
        let folder = self.paths.run_folder(&self.run);
        for (path, decides, change) in self.settings.end(&folder)? {
            let name = self.paths.shown(&path);
            let how = match change {
                Change::Removed => "removed".to_owned(),
                Change::Written { kept } => {
                    let kept = self.paths.shown(&kept);
                    format!("changed (that version is kept as {kept})")
                }
            };
            let exception = if name == FILE {
                ". A task may change it if its Files, as you wrote them, name it"
            } else {
                ""
            };
            self.notices.add(format!(
                "{name} decides {decides}, and it was {how} while a task ran; it was restored{exception}"
            ));
        }
        Ok(())
    }
}

/// Refuses to continue after a kill if the file has changed: the next run would use settings that
/// an agent may have written.
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
