use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, thread};

use rustix::fs::OFlags;

use crate::spec_paths::{SpecPaths, own_folder};

/// A process that checks who holds the tree locks it briefly itself, so a failed lock is retried.
const TRIES: u32 = 10;
const RETRY_AFTER: Duration = Duration::from_millis(10);

/// Allows one run per working tree. Released when the process ends, however it ends.
#[derive(Debug)]
pub struct TreeLock {
    file: File,
}

/// What a working tree is locked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockPurpose {
    /// A run.
    Run,
    /// A short change: the user decides about a task, or undoes one.
    Change,
}

/// The process that holds a working tree, as it describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockHolder {
    /// Its process id, if readable.
    pub pid: Option<u32>,
    /// What it locked the tree for.
    pub purpose: LockPurpose,
    /// The name of the spec.
    pub name: String,
    /// The spec's name in the journal.
    pub spec: String,
}

/// Why the tree could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum TreeLockError {
    /// Another process holds it.
    #[error("{0}")]
    Held(LockHolder),
    /// The lock file can't be used.
    #[error("cannot use {}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The underlying error.
        #[source]
        source: io::Error,
    },
}

impl TreeLock {
    /// Locks the tree, or returns who holds it.
    ///
    /// # Errors
    /// Returns an error if another process holds the lock, or regreen's folder can't be used.
    pub fn take(paths: &SpecPaths, purpose: LockPurpose) -> Result<Self, TreeLockError> {
        let path = lock_path(&paths.root);
        let io_error = |source| TreeLockError::Io {
            path: path.clone(),
            source,
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = open_own(&mut options, &path).map_err(io_error)?;
        if !lock(&file).map_err(io_error)? {
            return Err(TreeLockError::Held(LockHolder::read(&mut file)));
        }
        let us = LockHolder {
            pid: Some(std::process::id()),
            purpose,
            name: paths.spec.name.clone(),
            spec: paths.spec_key(),
        };
        us.write(&mut file).map_err(io_error)?;
        Ok(Self { file })
    }

    /// Returns the process that holds a tree, if any.
    #[must_use]
    pub fn holder(root: &Path) -> Option<LockHolder> {
        let mut file = open_own(OpenOptions::new().read(true), &lock_path(root)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(LockHolder::read(&mut file)),
            _ => None,
        }
    }
}

fn lock(file: &File) -> io::Result<bool> {
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => thread::sleep(RETRY_AFTER),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

impl Drop for TreeLock {
    fn drop(&mut self) {
        // The file no longer names a holder, but it stays: removing it could remove another
        // process's lock.
        let _ = self.file.set_len(0);
    }
}

impl LockHolder {
    /// Whether the holder is a run of this spec.
    #[must_use]
    pub fn runs(&self, paths: &SpecPaths) -> bool {
        self.purpose == LockPurpose::Run && self.spec == paths.spec_key()
    }

    /// Writes one line per field; a line break in a name is harmless.
    fn write(&self, file: &mut File) -> io::Result<()> {
        let Self {
            pid,
            purpose,
            name,
            spec,
        } = self;
        let pid = pid.map(|pid| pid.to_string()).unwrap_or_default();
        let text = format!("{pid}\n{}\n{name}\n{spec}\n", purpose.word());
        file.set_len(0)?;
        file.write_all(text.as_bytes())
    }

    fn read(file: &mut File) -> Self {
        let mut text = String::new();
        let _ = file.rewind();
        let _ = file.take(4096).read_to_string(&mut text);
        let mut lines = text.lines();
        let mut line = || lines.next().unwrap_or_default();
        Self {
            pid: line().parse().ok(),
            purpose: LockPurpose::from_word(line()),
            name: line().to_owned(),
            spec: line().to_owned(),
        }
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match self.purpose {
            LockPurpose::Run => "another run",
            LockPurpose::Change => "another regreen command",
        };
        match self.pid {
            Some(pid) => write!(f, "{who} is active here: process {pid}, spec {}", self.name),
            None => write!(f, "{who} is active here: unknown process"),
        }
    }
}

impl LockPurpose {
    fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Change => "change",
        }
    }

    fn from_word(word: &str) -> Self {
        if word == Self::Change.word() {
            Self::Change
        } else {
            Self::Run
        }
    }
}

fn lock_path(root: &Path) -> PathBuf {
    own_folder(root).join("lock")
}

/// Opens a file in regreen's folder. A repository may contain a folder of this name, with links to
/// the user's files.
fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Opening a pipe must not block.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

/// Creates regreen's folder, which keeps itself out of git. Other users of the machine can't read
/// it, because it contains program output.
///
/// # Errors
/// Returns an error if it can't be created.
pub fn create_own_folder(root: &Path) -> io::Result<()> {
    let own = own_folder(root);
    let scratch = own.join("scratch");
    refuse_link(&own)?;
    refuse_link(&scratch)?;
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700);
    private.create(scratch)?;
    ignore_itself(&own)
}

