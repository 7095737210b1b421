//! Lists what in the work tree differs from an index, as `git ls-files` sees it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::RelPath;

use super::invocation::Invocation;
use super::repository::{Git, records};
use super::runner::GitError;

/// An index of regreen's own, with the filters to use for it. Every call that uses the index
/// may compare it with the files, so each must use the same filters.
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

/// Programs such as git-lfs that git runs when it adds or writes files: which of them are turned
/// off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filters {
    settings: Vec<String>,
    all_off: bool,
}

/// The scopes of configuration that come with a repository, and that an agent can write to.
pub(super) const OF_THE_REPOSITORY: [&str; 2] = ["local", "worktree"];

impl Filters {
    /// Uses the filters of the user's own configuration, and turns off what the repository's
    /// configuration adds or replaces.
    pub(super) fn of_the_user(git: &Git) -> Result<Self, GitError> {
        let configured = configured(git)?;
        let is_theirs = |one: &&Configured| OF_THE_REPOSITORY.contains(&one.scope.as_str());
        let settings = configured.iter().filter(is_theirs).map(|one| {
            let mut of_user = configured.iter().rev().filter(|other| !is_theirs(other));
            match of_user.find(|other| other.key == one.key) {
                Some(own) => format!("{}={}", own.key, own.value),
                None => turned_off(&one.key),
            }
        });
        Ok(Self {
            settings: settings.collect(),
            all_off: false,
        })
    }

    /// Turns off every configured filter.
    pub(super) fn off(git: &Git) -> Result<Self, GitError> {
        let configured = configured(git)?;
        Ok(Self {
            settings: configured.iter().map(|one| turned_off(&one.key)).collect(),
            all_off: true,
        })
    }

    pub(super) fn are_off(&self) -> bool {
        self.all_off
    }

    pub(super) fn settings(&self) -> &[String] {
        &self.settings
    }
}

/// One setting of a filter.
#[derive(Debug, PartialEq, Eq)]
struct Configured {
    scope: String,
    key: String,
    value: String,
}

fn configured(git: &Git) -> Result<Vec<Configured>, GitError> {
    let call = Invocation::reading("config").args([
        "-z",
        "--show-scope",
        "--get-regexp",
        r"^filter\..*\.(clean|smudge|process|required)$",
    ]);
    let subcommand = call.subcommand();
    let reply = git.run(call)?;
    match reply.exit {
        Some(0) => Ok(parse_configured(&reply.stdout)),
        // No filter is configured.
        Some(1) => Ok(Vec::new()),
        _ => Err(GitError::from_reply(subcommand, &reply)),
    }
}

/// Parses records of a scope and `key\nvalue`.
fn parse_configured(answer: &[u8]) -> Vec<Configured> {
    let answer = String::from_utf8_lossy(answer);
    let mut records = answer.split_terminator('\0');
    std::iter::from_fn(|| {
        let (scope, setting) = (records.next()?, records.next()?);
        let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
        Some(Configured {
            scope: scope.to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
        })
    })
    .collect()
}

fn turned_off(key: &str) -> String {
    let value = if key.ends_with(".required") {
        "false"
    } else {
        ""
    };
    format!("{key}={value}")
}

/// Returns whether git failed because a filter is missing or failed.
pub(super) fn is_filter_failure(error: &GitError) -> bool {
    matches!(error, GitError::Failed { said, .. }
        if said.contains("clean filter '") || said.contains("external filter '"))
}

/// Regreen's own folder in the workspace, which is part of no snapshot or commit.
pub(super) const OWN_FOLDER: &str = ".regreen";

/// Why a path was listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// It differs from the index, was deleted, or is unmerged.
    Changed,
    /// It is not in the index.
    New,
    /// It is not in the index, and is a repository of its own.
    NewRepository,
    /// The user set `assume-unchanged`.
    AssumedUnchanged,
    /// The user set `skip-worktree`.
    Skipped,
    /// It exists, but the user removed it from the index: `git rm --cached`.
    Untracked,
}

/// Whether a scan respects the user's index flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanMode {
    /// Lists what git would list.
    AsGit,
    /// Also lists files that the user told git to ignore by a flag.
    IgnoringFlags,
}

/// Lists the paths that differ, each once.
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

/// Parses `<letter> <path>`; a lowercase letter marks `assume-unchanged`.
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
    fn unknown_output_is_refused() {
        assert_eq!(parse(b"! what\0"), None);
        assert_eq!(parse(b"H ../up\0"), None);
    }
}
