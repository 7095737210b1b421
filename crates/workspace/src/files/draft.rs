use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::disk::{Disk, NewFileAccess};
use super::step::{Doing, StepError};
use super::target::Target;
use super::temp_name::{Owner, TempName};

/// A new file beside the target that is still being written.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) owner: Owner,
    pub(crate) path: PathBuf,
    file: File,
}

impl Draft {
    pub(crate) fn create(
        disk: &dyn Disk,
        target: &Target,
        access: NewFileAccess,
    ) -> io::Result<Draft> {
        loop {
            let owner = Owner::next();
            let path = target.beside(TempName::Draft { owner });
            match disk.create_new(&path, access) {
                Ok(file) => return Ok(Draft { owner, path, file }),
                // A process of the same number in another container; try the next name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn keep_attributes(&self, disk: &dyn Disk, target: &Target) -> io::Result<()> {
        disk.keep_attributes(&self.file, &target.path)
    }

    /// Writes everything and waits until it is on the storage.
    pub(crate) fn fill(&self, disk: &dyn Disk, content: &[u8]) -> Result<(), StepError> {
        disk.write(&self.file, content).doing("write", &self.path)?;
        disk.sync_file(&self.file).doing("sync", &self.path)
    }

    /// A draft holds nothing but our own bytes. One that resists is cleared up next time.
    pub(crate) fn discard(&self, disk: &dyn Disk) {
        let _left_to_recovery = disk.remove(&self.path);
    }
}
