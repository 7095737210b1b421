use std::path::Path;
use std::sync::Arc;

use super::git_error::GitError;
use super::invocation::Invocation;
use super::plain_runner::PlainRunner;
use super::repository::{Git, ask};
use super::runner::GitRunner;

/// What keeps the user's own settings out: their hooks, and signing that may ask for a
/// password.
const SETTINGS: [(&str, &str); 2] = [("core.hooksPath", "/dev/null"), ("commit.gpgSign", "false")];

/// Who commits in a repository that has no user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    pub name: &'a str,
    pub email: &'a str,
}

impl Git {
    /// Makes a repository that has nothing of the user's: no hooks, no templates, an identity
    /// of its own.
    ///
    /// # Errors
    /// If git is missing or fails.
    pub fn init(root: &Path, identity: Identity<'_>) -> Result<Self, GitError> {
        Self::init_with(root, identity, Arc::new(PlainRunner::default()))
    }

    /// # Errors
    /// As [`Git::init`].
    pub fn init_with(
        root: &Path,
        identity: Identity<'_>,
        runner: Arc<dyn GitRunner>,
    ) -> Result<Self, GitError> {
        let call = Invocation::writing("init")
            .config("init.defaultBranch=main")
            .args(["--quiet", "--template="]);
        ask(&*runner, root, call)?;
        let who = [("user.name", identity.name), ("user.email", identity.email)];
        for (key, value) in who.into_iter().chain(SETTINGS) {
            let call = Invocation::writing("config").args(["--local", key, value]);
            ask(&*runner, root, call)?;
        }
        Self::open_with(root, runner)
    }
}
