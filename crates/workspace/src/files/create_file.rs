use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, NewFileAccess};
use super::draft::Draft;
use super::folder_lock::{LockError, lock};
use super::free_name::move_new;
use super::leftovers::{Recovered, recover_beside};
use super::step::{Doing, StepError};
use super::sync_names::sync_names;
use super::target::Target;

/// Why a file was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateFileError {
    #[error("{} exists already", path.display())]
    AlreadyExists { path: PathBuf },
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Makes a new file with this text, all of it or nothing; never replaces anything, not
/// even a link that leads nowhere. Returns the saves found in leftovers at that path.
pub fn create_file(
    disk: &dyn Disk,
    path: &Path,
    text: &str,
) -> Result<Vec<Recovered>, CreateFileError> {
    let target = Target::name_in_folder(disk, path).doing("create", path)?;
    let lock = lock(disk, &target)?;
    let recovered = recover_beside(disk, &lock, &target);
    if disk.stat(&target.path).is_ok() {
        return Err(exists(path));
    }
    let draft = Draft::create(disk, &target, NewFileAccess::Usual).doing("create", path)?;
    publish(disk, &target, &draft, path, text).inspect_err(|_| draft.discard(disk))?;
    sync_names(disk, &target.folder)?;
    Ok(recovered)
}

fn publish(
    disk: &dyn Disk,
    target: &Target,
    draft: &Draft,
    path: &Path,
    text: &str,
) -> Result<(), CreateFileError> {
    draft.fill(disk, text.as_bytes())?;
    match move_new(disk, &draft.path, &target.path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists(path)),
        done => Ok(done.doing("create", path)?),
    }
}

fn exists(path: &Path) -> CreateFileError {
    CreateFileError::AlreadyExists {
        path: path.to_owned(),
    }
}
