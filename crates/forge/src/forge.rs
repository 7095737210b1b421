//! The seam to a code host.

use std::io;

use crate::check::{CommitId, Seen};
use crate::pull_request::{Base, NewPullRequest, PullRequest};

/// A code host with pull requests and checks. Another one is one more implementation.
pub trait Forge {
    /// Returns the repository's default branch, to which nothing is ever pushed.
    ///
    /// # Errors
    /// Returns an error if the code host can't be asked or doesn't answer.
    fn default_branch(&self) -> Result<String, ForgeError>;

    /// Returns a pull request.
    ///
    /// # Errors
    /// Fails like [`Forge::default_branch`].
    fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeError>;

    /// Returns the numbers of the open pull requests of a branch, given as `owner:branch`.
    ///
    /// # Errors
    /// Fails like [`Forge::default_branch`].
    fn open_pull_requests(&self, head: &str) -> Result<Vec<u64>, ForgeError>;

    /// Opens a pull request.
    ///
    /// # Errors
    /// Fails like [`Forge::default_branch`].
    fn create_pull_request(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError>;

    /// Returns what a pull request is merged into, and what its checks are.
    ///
    /// # Errors
    /// Fails like [`Forge::default_branch`].
    fn base(&self, branch: &str) -> Result<Base, ForgeError>;

    /// Returns everything that was reported for a commit, complete or not at all.
    ///
    /// # Errors
    /// Fails like [`Forge::default_branch`].
    fn seen(&self, commit: &CommitId) -> Result<Seen, ForgeError>;

    /// Passes on the log of a job as it arrives, until `take` returns false.
    ///
    /// # Errors
    /// Fails like [`Forge::default_branch`]. A log that doesn't exist is [`LogEnd::Gone`].
    fn log(&self, job: u64, take: &mut dyn FnMut(&[u8]) -> bool) -> Result<LogEnd, ForgeError>;

    /// Returns the step at which a job failed.
    ///
    /// # Errors
    /// Fails like [`Forge::default_branch`].
    fn failed_step(&self, job: u64) -> Result<Option<String>, ForgeError>;

    /// Runs the failed jobs of a workflow run again. Does nothing if it is running.
    ///
    /// # Errors
    /// Fails like [`Forge::default_branch`].
    fn rerun(&self, run: u64) -> Result<(), ForgeError>;
}

/// What became of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEnd {
    /// All of it was passed on.
    Whole,
    /// There is none, or it was removed.
    Gone,
}

/// Why a code host gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    /// Its program is not installed.
    #[error("gh is not installed or not in PATH")]
    Missing,
    /// Its program could not be started.
    #[error("cannot run gh")]
    NotRun(#[source] io::Error),
    /// The user isn't logged in, or the token is refused.
    #[error("GitHub refuses the login: {said}")]
    NotLoggedIn {
        /// Its words.
        said: String,
    },
    /// It doesn't exist, or the user may not see it.
    #[error("GitHub does not know {what}")]
    NotFound {
        /// What was asked for.
        what: String,
    },
    /// The request was refused.
    #[error("GitHub refused {what}: {said} (HTTP {status})")]
    Refused {
        /// What was asked for.
        what: String,
        /// The status.
        status: u16,
        /// Its words.
        said: String,
    },
    /// It may work later.
    #[error("GitHub did not answer: {said}")]
    Unavailable {
        /// Its words.
        said: String,
    },
    /// The answer has another form than expected.
    #[error("unexpected answer from GitHub about {what}")]
    NotUnderstood {
        /// What was asked for.
        what: String,
    },
}

impl ForgeError {
    /// Whether to ask again after a while.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }
}
