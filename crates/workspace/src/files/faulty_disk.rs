use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::disk::FolderLock;
use super::disk::{Disk, FileStat, NewFileAccess};

/// A disk that asks a script before every call whether to perform it, to fail, or to end the
/// process there. The script may also act itself, like a user who saves at that moment.
#[derive(Debug)]
pub struct FaultyDisk<D, S> {
    disk: D,
    script: S,
    calls: AtomicUsize,
    stopped: AtomicBool,
}

/// A call that the script decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The number of the call, counted from 0 over the life of the disk.
    pub index: usize,
    /// The call.
    pub operation: Operation,
}

/// The script's decision about a call.
#[derive(Debug)]
pub enum CallOutcome {
    /// The call is performed.
    Pass,
    /// The call has no effect and returns this error.
    Fail(io::Error),
    /// The process ends here: this call and all later ones have no effect, but a write
    /// gets half of its bytes to the disk.
    Stop,
}

impl<D: Disk, S: Fn(Call) -> CallOutcome> FaultyDisk<D, S> {
    /// Wraps `disk`.
    pub fn new(disk: D, script: S) -> FaultyDisk<D, S> {
        FaultyDisk {
            disk,
            script,
            calls: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Returns the number of calls so far, not counting those after a stop.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Returns whether the script has ended the process.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn ask(&self, operation: Operation) -> io::Result<()> {
        if self.is_stopped() {
            return Err(stopped());
        }
        let index = self.calls.fetch_add(1, Ordering::SeqCst);
        match (self.script)(Call { index, operation }) {
            CallOutcome::Pass => Ok(()),
            CallOutcome::Fail(error) => Err(error),
            CallOutcome::Stop => {
                self.stopped.store(true, Ordering::SeqCst);
                Err(stopped())
            }
        }
    }

    /// Writes the first half of the bytes if the process ends at this write.
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

/// Generates the operations, and a disk that asks the script before each of them. `write` is
/// special: a process that dies may leave half of the bytes.
macro_rules! scripted_disk {
    ($($operation:ident $method:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        /// One of the disk's operations.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Operation {
            $(
                #[doc = concat!("[`Disk::", stringify!($method), "`]")]
                $operation,
            )*
            /// [`Disk::write`]
            Write,
        }

        impl<D: Disk, S: Fn(Call) -> CallOutcome> Disk for FaultyDisk<D, S> {
            $(
                fn $method(&self, $($arg: $type),*) -> io::Result<$result> {
                    self.ask(Operation::$operation)?;
                    self.disk.$method($($arg),*)
                }
            )*

            fn write(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
                let was_running = !self.is_stopped();
                self.ask(Operation::Write)
                    .map_err(|error| self.tear(file, bytes, error, was_running))?;
                self.disk.write(file, bytes)
            }
        }
    };
}

scripted_disk! {
    Resolve resolve(path: &Path) -> PathBuf;
    Stat stat(path: &Path) -> FileStat;
    Read read(path: &Path) -> Vec<u8>;
    CheckWritable check_writable(path: &Path) -> ();
    CheckExecutable check_executable(path: &Path) -> ();
    CreateNew create_new(path: &Path, access: NewFileAccess) -> File;
    KeepAttributes keep_attributes(file: &File, like: &Path) -> ();
    OpenExisting open_existing(path: &Path) -> File;
    ReadOpen read_open(file: &File) -> Vec<u8>;
    Truncate truncate(file: &File, length: u64) -> ();
    SyncFile sync_file(file: &File) -> ();
    Exchange exchange(one: &Path, other: &Path) -> ();
    Rename rename(from: &Path, to: &Path) -> ();
    RenameNew rename_new(from: &Path, to: &Path) -> ();
    Link link(from: &Path, to: &Path) -> ();
    Remove remove(path: &Path) -> ();
    SyncFolder sync_folder(folder: &Path) -> ();
    CreateFolder create_folder(folder: &Path) -> ();
    List list(folder: &Path) -> Vec<OsString>;
    LockFolder lock_folder(folder: &Path) -> FolderLock;
}
