//! Reads things that look like files: only regular files, without blocking, up to a limit.
//!
//! A repository may contain pipes without a writer, links to devices that never end, and files that
//! would fill the memory. The whole product reads files through this module; a guard enforces that.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// How much is read of a file that people, agents or regreen write: a hundred times the size of any
/// real task file.
pub const MAX_FILE: u64 = 32 * 1024 * 1024;

/// Something other than a file where a file is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sort}, not a file")]
pub struct NotAFile {
    /// The kind of thing: `a named pipe`.
    pub sort: &'static str,
}

/// Reads a regular file of at most `max` bytes, following links.
///
/// # Errors
/// Returns an error if it can't be read, is larger ([`io::ErrorKind::FileTooLarge`]), or isn't a
/// file ([`NotAFile`]).
pub fn read_file(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    read_bounded(&open_file(path)?, max)
}

/// Reads a text file of at most `max` bytes, following links.
///
/// # Errors
/// Fails like [`read_file`], or if the file isn't UTF-8.
pub fn read_text_file(path: &Path, max: u64) -> io::Result<String> {
    let bytes = read_file(path, max)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads the last bytes of a text file, without the rest.
///
/// # Errors
/// Returns an error if it can't be read, or isn't a file ([`NotAFile`]).
pub fn read_tail(path: &Path, bytes: u64) -> io::Result<String> {
    let mut file = open_file(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut tail = Vec::new();
    file.take(bytes).read_to_end(&mut tail)?;
    Ok(String::from_utf8_lossy(&tail).into_owned())
}

/// Opens a regular file for reading, following links.
///
/// # Errors
/// Returns an error if it can't be opened, or isn't a file ([`NotAFile`]).
pub fn open_file(path: &Path) -> io::Result<File> {
    // Merely opening a device may have an effect.
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
    // Bytes that were added since.
    let room = (max + 1).saturating_sub(bytes.len() as u64);
    file.take(room).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Reads this many bytes, or fewer if the file has shrunk, in as few calls as possible, into memory
/// that isn't cleared first.
fn read_known(file: &File, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        match rustix::io::read(file, spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

/// Returns the error for something that exists but isn't a file; `None` for files, and if nothing is
/// there.
pub(crate) fn not_a_file(path: &Path) -> Option<io::Error> {
    refuse_others(&fs::metadata(path).ok()?).err()
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
