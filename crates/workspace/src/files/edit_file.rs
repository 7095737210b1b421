use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::exchange::{Attempt, Exchange, write_by_exchange};
use super::file_text::{ReadError, read_target};
use super::folder_lock::{LockError, lock};
use super::in_place::{WhyInPlace, write_in_place};
use super::leftovers::{Recovered, recover_beside};
use super::step::StepError;
use super::target::Target;

/// How often somebody else's save may come first before regreen gives way.
pub const MAX_REFUSALS: u32 = 3;

/// What became of an edit.
#[derive(Debug)]
#[must_use = "saves found after a crash must be reported"]
pub struct Edited {
    pub written: Written,
    /// How often somebody saved in between and the edit was made again.
    pub refusals: u32,
    /// Other people's saves found in the leftovers of a killed process.
    pub recovered: Vec<Recovered>,
}

/// In which way the text got into the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// The edit had nothing to change.
    Nothing,
    ByExchange,
    /// Without the promises of an exchange.
    InPlace(WhyInPlace),
}

/// Why an edit was not made.
#[derive(Debug, thiserror::Error)]
pub enum EditFileError<E: Error + 'static> {
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The edit itself said no.
    #[error(transparent)]
    Edit(E),
    #[error("{} may not be written: permission denied", path.display())]
    PermissionDenied { path: PathBuf },
    /// The edit is still owed: the file is the other side's.
    #[error("{} was saved by somebody else {MAX_REFUSALS} times while it was being edited", path.display())]
    Contended { path: PathBuf },
    /// The edit is still owed.
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Edits a file that others save as well, durably and without losing anybody's save.
///
/// `edit` gets the text as it is now and returns the new one, or `None` if there is
/// nothing to do. It may be called several times, each time with a newer text, so it must
/// say what is to be true rather than what to add, and must not write files itself.
pub fn edit_file<E: Error + 'static>(
    disk: &dyn Disk,
    path: &Path,
    mut edit: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Edited, EditFileError<E>> {
    let target = Target::existing(disk, path).map_err(|source| ReadError::new(path, source))?;
    let lock = lock(disk, &target)?;
    let recovered = recover_beside(disk, &lock, &target);
    for refusals in 0..MAX_REFUSALS {
        if let Some(written) = try_edit(disk, path, &target, &mut edit)? {
            return Ok(Edited {
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

/// One try; `None` if somebody saved meanwhile.
fn try_edit<E: Error + 'static>(
    disk: &dyn Disk,
    path: &Path,
    target: &Target,
    edit: &mut impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Option<Written>, EditFileError<E>> {
    let read = read_target(disk, path, target)?.text;
    let new = match edit(&read).map_err(EditFileError::Edit)? {
        Some(new) if new != read => new,
        _ => return Ok(Some(Written::Nothing)),
    };
    check_writable(disk, path, target)?;
    let attempt = write(disk, target, read.as_bytes(), new.as_bytes())?;
    Ok(match attempt {
        Attempt::Exchanged => Some(Written::ByExchange),
        Attempt::InPlace(why) => Some(Written::InPlace(why)),
        Attempt::Refused => None,
    })
}

/// By exchange where that is possible, else in place.
fn write(disk: &dyn Disk, target: &Target, read: &[u8], new: &[u8]) -> Result<Attempt, StepError> {
    match write_by_exchange(disk, target, read, new)? {
        Exchange::Done => Ok(Attempt::Exchanged),
        Exchange::Refused => Ok(Attempt::Refused),
        Exchange::NotPossible(why) => write_in_place(disk, target, read, new, why),
    }
}

/// The folder alone decides whether a file can be exchanged; that must not get around a
/// file somebody made read-only.
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
                doing: "write",
                path: path.to_owned(),
                source,
            }),
        })
}
