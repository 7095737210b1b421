//! What in the work tree differs from an index, as `git ls-files` sees it.

use std::collections::BTreeMap;

use crate::RelPath;

use super::git_error::GitError;
use super::invocation::Invocation;
use super::own_index::OwnIndex;

/// The folder in the workspace that is regreen's own and part of no snapshot or commit.
pub(super) const OWN_FOLDER: &str = ".regreen";

/// Why a path was listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It differs from the index, or is gone, or the index holds several versions of it.
    Changed,
    /// The index does not have it.
    New,
    /// The index does not have it, and it is a repository of its own.
    NewRepository,
    /// The user told git not to look at it: `assume-unchanged`.
    AssumedUnchanged,
    /// The user told git that it need not be there: `skip-worktree`.
    Skipped,
    /// It stands there, but the user's index has let go of it: `git rm --cached`.
    LetGo,
}

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// What git would see.
    AsGit,
    /// Also list what the user told git not to look at.
    BehindFlags,
}

/// Lists what differs, each path once.
pub(super) fn scan(index: OwnIndex<'_>, look: Look) -> Result<BTreeMap<RelPath, Found>, GitError> {
    let call = Invocation::reading("ls-files")
        .args(["-z", "--others", "--modified", "--deleted"])
        .args(["--exclude-standard", "--exclude=/.regreen/"])
        .args(match look {
            Look::AsGit => &["-t"][..],
            Look::BehindFlags => &["-v", "--cached"],
        });
    let doing = call.subcommand();
    let answer = index.ask(call)?;
    parse(&answer).ok_or_else(|| GitError::not_understood(doing))
}

fn parse(answer: &[u8]) -> Option<BTreeMap<RelPath, Found>> {
    let mut found = BTreeMap::new();
    for line in answer
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
    {
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
fn parse_line(line: &[u8]) -> Option<(RelPath, Option<Found>)> {
    let (tag, path) = (line.first()?, line.get(2..)?);
    let plain = path.strip_suffix(b"/").unwrap_or(path);
    let found = match tag {
        b'?' if plain.len() < path.len() => Some(Found::NewRepository),
        b'?' => Some(Found::New),
        b'C' | b'R' | b'M' => Some(Found::Changed),
        b'S' | b's' => Some(Found::Skipped),
        b'H' => None,
        tag if tag.is_ascii_lowercase() => Some(Found::AssumedUnchanged),
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
