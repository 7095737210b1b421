use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::disk::{Disk, FileStat, NewFileAccess};
use super::folder_lock::FolderLock;

/// A disk that asks a script before every call: let it pass, let it fail, or let the
/// process end there. The script may also act itself, as somebody who saves just then.
#[derive(Debug)]
pub struct FaultyDisk<D, S> {
    disk: D,
    script: S,
    calls: AtomicUsize,
    stopped: AtomicBool,
}

/// One call a script decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Counted from 0 over the life of the disk.
    pub index: usize,
    pub operation: Operation,
}

/// Which of the disk's operations a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Resolve,
    Stat,
    Read,
    CheckWritable,
    CheckExecutable,
    CreateNew,
    KeepAttributes,
    OpenExisting,
    ReadOpen,
    Write,
    Truncate,
    SyncFile,
    Exchange,
    Rename,
    RenameNew,
    Link,
    Remove,
    SyncFolder,
    CreateFolder,
    List,
    LockFolder,
}

/// What becomes of a call.
#[derive(Debug)]
pub enum Verdict {
    Pass,
    /// The call has no effect and returns this error.
    Fail(io::Error),
    /// The process ends here: this call and all later ones have no effect, but a write
    /// gets half of its bytes to the disk.
    Stop,
}

impl<D: Disk, S: Fn(Call) -> Verdict> FaultyDisk<D, S> {
    pub fn new(disk: D, script: S) -> FaultyDisk<D, S> {
        FaultyDisk {
            disk,
            script,
            calls: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// How many calls were made so far, those after a stop not counted.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn ask(&self, operation: Operation) -> io::Result<()> {
        if self.is_stopped() {
            return Err(stopped());
        }
        let index = self.calls.fetch_add(1, Ordering::SeqCst);
        match (self.script)(Call { index, operation }) {
            Verdict::Pass => Ok(()),
            Verdict::Fail(error) => Err(error),
            Verdict::Stop => {
                self.stopped.store(true, Ordering::SeqCst);
                Err(stopped())
            }
        }
    }

    /// The first half of a write that the end of the process cuts short.
    fn tear(&self, file: &File, bytes: &[u8], error: io::Error, was_running: bool) -> io::Error {
        if was_running && self.is_stopped() {
            return self
                .disk
                .write(file, &bytes[..bytes.len() / 2])
                .err()
                .unwrap_or(error);
        }
        error
    }
}

fn stopped() -> io::Error {
    io::Error::other("the process has ended")
}

impl<D: Disk, S: Fn(Call) -> Verdict> Disk for FaultyDisk<D, S> {
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.ask(Operation::Resolve)?;
        self.disk.resolve(path)
    }

    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.ask(Operation::Stat)?;
        self.disk.stat(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.ask(Operation::Read)?;
        self.disk.read(path)
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        self.ask(Operation::CheckWritable)?;
        self.disk.check_writable(path)
    }

    fn check_executable(&self, path: &Path) -> io::Result<()> {
        self.ask(Operation::CheckExecutable)?;
        self.disk.check_executable(path)
    }

    fn create_new(&self, path: &Path, access: NewFileAccess) -> io::Result<File> {
        self.ask(Operation::CreateNew)?;
        self.disk.create_new(path, access)
    }

    fn keep_attributes(&self, file: &File, like: &Path) -> io::Result<()> {
        self.ask(Operation::KeepAttributes)?;
        self.disk.keep_attributes(file, like)
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        self.ask(Operation::OpenExisting)?;
        self.disk.open_existing(path)
    }

    fn read_open(&self, file: &File) -> io::Result<Vec<u8>> {
        self.ask(Operation::ReadOpen)?;
        self.disk.read_open(file)
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
        let was_running = !self.is_stopped();
        self.ask(Operation::Write)
            .map_err(|error| self.tear(file, bytes, error, was_running))?;
        self.disk.write(file, bytes)
    }

    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        self.ask(Operation::Truncate)?;
        self.disk.truncate(file, length)
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        self.ask(Operation::SyncFile)?;
        self.disk.sync_file(file)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.ask(Operation::Exchange)?;
        self.disk.exchange(one, other)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(Operation::Rename)?;
        self.disk.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(Operation::RenameNew)?;
        self.disk.rename_new(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(Operation::Link)?;
        self.disk.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.ask(Operation::Remove)?;
        self.disk.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.ask(Operation::SyncFolder)?;
        self.disk.sync_folder(folder)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        self.ask(Operation::CreateFolder)?;
        self.disk.create_folder(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.ask(Operation::List)?;
        self.disk.list(folder)
    }

    fn lock_folder(&self, folder: &Path) -> io::Result<FolderLock> {
        self.ask(Operation::LockFolder)?;
        self.disk.lock_folder(folder)
    }
}
