use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use super::digest::Digest;

const MARK: &str = ".regreen-";
const DRAFT: &str = "draft";

/// The name of a temporary file beside its target, which says all that is needed to
/// clear it up after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TempName {
    /// Being written: only ever regreen's own bytes, perhaps not all of them.
    Draft { owner: Owner },
    /// Complete, and about to change places with the target. Before the exchange the file
    /// holds `new`; after it, whatever stood at the target, which should be `read`.
    Ready {
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
    /// Hidden, and beginning with the target's name so that a person who finds it knows
    /// what it belongs to.
    pub(crate) fn beside(self, target: &OsStr) -> OsString {
        let mut name = prefix(target);
        name.extend_from_slice(self.ending().as_bytes());
        OsString::from_vec(name)
    }

    /// Reads back what [`TempName::beside`] wrote for this target; any other name is none.
    pub(crate) fn parse(name: &OsStr, target: &OsStr) -> Option<TempName> {
        let ending = name.as_bytes().strip_prefix(prefix(target).as_slice())?;
        let parts: Vec<&str> = std::str::from_utf8(ending).ok()?.split('-').collect();
        match parts.as_slice() {
            [DRAFT, process, count] => Some(TempName::Draft {
                owner: Owner::parse(process, count)?,
            }),
            [read, new, process, count] => Some(TempName::Ready {
                read: Digest::parse(read)?,
                new: Digest::parse(new)?,
                owner: Owner::parse(process, count)?,
            }),
            _ => None,
        }
    }

    fn ending(self) -> String {
        match self {
            TempName::Draft {
                owner: Owner { process, count },
            } => format!("{DRAFT}-{process}-{count}"),
            TempName::Ready {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ready() -> TempName {
        TempName::Ready {
            read: Digest::of(b"old"),
            new: Digest::of(b"new"),
            owner: Owner::next(),
        }
    }

    #[test]
    fn a_name_reads_back_as_what_was_written() {
        let target = OsStr::new("tasks.md");
        let draft = TempName::Draft {
            owner: Owner::next(),
        };
        for name in [ready(), draft] {
            assert_eq!(TempName::parse(&name.beside(target), target), Some(name));
        }
    }

    #[test]
    fn the_name_is_hidden_and_names_its_target() {
        let name = ready().beside(OsStr::new("tasks.md"));
        assert!(name.as_bytes().starts_with(b".tasks.md.regreen-"));
    }

    #[test]
    fn names_of_other_targets_and_of_people_are_not_ours() {
        let target = OsStr::new("tasks.md");
        let others = [
            ready().beside(OsStr::new("tasks.md.bak")),
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
    fn a_digest_means_the_same_to_every_version() {
        // As the specification of XXH3 has it for nothing at all.
        assert_eq!(Digest::of(b"").to_string(), "2d06800538d394c2");
        assert_eq!(Digest::of(b"regreen\n").to_string(), "087e164b941f6f0a");
    }
}
