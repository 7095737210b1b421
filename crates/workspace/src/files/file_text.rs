use std::io;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::target::Target;

/// A file's text exactly as it is: byte order mark, line endings and all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// Where the text really lies, links resolved.
    pub path: PathBuf,
    pub text: String,
}

/// Why a file could not be read; every case names it as the caller did.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{} does not exist", path.display())]
    NotFound { path: PathBuf },
    #[error("{} is a folder, not a file", path.display())]
    IsDirectory { path: PathBuf },
    #[error("{} may not be read: permission denied", path.display())]
    PermissionDenied { path: PathBuf },
    #[error("{} is not UTF-8 text: line {line} has an invalid byte (at offset {offset})", path.display())]
    NotUtf8 {
        path: PathBuf,
        /// Of the first byte that is not UTF-8, from 0.
        offset: usize,
        /// Its line, from 1.
        line: usize,
    },
    #[error("cannot read {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl ReadError {
    pub(crate) fn new(path: &Path, source: io::Error) -> ReadError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => ReadError::NotFound { path },
            io::ErrorKind::IsADirectory => ReadError::IsDirectory { path },
            io::ErrorKind::PermissionDenied => ReadError::PermissionDenied { path },
            _ => ReadError::Io { path, source },
        }
    }
}

/// Reads a UTF-8 file, through links.
pub fn read_text(disk: &dyn Disk, path: &Path) -> Result<FileText, ReadError> {
    let target = Target::existing(disk, path).map_err(|source| ReadError::new(path, source))?;
    read_target(disk, path, &target)
}

/// Reads a target found before; `path` is what the caller calls it.
pub(crate) fn read_target(
    disk: &dyn Disk,
    path: &Path,
    target: &Target,
) -> Result<FileText, ReadError> {
    let bytes = disk
        .read(&target.path)
        .map_err(|source| ReadError::new(path, source))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        ReadError::NotUtf8 {
            path: path.to_owned(),
            offset,
            line: line_of(&error.as_bytes()[..offset]),
        }
    })?;
    Ok(FileText {
        path: target.path.clone(),
        text,
    })
}

fn line_of(before: &[u8]) -> usize {
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}
