use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::bounded::{MAX_FILE, NotAFile, not_a_file};
use super::disk::{Disk, FolderLock, StepError};
use super::temp_file::TempName;

/// The file behind a path: its real location, with all links resolved.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) folder: PathBuf,
    pub(crate) name: OsString,
    pub(crate) path: PathBuf,
}

impl Target {
    /// Finds an existing file. A link stays a link: the target is the file it points to, and
    /// temporary files are created beside that.
    pub(crate) fn existing(disk: &dyn Disk, path: &Path) -> io::Result<Target> {
        // The link behind `/dev/fd/63` names no path.
        let real = disk.resolve(path);
        let real = real.map_err(|error| not_a_file(path).unwrap_or(error))?;
        let folder = real.parent().ok_or(io::ErrorKind::IsADirectory)?.to_owned();
        Target::named(folder, &real)
    }

    /// Returns the path with its folder resolved, whether or not the name exists.
    pub(crate) fn name_in_folder(disk: &dyn Disk, path: &Path) -> io::Result<Target> {
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => disk.resolve(parent)?,
            _ => disk.resolve(Path::new("."))?,
        };
        Target::named(folder, path)
    }

    pub(crate) fn beside(&self, temp: TempName) -> PathBuf {
        self.folder.join(temp.beside(&self.name))
    }

    fn named(folder: PathBuf, path: &Path) -> io::Result<Target> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Target {
            path: folder.join(name),
            name: name.to_owned(),
            folder,
        })
    }
}

/// Why a folder could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds the lock.
    #[error("another regreen is writing in {}", folder.display())]
    Busy {
        /// The locked folder.
        folder: PathBuf,
    },
    /// The file system refused.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Locks the folder of a target.
pub(crate) fn lock(disk: &dyn Disk, target: &Target) -> Result<FolderLock, LockError> {
    disk.lock_folder(&target.folder)
        .map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => LockError::Busy {
                folder: target.folder.clone(),
            },
            _ => LockError::Step(StepError {
                action: "lock",
                path: target.folder.clone(),
                source,
            }),
        })
}

/// A file's exact text, including byte order mark and line endings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// The real path, with links resolved.
    pub path: PathBuf,
    /// The whole content.
    pub text: String,
}

/// Why a file couldn't be read. `path` is always the one the caller gave.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Nothing exists there.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("{} is a folder, not a file", path.display())]
    IsDirectory {
        /// The file.
        path: PathBuf,
    },
    /// Something else has that name: a pipe, a device or a socket.
    #[error("{} is {found}", path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
        /// The thing found instead.
        found: NotAFile,
    },
    /// It is too large.
    #[error("{} is larger than {} MB", path.display(), max / 1024 / 1024)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit, in bytes.
        max: u64,
    },
    /// This user may not read it.
    #[error("cannot read {}: permission denied", path.display())]
    PermissionDenied {
        /// The file.
        path: PathBuf,
    },
    /// It is not UTF-8 text.
    #[error("{} is not UTF-8 text: line {line} has an invalid byte (at offset {offset})", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Offset of the first invalid byte.
        offset: usize,
        /// Its line, counted from 1.
        line: usize,
    },
    /// Any other error.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl ReadError {
    /// Creates the error for `path`; the limit was [`MAX_FILE`].
    #[must_use]
    pub fn new(path: &Path, source: io::Error) -> ReadError {
        let path = path.to_owned();
        let inner = source.get_ref().and_then(|error| error.downcast_ref());
        if let Some(&found) = inner {
            return ReadError::NotAFile { path, found };
        }
        match source.kind() {
            io::ErrorKind::NotFound => ReadError::NotFound { path },
            io::ErrorKind::IsADirectory => ReadError::IsDirectory { path },
            io::ErrorKind::PermissionDenied => ReadError::PermissionDenied { path },
            io::ErrorKind::FileTooLarge => ReadError::TooLarge {
                path,
                max: MAX_FILE,
            },
            _ => ReadError::Io { path, source },
        }
    }
}

/// Reads a UTF-8 file, following links.
pub fn read_text(disk: &dyn Disk, path: &Path) -> Result<FileText, ReadError> {
    let target = Target::existing(disk, path).map_err(|source| ReadError::new(path, source))?;
    read_target(disk, path, &target)
}

/// Reads a known target; errors name it as `path`.
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
