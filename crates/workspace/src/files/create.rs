use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, IoContext, NewFileAccess, StepError};
use super::leftovers::{RecoveredLeftover, recover_beside};
use super::rename::{move_new, sync_names};
use super::target::{LockError, Target, lock};
use super::temp_file::TempFile;

/// Why a file was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateFileError {
    /// The name is already taken.
    #[error("{} already exists", path.display())]
    AlreadyExists {
        /// The name.
        path: PathBuf,
    },
    /// Another regreen holds the folder.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system refused.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Creates a file with this text, completely or not at all. Never replaces anything, not even a
/// dangling link. Returns the saves found in leftovers at that path.
pub fn create_file(
    disk: &dyn Disk,
    path: &Path,
    text: &str,
) -> Result<Vec<RecoveredLeftover>, CreateFileError> {
    let target = Target::name_in_folder(disk, path).context("create", path)?;
    let lock = lock(disk, &target)?;
    let recovered = recover_beside(disk, &lock, &target);
    if disk.stat(&target.path).is_ok() {
        return Err(exists(path));
    }
    let temp = TempFile::create(disk, &target, NewFileAccess::Usual).context("create", path)?;
    publish(disk, &target, &temp, path, text).inspect_err(|_| temp.discard(disk))?;
    sync_names(disk, &target.folder)?;
    Ok(recovered)
}

fn publish(
    disk: &dyn Disk,
    target: &Target,
    temp: &TempFile,
    path: &Path,
    text: &str,
) -> Result<(), CreateFileError> {
    temp.fill(disk, text.as_bytes())?;
    match move_new(disk, &temp.path, &target.path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists(path)),
        done => Ok(done.context("create", path)?),
    }
}

fn exists(path: &Path) -> CreateFileError {
    CreateFileError::AlreadyExists {
        path: path.to_owned(),
    }
}

/// Creates a folder and its parents, and syncs each one before it creates the next.
pub fn create_dir_all(disk: &dyn Disk, folder: &Path) -> Result<(), StepError> {
    match disk.create_folder(folder) {
        Ok(()) => sync_names(disk, above(folder)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_folder(disk, folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound && above(folder) != folder => {
            create_dir_all(disk, above(folder))?;
            create_dir_all(disk, folder)
        }
        Err(error) => Err(error).context("create folder", folder),
    }
}

fn above(folder: &Path) -> &Path {
    match folder.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Accepts a folder or a link to one; a file is an error.
fn check_folder(disk: &dyn Disk, folder: &Path) -> Result<(), StepError> {
    disk.resolve(folder)
        .and_then(|real| disk.list(&real))
        .map(drop)
        .context("use as a folder", folder)
}
