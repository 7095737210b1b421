//! The branches, tags and stash of a repository. An attempt works on one branch; what it takes away
//! from the others is noticed, and kept.

use std::collections::BTreeMap;

use super::attempt_name::{AttemptName, SnapshotSide};
use super::invocation::Invocation;
use super::repository::{Git, Oid};
use super::runner::GitError;

/// Where people keep work: branches, tags and the newest stash.
pub(super) const OF_PEOPLE: [&str; 3] = ["refs/heads", "refs/tags", "refs/stash"];
const SHORT: usize = 12;

/// What each reference of people names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References(BTreeMap<String, Oid>);

/// A reference that was removed, or moved away from what it named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostReference {
    name: String,
    oid: Oid,
    is_gone: bool,
}

impl LostReference {
    /// Returns what happened to it, for people.
    #[must_use]
    pub fn shown(&self) -> String {
        let did = if self.is_gone { "deleted" } else { "moved" };
        match self.kind_and_name() {
            ("stash", _) => "your newest stash was removed or replaced".to_owned(),
            (kind, name) => format!("the {kind} {name} was {did}"),
        }
    }

    /// Returns the command that brings it back.
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
    /// Returns the references of people.
    ///
    /// # Errors
    /// If git fails.
    pub fn references(&self) -> Result<References, GitError> {
        let read = self
            .reference_files()
            .and_then(|files| files.all(&OF_PEOPLE));
        if let Some(read) = read {
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

    /// Returns the references that were removed since, or that no longer contain what they named.
    /// What they named is kept under the references of the attempt. `branch` is the one that the
    /// attempt works on.
    ///
    /// # Errors
    /// If git fails.
    pub fn lost_references(
        &self,
        before: &References,
        branch: Option<&str>,
        attempt: &AttemptName,
    ) -> Result<Vec<LostReference>, GitError> {
        let now = self.references()?;
        let mut lost = Vec::new();
        for (name, oid) in &before.0 {
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
                    name: name.clone(),
                    oid: oid.clone(),
                    is_gone,
                });
            }
        }
        Ok(lost)
    }

    fn contains(&self, commit: &Oid, older: &Oid) -> bool {
        let call = Invocation::reading("merge-base");
        let call = call.args(["--is-ancestor", older.as_str(), commit.as_str()]);
        self.run(call).is_ok_and(|reply| reply.succeeded())
    }

    /// Without a reference, `git gc` removes what it named. There is nothing to keep if that has
    /// happened already.
    fn keep(&self, attempt: &AttemptName, name: &str, oid: &Oid) {
        let snapshot = attempt.reference(SnapshotSide::After);
        let folder = snapshot.strip_suffix("after").unwrap_or(&snapshot);
        let short = name.strip_prefix("refs/").unwrap_or(name);
        let call = Invocation::writing("update-ref").config("core.logAllRefUpdates=false");
        let kept = format!("{folder}lost/{short}");
        let _gone_already = self.ask(call.args([kept.as_str(), oid.as_str()]));
    }
}
