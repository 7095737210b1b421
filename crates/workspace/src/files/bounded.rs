//! Reading things that look like files: only regular files, without waiting, and only so much.
//!
//! A repository may contain pipes without a writer, links to devices that never end, and files
//! that fill the memory. Every read of the product goes through here; a guard keeps it so.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// The most that is read of a file that people, agents or regreen write: a hundred times more than
/// any real task file has.
pub const MAX_FILE: u64 = 32 * 1024 * 1024;

/// Something that is not a file stands where a file is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sort}, not a file")]
pub struct NotAFile {
    /// What it is: `a named pipe`.
    pub sort: &'static str,
}

/// Reads a regular file of at most `max` bytes, following links.
///
/// # Errors
/// If it cannot be read, is larger ([`io::ErrorKind::FileTooLarge`]), or is not a file
/// ([`NotAFile`]).
pub fn read_file(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    read_bounded(&open_file(path)?, max)
}

/// Reads a text of at most `max` bytes, following links.
///
/// # Errors
/// As [`read_file`], and if it is not UTF-8.
pub fn read_text_file(path: &Path, max: u64) -> io::Result<String> {
    let bytes = read_file(path, max)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Opens a regular file to read, following links.
///
/// # Errors
/// If it cannot be opened, or is not a file ([`NotAFile`]).
pub fn open_file(path: &Path) -> io::Result<File> {
    // Opening a device may do something already.
    refuse_others(&fs::metadata(path)?)?;
    open_regular(OpenOptions::new().read(true), path, OFlags::empty())
}

/// Opens a regular file, without waiting for the other end of a pipe.
pub(crate) fn open_regular(
    options: &mut OpenOptions,
    path: &Path,
    flags: OFlags,
) -> io::Result<File> {
    let flags = flags | OFlags::NONBLOCK;
    let opened = options.custom_flags(flags.bits().cast_signed()).open(path);
    let file = opened.map_err(|error| match fs::symlink_metadata(path) {
        Ok(found) if !found.is_symlink() => refuse_others(&found).err().unwrap_or(error),
        _ => error,
    })?;
    refuse_others(&file.metadata()?)?;
    Ok(file)
}

/// Reads the rest of an open file.
pub(crate) fn read_bounded(file: &File, max: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("larger than {max} bytes"),
        )
    };
    let length = file.metadata()?.len();
    if length > max {
        return Err(too_large());
    }
    let mut bytes = read_known(file, usize::try_from(length).unwrap_or(0))?;
    // What was added since.
    let room = (max + 1).saturating_sub(bytes.len() as u64);
    file.take(room).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Reads so many bytes, or fewer if the file has become shorter, in as few calls as possible.
fn read_known(mut file: &File, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

fn refuse_others(found: &Metadata) -> io::Result<()> {
    let kind = found.file_type();
    let sort = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        NotAFile { sort },
    ))
}
