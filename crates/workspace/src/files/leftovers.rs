//! Clearing up after a process that was killed while it wrote.
//!
//! The exchange swaps two names in one step, so the place of a leftover does not tell
//! what is in it; its name does, together with its content:
//!
//! | leftover                           | it is                              | so it is          |
//! |------------------------------------|------------------------------------|-------------------|
//! | a draft                            | our own bytes, perhaps not all     | removed           |
//! | ready, holds `new`                 | our text: not exchanged, or put back | removed         |
//! | ready, holds `read`                | the old text of a clean exchange   | removed           |
//! | ready, anything else; path has `new` | a save our text displaced        | put back          |
//! | ready, anything else; path has not | a save, and a newer one at the path | kept beside it   |
//!
//! It is done only under the folder's lock, which proves that no living regreen is still
//! at work with the file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::disk::Disk;
use super::exchange::put_back;
use super::folder_lock::{FolderLock, LockError, lock};
use super::free_name::move_to_free_name;
use super::sighting::Sighting;
use super::step::{Doing, StepError};
use super::sync_names::sync_names;
use super::target::Target;
use super::temp_name::TempName;

/// Ending of the name under which a save is kept that cannot go back to its path.
const SAVED: &str = "saved";

/// Something a killed process left that a person should know of.
#[derive(Debug)]
pub enum Recovered {
    /// A save that regreen's text had displaced stands at its path again.
    PutBack { path: PathBuf },
    /// A save was displaced and a newer one stands at its path; it is kept under this name.
    KeptAside { path: PathBuf },
    /// The leftover could not be dealt with and stays where it is.
    Stuck { leftover: PathBuf, error: StepError },
}

impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PutBack { path } => write!(
                f,
                "a save that a killed regreen had displaced is back at {}",
                path.display()
            ),
            Self::KeptAside { path } => write!(
                f,
                "a save that a killed regreen had displaced is kept as {}",
                path.display()
            ),
            Self::Stuck { leftover, error } => write!(
                f,
                "{} is left over from a killed regreen: {error}",
                leftover.display()
            ),
        }
    }
}

/// Why nothing could be looked for.
#[derive(Debug, thiserror::Error)]
pub enum LeftoverError {
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Clears up what a killed regreen left beside this file. Every edit does it as well.
pub fn recover_leftovers(disk: &dyn Disk, path: &Path) -> Result<Vec<Recovered>, LeftoverError> {
    let target = Target::existing(disk, path)
        .or_else(|_| Target::name_in_folder(disk, path))
        .doing("find", path)?;
    let lock = lock(disk, &target)?;
    Ok(recover_beside(disk, &lock, &target))
}

/// Clears up beside a target whose folder is locked. One leftover that resists is
/// reported and does not keep anybody from working.
pub(crate) fn recover_beside(
    disk: &dyn Disk,
    lock: &FolderLock,
    target: &Target,
) -> Vec<Recovered> {
    if !lock.is_exclusive() {
        return Vec::new();
    }
    let names = match disk.list(&target.folder).doing("list", &target.folder) {
        Ok(names) => names,
        Err(error) => return vec![stuck(&target.folder, error)],
    };
    names
        .iter()
        .filter_map(|name| TempName::parse(name, &target.name))
        .filter_map(|temp| recover_one(disk, target, temp))
        .collect()
}

fn recover_one(disk: &dyn Disk, target: &Target, temp: TempName) -> Option<Recovered> {
    let leftover = target.beside(temp);
    let recovered = match temp {
        TempName::Draft { .. } => remove(disk, &leftover).map(|()| None),
        TempName::Ready { read, new, .. } => recover_ready(disk, target, &leftover, read, new),
    };
    recovered.unwrap_or_else(|error| Some(stuck(&leftover, error)))
}

fn recover_ready(
    disk: &dyn Disk,
    target: &Target,
    leftover: &Path,
    read: Digest,
    new: Digest,
) -> Result<Option<Recovered>, StepError> {
    let held = Sighting::of(disk, leftover).doing("read", leftover)?;
    if held.digest() == Some(read) || held.digest() == Some(new) {
        return remove(disk, leftover).map(|()| None);
    }
    restore_save(disk, target, leftover, new).map(Some)
}

fn restore_save(
    disk: &dyn Disk,
    target: &Target,
    save: &Path,
    new: Digest,
) -> Result<Recovered, StepError> {
    if let Some(ours) = standing(disk, target)?.filter(|seen| seen.digest() == Some(new)) {
        put_back(disk, target, save, ours)?;
        return Ok(Recovered::PutBack {
            path: target.path.clone(),
        });
    }
    let path = move_to_free_name(disk, save, target, SAVED)?;
    sync_names(disk, &target.folder)?;
    Ok(Recovered::KeptAside { path })
}

fn standing(disk: &dyn Disk, target: &Target) -> Result<Option<Sighting>, StepError> {
    match Sighting::of(disk, &target.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        seen => seen.map(Some).doing("read", &target.path),
    }
}

fn remove(disk: &dyn Disk, leftover: &Path) -> Result<(), StepError> {
    disk.remove(leftover).doing("remove", leftover)
}

fn stuck(leftover: &Path, error: StepError) -> Recovered {
    Recovered::Stuck {
        leftover: leftover.to_owned(),
        error,
    }
}
