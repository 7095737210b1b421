use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::RelPath;

use super::invocation::Invocation;
use super::own_index::{Filters, OWN_FOLDER};
use super::plain_runner::PlainRunner;
use super::repository;
use super::repository::{Git, records};
use super::runner::GitError;

impl Git {
    /// Lists every changed path: staged, unstaged or untracked.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn dirty_paths(&self) -> Result<BTreeSet<RelPath>, GitError> {
        let call = Invocation::reading("status")
            .args(["--porcelain=v1", "-z", "--untracked-files=all"])
            // A submodule counts as its commit. To look for changes inside, git would start another
            // git there, with the filters of that repository's configuration.
            .args(["--no-renames", "--ignore-submodules=dirty"])
            .filters(&Filters::of_the_user(self)?);
        self.ask_parsed(call, parse_dirty)
    }
}

/// Parses `XY path` records; the path of a nested repository ends in a slash.
fn parse_dirty(answer: &[u8]) -> Option<BTreeSet<RelPath>> {
    let paths = records(answer).map(|line| {
        let path = line.get(3..)?;
        RelPath::new(path.strip_suffix(b"/").unwrap_or(path)).ok()
    });
    let mut paths: BTreeSet<RelPath> = paths.collect::<Option<_>>()?;
    paths.retain(|path| !path.is_within(OWN_FOLDER));
    Some(paths)
}

impl Git {
    /// Lists every file that git tracks or would add, without ignored ones.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn listed_files(&self) -> Result<Vec<RelPath>, GitError> {
        let call = Invocation::reading("ls-files")
            .args(["-z", "--cached", "--others", "--deduplicate"])
            .arg("--exclude-standard");
        let answer = self.ask(call)?;
        let paths = records(&answer).filter_map(|name| RelPath::new(name).ok());
        Ok(paths.filter(|path| !path.is_within(OWN_FOLDER)).collect())
    }
}

/// The state of a path in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStatus {
    /// The path, or something below it, is in the index.
    Tracked,
    /// Git ignores it.
    Ignored,
    /// Neither; `git add -A` would add it.
    Untracked,
    /// The workspace isn't in a repository.
    NoRepository,
    /// Git is missing or fails.
    Unknown,
}

/// Returns the state of a path, which need not exist. The workspace may be any folder of a work
/// tree.
#[must_use]
pub fn path_status(root: &Path, path: &RelPath) -> PathStatus {
    if !root.ancestors().any(is_repository) {
        return PathStatus::NoRepository;
    }
    let name = OsStr::from_bytes(path.as_bytes());
    let listed = Invocation::reading("ls-files").args(["-z", "--cached", "--"]);
    let Ok(listed) = repository::ask(&PlainRunner::default(), root, listed.arg(name)) else {
        return PathStatus::Unknown;
    };
    if !listed.is_empty() {
        return PathStatus::Tracked;
    }
    let reply = repository::run(&PlainRunner::default(), root, is_ignored(path));
    match reply.ok().and_then(|reply| reply.exit) {
        Some(0) => PathStatus::Ignored,
        Some(1) => PathStatus::Untracked,
        _ => PathStatus::Unknown,
    }
}

/// Builds the call. `check-ignore` doesn't support literal pathspecs but expands none either; `./`
/// disables the magic of a leading colon.
fn is_ignored(path: &RelPath) -> Invocation {
    let name = [b"./", path.as_bytes()].concat();
    Invocation::reading("check-ignore")
        .env("GIT_LITERAL_PATHSPECS", "0")
        .args(["--quiet", "--"])
        .arg(OsStr::from_bytes(&name))
}

fn is_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// A git operation that the user has not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InProgress {
    /// `git merge`
    Merge,
    /// `git cherry-pick`
    CherryPick,
    /// `git revert`
    Revert,
    /// `git rebase`
    Rebase,
    /// `git am`
    ApplyingPatches,
}

/// Files in the git directory that indicate an operation. `git am` comes before the rebase that may
/// use it.
const SIGNS: [(&str, InProgress); 6] = [
    ("MERGE_HEAD", InProgress::Merge),
    ("CHERRY_PICK_HEAD", InProgress::CherryPick),
    ("REVERT_HEAD", InProgress::Revert),
    ("rebase-apply/applying", InProgress::ApplyingPatches),
    ("rebase-apply", InProgress::Rebase),
    ("rebase-merge", InProgress::Rebase),
];

impl InProgress {
    /// Returns the operation that is not finished in a repository.
    #[must_use]
    pub fn look(git_dir: &Path) -> Option<Self> {
        let mut seen = SIGNS
            .iter()
            .filter(|(sign, _)| git_dir.join(sign).symlink_metadata().is_ok());
        seen.next().map(|(_, what)| *what)
    }
}

impl fmt::Display for InProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Merge => "merge",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Rebase => "rebase",
            Self::ApplyingPatches => "git am",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_every_state_and_name_are_parsed() {
        let answer = b" M a\0?? b\nc\0A  \"d\0UU e\0?? repo/\0?? .regreen/x\0";
        let paths: Vec<String> = parse_dirty(answer)
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(paths, ["\"\\\"d\"", "a", "\"b\\nc\"", "e", "repo"]);
        assert_eq!(parse_dirty(b" M /etc/passwd\0"), None);
    }
}
