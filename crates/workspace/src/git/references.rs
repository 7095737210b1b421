//! The branches, tags and stash of a repository. An attempt works on one branch; whatever it
//! removes from the others is detected and kept.

use std::collections::BTreeMap;

use crate::files::{MAX_FILE, read_text_file};

use super::attempt_name::{AttemptName, SnapshotSide};
use super::invocation::Invocation;
use super::repository::{Git, Oid};
use super::runner::GitError;

/// The references where people keep their work: branches, tags and the newest stash.
pub(super) const OF_PEOPLE: [&str; 3] = ["refs/heads", "refs/tags", "refs/stash"];
const SHORT: usize = 12;
/// The names of all stashes, each with its object: only the newest has a reference of its own.
const STASHES: &str = "refs/stashes/";
const NEWEST_STASH: &str = "refs/stash";

/// The people's references, each with its object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References(BTreeMap<String, Oid>);

/// A reference that was removed, or moved away from its object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostReference {
    name: String,
    oid: Oid,
    is_gone: bool,
}

impl LostReference {
    /// Describes what happened to it, for people.
    #[must_use]
    pub fn shown(&self) -> String {
        let did = if self.is_gone { "deleted" } else { "moved" };
        match self.kind_and_name() {
            ("stash", NEWEST_STASH) => "your newest stash was removed or replaced".to_owned(),
            ("stash", _) => "one of your stashes was removed".to_owned(),
            (kind, name) => format!("the {kind} {name} was {did}"),
        }
    }

    /// Returns the command that restores it.
    #[must_use]
    pub fn way_back(&self) -> String {
        let oid = self.oid.as_str();
        let short = oid.get(..SHORT).unwrap_or(oid);
        match self.kind_and_name() {
            ("stash", _) => format!("git stash store {oid}"),
            (kind, name) => format!("git {kind} -f -- {} {short}", shell_words::quote(name)),
        }
    }

    fn kind_and_name(&self) -> (&'static str, &str) {
        if let Some(name) = self.name.strip_prefix("refs/heads/") {
            return ("branch", name);
        }
        match self.name.strip_prefix("refs/tags/") {
            Some(name) => ("tag", name),
            None => ("stash", &self.name),
        }
    }
}

impl Git {
    /// Returns the people's references.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn references(&self) -> Result<References, GitError> {
        let read = self
            .reference_files()
            .and_then(|files| files.all(&OF_PEOPLE));
        if let Some(mut read) = read {
            read.extend(self.stashes());
            return Ok(References(read));
        }
        let call = Invocation::reading("for-each-ref")
            .arg("--format=%(objectname) %(refname)")
            .args(OF_PEOPLE);
        let answer = self.ask(call)?;
        let parse = |line: &str| {
            let (oid, name) = line.split_once(' ')?;
            Some((name.to_owned(), Oid::parse(oid)?))
        };
        let answer = String::from_utf8_lossy(&answer);
        Ok(References(answer.lines().filter_map(parse).collect()))
    }

    /// Returns all stashes, which git lists in the reflog of the newest one.
    fn stashes(&self) -> BTreeMap<String, Oid> {
        let log = self.common().join("logs").join(NEWEST_STASH);
        let log = read_text_file(&log, MAX_FILE).unwrap_or_default();
        let entries = log
            .lines()
            .filter_map(|line| Oid::parse(line.split(' ').nth(1)?));
        entries
            .map(|oid| (format!("{STASHES}{}", oid.as_str()), oid))
            .collect()
    }

    /// Returns the references that were removed since, or that no longer contain their old objects.
    /// The old objects are kept under the references of the attempt, which works on `branch`.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn lost_references(
        &self,
        before: &References,
        branch: Option<&str>,
        attempt: &AttemptName,
    ) -> Result<Vec<LostReference>, GitError> {
        let now = self.references()?;
        let mut lost = Vec::new();
        let newest = before.0.get(NEWEST_STASH);
        let has_list = before.0.keys().any(|name| name.starts_with(STASHES));
        for (name, oid) in &before.0 {
            // The list says more: a newer stash doesn't remove the others.
            if name == NEWEST_STASH && has_list {
                continue;
            }
            let is_newest = name.starts_with(STASHES) && newest == Some(oid);
            let shown: &str = if is_newest { NEWEST_STASH } else { name };
            let is_gone = match now.0.get(name) {
                Some(found) if found == oid => continue,
                Some(found) if name.starts_with("refs/heads/") && self.contains(found, oid) => {
                    continue;
                }
                found => found.is_none(),
            };
            if Some(name.as_str()) != branch {
                self.keep(attempt, name, oid);
                lost.push(LostReference {
                    name: shown.to_owned(),
                    oid: oid.clone(),
                    is_gone,
                });
            }
        }
        Ok(lost)
    }

    /// Returns whether one commit is in the history of another. A commit that isn't here isn't.
    #[must_use]
    pub fn contains(&self, commit: &Oid, older: &Oid) -> bool {
        let call = Invocation::reading("merge-base");
        let call = call.args(["--is-ancestor", older.as_str(), commit.as_str()]);
        self.run(call).is_ok_and(|reply| reply.succeeded())
    }

    /// Keeps an object that has lost its reference, because `git gc` would remove it. There is
    /// nothing to keep if that has already happened.
    fn keep(&self, attempt: &AttemptName, name: &str, oid: &Oid) {
        let snapshot = attempt.reference(SnapshotSide::After);
        let folder = snapshot.strip_suffix("after").unwrap_or(&snapshot);
        let short = name.strip_prefix("refs/").unwrap_or(name);
        let call = Invocation::writing("update-ref").config("core.logAllRefUpdates=false");
        let kept = format!("{folder}lost/{short}");
        let _gone_already = self.ask(call.args([kept.as_str(), oid.as_str()]));
    }
}
