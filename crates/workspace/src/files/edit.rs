use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use super::disk::{Disk, IoContext, StepError};
use super::exchange::{Attempt, Exchange, write_by_exchange};
use super::leftovers::{RecoveredLeftover, recover_beside};
use super::target::{LockError, ReadError, Target, lock, read_target};

/// How often someone else may save first before regreen gives up.
pub const MAX_REFUSALS: u32 = 3;

/// The result of an edit.
#[derive(Debug)]
#[must_use = "saves found after a crash must be reported"]
pub struct EditReport {
    /// How the text was written.
    pub written: WriteMethod,
    /// How often someone saved in between, so that the edit was repeated.
    pub refusals: u32,
    /// Other people's saves found in the leftovers of a killed process.
    pub recovered: Vec<RecoveredLeftover>,
}

/// How a file was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMethod {
    /// There was nothing to change.
    Nothing,
    /// The new file was exchanged with the old one.
    ByExchange,
    /// Written in place, without the guarantees of an exchange.
    InPlace(InPlaceReason),
}

/// Why an edit failed.
#[derive(Debug, thiserror::Error)]
pub enum EditFileError<E: Error + 'static> {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The edit function returned an error.
    #[error(transparent)]
    Edit(E),
    /// This user may not write the file.
    #[error("cannot write {}: permission denied", path.display())]
    PermissionDenied {
        /// The file.
        path: PathBuf,
    },
    /// Others kept saving the file. The edit is still pending.
    #[error("{} was changed by someone else {MAX_REFUSALS} times while regreen was editing it", path.display())]
    Contended {
        /// The file.
        path: PathBuf,
    },
    /// The folder couldn't be locked. The edit is still pending.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system refused.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Edits a file that others save as well, durably and without losing a save.
///
/// `edit` gets the current text and returns the new one, or `None` if there is nothing to do.
/// It may be called several times, each time with a newer text, so it must be idempotent, and
/// it must not write files itself.
pub fn edit_file<E: Error + 'static>(
    disk: &dyn Disk,
    path: &Path,
    mut edit: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<EditReport, EditFileError<E>> {
    let target = Target::existing(disk, path).map_err(|source| ReadError::new(path, source))?;
    let lock = lock(disk, &target)?;
    let recovered = recover_beside(disk, &lock, &target);
    for refusals in 0..MAX_REFUSALS {
        if let Some(written) = try_edit(disk, path, &target, &mut edit)? {
            return Ok(EditReport {
                written,
                refusals,
                recovered,
            });
        }
    }
    Err(EditFileError::Contended {
        path: path.to_owned(),
    })
}

/// Tries once; returns `None` if someone saved in the meantime.
fn try_edit<E: Error + 'static>(
    disk: &dyn Disk,
    path: &Path,
    target: &Target,
    edit: &mut impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Option<WriteMethod>, EditFileError<E>> {
    let read = read_target(disk, path, target)?.text;
    let new = match edit(&read).map_err(EditFileError::Edit)? {
        Some(new) if new != read => new,
        _ => return Ok(Some(WriteMethod::Nothing)),
    };
    check_writable(disk, path, target)?;
    let attempt = write(disk, target, read.as_bytes(), new.as_bytes())?;
    Ok(match attempt {
        Attempt::Exchanged => Some(WriteMethod::ByExchange),
        Attempt::InPlace(why) => Some(WriteMethod::InPlace(why)),
        Attempt::Refused => None,
    })
}

/// Exchanges the files if possible, and otherwise writes in place.
fn write(disk: &dyn Disk, target: &Target, read: &[u8], new: &[u8]) -> Result<Attempt, StepError> {
    match write_by_exchange(disk, target, read, new)? {
        Exchange::Done => Ok(Attempt::Exchanged),
        Exchange::Refused => Ok(Attempt::Refused),
        Exchange::NotPossible(why) => write_in_place(disk, target, read, new, why),
    }
}

/// Refuses read-only files: an exchange needs write access to the folder only, and must not be
/// a way around the file's own permissions.
fn check_writable<E: Error + 'static>(
    disk: &dyn Disk,
    path: &Path,
    target: &Target,
) -> Result<(), EditFileError<E>> {
    disk.check_writable(&target.path)
        .map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => EditFileError::PermissionDenied {
                path: path.to_owned(),
            },
            _ => EditFileError::Step(StepError {
                action: "write",
                path: path.to_owned(),
                source,
            }),
        })
}

/// Why a file was written in place instead of by exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InPlaceReason {
    /// The file has other names (hard links), which would keep the old content.
    OtherNames,
    /// No file can be created beside it.
    FolderNotWritable,
    /// Owner, mode or extended attributes can't be given to a new file.
    AttributesCannotBeKept,
    /// The file is a mount point, or its file system does not support exchanging files.
    ExchangeNotPossible,
}

impl fmt::Display for InPlaceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherNames => "the file has hard links",
            Self::FolderNotWritable => "cannot create a file next to it",
            Self::AttributesCannotBeKept => "a new file would lose its owner, mode or attributes",
            Self::ExchangeNotPossible => {
                "its file system cannot exchange files, or it is a mount point"
            }
        })
    }
}

/// Overwrites the file itself, if it still has the content that was read.
///
/// This is weaker than an exchange: a crash leaves a mixture, and a save between the check and
/// the write is lost. A save by rename is detected afterwards, and the edit is repeated on top
/// of it.
pub(crate) fn write_in_place(
    disk: &dyn Disk,
    target: &Target,
    read: &[u8],
    new: &[u8],
    why: InPlaceReason,
) -> Result<Attempt, StepError> {
    let file = disk
        .open_existing(&target.path)
        .context("open for writing", &target.path)?;
    let standing = disk.read_open(&file).context("read", &target.path)?;
    if standing != read {
        return Ok(Attempt::Refused);
    }
    overwrite_or_restore(disk, &file, read, new).context("write", &target.path)?;
    let written = disk.read(&target.path).context("read", &target.path)?;
    if written == new {
        Ok(Attempt::InPlace(why))
    } else {
        Ok(Attempt::Refused)
    }
}

/// Restores the old text if writing the new one fails, for instance because the disk is full.
fn overwrite_or_restore(disk: &dyn Disk, file: &File, read: &[u8], new: &[u8]) -> io::Result<()> {
    overwrite(disk, file, new).inspect_err(|_| {
        // The first error is the one to report.
        let _restored = overwrite(disk, file, read);
    })
}

/// Writes before it truncates, so that the file is never empty.
fn overwrite(disk: &dyn Disk, file: &File, content: &[u8]) -> io::Result<()> {
    disk.write(file, content)?;
    disk.truncate(file, content.len() as u64)?;
    disk.sync_file(file)
}
