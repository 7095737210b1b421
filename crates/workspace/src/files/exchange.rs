//! Writing by exchange: the new text and the standing file change places in one step, and
//! what was displaced is looked at before it is thrown away.
//!
//! A plain rename destroys whatever stands at the path, so a save that arrives between
//! reading and renaming is gone. After an exchange nothing is gone yet: if the displaced
//! file is not what was read, it is somebody's save and goes back to the path.

use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, FileId, FileKind, IoContext, NewFileAccess, StepError};
use super::edit::InPlaceReason;
use super::rename::{is_unsupported, move_new, sync_names};
use super::target::Target;
use super::temp_file::{Digest, TempFile, TempName};

/// Far more saves in a row than anybody makes within one edit.
const PUT_BACK_ROUNDS: u32 = 100;

/// How one try to write ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    Exchanged,
    InPlace(InPlaceReason),
    /// Somebody saved meanwhile. Their save stands; the edit must be made on top of it.
    Refused,
}

/// How one try to write by exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exchange {
    Done,
    Refused,
    NotPossible(InPlaceReason),
}

/// What stopped the preparation of the new file.
enum Unprepared {
    NotPossible(InPlaceReason),
    Failed(StepError),
}

impl From<StepError> for Unprepared {
    fn from(error: StepError) -> Unprepared {
        Unprepared::Failed(error)
    }
}

/// Replaces `read` by `new`, or says why it did not.
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

/// The new text as a complete file beside the target, safe on disk, and how it looks.
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

/// From here on the name vouches for the content.
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
                // Gone, or between an editor's two renames: look again.
                io::ErrorKind::NotFound => Ok(Exchange::Refused),
                _ if forbids_exchange(&error) => {
                    Ok(Exchange::NotPossible(InPlaceReason::ExchangeNotPossible))
                }
                _ => Err(error).context("replace", &target.path),
            }
        }
    }
}

/// An error does not prove that nothing happened, so only what is surely ours goes.
fn discard_ours(disk: &dyn Disk, prepared: &Prepared) {
    if FileVersion::of(disk, &prepared.path).is_ok_and(|seen| seen == prepared.ours) {
        let _left_to_recovery = disk.remove(&prepared.path);
    }
}

/// The new text stands at the path; the displaced file decides whether it may stay.
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
    // written to it after the first look; the sync has given it time to finish.
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

/// Puts the save in `temp` back to the path where `placed` was put instead of it.
///
/// Saves go on arriving while this happens. What each exchange displaces tells: if it is
/// what was last placed there, nothing newer had arrived, and it may go (it is regreen's
/// own text, or a save that a later one replaced). Anything else is newer than the file
/// that took its place, so it goes back in turn. Every further round needs a further save
/// within microseconds. Should they never stop, the newest stays in `temp`, where recovery
/// finds it.
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

/// Brings the save to the path; whether anything was displaced by it.
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

/// Mount points are busy or on another device; in a sticky folder another user's file may
/// be written but not renamed.
fn forbids_exchange(error: &io::Error) -> bool {
    is_unsupported(error)
        || matches!(
            error.kind(),
            io::ErrorKind::ResourceBusy
                | io::ErrorKind::CrossesDevices
                | io::ErrorKind::PermissionDenied
        )
}

/// What was seen under a name: which file, and what it held.
///
/// Both are needed to recognise it again. The same file with other bytes is a save made
/// in place; other files with the same bytes are two saves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileVersion {
    id: FileId,
    /// None for a link or whatever else has no content of its own.
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

    /// A file that was just written here.
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