/// Writes the file that keeps the folder out of git, completely or not at all. A full disk may have
/// left an empty one.
fn ignore_itself(own: &Path) -> io::Result<()> {
    let ignore = own.join(".gitignore");
    match fs::symlink_metadata(&ignore) {
        Ok(found) if !found.is_file() || found.len() > 0 => return Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let draft = own
        .join("scratch")
        .join(format!("gitignore-{}", std::process::id()));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&draft)?;
    let written = file.write_all(b"*\n").and_then(|()| file.sync_all());
    let done = written.and_then(|()| fs::rename(&draft, &ignore));
    if done.is_err() {
        let _ = fs::remove_file(&draft);
    }
    done
}

/// Refuses a symlink: a repository must not redirect what regreen writes.
fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(io::Error::other(format!(
            "{} is a symbolic link, which regreen does not follow here",
            path.display()
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use regreen_workspace::Spec;

    use super::*;

    #[test]
    fn an_empty_ignore_file_that_a_full_disk_left_is_written_again() {
        let root = tempfile::tempdir().unwrap();
        let ignore = own_folder(root.path()).join(".gitignore");
        for left in ["", "*\n", "own rules\n"] {
            create_own_folder(root.path()).unwrap();
            fs::write(&ignore, left).unwrap();
            create_own_folder(root.path()).unwrap();
            let expected = if left.is_empty() { "*\n" } else { left };
            assert_eq!(fs::read_to_string(&ignore).unwrap(), expected);
        }
        let scratch = fs::read_dir(own_folder(root.path()).join("scratch")).unwrap();
        assert_eq!(scratch.count(), 0);
    }

    #[test]
    fn the_folder_is_the_users_alone_and_no_part_of_the_repository() {
        let root = tempfile::tempdir().unwrap();
        create_own_folder(root.path()).unwrap();
        let own = own_folder(root.path());
        let mode = || fs::metadata(&own).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o700);
        assert_eq!(fs::read_to_string(own.join(".gitignore")).unwrap(), "*\n");
        // A user who has opened it to others has a reason.
        fs::set_permissions(&own, fs::Permissions::from_mode(0o750)).unwrap();
        create_own_folder(root.path()).unwrap();
        assert_eq!(mode(), 0o750);
    }

    fn paths(root: &Path) -> SpecPaths {
        let spec = Spec {
            name: "demo".to_owned(),
            tasks: root.join("specs/demo/tasks.md"),
        };
        SpecPaths::new(root, spec)
    }

    #[test]
    fn a_second_run_names_the_holder_of_the_tree() {
        let root = tempfile::tempdir().unwrap();
        let paths = paths(root.path());
        create_own_folder(root.path()).unwrap();
        assert!(TreeLock::holder(root.path()).is_none());
        let first = TreeLock::take(&paths, LockPurpose::Run).unwrap();
        let second = TreeLock::take(&paths, LockPurpose::Run).unwrap_err();
        let pid = std::process::id();
        assert_eq!(
            second.to_string(),
            format!("another run is active here: process {pid}, spec demo")
        );
        let holder = TreeLock::holder(root.path()).unwrap();
        assert!(holder.runs(&paths));
        drop(first);
        let _third = TreeLock::take(&paths, LockPurpose::Change).unwrap();
        let holder = TreeLock::holder(root.path()).unwrap();
        assert!(!holder.runs(&paths));
        assert!(
            holder
                .to_string()
                .starts_with("another regreen command is active")
        );
    }

    #[test]
    fn asking_for_the_holder_does_not_block_a_run() {
        let root = tempfile::tempdir().unwrap();
        create_own_folder(root.path()).unwrap();
        let paths = paths(root.path());
        drop(TreeLock::take(&paths, LockPurpose::Run).unwrap());
        let look = File::open(lock_path(root.path())).unwrap();
        look.lock_shared().unwrap();
        let looking = thread::spawn(move || {
            thread::sleep(RETRY_AFTER);
            drop(look);
        });
        TreeLock::take(&paths, LockPurpose::Run).unwrap();
        looking.join().unwrap();
    }

    #[test]
    fn links_that_a_repository_brings_along_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let precious = outside.path().join("precious");
        fs::write(&precious, "text").unwrap();
        let own = own_folder(root.path());
        symlink(outside.path(), &own).unwrap();
        create_own_folder(root.path()).unwrap_err();
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        fs::remove_file(&own).unwrap();

        fs::create_dir(&own).unwrap();
        symlink(outside.path().join("new"), own.join(".gitignore")).unwrap();
        create_own_folder(root.path()).unwrap();
        assert!(!outside.path().join("new").exists());
        let paths = paths(root.path());
        symlink(&precious, own.join("lock")).unwrap();
        let refused = TreeLock::take(&paths, LockPurpose::Run).unwrap_err();
        assert!(matches!(refused, TreeLockError::Io { .. }));
        assert_eq!(fs::read_to_string(&precious).unwrap(), "text");
        fs::remove_file(own.join("lock")).unwrap();
        fs::create_dir(own.join("lock")).unwrap();
        TreeLock::take(&paths, LockPurpose::Run).unwrap_err();
        assert!(TreeLock::holder(root.path()).is_none());
    }
}
