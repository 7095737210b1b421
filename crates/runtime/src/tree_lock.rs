use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;

use crate::places::{Places, own_folder};

/// Whoever asks who holds a tree holds it for that moment as well, so one look is no proof.
const LOOKS: u32 = 10;
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// One run per working tree. Ends with the process, however it ends.
#[derive(Debug)]
pub struct TreeLock {
    file: File,
}

/// What a working tree is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Run,
    /// Something short: a person decides about a task, or takes one back.
    Change,
}

/// Who has a working tree, in their own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub pid: Option<u32>,
    pub purpose: Purpose,
    /// The name of the spec.
    pub name: String,
    /// What the journal calls the spec.
    pub spec: String,
}

/// Why the tree is not ours.
#[derive(Debug, thiserror::Error)]
pub enum TreeLockError {
    #[error("{0}")]
    Held(Holder),
    #[error("cannot use {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl TreeLock {
    /// Takes the tree, or says who has it.
    ///
    /// # Errors
    /// If another process has it, or regreen's folder cannot be used.
    pub fn take(places: &Places, purpose: Purpose) -> Result<Self, TreeLockError> {
        let path = lock_path(&places.root);
        let io_error = |source| TreeLockError::Io {
            path: path.clone(),
            source,
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = open_own(&mut options, &path).map_err(io_error)?;
        if !lock(&file).map_err(io_error)? {
            return Err(TreeLockError::Held(Holder::read(&mut file)));
        }
        let us = Holder {
            pid: Some(std::process::id()),
            purpose,
            name: places.spec.name.clone(),
            spec: places.spec_key(),
        };
        us.write(&mut file).map_err(io_error)?;
        Ok(Self { file })
    }

    /// Who is at work in a tree, if anybody is.
    #[must_use]
    pub fn holder(root: &Path) -> Option<Holder> {
        let mut file = open_own(OpenOptions::new().read(true), &lock_path(root)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(Holder::read(&mut file)),
            _ => None,
        }
    }
}

fn lock(file: &File) -> io::Result<bool> {
    for _ in 0..LOOKS {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => thread::sleep(LOOK_AGAIN),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

impl Drop for TreeLock {
    fn drop(&mut self) {
        // Whoever reads it now finds nobody. The file stays: removing it could take another
        // process's lock away.
        let _ = self.file.set_len(0);
    }
}

impl Holder {
    /// Whether it is a run of this spec.
    #[must_use]
    pub fn runs(&self, places: &Places) -> bool {
        self.purpose == Purpose::Run && self.spec == places.spec_key()
    }

    /// A line for each thing: names have no line breaks that matter.
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
            purpose: Purpose::from_word(line()),
            name: line().to_owned(),
            spec: line().to_owned(),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match self.purpose {
            Purpose::Run => "another run",
            Purpose::Change => "another regreen",
        };
        match self.pid {
            Some(pid) => write!(
                f,
                "{who} is at work here: process {pid}, spec {}",
                self.name
            ),
            None => write!(f, "{who} is at work here, and does not say what it does"),
        }
    }
}

impl Purpose {
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

/// Opens a file of regreen's. A repository may bring a folder of this name along, with links
/// to files of the user's in it.
fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Opening a pipe must not wait for anybody.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no ordinary file")),
    }
}

/// Makes regreen's folder, which keeps itself out of git. What programs print is nobody
/// else's business: on a machine that others use as well, they do not get in.
///
/// # Errors
/// If it cannot be made.
pub fn make_own_folder(root: &Path) -> io::Result<()> {
    let own = own_folder(root);
    let scratch = own.join("scratch");
    refuse_link(&own)?;
    refuse_link(&scratch)?;
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700);
    private.create(scratch)?;
    let ignore = own.join(".gitignore");
    match OpenOptions::new().write(true).create_new(true).open(ignore) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// What regreen keeps is kept in the workspace, and not where a repository would have it.
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
    fn the_folder_is_the_users_alone_and_no_part_of_the_repository() {
        let root = tempfile::tempdir().unwrap();
        make_own_folder(root.path()).unwrap();
        let own = own_folder(root.path());
        let mode = || fs::metadata(&own).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o700);
        assert_eq!(fs::read_to_string(own.join(".gitignore")).unwrap(), "*\n");
        // Whoever opens it to others has a reason.
        fs::set_permissions(&own, fs::Permissions::from_mode(0o750)).unwrap();
        make_own_folder(root.path()).unwrap();
        assert_eq!(mode(), 0o750);
    }

    fn places(root: &Path) -> Places {
        let spec = Spec {
            name: "demo".to_owned(),
            tasks: root.join("specs/demo/tasks.md"),
        };
        Places::new(root, spec)
    }

    #[test]
    fn a_second_run_hears_who_holds_the_tree() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        make_own_folder(root.path()).unwrap();
        assert!(TreeLock::holder(root.path()).is_none());
        let first = TreeLock::take(&places, Purpose::Run).unwrap();
        let second = TreeLock::take(&places, Purpose::Run).unwrap_err();
        let pid = std::process::id();
        assert_eq!(
            second.to_string(),
            format!("another run is at work here: process {pid}, spec demo")
        );
        let holder = TreeLock::holder(root.path()).unwrap();
        assert!(holder.runs(&places));
        drop(first);
        let _third = TreeLock::take(&places, Purpose::Change).unwrap();
        let holder = TreeLock::holder(root.path()).unwrap();
        assert!(!holder.runs(&places));
        assert!(holder.to_string().starts_with("another regreen is at work"));
    }

    #[test]
    fn who_only_looks_keeps_nobody_from_starting() {
        let root = tempfile::tempdir().unwrap();
        make_own_folder(root.path()).unwrap();
        let places = places(root.path());
        drop(TreeLock::take(&places, Purpose::Run).unwrap());
        let look = File::open(lock_path(root.path())).unwrap();
        look.lock_shared().unwrap();
        let looking = thread::spawn(move || {
            thread::sleep(LOOK_AGAIN);
            drop(look);
        });
        TreeLock::take(&places, Purpose::Run).unwrap();
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
        make_own_folder(root.path()).unwrap_err();
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        fs::remove_file(&own).unwrap();

        fs::create_dir(&own).unwrap();
        symlink(outside.path().join("new"), own.join(".gitignore")).unwrap();
        make_own_folder(root.path()).unwrap();
        assert!(!outside.path().join("new").exists());
        let places = places(root.path());
        symlink(&precious, own.join("lock")).unwrap();
        let refused = TreeLock::take(&places, Purpose::Run).unwrap_err();
        assert!(matches!(refused, TreeLockError::Io { .. }));
        assert_eq!(fs::read_to_string(&precious).unwrap(), "text");
        fs::remove_file(own.join("lock")).unwrap();
        fs::create_dir(own.join("lock")).unwrap();
        TreeLock::take(&places, Purpose::Run).unwrap_err();
        assert!(TreeLock::holder(root.path()).is_none());
    }
}
