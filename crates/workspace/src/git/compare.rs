//! Compares two snapshots.

use crate::{Change, RelPath};

use super::invocation::Invocation;
use super::raw_diff::{RawChange, parse_raw};
use super::repository::Oid;
use super::repository::{Git, records};
use super::runner::GitError;

/// The maximum size of the paths in one command line, in bytes.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// A diff as printed by git: bytes, because files need not be text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The output of git.
    pub bytes: Vec<u8>,
    /// Whether the diff was longer than requested.
    pub cut: bool,
}

/// A changed file, with its number of changed lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCount {
    /// The file.
    pub path: RelPath,
    /// Added and removed lines; `None` for a binary file.
    pub lines: Option<(u64, u64)>,
}

impl Git {
    /// Lists the files that differ, sorted by path.
    ///
    /// # Errors
    /// Returns an error if git fails, or does not know the snapshots.
    pub fn changed_files(&self, before: &Oid, after: &Oid) -> Result<Vec<Change>, GitError> {
        let raw = self.raw_changes(before, after)?;
        let mut changes: Vec<Change> = raw.into_iter().filter_map(RawChange::into_change).collect();
        changes.sort();
        Ok(changes)
    }

    pub(super) fn raw_changes(
        &self,
        before: &Oid,
        after: &Oid,
    ) -> Result<Vec<RawChange>, GitError> {
        if before == after {
            return Ok(Vec::new());
        }
        let call = Invocation::reading("diff-tree")
            .args(["-r", "-z", "--raw", "--no-abbrev", "--no-renames"])
            .args(["--ignore-submodules=none", before.as_str(), after.as_str()]);
        self.ask_parsed(call, parse_raw)
    }

    /// Counts the added and removed lines of the files that differ, sorted by path.
    ///
    /// # Errors
    /// Returns an error if git fails, or does not know the snapshots.
    pub fn changed_lines(&self, before: &Oid, after: &Oid) -> Result<Vec<LineCount>, GitError> {
        let call = Invocation::reading("diff-tree")
            .args(["-r", "-z", "--numstat", "--no-renames", "--no-ext-diff"])
            .args(["--no-textconv", "--ignore-submodules=none"])
            .args([before.as_str(), after.as_str()]);
        self.ask_parsed(call, |answer| {
            records(answer).map(LineCount::parse).collect()
        })
    }

    /// Returns the diff of all files, or of those in `only`, independent of the user's colours,
    /// external diff programs and text conversions.
    ///
    /// # Errors
    /// Returns an error if git fails, or does not know the snapshots.
    pub fn diff(
        &self,
        before: &Oid,
        after: &Oid,
        only: Option<&[RelPath]>,
        max_bytes: Option<usize>,
    ) -> Result<Diff, GitError> {
        let mut diff = Diff::default();
        for paths in portions(only) {
            let left = max_bytes.map(|max| max - diff.bytes.len());
            let part = self.diff_of(before, after, paths, left)?;
            diff.bytes.extend_from_slice(&part.bytes);
            if part.cut {
                diff.cut = true;
                break;
            }
        }
        Ok(diff)
    }

    /// Streams the diff to `take` until it returns false, because a diff may not fit into memory.
    ///
    /// # Errors
    /// Fails like [`Git::diff`].
    pub fn diff_into(
        &self,
        before: &Oid,
        after: &Oid,
        only: Option<&[RelPath]>,
        mut take: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), GitError> {
        for paths in portions(only) {
            let call = content_diff(before, after, paths);
            let subcommand = call.subcommand();
            let reply = self.run_into(call, &mut take)?;
            if reply.cut {
                return Ok(());
            }
            if !reply.succeeded() {
                return Err(GitError::from_reply(subcommand, &reply));
            }
        }
        Ok(())
    }

    fn diff_of(
        &self,
        before: &Oid,
        after: &Oid,
        paths: &[RelPath],
        max_bytes: Option<usize>,
    ) -> Result<Diff, GitError> {
        let call = content_diff(before, after, paths).max_stdout(max_bytes);
        let subcommand = call.subcommand();
        let reply = self.run(call)?;
        if !reply.succeeded() && !reply.cut {
            return Err(GitError::from_reply(subcommand, &reply));
        }
        Ok(Diff {
            bytes: reply.stdout,
            cut: reply.cut,
        })
    }
}

fn content_diff(before: &Oid, after: &Oid, paths: &[RelPath]) -> Invocation {
    Invocation::reading("diff-tree")
        .args(["-r", "-p", "--no-color", "--no-renames"])
        .args(["--no-ext-diff", "--no-textconv", "--ignore-submodules=none"])
        .args([before.as_str(), after.as_str(), "--"])
        .args(paths.iter().map(RelPath::as_path))
}

impl LineCount {
    /// Parses `3\t1\tpath`; a binary file has dashes instead of numbers.
    fn parse(record: &[u8]) -> Option<Self> {
        let mut parts = record.splitn(3, |byte| *byte == b'\t');
        let mut number = || std::str::from_utf8(parts.next()?).ok();
        let (added, removed) = (number()?, number()?);
        let lines = match (added, removed) {
            ("-", "-") => None,
            (added, removed) => Some((added.parse().ok()?, removed.parse().ok()?)),
        };
        Some(Self {
            path: RelPath::new(parts.next()?).ok()?,
            lines,
        })
    }
}

/// Divides the paths into portions that fit into one call. `None` is a single portion without
/// paths.
fn portions(only: Option<&[RelPath]>) -> Vec<&[RelPath]> {
    let Some(paths) = only else {
        return vec![&[]];
    };
    let mut used = 0;
    paths
        .chunk_by(|_, next| {
            used += next.as_bytes().len() + 1;
            let fits = used <= MAX_ARGUMENT_BYTES;
            if !fits {
                used = 0;
            }
            fits
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_in_one_portion_and_no_portion_is_too_long() {
        let paths: Vec<RelPath> = (0..3000)
            .map(|n| RelPath::new(format!("{n}-{}", "x".repeat(100))).unwrap())
            .collect();
        let portions = portions(Some(&paths));
        assert!(portions.len() > 1);
        assert_eq!(portions.concat(), paths);
        for portion in portions {
            let bytes: usize = portion.iter().map(|path| path.as_bytes().len()).sum();
            assert!(bytes <= MAX_ARGUMENT_BYTES + 4096);
        }
    }

    #[test]
    fn no_selection_differs_from_an_empty_one() {
        assert_eq!(portions(None), [&[] as &[RelPath]]);
        assert!(portions(Some(&[])).is_empty());
    }
}
