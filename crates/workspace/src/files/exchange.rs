//! Writing by exchange: the new text and the standing file change places in one step, and
//! what was displaced is looked at before it is thrown away.
//!
//! A plain rename destroys whatever stands at the path, so a save that arrives between
//! reading and renaming is gone. After an exchange nothing is gone yet: if the displaced
//! file is not what was read, it is somebody's save and goes back to the path.

use std::io;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::disk::{Disk, NewFileAccess};
use super::draft::Draft;
use super::free_name::{is_unsupported, move_new};
use super::in_place::WhyInPlace;
use super::sighting::Sighting;
use super::step::{Doing, StepError};
use super::sync_names::sync_names;
use super::target::Target;
use super::temp_name::TempName;

/// Far more saves in a row than anybody makes within one edit.
const PUT_BACK_ROUNDS: u32 = 100;

/// How one try to write ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    Exchanged,
    InPlace(WhyInPlace),
    /// Somebody saved meanwhile. Their save stands; the edit must be made on top of it.
    Refused,
}

/// How one try to write by exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exchange {
    Done,
    Refused,
    NotPossible(WhyInPlace),
}

/// What stopped the preparation of the new file.
enum Unprepared {
    NotPossible(WhyInPlace),
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
    let standing = disk.stat(&target.path).doing("look at", &target.path)?;
    if standing.links > 1 {
        return Ok(Exchange::NotPossible(WhyInPlace::OtherNames));
    }
    match prepare(disk, target, read, new) {
        Ok(ready) => exchange(disk, target, &ready, read),
        Err(Unprepared::NotPossible(why)) => Ok(Exchange::NotPossible(why)),
        Err(Unprepared::Failed(error)) => Err(error),
    }
}

/// The new text as a complete file beside the target, safe on disk, and how it looks.
struct Ready {
    path: PathBuf,
    ours: Sighting,
}

fn prepare(disk: &dyn Disk, target: &Target, read: &[u8], new: &[u8]) -> Result<Ready, Unprepared> {
    let draft = create_draft(disk, target)?;
    let path = target.beside(TempName::Ready {
        read: Digest::of(read),
        new: Digest::of(new),
        owner: draft.owner,
    });
    keep_attributes(disk, target, &draft)
        .and_then(|()| Ok(draft.fill(disk, new)?))
        .and_then(|()| make_ready(disk, &draft, &path))
        .inspect_err(|_| draft.discard(disk))?;
    let ours = Sighting::written(disk, &path, new).doing("look at", &path)?;
    Ok(Ready { path, ours })
}

fn create_draft(disk: &dyn Disk, target: &Target) -> Result<Draft, Unprepared> {
    Draft::create(disk, target, NewFileAccess::OwnerOnly).map_err(|error| {
        if forbids_new_files(&error) {
            Unprepared::NotPossible(WhyInPlace::FolderNotWritable)
        } else {
            failed("write beside", &target.path, error)
        }
    })
}

fn keep_attributes(disk: &dyn Disk, target: &Target, draft: &Draft) -> Result<(), Unprepared> {
    draft.keep_attributes(disk, target).map_err(|error| {
        if forbids_attributes(&error) {
            Unprepared::NotPossible(WhyInPlace::AttributesCannotBeKept)
        } else {
            failed("set owner and mode of", &draft.path, error)
        }
    })
}

/// From here on the name vouches for the content.
fn make_ready(disk: &dyn Disk, draft: &Draft, ready: &Path) -> Result<(), Unprepared> {
    disk.rename_new(&draft.path, ready).map_err(|error| {
        if is_unsupported(&error) {
            Unprepared::NotPossible(WhyInPlace::ExchangeNotPossible)
        } else {
            failed("rename", &draft.path, error)
        }
    })
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> Unprepared {
    Unprepared::Failed(StepError {
        doing,
        path: path.to_owned(),
        source,
    })
}

fn exchange(
    disk: &dyn Disk,
    target: &Target,
    ready: &Ready,
    read: &[u8],
) -> Result<Exchange, StepError> {
    match disk.exchange(&ready.path, &target.path) {
        Ok(()) => conclude(disk, target, ready, read),
        Err(error) => {
            discard_ours(disk, ready);
            match error.kind() {
                // Gone, or between an editor's two renames: look again.
                io::ErrorKind::NotFound => Ok(Exchange::Refused),
                _ if forbids_exchange(&error) => {
                    Ok(Exchange::NotPossible(WhyInPlace::ExchangeNotPossible))
                }
                _ => Err(error).doing("replace", &target.path),
            }
        }
    }
}

/// An error does not prove that nothing happened, so only what is surely ours goes.
fn discard_ours(disk: &dyn Disk, ready: &Ready) {
    if Sighting::of(disk, &ready.path).is_ok_and(|seen| seen == ready.ours) {
        let _left_to_recovery = disk.remove(&ready.path);
    }
}

/// The new text stands at the path; the displaced file decides whether it may stay.
fn conclude(
    disk: &dyn Disk,
    target: &Target,
    ready: &Ready,
    read: &[u8],
) -> Result<Exchange, StepError> {
    if !displaced_holds(disk, ready, read)? {
        return refuse(disk, target, ready);
    }
    sync_names(disk, &target.folder)?;
    // A program that saves in place may have opened the old file before the exchange and
    // written to it after the first look; the sync has given it time to finish.
    if !displaced_holds(disk, ready, read)? {
        return refuse(disk, target, ready);
    }
    let _left_to_recovery = disk.remove(&ready.path);
    Ok(Exchange::Done)
}

fn displaced_holds(disk: &dyn Disk, ready: &Ready, read: &[u8]) -> Result<bool, StepError> {
    Sighting::of(disk, &ready.path)
        .map(|displaced| displaced.holds(read))
        .doing("read", &ready.path)
}

fn refuse(disk: &dyn Disk, target: &Target, ready: &Ready) -> Result<Exchange, StepError> {
    put_back(disk, target, &ready.path, ready.ours.clone())?;
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
    mut placed: Sighting,
) -> Result<(), StepError> {
    for _ in 0..PUT_BACK_ROUNDS {
        let save = Sighting::of(disk, temp).doing("read", temp)?;
        if !return_once(disk, target, temp)? {
            return sync_names(disk, &target.folder);
        }
        let displaced = Sighting::of(disk, temp).doing("read", temp)?;
        if displaced == placed {
            let _left_to_recovery = disk.remove(temp);
            return sync_names(disk, &target.folder);
        }
        placed = save;
    }
    Err(io::ErrorKind::ResourceBusy.into()).doing("put back", &target.path)
}

/// Brings the save to the path; whether anything was displaced by it.
fn return_once(disk: &dyn Disk, target: &Target, temp: &Path) -> Result<bool, StepError> {
    loop {
        match disk.exchange(temp, &target.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done.map(|()| true).doing("put back", &target.path),
        }
        // The path is empty: removed, or between an editor's two renames.
        match move_new(disk, temp, &target.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done.map(|()| false).doing("put back", &target.path),
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
