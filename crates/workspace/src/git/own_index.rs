//! Finds how the work tree differs from an index, as git sees it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::RelPath;

use super::invocation::Invocation;
use super::repository::{Git, records};
use super::runner::GitError;
use super::settings::{Setting, Settings};

/// An index of regreen's own, with its filters. Every call that uses the index may compare it with
/// the files, so all of them must use the same filters.
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

/// The disabled filters. Filters are programs such as git-lfs that git runs when it adds or writes
/// files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filters {
    settings: Vec<String>,
    all_off: bool,
}

const FILTER_SETTINGS: [&str; 4] = ["clean", "smudge", "process", "required"];

impl Filters {
    /// Enables the filters from the user's own configuration, and disables those that the
    /// repository's configuration adds or replaces.
    pub(super) fn of_the_user(git: &Git) -> Result<Self, GitError> {
        let all = git.settings()?;
        let configured = filter_settings(&all);
        let theirs = configured.iter().filter(|one| one.is_of_the_repository());
        let settings = theirs.map(|one| {
            let of_user = configured.iter().rev();
            let mut of_user = of_user.filter(|other| !other.is_of_the_repository());
            match of_user.find(|other| other.key == one.key) {
                Some(own) => {
                    let value = own.value.as_deref().unwrap_or("true");
                    format!("{}={value}", own.key)
                }
                None => turned_off(&one.key),
            }
        });
        Ok(Self {
            settings: settings.collect(),
            all_off: false,
        })
    }

    /// Disables every configured filter.
    pub(super) fn off(git: &Git) -> Result<Self, GitError> {
        let all = git.settings()?;
        let configured = filter_settings(&all);
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

/// Returns the settings that make git run a program on the content of files.
fn filter_settings(all: &Settings) -> Vec<&Setting> {
    let is_one = |key: &str| {
        let name = key
            .strip_prefix("filter.")
            .and_then(|rest| rest.rsplit_once('.'));
        name.is_some_and(|(_, what)| FILTER_SETTINGS.contains(&what))
    };
    all.0.iter().filter(|one| is_one(&one.key)).collect()
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

/// regreen's own folder in the workspace, which is never part of a snapshot or commit.
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

/// The result of scanning the whole work tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WorkTreeScan {
    /// The paths that differ from the index.
    pub(super) differing: BTreeMap<RelPath, Difference>,
    /// Ignored files, and folders that match a pattern; `None` if unknown.
    pub(super) ignored: Option<Vec<Vec<u8>>>,
}

/// Scans the whole work tree, and records the stat data of unchanged files in the index.
pub(super) fn scan(index: OwnIndex<'_>) -> Result<WorkTreeScan, GitError> {
    let call = Invocation::writing("status")
        .args(["--porcelain=v1", "-z", "--untracked-files=all"])
        .args(["--ignored=matching", "--no-renames"])
        // A submodule counts as its commit. To look for changes inside, git would start another git
        // there, with the filters of that repository's configuration.
        .arg("--ignore-submodules=dirty");
    match index.git.ask_parsed(index.prepare(call), parse_status) {
        // `status` also compares the index with HEAD, which an attempt may have broken.
        Err(GitError::Failed { .. }) => Ok(WorkTreeScan {
            differing: list(index, Listing::Changes, &[])?,
            ignored: None,
        }),
        scanned => scanned,
    }
}

/// Parses `XY path` records, in which `Y` compares the work tree with the index.
fn parse_status(answer: &[u8]) -> Option<WorkTreeScan> {
    let mut scan = WorkTreeScan::default();
    let mut ignored = Vec::new();
    for line in records(answer) {
        let (letters, path) = (line.get(..2)?, line.get(3..)?);
        let plain = path.strip_suffix(b"/").unwrap_or(path);
        let found = match letters {
            b"!!" => {
                ignored.push(path.to_vec());
                continue;
            }
            b"??" if plain.len() < path.len() => Difference::NewRepository,
            b"??" => Difference::New,
            [b'M' | b'T' | b'A' | b'D' | b' ', b' '] => continue,
            [_, b'M' | b'T' | b'A' | b'D' | b'U'] | [b'U', _] => Difference::Changed,
            _ => return None,
        };
        let path = RelPath::new(plain).ok()?;
        if !path.is_within(OWN_FOLDER) {
            scan.differing.insert(path, found);
        }
    }
    scan.ignored = Some(ignored);
    Some(scan)
}

/// The files that `git ls-files` should list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    /// Files that differ, as git sees it.
    Changes,
    /// Also files that the user told git to skip with a flag.
    ChangesAndFlagged,
}

/// The maximum size of the paths in one command line, in bytes.
const MAX_ARGUMENT_BYTES: usize = 32 * 1024;

/// Lists the differing paths among `only` and below, or in the whole work tree if none are given or
/// there are too many.
pub(super) fn list(
    index: OwnIndex<'_>,
    listing: Listing,
    only: &[&RelPath],
) -> Result<BTreeMap<RelPath, Difference>, GitError> {
    let bytes: usize = only.iter().map(|path| path.as_bytes().len() + 1).sum();
    let only = if bytes > MAX_ARGUMENT_BYTES {
        &[]
    } else {
        only
    };
    let call = Invocation::reading("ls-files")
        .args(["-z", "--others", "--modified", "--deleted"])
        .args(["--exclude-standard", "--exclude=/.regreen/"])
        .args(match listing {
            Listing::Changes => &["-t"][..],
            Listing::ChangesAndFlagged => &["-v", "--cached"],
        })
        .arg("--")
        .args(only.iter().map(|path| path.as_path()));
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
    fn only_the_work_tree_side_of_a_status_counts() {
        let answer = b" M changed\0 D gone\0MM both\0M  staged\0D  removed\0AA merge\0UD conflict\0 T link\0 A intended\0?? new\nfile\0?? repo/\0?? .regreen/y\0!! out/\0!! a.pyc\0";
        let found = parse_status(answer).unwrap();
        let differing: Vec<String> = found
            .differing
            .into_iter()
            .map(|(path, found)| format!("{path} {found:?}"))
            .collect();
        assert_eq!(
            differing,
            [
                "both Changed",
                "changed Changed",
                "conflict Changed",
                "gone Changed",
                "intended Changed",
                "link Changed",
                "merge Changed",
                "\"new\\nfile\" New",
                "repo NewRepository",
            ]
        );
        assert_eq!(
            found.ignored,
            Some(vec![b"out/".to_vec(), b"a.pyc".to_vec()])
        );
        assert_eq!(parse_status(b"X? what\0"), None);
    }

    #[test]
    fn unknown_output_is_refused() {
        assert_eq!(parse(b"! what\0"), None);
        assert_eq!(parse(b"H ../up\0"), None);
    }
}
