//! Writes a file by exchange: the new file and the current one swap names in one step, and the
//! displaced file is checked before it is removed.
//!
//! A plain rename destroys whatever is at the path, so a save between reading and renaming is
//! lost. An exchange destroys nothing: if the displaced file is not what was read, it is
//! someone's save and goes back to the path.

use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, FileId, FileKind, IoContext, NewFileAccess, StepError};
use super::edit::InPlaceReason;
use super::rename::{is_unsupported, move_new, sync_names};
use super::target::Target;
use super::temp_file::{Digest, TempFile, TempName};

/// Far more saves in a row than anyone makes during one edit.
const PUT_BACK_ROUNDS: u32 = 100;

/// How one attempt to write ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    Exchanged,
    InPlace(InPlaceReason),
    /// Someone saved in the meantime. Their save is at the path; the edit must be repeated on top
    /// of it.
    Refused,
}

/// How one attempt to write by exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exchange {
    Done,
    Refused,
    NotPossible(InPlaceReason),
}

/// Why the new file could not be prepared.
enum Unprepared {
    NotPossible(InPlaceReason),
    Failed(StepError),
}

impl From<StepError> for Unprepared {
    fn from(error: StepError) -> Unprepared {
        Unprepared::Failed(error)
    }
}

/// Replaces `read` with `new`, or returns why it did not.
pub(crate) fn write_by_exchange(
    disk: &dyn Disk,
    target: &Target,
    read: &[u8],
    new: &[u8],
) -> Result<Exchange, StepError> {
    let standing = disk.stat(&target.path).context("inspect", &target.path)?;
    if standing.links > 1 {
        return Ok(Exchange::NotPossible(InPlaceReason::OtherNames));
    }
    match prepare(disk, target, read, new) {
        Ok(prepared) => exchange(disk, target, &prepared, read),
        Err(Unprepared::NotPossible(why)) => Ok(Exchange::NotPossible(why)),
        Err(Unprepared::Failed(error)) => Err(error),
    }
}

/// The new text in a complete, synced file beside the target, with that file's identity.
struct Prepared {
    path: PathBuf,
    ours: FileVersion,
}

fn prepare(
    disk: &dyn Disk,
    target: &Target,
    read: &[u8],
    new: &[u8],
) -> Result<Prepared, Unprepared> {
    let temp = create_temp(disk, target)?;
    let path = target.beside(TempName::Complete {
        read: Digest::of(read),
        new: Digest::of(new),
        owner: temp.owner,
    });
    keep_attributes(disk, target, &temp)
        .and_then(|()| Ok(temp.fill(disk, new)?))
        .and_then(|()| mark_complete(disk, &temp, &path))
        .inspect_err(|_| temp.discard(disk))?;
    let ours = FileVersion::written(disk, &path, new).context("inspect", &path)?;
    Ok(Prepared { path, ours })
}

fn create_temp(disk: &dyn Disk, target: &Target) -> Result<TempFile, Unprepared> {
    TempFile::create(disk, target, NewFileAccess::OwnerOnly).map_err(|error| {
        if forbids_new_files(&error) {
            Unprepared::NotPossible(InPlaceReason::FolderNotWritable)
        } else {
            failed("write next to", &target.path, error)
        }
    })
}

fn keep_attributes(disk: &dyn Disk, target: &Target, temp: &TempFile) -> Result<(), Unprepared> {
    temp.keep_attributes(disk, target).map_err(|error| {
        if forbids_attributes(&error) {
            Unprepared::NotPossible(InPlaceReason::AttributesCannotBeKept)
        } else {
            failed("set owner and mode of", &temp.path, error)
        }
    })
}

