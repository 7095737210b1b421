//! The repository that a branch is pushed to. Transfers use the user's own settings, helpers and
//! hooks, as `git push` does; nothing is ever overwritten there.

use std::collections::BTreeSet;

use crate::RelPath;

use super::invocation::Invocation;
use super::repository::{Git, Oid};
use super::runner::{GitError, GitReply};
use super::status::InProgress;

/// A commit to push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push<'a> {
    /// The name of the remote.
    pub remote: &'a str,
    /// The branch there, without `refs/heads/`.
    pub branch: &'a str,
    /// The commit.
    pub commit: &'a Oid,
    /// What the branch has to be there at that moment; `None` if it must not exist.
    pub expected: Option<&'a Oid>,
}

/// What became of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// The branch is at the commit.
    Pushed,
    /// The branch is not where it was expected, or has commits that would be lost.
    Moved,
}

/// What became of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// There was nothing to merge.
    UpToDate,
    /// It was merged and committed.
    Merged,
    /// These files conflict. Nothing was changed.
    Conflicts(BTreeSet<RelPath>),
}

impl Git {
    /// Returns the address of a remote; `None` if there is no such remote.
    ///
    /// # Errors
    /// Returns an error if git can't be run.
    pub fn remote_address(&self, remote: &str) -> Result<Option<String>, GitError> {
        let call = Invocation::reading("remote").args(["get-url", "--", remote]);
        let reply = self.run(call)?;
        let address = String::from_utf8_lossy(&reply.stdout).trim().to_owned();
        Ok(reply.succeeded().then_some(address))
    }

    /// Asks a remote for the commit of a branch; `None` if the branch doesn't exist there.
    ///
    /// # Errors
    /// Returns an error if the remote can't be asked.
    pub fn remote_head(&self, remote: &str, branch: &str) -> Result<Option<Oid>, GitError> {
        let name = format!("refs/heads/{branch}");
        let call = Invocation::transferring("ls-remote").args(["--", remote, &name]);
        let answer = self.transfer(call)?;
        let text = String::from_utf8_lossy(&answer.stdout);
        // A pattern also matches the ends of longer names.
        let mut lines = text.lines().filter_map(|line| line.split_once('\t'));
        let found = lines.find(|(_, found)| *found == name);
        match found.map(|(oid, _)| Oid::parse(oid)) {
            None => Ok(None),
            Some(Some(oid)) => Ok(Some(oid)),
            Some(None) => Err(GitError::not_understood("ls-remote")),
        }
    }

    /// Fetches a branch, and returns its commit. No branch of the user's moves.
    ///
    /// # Errors
    /// Returns an error if the remote doesn't have it, or can't be asked.
    pub fn fetch_branch(&self, remote: &str, branch: &str) -> Result<Oid, GitError> {
        let own = "refs/regreen/ci/base";
        let refspec = format!("+refs/heads/{branch}:{own}");
        let call = Invocation::transferring("fetch");
        let call = call.args(["--quiet", "--no-tags", "--no-write-fetch-head"]);
        self.transfer(call.args(["--", remote, &refspec]))?;
        let fetched = self.resolve(own)?;
        fetched.ok_or_else(|| GitError::not_understood("fetch"))
    }

    /// Pushes a commit to a branch that must be exactly where it was expected, and only forward: the
    /// expected commit has to be in the history of the pushed one.
    ///
    /// # Errors
    /// Returns an error if the remote can't be asked, or refuses.
    pub fn push(&self, push: &Push<'_>) -> Result<PushOutcome, GitError> {
        if let Some(expected) = push.expected
            && !self.contains(push.commit, expected)
        {
            return Ok(PushOutcome::Moved);
        }
        let name = format!("refs/heads/{}", push.branch);
        let expected = push.expected.map_or("", Oid::as_str);
        // Together with the history above, this never replaces a commit: it makes the remote compare
        // and advance in one step.
        let lease = format!("--force-with-lease={name}:{expected}");
        let refspec = format!("{}:{name}", push.commit);
        let call = Invocation::transferring("push");
        let call = call.args(["--porcelain", "--no-follow-tags", &lease]);
        let reply = self.run_with_hooks(call.args(["--", push.remote, &refspec]))?;
        if reply.succeeded() {
            Ok(PushOutcome::Pushed)
        } else if is_moved(&reply) {
            Ok(PushOutcome::Moved)
        } else {
            Err(GitError::from_reply("push", &reply))
        }
    }

    /// Merges a commit into the current branch. If that doesn't work without conflicts, changes
    /// nothing.
    ///
    /// # Errors
    /// Returns an error if git refuses, for example because of local changes.
    pub fn merge(&self, commit: &Oid, message: &str) -> Result<MergeOutcome, GitError> {
        let before = self.head()?;
        let call = Invocation::transferring("merge").args(["--no-edit", "-m", message]);
        let reply = self.run_with_hooks(call.arg(commit.as_str()))?;
        if reply.succeeded() {
            let is_same = before == self.head()?;
            return Ok(if is_same {
                MergeOutcome::UpToDate
            } else {
                MergeOutcome::Merged
            });
        }
        if InProgress::look(self.dir()).is_none() {
            return Err(GitError::from_reply("merge", &reply));
        }
        let call = Invocation::reading("diff");
        let call = call.args(["--name-only", "--diff-filter=U", "-z", "--no-ext-diff"]);
        let files = self.ask_parsed(call, |answer| {
            let names = answer
                .split(|byte| *byte == 0)
                .filter(|name| !name.is_empty());
            names.map(|name| RelPath::new(name).ok()).collect()
        })?;
        self.ask(Invocation::writing("merge").arg("--abort"))?;
        Ok(MergeOutcome::Conflicts(files))
    }

    /// Returns the texts of the files directly in a folder of a commit.
    ///
    /// # Errors
    /// Returns an error if git fails, or doesn't know the commit.
    pub fn texts_in(&self, commit: &Oid, folder: &str) -> Result<Vec<String>, GitError> {
        let call = Invocation::reading("ls-tree").args(["--name-only", "-z", "--full-tree"]);
        let call = call.args([commit.as_str(), "--", &format!("{folder}/")]);
        let files: BTreeSet<RelPath> = self.ask_parsed(call, |answer| {
            let names = answer
                .split(|byte| *byte == 0)
                .filter(|name| !name.is_empty());
            names.map(|name| RelPath::new(name).ok()).collect()
        })?;
        Ok(self.texts(commit, &files)?.into_values().collect())
    }

    fn transfer(&self, call: Invocation) -> Result<GitReply, GitError> {
        let subcommand = call.subcommand();
        let reply = self.run_with_hooks(call)?;
        if reply.succeeded() {
            Ok(reply)
        } else {
            Err(GitError::from_reply(subcommand, &reply))
        }
    }
}

/// Whether the remote says that the branch is not where it was expected.
fn is_moved(reply: &GitReply) -> bool {
    let text = String::from_utf8_lossy(&reply.stdout);
    let mut refused = text.lines().filter(|line| line.starts_with('!'));
    refused.any(|line| {
        let reasons = ["(stale info)", "(fetch first)", "(non-fast-forward)"];
        reasons.iter().any(|reason| line.contains(reason))
            // What the remote says if someone was quicker by a moment.
            || line.contains("remote rejected") && line.contains("cannot lock ref")
    })
}
