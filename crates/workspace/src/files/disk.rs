use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::folder_lock::FolderLock;

/// Every primitive operation on files that this crate uses, one method each.
///
/// The seam exists so that each single call can be made to fail, or to be the last one
/// the process ever makes. Nothing here decides anything: that is the callers' part.
pub trait Disk {
    /// The real path behind all symbolic links; fails if there is nothing at its end.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// What stands at `path` itself; a symbolic link is not followed.
    fn stat(&self, path: &Path) -> io::Result<FileStat>;

    /// The bytes of a regular file. Symbolic links are refused, and so is everything that
    /// could block (pipes) or never end (devices).
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Whether this process may write to the file, whatever the folder allows.
    fn check_writable(&self, path: &Path) -> io::Result<()>;

    /// Whether this process may execute the file.
    fn check_executable(&self, path: &Path) -> io::Result<()>;

    /// A new, empty file; fails if anything, even a dangling link, has that name.
    fn create_new(&self, path: &Path, access: NewFileAccess) -> io::Result<File>;

    /// Gives `file` the owner, the mode and the extended attributes of the file at `like`.
    fn keep_attributes(&self, file: &File, like: &Path) -> io::Result<()>;

    /// Opens an existing regular file for reading and writing; changes nothing yet.
    fn open_existing(&self, path: &Path) -> io::Result<File>;

    /// All bytes of an open file, from its start.
    fn read_open(&self, file: &File) -> io::Result<Vec<u8>>;

    /// Writes `bytes` over the start of an open file.
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<()>;

    /// Cuts an open file to `length` bytes.
    fn truncate(&self, file: &File, length: u64) -> io::Result<()>;

    /// Returns when the content of the file has reached the storage.
    fn sync_file(&self, file: &File) -> io::Result<()>;

    /// Swaps what two names in one folder mean, in one step.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()>;

    /// Renames, replacing what has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames, or fails if anything has the new name.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name, or fails if anything has that name.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file's name.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns when the names in the folder have reached the storage.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// One new folder; its parent must exist.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// The names in a folder, in no particular order.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;

    /// Waits for its turn among all regreen processes that write in this folder.
    fn lock_folder(&self, folder: &Path) -> io::Result<FolderLock>;
}

/// Who may use a file right after it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFileAccess {
    /// What the process's umask allows, as for any file a program makes.
    Usual,
    /// Only this user: the file will take over another one's mode, which may be stricter
    /// than the umask.
    OwnerOnly,
}

/// What the file system says of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    pub id: FileId,
    pub kind: FileKind,
    /// How many names the file has.
    pub links: u64,
}

/// Which file it is, under whatever name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    pub device: u64,
    pub inode: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Regular,
    Folder,
    /// A link, pipe, socket or device.
    Other,
}
