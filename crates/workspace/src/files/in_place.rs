use std::fmt;
use std::fs::File;
use std::io;

use super::disk::Disk;
use super::exchange::Attempt;
use super::step::{Doing, StepError};
use super::target::Target;

/// Why a file was written in place instead of by exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyInPlace {
    /// The file has other names (hard links), which an exchange would cut off.
    OtherNames,
    /// No file can be made beside it.
    FolderNotWritable,
    /// Owner, mode or extended attributes cannot be given to a new file.
    AttributesCannotBeKept,
    /// The file is a mount point, or its file system knows no exchange.
    ExchangeNotPossible,
}

impl fmt::Display for WhyInPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherNames => "the file has other names (hard links)",
            Self::FolderNotWritable => "no file can be made beside it",
            Self::AttributesCannotBeKept => {
                "a new file could not keep its owner, mode or attributes"
            }
            Self::ExchangeNotPossible => {
                "its file system knows no exchange, or it is a mount point"
            }
        })
    }
}

/// Overwrites the file itself, if it still holds what was read.
///
/// This is the lesser way: a crash in the middle leaves a mixture, and a save between the
/// look and the write is overwritten. A save by rename is noticed afterwards, and the
/// edit is made again on top of it.
pub(crate) fn write_in_place(
    disk: &dyn Disk,
    target: &Target,
    read: &[u8],
    new: &[u8],
    why: WhyInPlace,
) -> Result<Attempt, StepError> {
    let file = disk
        .open_existing(&target.path)
        .doing("open for writing", &target.path)?;
    let standing = disk.read_open(&file).doing("read", &target.path)?;
    if standing != read {
        return Ok(Attempt::Refused);
    }
    overwrite_or_restore(disk, &file, read, new).doing("write", &target.path)?;
    let written = disk.read(&target.path).doing("read", &target.path)?;
    if written == new {
        Ok(Attempt::InPlace(why))
    } else {
        Ok(Attempt::Refused)
    }
}

/// A full disk must not cost the text that was there before.
fn overwrite_or_restore(disk: &dyn Disk, file: &File, read: &[u8], new: &[u8]) -> io::Result<()> {
    overwrite(disk, file, new).inspect_err(|_| {
        // The first error is the one to report; there is nothing more to try.
        let _restored = overwrite(disk, file, read);
    })
}

/// Writes before cutting: the file is never empty in between.
fn overwrite(disk: &dyn Disk, file: &File, content: &[u8]) -> io::Result<()> {
    disk.write(file, content)?;
    disk.truncate(file, content.len() as u64)?;
    disk.sync_file(file)
}
