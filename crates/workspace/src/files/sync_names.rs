use std::io;
use std::path::Path;

use super::disk::Disk;
use super::free_name::is_unsupported;
use super::step::{Doing, StepError};

/// Some file systems cannot sync a folder, and a folder that may not be read cannot be
/// opened for it; the names are then as safe as the file system makes them.
pub(crate) fn sync_names(disk: &dyn Disk, folder: &Path) -> Result<(), StepError> {
    match disk.sync_folder(folder) {
        Err(error) if is_unsupported(&error) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done.doing("sync", folder),
    }
}