/// Renames the draft to a name that identifies its content; recovery trusts that name.
fn mark_complete(disk: &dyn Disk, temp: &TempFile, prepared: &Path) -> Result<(), Unprepared> {
    disk.rename_new(&temp.path, prepared).map_err(|error| {
        if is_unsupported(&error) {
            Unprepared::NotPossible(InPlaceReason::ExchangeNotPossible)
        } else {
            failed("rename", &temp.path, error)
        }
    })
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> Unprepared {
    Unprepared::Failed(StepError {
        action,
        path: path.to_owned(),
        source,
    })
}

fn exchange(
    disk: &dyn Disk,
    target: &Target,
    prepared: &Prepared,
    read: &[u8],
) -> Result<Exchange, StepError> {
    match disk.exchange(&prepared.path, &target.path) {
        Ok(()) => conclude(disk, target, prepared, read),
        Err(error) => {
            discard_ours(disk, prepared);
            match error.kind() {
                // Removed, or between an editor's two renames: read it again.
                io::ErrorKind::NotFound => Ok(Exchange::Refused),
                _ if forbids_exchange(&error) => {
                    Ok(Exchange::NotPossible(InPlaceReason::ExchangeNotPossible))
                }
                _ => Err(error).context("replace", &target.path),
            }
        }
    }
}

/// Removes the file only if it is certainly ours: an error doesn't prove that nothing happened.
fn discard_ours(disk: &dyn Disk, prepared: &Prepared) {
    if FileVersion::of(disk, &prepared.path).is_ok_and(|seen| seen == prepared.ours) {
        let _left_to_recovery = disk.remove(&prepared.path);
    }
}

/// Decides by the displaced file whether the new text may stay at the path.
fn conclude(
    disk: &dyn Disk,
    target: &Target,
    prepared: &Prepared,
    read: &[u8],
) -> Result<Exchange, StepError> {
    if !displaced_holds(disk, prepared, read)? {
        return refuse(disk, target, prepared);
    }
    sync_names(disk, &target.folder)?;
    // A program that saves in place may have opened the old file before the exchange and
    // written to it after the first check; the sync has given it time to finish.
    if !displaced_holds(disk, prepared, read)? {
        return refuse(disk, target, prepared);
    }
    let _left_to_recovery = disk.remove(&prepared.path);
    Ok(Exchange::Done)
}

fn displaced_holds(disk: &dyn Disk, prepared: &Prepared, read: &[u8]) -> Result<bool, StepError> {
    FileVersion::of(disk, &prepared.path)
        .map(|displaced| displaced.holds(read))
        .context("read", &prepared.path)
}

fn refuse(disk: &dyn Disk, target: &Target, prepared: &Prepared) -> Result<Exchange, StepError> {
    put_back(disk, target, &prepared.path, prepared.ours.clone())?;
    Ok(Exchange::Refused)
}

/// Puts the save in `temp` back to the path, where `placed` has replaced it.
///
/// Further saves may arrive meanwhile, and each exchange shows what was at the path. If that is
/// what was last placed there, nothing newer has arrived and it can be removed: it is regreen's
/// own text, or a save that a later one replaced. Anything else is newer than the file that
/// replaced it, so it is put back in turn. Every further round needs another save within
/// microseconds. If they never stop, the newest stays in `temp`, where recovery finds it.
pub(crate) fn put_back(
    disk: &dyn Disk,
    target: &Target,
    temp: &Path,
    mut placed: FileVersion,
) -> Result<(), StepError> {
    for _ in 0..PUT_BACK_ROUNDS {
        let save = FileVersion::of(disk, temp).context("read", temp)?;
        if !return_once(disk, target, temp)? {
            return sync_names(disk, &target.folder);
        }
        let displaced = FileVersion::of(disk, temp).context("read", temp)?;
        if displaced == placed {
            let _left_to_recovery = disk.remove(temp);
            return sync_names(disk, &target.folder);
        }
        placed = save;
    }
    Err(io::ErrorKind::ResourceBusy.into()).context("restore", &target.path)
}

/// Moves the save to the path. Returns whether that displaced something.
fn return_once(disk: &dyn Disk, target: &Target, temp: &Path) -> Result<bool, StepError> {
    loop {
        match disk.exchange(temp, &target.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done.map(|()| true).context("restore", &target.path),
        }
        // The path is empty: removed, or between an editor's two renames.
        match move_new(disk, temp, &target.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done.map(|()| false).context("restore", &target.path),
        }
    }
}

fn forbids_new_files(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::InvalidFilename
    )
}

fn forbids_attributes(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied || is_unsupported(error)
}

/// Mount points are busy or on another device. In a sticky folder, another user's file can be
/// written but not renamed.
fn forbids_exchange(error: &io::Error) -> bool {
    is_unsupported(error)
        || matches!(
            error.kind(),
            io::ErrorKind::ResourceBusy
                | io::ErrorKind::CrossesDevices
                | io::ErrorKind::PermissionDenied
        )
}

/// A file as observed: its identity and its content.
///
/// Both are needed to recognize it. The same file with other bytes was saved in place; different
/// files with the same bytes are two saves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileVersion {
    id: FileId,
    /// `None` for a link or anything else without content of its own.
    bytes: Option<Vec<u8>>,
}

impl FileVersion {
    pub(crate) fn of(disk: &dyn Disk, path: &Path) -> io::Result<FileVersion> {
        let stat = disk.stat(path)?;
        let bytes = match stat.kind {
            FileKind::Regular => Some(disk.read(path)?),
            FileKind::Folder | FileKind::Other => None,
        };
        Ok(FileVersion { id: stat.id, bytes })
    }

    /// Describes a file that was just written here.
    pub(crate) fn written(disk: &dyn Disk, path: &Path, content: &[u8]) -> io::Result<FileVersion> {
        Ok(FileVersion {
            id: disk.stat(path)?.id,
            bytes: Some(content.to_vec()),
        })
    }

    pub(crate) fn holds(&self, content: &[u8]) -> bool {
        self.bytes.as_deref() == Some(content)
    }

    pub(crate) fn digest(&self) -> Option<Digest> {
        self.bytes.as_deref().map(Digest::of)
    }
}
