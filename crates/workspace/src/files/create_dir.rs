use std::io;
use std::path::Path;

use super::disk::Disk;
use super::step::{Doing, StepError};
use super::sync_names::sync_names;

/// Makes a folder and those above it, each safe on the storage before the next.
pub fn create_dir_all(disk: &dyn Disk, folder: &Path) -> Result<(), StepError> {
    match disk.create_folder(folder) {
        Ok(()) => sync_names(disk, above(folder)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_folder(disk, folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound && above(folder) != folder => {
            create_dir_all(disk, above(folder))?;
            create_dir_all(disk, folder)
        }
        Err(error) => Err(error).doing("create folder", folder),
    }
}

fn above(folder: &Path) -> &Path {
    match folder.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// What exists may be a folder or a link to one; a file is an error.
fn check_folder(disk: &dyn Disk, folder: &Path) -> Result<(), StepError> {
    disk.resolve(folder)
        .and_then(|real| disk.list(&real))
        .map(drop)
        .doing("use as a folder", folder)
}
