//! What a face sees of a machine, and what it can do.

use std::io;
use std::sync::Arc;

use regreen_model::{ChoiceKind, OutlineRow, Span, Spending, TaskKey, Timestamp};

use crate::answer_choice::AnswerChoice;
use crate::change_feed::ChangeFeed;
use crate::log_page::{LogPage, PageStart};
use crate::run_state::RunState;
use crate::run_view::{Activity, RunView};

/// Names a run of this machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    /// The workspace and spec, as a word of letters and digits.
    pub place: String,
    /// The id of the run.
    pub run: String,
}

/// A run in a list.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// Its name.
    pub key: RunKey,
    /// The spec.
    pub spec: String,
    /// The workspace, with `~` for the home folder.
    pub workspace: String,
    /// Its state.
    pub state: RunState,
    /// The process that is at work on it.
    pub process: Option<u32>,
    /// When it last gave a sign of life.
    pub last_sign: Timestamp,
    /// When it started.
    pub started: Timestamp,
    /// What it is doing.
    pub activity: Activity,
    /// The task that it turned to last.
    pub current: Option<TaskKey>,
    /// What it has used.
    pub spent: Spending,
    /// How many of its originals are ticked, and how many there are.
    pub done: (usize, usize),
    /// The tasks that wait for a person, and why.
    pub questions: Vec<(TaskKey, String)>,
}

impl RunSummary {
    /// Whether a process is at work on it.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.process.is_some() || matches!(self.state, RunState::Running | RunState::Waiting)
    }

    /// Returns what it is doing, if a process is at work on it.
    #[must_use]
    pub fn doing(&self, now: Timestamp) -> Option<String> {
        if !self.is_active() {
            return None;
        }
        let task = self.current.as_ref();
        let task = task.map(|key| format!("{} {}", key.id, key.title));
        let what = match &self.activity {
            Activity::Attempt { attempt, .. } => format!("attempt {attempt}"),
            Activity::Waiting { why, .. } => format!("waiting: {why}"),
            other => other.name().to_owned(),
        };
        let since = self.activity.since().map(|since| now.since(since));
        let since = since.map(|millis| format!(" for {}", Span::whole_seconds(millis)));
        let what = format!("{what}{}", since.unwrap_or_default());
        let parts: Vec<String> = task.into_iter().chain([what]).collect();
        Some(parts.join(" · "))
    }
}

/// Everything about one run.
#[derive(Clone, Debug)]
pub struct RunDetails {
    /// As in a list.
    pub summary: RunSummary,
    /// What happened.
    pub view: Arc<RunView>,
    /// The plan as it is now in the file.
    pub rows: Arc<Vec<OutlineRow>>,
    /// The earlier runs of the spec, newest first.
    pub earlier: Vec<EarlierRun>,
}

/// An earlier run of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierRun {
    /// Its id.
    pub run: String,
    /// When it started.
    pub started: Timestamp,
}

/// Names an attempt at a task in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRef {
    /// The run.
    pub run: RunKey,
    /// The task.
    pub task: TaskKey,
    /// The number of the attempt.
    pub number: u32,
}

/// A text that an attempt left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptText {
    /// The output of the agent.
    Log,
    /// The output of the checks.
    Verify,
    /// What the agent was told.
    Prompt,
    /// What the attempt changed.
    Diff,
}

/// What a person does about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Answers the question about a task.
    Answer {
        /// The task.
        task: TaskKey,
        /// The answer.
        choice: AnswerChoice,
        /// With [`AnswerChoice::Context`]: what the agent should know.
        text: String,
    },
    /// Decides about a task, as `regreen retry`, `skip` and `done` do.
    Choose {
        /// The task.
        task: TaskKey,
        /// The decision.
        what: ChoiceKind,
    },
    /// Stops the run.
    Stop,
    /// Stops the run after its current task.
    StopAfterTask,
}

/// The runs of this machine. Nothing here has to be told about changes: everything is read when it
/// is asked for.
pub trait Machine: Send + Sync {
    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Returns the newest run of every spec, those with the latest sign of life first.
    fn runs(&self) -> Vec<RunSummary>;

    /// Returns one run.
    fn run(&self, key: &RunKey) -> Option<RunDetails>;

    /// Reads a text of an attempt, around a blamed line or from another place on.
    ///
    /// # Errors
    /// Returns why it can't be read, for people.
    fn text(
        &self,
        attempt: &AttemptRef,
        text: AttemptText,
        blamed: Option<&str>,
        start: PageStart,
        lines: usize,
    ) -> Result<LogPage, String>;

    /// Does what a person wants, with the code of the command for it. Returns what was done.
    ///
    /// # Errors
    /// Returns why it was refused, for people.
    fn act(&self, run: &RunKey, action: &Action) -> Result<String, String>;

    /// Watches for changes of all runs.
    ///
    /// # Errors
    /// Returns an error if the system has no more watches.
    fn watch(&self) -> io::Result<ChangeFeed>;
}
