//! The project's own programs that a run may add to PATH.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use regreen_repairs::{ProgramRecord, renew_launchers};
use regreen_workspace::{MAX_FILE, read_file};

use crate::atomic_file::{AtomicWriteError, write_atomically};
use crate::process::set;

/// Records a run's programs, and keeps their launchers for PATH in the folder of the run.
#[derive(Debug)]
pub(crate) struct ProjectPrograms {
    root: PathBuf,
    /// The folder of the run or delegation.
    folder: PathBuf,
    /// The PATH that regreen was started with.
    path: OsString,
    record: RefCell<ProgramRecord>,
}

/// Returns the launcher folder of a run or delegation.
pub(crate) fn launcher_folder(folder: &Path) -> PathBuf {
    folder.join("bin")
}

impl ProjectPrograms {
    /// Records the programs that exist before anything runs.
    pub(crate) fn begin(
        root: &Path,
        folder: &Path,
        path: &OsStr,
    ) -> Result<Self, AtomicWriteError> {
        let programs = Self {
            record: RefCell::new(ProgramRecord::read(root)),
            ..Self::empty(root, folder, path)
        };
        programs.save()?;
        Ok(programs)
    }

    /// Uses the programs that were recorded when the run began, and none if that record is gone: an
    /// agent may have written what is there now.
    pub(crate) fn resume(root: &Path, folder: &Path, path: &OsStr) -> Self {
        let programs = Self::empty(root, folder, path);
        let saved = read_file(&programs.file(), MAX_FILE).ok();
        let record = saved.and_then(|saved| serde_json::from_slice(&saved).ok());
        Self {
            record: RefCell::new(record.unwrap_or_default()),
            ..programs
        }
    }

    fn empty(root: &Path, folder: &Path, path: &OsStr) -> Self {
        Self {
            root: root.to_owned(),
            folder: folder.to_owned(),
            path: path.to_owned(),
            record: RefCell::default(),
        }
    }

    pub(crate) fn record(&self) -> ProgramRecord {
        self.record.borrow().clone()
    }

    /// Adds programs that a repair has installed.
    pub(crate) fn add(&self, installed: ProgramRecord) -> Result<(), AtomicWriteError> {
        if installed.is_empty() {
            return Ok(());
        }
        self.record.borrow_mut().add(installed);
        self.save()
    }

    /// Returns the launcher folder, relative to the workspace.
    pub(crate) fn launchers(&self) -> PathBuf {
        let folder = self.folder.strip_prefix(&self.root);
        launcher_folder(folder.unwrap_or(&self.folder))
    }

    /// Returns the variables set by repairs, for a process that is about to start. Makes the
    /// launchers in its PATH anew.
    pub(crate) fn environment(
        &self,
        variables: &[(String, String)],
    ) -> io::Result<Vec<(OsString, Option<OsString>)>> {
        let record = self.record.borrow();
        renew_launchers(
            &self.root,
            &self.launchers(),
            variables,
            &record,
            &self.path,
        )?;
        Ok(set(variables))
    }

    fn file(&self) -> PathBuf {
        self.folder.join("programs.json")
    }

    fn save(&self) -> Result<(), AtomicWriteError> {
        let text = serde_json::to_vec(&*self.record.borrow()).unwrap_or_default();
        write_atomically(&self.file(), &text)
    }
}
