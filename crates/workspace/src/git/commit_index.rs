//! The index a commit is made from: HEAD, before the chosen paths are taken in.

use std::collections::BTreeSet;
use std::path::Path;

use crate::RelPath;

use super::commit::CommitError;
use super::git_error::GitError;
use super::index_scan::Found;
use super::invocation::Invocation;
use super::oid::Oid;
use super::raw_diff::{RawChange, parse_raw};
use super::repository::Git;
use super::scratch_index::ScratchIndex;
use super::staging::set_entries;

impl Git {
    /// Fills the index with HEAD, keeping the user's notes on all files that agree with it;
    /// what was staged.
    pub(super) fn begin_at_head(
        &self,
        index: &mut ScratchIndex,
        head: Option<&Oid>,
    ) -> Result<Vec<RawChange>, CommitError> {
        index.follow_original()?;
        if head.is_none() {
            index.clear()?;
            return Ok(Vec::new());
        }
        let staged = self.staged(Some(index.path()))?;
        refuse_unmerged(&staged)?;
        let as_in_head = staged
            .iter()
            .map(|change| (&change.path, change.old.as_ref()));
        set_entries(self, Some(index.path()), as_in_head)?;
        Ok(staged)
    }

    /// Ignored files that were staged as new all the same, or as gone although they stand
    /// there. Looking at the work tree does not show either.
    pub(super) fn tracked_by_choice(
        &self,
        staged: &[RawChange],
    ) -> Result<Vec<(RelPath, Found)>, GitError> {
        let chosen = staged.iter().filter_map(|change| {
            let found = match (&change.old, &change.new) {
                (None, Some(_)) => Found::New,
                (Some(_), None) => Found::LetGo,
                _ => return None,
            };
            let stands = change.path.under(self.root()).symlink_metadata().is_ok();
            stands.then(|| (change.path.clone(), found))
        });
        let mut chosen: Vec<(RelPath, Found)> = chosen.collect();
        if chosen.is_empty() {
            return Ok(chosen);
        }
        let ignored = self.ignored(chosen.iter().map(|(path, _)| path))?;
        chosen.retain(|(path, _)| ignored.contains(path));
        Ok(chosen)
    }

    /// Which of these paths the user has git ignore.
    fn ignored<'a>(
        &self,
        paths: impl Iterator<Item = &'a RelPath>,
    ) -> Result<BTreeSet<RelPath>, GitError> {
        let mut asked = Vec::new();
        for path in paths {
            // The dot keeps a leading colon from being read as something else.
            asked.extend_from_slice(&[b"./", path.as_bytes(), b"\0"].concat());
        }
        let call = Invocation::reading("check-ignore")
            .env("GIT_LITERAL_PATHSPECS", "0")
            .args(["-z", "--no-index", "--stdin"]);
        let doing = call.subcommand();
        let reply = self.run(call.stdin(asked))?;
        // 1 says that none is.
        if !matches!(reply.exit, Some(0 | 1)) {
            return Err(GitError::from_reply(doing, &reply));
        }
        let lines = reply.stdout.split(|byte| *byte == 0);
        let named = lines.filter_map(|line| line.strip_prefix(b"./"));
        Ok(named.filter_map(|path| RelPath::new(path).ok()).collect())
    }

    /// Where an index differs from HEAD.
    pub(super) fn staged(&self, index: Option<&Path>) -> Result<Vec<RawChange>, GitError> {
        let call = Invocation::reading("diff-index")
            .args(["--cached", "-z", "--raw", "--no-abbrev", "--no-renames"])
            .args(["--ignore-submodules=none", "HEAD", "--"]);
        let doing = call.subcommand();
        let answer = self.ask(match index {
            Some(index) => call.index(index),
            None => call,
        })?;
        parse_raw(&answer).ok_or_else(|| GitError::not_understood(doing))
    }
}

fn refuse_unmerged(staged: &[RawChange]) -> Result<(), CommitError> {
    let unmerged = staged.iter().filter(|change| change.unmerged);
    let paths: Vec<String> = unmerged.map(|change| change.path.to_string()).collect();
    if paths.is_empty() {
        Ok(())
    } else {
        Err(CommitError::Unmerged { paths })
    }
}
