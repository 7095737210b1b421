//! What in the work tree differs from an index, as `git ls-files` sees it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::RelPath;

use super::invocation::Invocation;
use super::repository::{Git, records};
use super::runner::GitError;

/// An index of regreen's own, and how files are taken into it. Every call that uses the index
/// may compare it with the files, so each is made in the same way.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnIndex<'a> {
    pub(super) git: &'a Git,
    pub(super) path: &'a Path,
    pub(super) filters: &'a Filters,
}

impl OwnIndex<'_> {
    pub(super) fn ask(&self, call: Invocation) -> Result<Vec<u8>, GitError> {
        self.git.ask(self.prepare(call))
    }

    fn prepare(&self, call: Invocation) -> Invocation {
        call.index(self.path).filters(self.filters)
    }
}

/// Programs that the user's git runs over some files when it takes them in or writes them,
/// such as git-lfs: used as they are configured, or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filters {
    settings: Vec<String>,
}

impl Filters {
    /// Turns every filter off that is configured.
    pub(super) fn off(git: &Git) -> Result<Self, GitError> {
        let call = Invocation::reading("config").args([
            "-z",
            "--name-only",
            "--get-regexp",
            r"^filter\..*\.(clean|smudge|process|required)$",
        ]);
        let answer = git.ask(call)?;
        let answer = String::from_utf8_lossy(&answer);
        let settings = answer.split_terminator('\0').map(turned_off);
        Ok(Self {
            settings: settings.collect(),
        })
    }

    pub(super) fn are_off(&self) -> bool {
        !self.settings.is_empty()
    }

    pub(super) fn settings(&self) -> &[String] {
        &self.settings
    }
}

fn turned_off(key: &str) -> String {
    let value = if key.ends_with(".required") {
        "false"
    } else {
        ""
    };
    format!("{key}={value}")
}

/// Whether git gave up because a filter is missing or failed.
pub(super) fn is_filter_failure(error: &GitError) -> bool {
    matches!(error, GitError::Failed { said, .. }
        if said.contains("clean filter '") || said.contains("external filter '"))
}

/// The folder in the workspace that is regreen's own and part of no snapshot or commit.
pub(super) const OWN_FOLDER: &str = ".regreen";

/// Why a path was listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// It differs from the index, or is gone, or the index holds several versions of it.
    Changed,
    /// The index does not have it.
    New,
    /// The index does not have it, and it is a separate repository.
    NewRepository,
    /// The user told git not to look at it: `assume-unchanged`.
    AssumedUnchanged,
    /// The user told git that it need not be there: `skip-worktree`.
    Skipped,
    /// It stands there, but the user's index has let go of it: `git rm --cached`.
    Untracked,
}

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanMode {
    /// What git would see.
    AsGit,
    /// Also list what the user told git not to look at.
    IgnoringFlags,
}

/// Lists what differs, each path once.
pub(super) fn scan(
    index: OwnIndex<'_>,
    look: ScanMode,
) -> Result<BTreeMap<RelPath, Difference>, GitError> {
    let call = Invocation::reading("ls-files")
        .args(["-z", "--others", "--modified", "--deleted"])
        .args(["--exclude-standard", "--exclude=/.regreen/"])
        .args(match look {
            ScanMode::AsGit => &["-t"][..],
            ScanMode::IgnoringFlags => &["-v", "--cached"],
        });
    index.git.ask_parsed(index.prepare(call), parse)
}

fn parse(answer: &[u8]) -> Option<BTreeMap<RelPath, Difference>> {
    let mut found = BTreeMap::new();
    for line in records(answer) {
        let (path, what) = parse_line(line)?;
        if let Some(what) = what
            && !path.is_within(OWN_FOLDER)
        {
            found.insert(path, what);
        }
    }
    Some(found)
}

/// `<letter> <path>`; a small letter is a path that git was told not to look at.
fn parse_line(line: &[u8]) -> Option<(RelPath, Option<Difference>)> {
    let (tag, path) = (line.first()?, line.get(2..)?);
    let plain = path.strip_suffix(b"/").unwrap_or(path);
    let found = match tag {
        b'?' if plain.len() < path.len() => Some(Difference::NewRepository),
        b'?' => Some(Difference::New),
        b'C' | b'R' | b'M' => Some(Difference::Changed),
        b'S' | b's' => Some(Difference::Skipped),
        b'H' => None,
        tag if tag.is_ascii_lowercase() => Some(Difference::AssumedUnchanged),
        _ => return None,
    };
    Some((RelPath::new(plain).ok()?, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_is_listed_once_with_the_reason() {
        let answer = b"? new\nfile\0? repo/\0H same\0C changed\0R gone\0C gone\0M both\0M both\0h assumed\0S skipped\0H .regreen/x\0? .regreen/y\0";
        let found: Vec<String> = parse(answer)
            .unwrap()
            .into_iter()
            .map(|(path, found)| format!("{path} {found:?}"))
            .collect();
        assert_eq!(
            found,
            [
                "assumed AssumedUnchanged",
                "both Changed",
                "changed Changed",
                "gone Changed",
                "\"new\\nfile\" New",
                "repo NewRepository",
                "skipped Skipped",
            ]
        );
    }

    #[test]
    fn an_answer_of_another_shape_is_refused() {
        assert_eq!(parse(b"! what\0"), None);
        assert_eq!(parse(b"H ../up\0"), None);
    }
}
