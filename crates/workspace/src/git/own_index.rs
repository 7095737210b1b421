use std::path::Path;

use super::filters::Filters;
use super::git_error::GitError;
use super::invocation::Invocation;
use super::repository::Git;

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
        self.git.ask(call.index(self.path).filters(self.filters))
    }
}
