use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, io, process};

use twox_hash::XxHash3_64;

use super::disk::{Disk, IoContext, NewFileAccess, StepError};
use super::target::Target;

const MARK: &str = ".regreen-";
const DRAFT: &str = "draft";

/// The name of a temporary file beside its target. It contains everything that recovery needs after
/// a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TempName {
    /// Being written: holds only regreen's own bytes, perhaps incomplete.
    Partial { owner: Owner },
    /// Complete, and about to be exchanged with the target. Before the exchange, the file holds
    /// `new`; afterwards, it holds whatever was at the target, which should be `read`.
    Complete {
        read: Digest,
        new: Digest,
        owner: Owner,
    },
}

/// Keeps the names of different writers apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    process: u32,
    count: u64,
}

impl Owner {
    pub(crate) fn next() -> Owner {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Owner {
            process: process::id(),
            count: COUNT.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn parse(process: &str, count: &str) -> Option<Owner> {
        Some(Owner {
            process: process.parse().ok()?,
            count: count.parse().ok()?,
        })
    }
}

impl TempName {
    /// Returns a hidden name that starts with the target's, so that a user who finds it knows where
    /// it belongs.
    pub(crate) fn beside(self, target: &OsStr) -> OsString {
        let mut name = prefix(target);
        name.extend_from_slice(self.ending().as_bytes());
        OsString::from_vec(name)
    }

    /// Parses a name made by [`TempName::beside`] for this target; `None` for any other name.
    pub(crate) fn parse(name: &OsStr, target: &OsStr) -> Option<TempName> {
        let ending = name.as_bytes().strip_prefix(prefix(target).as_slice())?;
        let parts: Vec<&str> = std::str::from_utf8(ending).ok()?.split('-').collect();
        match parts.as_slice() {
            [DRAFT, process, count] => Some(TempName::Partial {
                owner: Owner::parse(process, count)?,
            }),
            [read, new, process, count] => Some(TempName::Complete {
                read: Digest::parse(read)?,
                new: Digest::parse(new)?,
                owner: Owner::parse(process, count)?,
            }),
            _ => None,
        }
    }

    fn ending(self) -> String {
        match self {
            TempName::Partial {
                owner: Owner { process, count },
            } => format!("{DRAFT}-{process}-{count}"),
            TempName::Complete {
                read,
                new,
                owner: Owner { process, count },
            } => format!("{read}-{new}-{process}-{count}"),
        }
    }
}

fn prefix(target: &OsStr) -> Vec<u8> {
    [b".", target.as_bytes(), MARK.as_bytes()].concat()
}

/// A new file beside the target that is still being written.
#[derive(Debug)]
pub(crate) struct TempFile {
    pub(crate) owner: Owner,
    pub(crate) path: PathBuf,
    file: File,
}

impl TempFile {
    pub(crate) fn create(
        disk: &dyn Disk,
        target: &Target,
        access: NewFileAccess,
    ) -> io::Result<TempFile> {
        loop {
            let owner = Owner::next();
            let path = target.beside(TempName::Partial { owner });
            match disk.create_new(&path, access) {
                Ok(file) => return Ok(TempFile { owner, path, file }),
                // A process with the same id in another container has this name; try the next one.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn keep_attributes(&self, disk: &dyn Disk, target: &Target) -> io::Result<()> {
        disk.keep_attributes(&self.file, &target.path)
    }

    /// Writes everything and syncs it.
    pub(crate) fn fill(&self, disk: &dyn Disk, content: &[u8]) -> Result<(), StepError> {
        disk.write(&self.file, content)
            .context("write", &self.path)?;
        disk.sync_file(&self.file).context("sync", &self.path)
    }

    /// Removes the draft, which holds only our own bytes. If that fails, recovery removes it.
    pub(crate) fn discard(&self, disk: &dyn Disk) {
        let _left_to_recovery = disk.remove(&self.path);
    }
}

const BYTES: usize = 8;

/// A short fingerprint of a file's content, for use in a file name.
///
/// A later version of regreen may have to read the name, so this is a standard hash (XXH3), and a
/// fast one because every edit hashes the whole plan. It only tells our own text from other
/// people's, and need not resist forgery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; BYTES]);

impl Digest {
    /// Returns the digest of a text.
    #[must_use]
    pub fn of(content: &[u8]) -> Digest {
        Digest(XxHash3_64::oneshot(content).to_be_bytes())
    }

    pub(crate) fn parse(text: &str) -> Option<Digest> {
        if text.len() != 2 * BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        u64::from_str_radix(text, 16)
            .ok()
            .map(|number| Digest(number.to_be_bytes()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> TempName {
        TempName::Complete {
            read: Digest::of(b"old"),
            new: Digest::of(b"new"),
            owner: Owner::next(),
        }
    }

    #[test]
    fn names_round_trip() {
        let target = OsStr::new("tasks.md");
        let partial = TempName::Partial {
            owner: Owner::next(),
        };
        for name in [complete(), partial] {
            assert_eq!(TempName::parse(&name.beside(target), target), Some(name));
        }
    }

    #[test]
    fn the_name_is_hidden_and_names_its_target() {
        let name = complete().beside(OsStr::new("tasks.md"));
        assert!(name.as_bytes().starts_with(b".tasks.md.regreen-"));
    }

    #[test]
    fn other_files_are_not_ours() {
        let target = OsStr::new("tasks.md");
        let others = [
            complete().beside(OsStr::new("tasks.md.bak")),
            ".tasks.md.swp".into(),
            ".tasks.md.regreen-notes".into(),
            ".tasks.md.regreen-draft-7".into(),
            ".tasks.md.regreen-draft-7-x".into(),
            ".tasks.md.regreen-+123456789abcdef-0123456789abcdef-1-1".into(),
            "tasks.md.saved-1".into(),
        ];
        for name in others {
            assert_eq!(TempName::parse(&name, target), None, "{}", name.display());
        }
    }

    #[test]
    fn digests_are_stable_across_versions() {
        // The value that the XXH3 specification gives for empty input.
        assert_eq!(Digest::of(b"").to_string(), "2d06800538d394c2");
        assert_eq!(Digest::of(b"regreen\n").to_string(), "087e164b941f6f0a");
    }
}
