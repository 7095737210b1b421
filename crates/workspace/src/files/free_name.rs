use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, NewFileAccess};
use super::step::{Doing, StepError};
use super::target::Target;

/// Moves `from` to the first free `<target>.<word>-<n>`, n from 1; replaces nothing.
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
            Err(error) => return Err(error).doing("move aside to", &free),
        }
    }
}

fn numbered(target: &Target, word: &str, number: u32) -> OsString {
    let mut name = target.name.clone();
    name.push(format!(".{word}-{number}"));
    name
}

/// Renames without ever replacing, in the safest way the file system knows.
pub(crate) fn move_new(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    match disk.rename_new(from, to) {
        Err(error) if is_unsupported(&error) => move_new_by_link(disk, from, to),
        done => done,
    }
}

/// For file systems whose rename knows no flags (NFS).
fn move_new_by_link(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    match disk.link(from, to) {
        Ok(()) => disk.remove(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        Err(_) => move_new_by_claim(disk, from, to),
    }
}

/// For file systems without hard links as well (shared folders of virtual machines): an
/// empty file claims the name, and only that empty file is replaced.
fn move_new_by_claim(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    drop(disk.create_new(to, NewFileAccess::Usual)?);
    disk.rename(from, to)
}

/// The file system does not know the kind of rename that was asked for.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
    )
}
