//! The locks that git takes for a commit.

use std::path::PathBuf;

use super::invocation::Invocation;
use super::reference_files::{HeadFile, ReferenceFiles};
use super::repository::Git;
use super::runner::GitError;

/// The locks of a commit in the work tree's git directory, and those in the repository's.
const OF_THE_WORK_TREE: [&str; 2] = ["HEAD.lock", "index.lock"];
const OF_THE_REPOSITORY: [&str; 2] = ["packed-refs.lock", "config.lock"];

impl Git {
    /// Returns the existing locks that would block a commit to the current branch.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn commit_locks(&self) -> Result<Vec<PathBuf>, GitError> {
        let common = self.common();
        let own = OF_THE_WORK_TREE.iter().map(|name| self.dir().join(name));
        let shared = OF_THE_REPOSITORY.iter().map(|name| common.join(name));
        let branch = self.branch()?;
        let branch = branch.map(|name| common.join(format!("{name}.lock")));
        let all = own.chain(shared).chain(branch);
        Ok(all.filter(|path| path.symlink_metadata().is_ok()).collect())
    }

    /// Returns the full name of the current branch; `None` if HEAD is detached.
    pub(super) fn branch(&self) -> Result<Option<String>, GitError> {
        match self.reference_files().and_then(ReferenceFiles::head) {
            Some(HeadFile::Branch(name)) => return Ok(Some(name)),
            Some(HeadFile::Detached(_)) => return Ok(None),
            None => {}
        }
        let call = Invocation::reading("symbolic-ref").args(["--quiet", "HEAD"]);
        let subcommand = call.subcommand();
        let reply = self.run(call)?;
        match reply.exit {
            Some(0) => Ok(String::from_utf8(reply.stdout)
                .ok()
                .map(|name| name.trim_end().to_owned())),
            Some(1) => Ok(None),
            _ => Err(GitError::from_reply(subcommand, &reply)),
        }
    }
}
