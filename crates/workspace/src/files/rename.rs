use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, IoContext, NewFileAccess, StepError};
use super::target::Target;

/// Moves `from` to the first free `<target>.<word>-<n>`, counted from 1.
pub(crate) fn move_to_free_name(
    disk: &dyn Disk,
    from: &Path,
    target: &Target,
    word: &str,
) -> Result<PathBuf, StepError> {
    let mut number = 1_u32;
    loop {
        let free = target.folder.join(numbered(target, word, number));
        match move_new(disk, from, &free) {
            Ok(()) => return Ok(free),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error).context("move aside to", &free),
        }
    }
}

fn numbered(target: &Target, word: &str, number: u32) -> OsString {
    let mut name = target.name.clone();
    name.push(format!(".{word}-{number}"));
    name
}

/// Renames without replacing anything, in the safest way that the file system supports.
pub(crate) fn move_new(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    match disk.rename_new(from, to) {
        Err(error) if is_unsupported(&error) => move_new_by_link(disk, from, to),
        done => done,
    }
}

/// For file systems whose rename takes no flags, such as NFS.
fn move_new_by_link(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    match disk.link(from, to) {
        Ok(()) => disk.remove(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        Err(_) => move_new_by_claim(disk, from, to),
    }
}

/// For file systems without hard links, such as shared folders of virtual machines: creates an
/// empty file to claim the name, and replaces only that.
fn move_new_by_claim(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    drop(disk.create_new(to, NewFileAccess::Usual)?);
    disk.rename(from, to)
}

/// Whether the file system does not support this kind of rename.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
    )
}

const CORRUPT: &str = "corrupt";

/// Why a file was not moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveAsideError {
    /// Nothing exists there.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Moves an unreadable file to the first free `<name>.corrupt-<n>` beside it, so that a valid one
/// can replace it and nothing is lost. Returns its new path.
pub fn move_aside(disk: &dyn Disk, path: &Path) -> Result<PathBuf, MoveAsideError> {
    let target = Target::name_in_folder(disk, path).map_err(|source| missing(path, source))?;
    disk.stat(&target.path)
        .map_err(|source| missing(path, source))?;
    let aside = move_to_free_name(disk, &target.path, &target, CORRUPT)?;
    sync_names(disk, &target.folder)?;
    Ok(aside)
}

fn missing(path: &Path, source: io::Error) -> MoveAsideError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => MoveAsideError::NotFound { path },
        _ => MoveAsideError::Step(StepError {
            action: "move aside",
            path,
            source,
        }),
    }
}

/// Syncs the names in a folder where possible: some file systems can't sync a folder, and an
/// unreadable folder can't be opened.
pub(crate) fn sync_names(disk: &dyn Disk, folder: &Path) -> Result<(), StepError> {
    match disk.sync_folder(folder) {
        Err(error) if is_unsupported(&error) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done.context("sync", folder),
    }
}
