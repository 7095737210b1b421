use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::{Change, ChangeKind, RelPath};

use crate::walk::walk;

/// Within this time, two saves may have the same timestamp on some file systems.
const STAMP_STEP: Duration = Duration::from_secs(2);

/// Limits on the work of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashLimits {
    /// The number of files to list.
    pub max_files: usize,
    /// The size above which files are compared only by size and time.
    pub max_file: u64,
    /// The number of bytes to read in total; the remaining files are compared only by size and
    /// time.
    pub max_total: u64,
}

impl Default for HashLimits {
    fn default() -> Self {
        Self {
            max_files: 50_000,
            max_file: 16 * 1024 * 1024,
            max_total: 256 * 1024 * 1024,
        }
    }
}

/// Without git, only fingerprints are kept, so regreen can neither show a diff nor restore a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("outside git, regreen keeps only hashes of files, not their content")]
pub struct ContentNotKept;

/// The fingerprints of a workspace's files at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashSnapshot {
    taken: SystemTime,
    files: BTreeMap<RelPath, FileMark>,
    incomplete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FileMark {
    kind: Kind,
    stamp: Stamp,
    digest: Option<[u8; 32]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Executable,
    Link,
}

/// The stat data of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    inode: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl HashSnapshot {
    /// Takes a snapshot. Files with the same stat data as in `previous` aren't read again.
    #[must_use]
    pub fn take(
        root: &Path,
        previous: Option<&HashSnapshot>,
        limits: HashLimits,
        now: SystemTime,
    ) -> Self {
        Self::take_excluding(&BTreeSet::new(), root, previous, limits, now)
    }

    /// Takes a snapshot without the files in `leave_out`.
    #[must_use]
    pub fn take_excluding(
        leave_out: &BTreeSet<RelPath>,
        root: &Path,
        previous: Option<&HashSnapshot>,
        limits: HashLimits,
        now: SystemTime,
    ) -> Self {
        let mut walk = walk(root, limits.max_files);
        walk.files.retain(|(path, _)| !leave_out.contains(path));
        let mut reader = Reader {
            root,
            previous,
            limits,
            read: 0,
        };
        let marks = walk.files.into_iter().map(|(path, found)| {
            let mark = reader.mark(&path, &found);
            (path, mark)
        });
        Self {
            taken: now,
            files: marks.collect(),
            incomplete: walk.incomplete,
        }
    }

    /// Returns whether files are missing, because there were too many or a folder couldn't be
    /// listed.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Lists the differences in `after`, sorted by path.
    #[must_use]
    pub fn changed_files(&self, after: &HashSnapshot) -> Vec<Change> {
        let gone = self
            .files
            .keys()
            .filter(|path| !after.files.contains_key(*path))
            .map(|path| (path, ChangeKind::Deleted));
        let here = after.files.iter().filter_map(|(path, mark)| {
            let kind = mark.change_since(self.files.get(path))?;
            Some((path, kind))
        });
        let mut changes: Vec<Change> = gone
            .chain(here)
            .map(|(path, kind)| Change {
                path: path.clone(),
                kind,
            })
            .collect();
        changes.sort();
        changes
    }

    /// Fails, because no content is kept.
    ///
    /// # Errors
    /// Always fails; see [`ContentNotKept`].
    pub fn diff(&self, _after: &HashSnapshot) -> Result<Vec<u8>, ContentNotKept> {
        Err(ContentNotKept)
    }
}

impl FileMark {
    fn change_since(&self, before: Option<&FileMark>) -> Option<ChangeKind> {
        let Some(before) = before else {
            return Some(ChangeKind::Added);
        };
        if (self.kind == Kind::Link) != (before.kind == Kind::Link) {
            return Some(ChangeKind::TypeChanged);
        }
        let same_content = match (&self.digest, &before.digest) {
            (Some(now), Some(then)) => now == then,
            _ => self.stamp == before.stamp,
        };
        (!same_content || self.kind != before.kind).then_some(ChangeKind::Modified)
    }
}

struct Reader<'a> {
    root: &'a Path,
    previous: Option<&'a HashSnapshot>,
    limits: HashLimits,
    read: u64,
}

impl Reader<'_> {
    fn mark(&mut self, path: &RelPath, found: &Metadata) -> FileMark {
        let stamp = Stamp::of(found);
        let known = self.known(path, &stamp);
        let digest = known.or_else(|| self.digest(path, found));
        FileMark {
            kind: kind_of(found),
            stamp,
            digest,
        }
    }

    fn known(&self, path: &RelPath, stamp: &Stamp) -> Option<[u8; 32]> {
        let previous = self.previous?;
        let mark = previous.files.get(path)?;
        (mark.stamp == *stamp && stamp.is_older_than(previous.taken))
            .then_some(mark.digest)
            .flatten()
    }

    fn digest(&mut self, path: &RelPath, found: &Metadata) -> Option<[u8; 32]> {
        let place = path.under(self.root);
        if found.is_symlink() {
            let target = fs::read_link(&place).ok()?;
            return Some(Sha256::digest(target.as_os_str().as_bytes()).into());
        }
        let fits = found.size() <= self.limits.max_file
            && self.read + found.size() <= self.limits.max_total;
        if !fits {
            return None;
        }
        self.read += found.size();
        digest_of(&place, self.limits.max_file).ok()
    }
}

/// Reads at most `max` bytes, because the file may be growing.
fn digest_of(path: &Path, max: u64) -> io::Result<[u8; 32]> {
    let harmless = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::options()
        .read(true)
        .custom_flags(harmless.bits().cast_signed())
        .open(path)?;
    let mut file = file.take(max);
    let mut hasher = Sha256::new();
    let mut chunk = [0; 64 * 1024];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hasher.finalize().into()),
            count => hasher.update(chunk.get(..count).unwrap_or_default()),
        }
    }
}

fn kind_of(found: &Metadata) -> Kind {
    if found.is_symlink() {
        Kind::Link
    } else if found.mode() & 0o100 != 0 {
        Kind::Executable
    } else {
        Kind::File
    }
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        Self {
            inode: (found.dev(), found.ino()),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// Returns whether any save after `moment` will have another timestamp.
    fn is_older_than(&self, moment: SystemTime) -> bool {
        let moment = moment.checked_sub(STAMP_STEP);
        let since_epoch = moment.and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
        let seconds = since_epoch.and_then(|since| i64::try_from(since.as_secs()).ok());
        seconds.is_some_and(|seconds| self.modified.0.max(self.changed.0) < seconds)
    }
}
