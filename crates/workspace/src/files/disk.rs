use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The primitive file operations of this crate, one method each.
///
/// Tests make single calls fail, or end the process at one of them. Implementations make no
/// decisions; callers do.
pub trait Disk {
    /// Resolves all symbolic links; fails if nothing exists at the end.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// Describes `path` itself; a symbolic link is not followed.
    fn stat(&self, path: &Path) -> io::Result<FileStat>;

    /// Reads a regular file. Refuses symbolic links, and everything that could block (pipes)
    /// or never end (devices).
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Fails unless this process may write to the file, whatever the folder allows.
    fn check_writable(&self, path: &Path) -> io::Result<()>;

    /// Fails unless this process may execute the file.
    fn check_executable(&self, path: &Path) -> io::Result<()>;

    /// Creates an empty file; fails if anything, even a dangling link, has that name.
    fn create_new(&self, path: &Path, access: NewFileAccess) -> io::Result<File>;

    /// Gives `file` the owner, the mode and the extended attributes of the file at `like`.
    fn keep_attributes(&self, file: &File, like: &Path) -> io::Result<()>;

    /// Opens an existing regular file for reading and writing; changes nothing yet.
    fn open_existing(&self, path: &Path) -> io::Result<File>;

    /// Reads all bytes of an open file, from its start.
    fn read_open(&self, file: &File) -> io::Result<Vec<u8>>;

    /// Writes `bytes` over the start of an open file.
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<()>;

    /// Truncates an open file to `length` bytes.
    fn truncate(&self, file: &File, length: u64) -> io::Result<()>;

    /// Returns once the content of the file has reached the storage.
    fn sync_file(&self, file: &File) -> io::Result<()>;

    /// Swaps two names in one folder, in one step.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()>;

    /// Renames a file, replacing whatever has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames a file; fails if anything has the new name.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name; fails if anything has that name.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file's name.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns once the names in the folder have reached the storage.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Creates one folder; its parent must exist.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Lists the names in a folder, in no particular order.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;

    /// Waits for the lock among all regreen processes that write in this folder.
    fn lock_folder(&self, folder: &Path) -> io::Result<FolderLock>;
}

/// The initial access to a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFileAccess {
    /// As the process's umask allows, like any new file.
    Usual,
    /// Only this user, because the file will get the mode of another one, which may be stricter
    /// than the umask.
    OwnerOnly,
}

/// The file system's information about one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// Identifies the file.
    pub id: FileId,
    /// The type of the file.
    pub kind: FileKind,
    /// How many names the file has.
    pub links: u64,
}

/// Identifies a file by more than its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    /// The file system.
    pub device: u64,
    /// The file in it.
    pub inode: u64,
}

/// The type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A directory.
    Folder,
    /// A link, pipe, socket or device.
    Other,
}

/// An exclusive lock among all regreen processes that write in a folder.
///
/// The lock is on the folder itself, so it leaves no file behind and ends with the process. Editors
/// ignore it. It keeps two regreen processes from exchanging the same file at once, and proves that
/// a temporary file found while it is held has no living owner.
#[derive(Debug)]
#[must_use = "dropping the lock releases it"]
pub struct FolderLock {
    held: Option<File>,
}

impl FolderLock {
    pub(crate) fn held(folder: File) -> FolderLock {
        FolderLock { held: Some(folder) }
    }

    /// Returns a placeholder for file systems that can't lock a folder.
    pub(crate) fn unsupported() -> FolderLock {
        FolderLock { held: None }
    }

    /// Returns whether the folder is really locked. If not, leftovers of other processes must stay.
    pub fn is_exclusive(&self) -> bool {
        self.held.is_some()
    }
}

/// An operation on the disk that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}", path.display())]
pub struct StepError {
    /// The attempted action, as a verb.
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The cause.
    #[source]
    pub source: io::Error,
}

/// Adds the attempted action and the path to an error.
pub(crate) trait IoContext<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, StepError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, StepError> {
        self.map_err(|source| StepError {
            action,
            path: path.to_owned(),
            source,
        })
    }
}
