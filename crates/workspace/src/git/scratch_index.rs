use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::StepError;
use crate::files::IoContext;

use super::staging::is_absence;

/// An index of regreen's own that starts as a copy of the user's.
///
/// The copy includes the user's stat data, so that only files that changed since must be read. It
/// is reused until the user's index changes.
#[derive(Debug)]
pub(super) struct ScratchIndex {
    path: PathBuf,
    original: PathBuf,
    copied: Option<Stamp>,
}

/// Whether the index was just copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    Copied,
    Kept,
}

/// Identifies the version of a file, such as the user's index. Git never writes an index or a
/// configuration in place, so a new version is a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    Absent,
    File {
        inode: (u64, u64),
        size: u64,
        changed: (i64, i64),
    },
}

/// Two versions of the user's index, one of which regreen replaced by the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplacedIndex {
    pub(super) before: Stamp,
    pub(super) after: Stamp,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self::File {
            inode: (metadata.dev(), metadata.ino()),
            size: metadata.size(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    pub(super) fn of_path(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Self::of(&metadata)),
            Err(error) if is_absence(&error) => Ok(Self::Absent),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the file was last changed at least this long ago.
    pub(super) fn is_older_than(&self, now: SystemTime, age: Duration) -> bool {
        match self {
            Self::Absent => true,
            Self::File { changed, .. } => {
                let seconds = Duration::from_secs(u64::try_from(changed.0).unwrap_or(0));
                let nanos = Duration::from_nanos(u64::try_from(changed.1).unwrap_or(0));
                let passed = now.duration_since(UNIX_EPOCH + seconds + nanos);
                passed.is_ok_and(|passed| passed >= age)
            }
        }
    }

    fn is_inode_of(&self, metadata: &Metadata) -> bool {
        matches!(self, Self::File { inode, .. } if *inode == (metadata.dev(), metadata.ino()))
    }
}

impl ScratchIndex {
    /// Creates the index at `path`, which must belong to regreen alone: leftovers of another
    /// process are removed.
    pub(super) fn new(path: PathBuf, original: PathBuf) -> Self {
        Self {
            path,
            original,
            copied: None,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Copies the user's index again if it has changed.
    pub(super) fn follow_original(&mut self) -> Result<Freshness, StepError> {
        let original = open_if_there(&self.original).context("read", &self.original)?;
        let now = match &original {
            None => Stamp::Absent,
            Some((_, metadata)) => Stamp::of(metadata),
        };
        if self.copied.as_ref() == Some(&now) {
            return Ok(Freshness::Kept);
        }
        self.copied = None;
        self.clear()?;
        if let Some((file, metadata)) = original {
            self.copy(file, &metadata).context("write", &self.path)?;
        }
        self.copied = Some(now);
        Ok(Freshness::Copied)
    }

    /// Makes the next use copy the index again.
    pub(super) fn forget(&mut self) {
        self.copied = None;
    }

    /// Replaces the user's index by this one, unless the user's has changed since it was copied or
    /// another program holds it. `None` if that isn't possible.
    pub(super) fn replace_original(&mut self) -> io::Result<Option<ReplacedIndex>> {
        let Some(before) = self.copied.clone() else {
            return Ok(None);
        };
        let lock = lock_of(&self.original);
        let held = OpenOptions::new().write(true).create_new(true).open(&lock);
        match held {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            held => drop(held?),
        }
        // As git does it, the lock becomes the index: a kill can't leave the one replaced and the
        // other behind.
        let own = match self.rename_to_lock(&before, &lock) {
            Ok(Some(own)) => own,
            not_renamed => {
                fs::remove_file(&lock)?;
                return not_renamed.map(|_| None);
            }
        };
        if let Err(error) = fs::rename(&lock, &self.original) {
            fs::remove_file(&lock)?;
            return Err(error);
        }
        self.copied = None;
        let now = fs::symlink_metadata(&self.original)?;
        Ok(own.is_inode_of(&now).then(|| ReplacedIndex {
            before: before.clone(),
            after: Stamp::of(&now),
        }))
    }

    /// Makes this index the content of the lock. `None` if the user's index has changed since it was
    /// copied, or the lock is on another file system.
    fn rename_to_lock(&self, before: &Stamp, lock: &Path) -> io::Result<Option<Stamp>> {
        let original = fs::symlink_metadata(&self.original)?;
        if !original.is_file() || Stamp::of(&original) != *before {
            return Ok(None);
        }
        fs::set_permissions(&self.path, original.permissions())?;
        let own = Stamp::of_path(&self.path)?;
        match fs::rename(&self.path, lock) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => Ok(None),
            renamed => renamed.map(|()| Some(own)),
        }
    }

    /// Continues with the version that replaced the one this is a copy of.
    pub(super) fn follow_replacement(&mut self, replaced: &ReplacedIndex) {
        if self.copied.as_ref() == Some(&replaced.before) {
            self.copied = Some(replaced.after.clone());
        }
    }

    pub(super) fn copied(&self) -> Option<&Stamp> {
        self.copied.as_ref()
    }

    /// Removes the index, and the lock of a killed git process.
    pub(super) fn clear(&self) -> Result<(), StepError> {
        for path in [self.path.clone(), lock_of(&self.path)] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).context("remove", &path);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Copies content and modification time: git trusts stat data only if it is older than the
    /// index, and a newer time would make it trust too much.
    fn copy(&self, mut original: File, metadata: &Metadata) -> io::Result<()> {
        let mut bytes = Vec::new();
        original.read_to_end(&mut bytes)?;
        let mut copy = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&self.path)?;
        copy.write_all(&bytes)?;
        copy.set_modified(metadata.modified()?)
    }
}

fn open_if_there(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    match File::open(path) {
        Ok(file) => file.metadata().map(|metadata| Some((file, metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn lock_of(index: &Path) -> PathBuf {
    let mut name = index.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_is_kept_until_the_original_changes() {
        let folder = tempfile::tempdir().unwrap();
        let original = folder.path().join("index");
        let mut scratch = ScratchIndex::new(folder.path().join("scratch"), original.clone());
        assert_eq!(scratch.follow_original().unwrap(), Freshness::Copied);
        assert!(!scratch.path().exists());

        let replace = |content: &str| {
            fs::write(folder.path().join("new"), content).unwrap();
            fs::rename(folder.path().join("new"), &original).unwrap();
        };
        replace("one");
        assert_eq!(scratch.follow_original().unwrap(), Freshness::Copied);
        assert_eq!(fs::read_to_string(scratch.path()).unwrap(), "one");
        let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(modified(scratch.path()), modified(&original));

        fs::write(scratch.path(), "our own notes").unwrap();
        assert_eq!(scratch.follow_original().unwrap(), Freshness::Kept);
        assert_eq!(fs::read_to_string(scratch.path()).unwrap(), "our own notes");

        replace("two");
        fs::write(folder.path().join("scratch.lock"), "left by a killed git").unwrap();
        assert_eq!(scratch.follow_original().unwrap(), Freshness::Copied);
        assert_eq!(fs::read_to_string(scratch.path()).unwrap(), "two");
        assert!(!folder.path().join("scratch.lock").exists());
    }

    #[test]
    fn the_original_is_replaced_under_its_lock_which_is_gone_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let original = folder.path().join("index");
        let lock = folder.path().join("index.lock");
        let mut scratch = ScratchIndex::new(folder.path().join("scratch"), original.clone());
        fs::write(&original, "old").unwrap();
        scratch.follow_original().unwrap();
        fs::write(scratch.path(), "new").unwrap();

        // Another program holds it.
        fs::write(&lock, "another's").unwrap();
        assert_eq!(scratch.replace_original().unwrap(), None);
        assert_eq!(fs::read_to_string(&lock).unwrap(), "another's");
        fs::remove_file(&lock).unwrap();
        assert_eq!(fs::read_to_string(&original).unwrap(), "old");

        let replaced = scratch.replace_original().unwrap().unwrap();
        assert_eq!(fs::read_to_string(&original).unwrap(), "new");
        assert_eq!(replaced.after, Stamp::of_path(&original).unwrap());
        assert!(!lock.exists());

        scratch.follow_original().unwrap();
        fs::write(folder.path().join("other"), "theirs").unwrap();
        fs::rename(folder.path().join("other"), &original).unwrap();
        assert_eq!(scratch.replace_original().unwrap(), None);
        assert_eq!(fs::read_to_string(&original).unwrap(), "theirs");
        assert!(!lock.exists());
    }
}
