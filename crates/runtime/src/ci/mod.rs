//! Waits for the checks of a pull request, and has what they report fixed until they are green.
//!
//! The decisions are those of [`regreen_forge`]; this module asks GitHub, pushes, saves logs and
//! writes fix tasks. A run of the spec, which the caller starts, makes the fix. What must not happen
//! twice is stored before it is done (`progress_file`), so that the same command goes on after a
//! crash.

mod driver;
mod evidence;
mod fix_task;
mod gh;
mod progress_file;
mod turn;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use regreen_diagnosis::OwnRules;
use regreen_documents::EditError;
use regreen_forge::{ForgeError, Limits, Patience, Repository};
use regreen_model::{StopSignal, TaskId, Timestamp};
use regreen_workspace::{EditFileError, GitError, ReadError};
use serde::Serialize;

pub use self::driver::until_green;
use crate::log_file::LogError;
use crate::spec_paths::SpecPaths;
use crate::stop::Stop;

/// What to watch, and what may be done about it.
#[derive(Debug)]
pub struct CiSetup {
    /// The files of the spec that fix tasks are added to.
    pub paths: SpecPaths,
    /// The repository; `None` for that of the remote.
    pub repository: Option<Repository>,
    /// The git remote of the branch.
    pub remote: String,
    /// Which pull request.
    pub pull_request: PullRequestChoice,
    /// Whether commits may be pushed.
    pub may_push: bool,
    /// How often what is done.
    pub limits: Limits,
    /// How long to wait for what.
    pub patience: Patience,
    /// How often to ask.
    pub poll_ms: u64,
    /// How long GitHub may be unreachable.
    pub max_wait_ms: u64,
    /// Checks not to wait for.
    pub without: BTreeSet<String>,
    /// The command that checks the whole workspace, if there is one.
    pub gate: Option<String>,
    /// The user's own diagnosis rules.
    pub own_rules: Arc<OwnRules>,
    /// Values from the environment that must never be stored or shown.
    pub secrets: BTreeSet<String>,
    /// regreen's own binary.
    pub keeper: PathBuf,
    /// A request to stop.
    pub stop: Stop,
}

/// Which pull request to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullRequestChoice {
    /// The open one of the current branch.
    OfBranch,
    /// The open one of the current branch; opened if there is none.
    Create,
    /// The one with this number.
    Number(u64),
}

/// Something that happened, for people and machines. All text is on one line and masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum CiEvent {
    /// A commit was pushed.
    Pushed {
        /// The branch.
        branch: String,
        /// The commit.
        commit: String,
    },
    /// This is the pull request.
    PullRequest {
        /// Its number.
        number: u64,
        /// Its page.
        url: String,
        /// It was opened just now.
        is_new: bool,
    },
    /// Something changed, and not all of it is known.
    Waiting {
        /// The commit.
        commit: String,
        /// Checks that run.
        pending: Vec<String>,
        /// Expected checks that have not reported.
        missing: Vec<String>,
    },
    /// A check has failed.
    Failed(FailedCheck),
    /// Failed checks run again.
    Rerun {
        /// The checks.
        checks: Vec<String>,
    },
    /// A check failed, and passed when it ran again.
    Flaky {
        /// The check.
        check: String,
    },
    /// A fix task was added to the plan.
    FixAdded {
        /// The task.
        task: TaskId,
        /// What it is about.
        title: String,
    },
    /// The base branch was merged, because of conflicts or to get its fixes.
    Merged {
        /// The base branch.
        base: String,
    },
    /// Something to know.
    Notice {
        /// The sentence.
        text: String,
    },
}

/// A failed check, with its cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FailedCheck {
    /// Its name.
    pub check: String,
    /// How it ended.
    pub conclusion: String,
    /// The step that failed.
    pub step: Option<String>,
    /// The place in the source that the log blames.
    pub place: Option<String>,
    /// The kind of failure, in words.
    pub kind: Option<String>,
    /// The line that a person would quote.
    pub blocker: Option<String>,
    /// The saved log, relative to the workspace.
    pub log: Option<String>,
    /// The line in it.
    pub line: Option<usize>,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CiEnd {
    /// All expected checks passed.
    Green(GreenReport),
    /// A person must decide.
    NeedsPerson {
        /// What about.
        reasons: Vec<String>,
        /// What to do.
        help: String,
    },
    /// All fixes are used up.
    OutOfCycles {
        /// How many there were.
        cycles: u32,
    },
    /// It may go on later.
    TryLater {
        /// Why not now.
        why: String,
    },
    /// The run of a fix ended otherwise than green, with this exit code.
    FixFailed {
        /// The fix.
        task: TaskId,
        /// The exit code of the run.
        code: u8,
    },
    /// Someone asked to stop.
    Stopped(StopSignal),
}

/// What is known at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GreenReport {
    /// The commit.
    pub commit: String,
    /// The page of the pull request.
    pub url: String,
    /// How many checks passed.
    pub passed: usize,
    /// Checks that said neither yes nor no, which nothing expects to.
    pub without_result: Vec<String>,
    /// How many fixes were pushed.
    pub fixes: u32,
    /// Checks that passed only when they ran again.
    pub flaky: Vec<String>,
    /// GitHub demands more before a merge, such as a review.
    pub is_blocked: bool,
}

/// Who starts the runs that make fixes, and shows what happens.
pub trait CiHost {
    /// Shows an event.
    fn event(&mut self, at: Timestamp, event: &CiEvent);

    /// Runs the tasks that belong to a task of the plan, and returns the exit code of the run.
    fn run_task(&mut self, task: &TaskId) -> u8;
}

/// Why it could not go on.
#[derive(Debug, thiserror::Error)]
pub enum CiError {
    /// GitHub.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// Git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The plan can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The plan can't be changed.
    #[error("cannot add a fix task: {0}")]
    Edit(#[from] EditFileError<EditError>),
    /// A log can't be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A file of regreen's own can't be used.
    #[error("cannot use {}", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// The underlying error.
        #[source]
        source: std::io::Error,
    },
    /// Another process watches the same spec.
    #[error("another `regreen ci` is at work on this spec")]
    Held,
    /// Something in the arguments or the repository is not as it has to be.
    #[error("{why}")]
    Usage {
        /// The problem.
        why: String,
        /// What to do.
        help: String,
    },
}

impl CiError {
    fn usage(why: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage {
            why: why.into(),
            help: help.into(),
        }
    }
}
