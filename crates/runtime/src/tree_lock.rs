use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::places::own_folder;

/// One run per working tree. Ends with the process, however it ends.
#[derive(Debug)]
pub struct TreeLock {
    file: File,
}

/// Why the tree is not ours.
#[derive(Debug, thiserror::Error)]
pub enum TreeLockError {
    /// Who holds it, in their own words.
    #[error("another run is at work here: {holder}")]
    Held { holder: String, pid: Option<u32> },
    #[error("cannot use {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl TreeLock {
    /// Takes the tree, or says who has it. `what` is told to whoever comes next.
    ///
    /// # Errors
    /// If another process has it, or regreen's folder cannot be used.
    pub fn take(root: &Path, what: &str) -> Result<Self, TreeLockError> {
        let path = lock_path(root);
        let io_error = |source| TreeLockError::Io {
            path: path.clone(),
            source,
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = open_own(&mut options, &path).map_err(io_error)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(&mut file)),
            Err(TryLockError::Error(source)) => return Err(io_error(source)),
        }
        file.set_len(0).map_err(io_error)?;
        write!(file, "{}\n{what}\n", std::process::id()).map_err(io_error)?;
        Ok(Self { file })
    }

    /// Who is at work in a tree, if anybody is.
    #[must_use]
    pub fn holder(root: &Path) -> Option<TreeLockError> {
        let mut file = open_own(OpenOptions::new().read(true), &lock_path(root)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(held(&mut file)),
            _ => None,
        }
    }
}

impl Drop for TreeLock {
    fn drop(&mut self) {
        // Whoever reads it now finds nobody. The file stays: removing it could take another
        // process's lock away.
        let _ = self.file.set_len(0);
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

fn held(file: &mut File) -> TreeLockError {
    let mut text = String::new();
    let _ = file.rewind();
    let _ = file.take(4096).read_to_string(&mut text);
    let mut lines = text.lines();
    let pid = lines.next().and_then(|pid| pid.parse().ok());
    let what = lines
        .next()
        .unwrap_or("a process that does not say what it does");
    let holder = match pid {
        Some(pid) => format!("process {pid}, {what}"),
        None => what.to_owned(),
    };
    TreeLockError::Held { holder, pid }
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

    #[test]
    fn a_second_run_hears_who_holds_the_tree() {
        let root = tempfile::tempdir().unwrap();
        make_own_folder(root.path()).unwrap();
        assert!(TreeLock::holder(root.path()).is_none());
        let first = TreeLock::take(root.path(), "spec demo").unwrap();
        let second = TreeLock::take(root.path(), "spec demo").unwrap_err();
        let pid = std::process::id();
        assert_eq!(
            second.to_string(),
            format!("another run is at work here: process {pid}, spec demo")
        );
        assert!(TreeLock::holder(root.path()).is_some());
        drop(first);
        TreeLock::take(root.path(), "spec demo").unwrap();
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
        symlink(&precious, own.join("lock")).unwrap();
        let refused = TreeLock::take(root.path(), "spec demo").unwrap_err();
        assert!(matches!(refused, TreeLockError::Io { .. }));
        assert_eq!(fs::read_to_string(&precious).unwrap(), "text");
        fs::remove_file(own.join("lock")).unwrap();
        fs::create_dir(own.join("lock")).unwrap();
        TreeLock::take(root.path(), "spec demo").unwrap_err();
        assert!(TreeLock::holder(root.path()).is_none());
    }
}
