//! Cleans up after a process that was killed while writing.
//!
//! An exchange swaps two names in one step, so the name of a leftover alone doesn't tell what it
//! holds; name and content together do:
//!
//! | leftover                              | it is                                | so it is         |
//! |---------------------------------------|--------------------------------------|------------------|
//! | a draft                               | our own bytes, perhaps incomplete    | removed          |
//! | complete, holds `new`                 | our text: not exchanged, or put back | removed          |
//! | complete, holds `read`                | the old text of a clean exchange     | removed          |
//! | complete, other; path has `new`       | a save that our text displaced       | put back         |
//! | complete, other; path has another text | a save, with a newer one at the path | kept beside it  |
//!
//! This requires the folder's lock, which proves that no living regreen still uses the file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::disk::FolderLock;
use super::disk::{IoContext, StepError};
use super::exchange::FileVersion;
use super::exchange::put_back;
use super::rename::move_to_free_name;
use super::rename::sync_names;
use super::target::{LockError, Target, lock};
use super::temp_file::Digest;
use super::temp_file::TempName;

/// Suffix of a save that is kept because it can't go back to its path.
const SAVED: &str = "saved";

/// A leftover of a killed process that the user should know about.
#[derive(Debug)]
pub enum RecoveredLeftover {
    /// A save that regreen's text had displaced is back at its path.
    PutBack {
        /// The path of the save.
        path: PathBuf,
    },
    /// A displaced save is kept under this name, because a newer one is at its path.
    KeptAside {
        /// Its new name.
        path: PathBuf,
    },
    /// The leftover couldn't be handled and stays where it is.
    Stuck {
        /// The temporary file.
        leftover: PathBuf,
        /// The error.
        error: StepError,
    },
}

impl fmt::Display for RecoveredLeftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PutBack { path } => write!(
                f,
                "restored a save that a killed regreen had displaced: {}",
                path.display()
            ),
            Self::KeptAside { path } => write!(
                f,
                "a save that a killed regreen had displaced is now in {}",
                path.display()
            ),
            Self::Stuck { leftover, error } => write!(
                f,
                "cannot clean up {} after a killed regreen: {error}",
                leftover.display()
            ),
        }
    }
}

/// Why the folder could not be searched for leftovers.
#[derive(Debug, thiserror::Error)]
pub enum LeftoverError {
    /// Another regreen holds the folder.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system refused.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Cleans up whatever a killed regreen left beside this file. Every edit does this as well.
pub fn recover_leftovers(
    disk: &dyn Disk,
    path: &Path,
) -> Result<Vec<RecoveredLeftover>, LeftoverError> {
    let target = Target::existing(disk, path)
        .or_else(|_| Target::name_in_folder(disk, path))
        .context("find", path)?;
    let lock = lock(disk, &target)?;
    Ok(recover_beside(disk, &lock, &target))
}

/// Cleans up beside a target whose folder is locked. A leftover that can't be handled is reported
/// and blocks nothing.
pub(crate) fn recover_beside(
    disk: &dyn Disk,
    lock: &FolderLock,
    target: &Target,
) -> Vec<RecoveredLeftover> {
    if !lock.is_exclusive() {
        return Vec::new();
    }
    let names = match disk.list(&target.folder).context("list", &target.folder) {
        Ok(names) => names,
        Err(error) => return vec![stuck(&target.folder, error)],
    };
    names
        .iter()
        .filter_map(|name| TempName::parse(name, &target.name))
        .filter_map(|temp| recover_one(disk, target, temp))
        .collect()
}

fn recover_one(disk: &dyn Disk, target: &Target, temp: TempName) -> Option<RecoveredLeftover> {
    let leftover = target.beside(temp);
    let recovered = match temp {
        TempName::Partial { .. } => remove(disk, &leftover).map(|()| None),
        TempName::Complete { read, new, .. } => {
            recover_complete(disk, target, &leftover, read, new)
        }
    };
    recovered.unwrap_or_else(|error| Some(stuck(&leftover, error)))
}

fn recover_complete(
    disk: &dyn Disk,
    target: &Target,
    leftover: &Path,
    read: Digest,
    new: Digest,
) -> Result<Option<RecoveredLeftover>, StepError> {
    let held = FileVersion::of(disk, leftover).context("read", leftover)?;
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
) -> Result<RecoveredLeftover, StepError> {
    if let Some(ours) = standing(disk, target)?.filter(|seen| seen.digest() == Some(new)) {
        put_back(disk, target, save, ours)?;
        return Ok(RecoveredLeftover::PutBack {
            path: target.path.clone(),
        });
    }
    let path = move_to_free_name(disk, save, target, SAVED)?;
    sync_names(disk, &target.folder)?;
    Ok(RecoveredLeftover::KeptAside { path })
}

fn standing(disk: &dyn Disk, target: &Target) -> Result<Option<FileVersion>, StepError> {
    match FileVersion::of(disk, &target.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        seen => seen.map(Some).context("read", &target.path),
    }
}

fn remove(disk: &dyn Disk, leftover: &Path) -> Result<(), StepError> {
    disk.remove(leftover).context("remove", leftover)
}

fn stuck(leftover: &Path, error: StepError) -> RecoveredLeftover {
    RecoveredLeftover::Stuck {
        leftover: leftover.to_owned(),
        error,
    }
}
