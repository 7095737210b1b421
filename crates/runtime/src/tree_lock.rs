use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

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
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io_error)?;
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
        let mut file = File::open(lock_path(root)).ok()?;
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
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700);
    private.create(own.join("scratch"))?;
    let ignore = own.join(".gitignore");
    if ignore.try_exists()? {
        return Ok(());
    }
    fs::write(ignore, "*\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

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
}
