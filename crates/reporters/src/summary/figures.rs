use regreen_model::{Mark, NotRepeated, NotRepeatedReason, RunOutcome, TaskKey};
use serde::Serialize;

use super::Summary;

/// The summary of a run as data. Programs get it as is, and the text is made from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// The id of the run.
    pub run: String,
    /// The name of the spec.
    pub spec: String,
    /// `None` while the run has not ended.
    pub outcome: Option<&'static str>,
    /// The matching exit code.
    pub exit_code: Option<u8>,
    /// The limit that was reached, or why the run could not continue.
    pub message: Option<String>,
    /// Required originals.
    pub originals: Originals,
    /// Fix tasks.
    pub fixes: Fixes,
    /// Attempts of the agent.
    pub attempts: Attempts,
    /// Waits for the agent's service.
    pub waits: Waits,
    /// The duration of the run, without pauses.
    pub time_ms: u64,
    /// In millionths of a dollar, if the agent reports its cost.
    pub cost_micro_usd: Option<u64>,
    /// Tokens, if the agent reports them.
    pub tokens: Tokens,
    /// Tasks that passed with nothing to verify them.
    pub unverified: Vec<PublicTask>,
    /// Fixes whose own Verify failed, though the task that they fix passed.
    pub verify_failed: Vec<PublicTask>,
    /// Tasks that passed when their Verify ran a second time.
    pub flaky: Vec<PublicTask>,
    /// Tasks whose checks have known failures.
    pub known_failures: Vec<PublicTask>,
    /// Tasks that passed without a change to any file.
    pub nothing_changed: Vec<PublicTask>,
    /// Tasks that the agent ticked while it worked on another task, and that were verified.
    pub claimed: Vec<PublicTask>,
    /// Tasks that were skipped and are still open.
    pub skipped: Vec<PublicTask>,
    /// The task that failed last and has not passed since.
    pub failed: Option<PublicTask>,
    /// Tasks that are waiting for a person.
    pub waiting: Vec<PublicTask>,
    /// Tasks that passed, then failed the final check, and were reopened.
    pub regressed: Vec<PublicTask>,
    /// Checks that the final check left out.
    pub not_repeated: Vec<PublicNotRepeated>,
    /// Tasks that were ticked before the spec's first run, so that regreen never checked them.
    pub ticked_before: Vec<PublicTask>,
    /// Agents' changes to the plan.
    pub plan_changes: PlanFigures,
    /// The number of warnings.
    pub warnings: u32,
}

/// Required originals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Originals {
    /// Done so far.
    pub done: usize,
    /// In the plan.
    pub total: usize,
}

/// Fix tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fixes {
    /// Done so far.
    pub done: usize,
    /// In the plan.
    pub made: usize,
}

/// Attempts of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Attempts {
    /// All of them.
    pub made: u32,
    /// Those that count against the limit.
    pub charged: u32,
    /// How many the run may make.
    pub limit: u32,
}

/// Waits for the agent's service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// How many there were.
    pub count: u32,
    /// Their total duration.
    pub ms: u64,
}

/// Tokens, as far as the agent reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Read by the model.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
}

/// Agents' changes to the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanFigures {
    /// Rows that they added.
    pub added: Vec<PublicTask>,
    /// Rows whose text they changed.
    pub edited: Vec<PublicTask>,
    /// Rows that they removed and regreen put back.
    pub put_back: Vec<PublicTask>,
    /// Tasks whose tick was reverted.
    pub taken_back: Vec<PublicTask>,
    /// Rows with a reverted change.
    pub reverted: Vec<PublicTask>,
}

impl Summary {
    /// Returns the summary as data.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let config = &self.totals.config;
        let originals = self.outline.originals(config.include_optional);
        let fixes = self.outline.fixes(&self.superseded);
        let outcome = self.outcome.as_ref();
        Figures {
            run: self.totals.run.clone(),
            spec: config.spec.clone(),
            outcome: outcome.map(RunOutcome::name),
            exit_code: outcome.map(RunOutcome::exit_code),
            message: outcome.and_then(message).map(str::to_owned),
            originals: Originals {
                done: originals.done,
                total: originals.total,
            },
            fixes: Fixes {
                done: fixes.done,
                made: fixes.total,
            },
            attempts: Attempts {
                made: self.attempts,
                charged: self.totals.used,
                limit: self.totals.limit_of_run(),
            },
            waits: Waits {
                count: self.waits,
                ms: self.waited_ms(),
            },
            time_ms: self.active_ms,
            cost_micro_usd: self.totals.spent.cost_micro_usd,
            tokens: Tokens {
                input: self.totals.spent.input_tokens,
                output: self.totals.spent.output_tokens,
            },
            unverified: self.marked(Mark::Unverified),
            verify_failed: self.marked(Mark::VerifyFailed),
            flaky: self.marked(Mark::Flaky),
            known_failures: self.marked(Mark::KnownFailures),
            nothing_changed: self.marked(Mark::NothingChanged),
            claimed: self.marked(Mark::Claimed),
            skipped: self.still_open_of(&self.skipped),
            failed: self.open_failure().map(PublicTask::from),
            waiting: self.still_open_of(&self.waiting),
            regressed: PublicTask::all(&self.regressed),
            not_repeated: PublicNotRepeated::all(&self.not_repeated),
            ticked_before: self.ticked_before(),
            plan_changes: self.plan_figures(),
            warnings: u32::try_from(self.warnings.len()).unwrap_or(u32::MAX),
        }
    }

    /// Returns the tasks that were ticked before the first run and that no run has turned to since.
    fn ticked_before(&self) -> Vec<PublicTask> {
        let ticked = self.totals.config.ticked_before.iter();
        let ticked = ticked.filter(|task| self.is_done(task) && !self.done.contains(task));
        ticked.map(PublicTask::from).collect()
    }

    fn open_failure(&self) -> Option<&TaskKey> {
        let failed = self.failed.as_ref();
        failed.filter(|task| !self.is_done(task))
    }

    fn still_open_of(&self, tasks: &[TaskKey]) -> Vec<PublicTask> {
        let open = tasks.iter().filter(|task| !self.is_done(task));
        open.map(PublicTask::from).collect()
    }

    /// Whether the task is done; a person may have ticked it since.
    fn is_done(&self, task: &TaskKey) -> bool {
        let row = self.outline.rows().iter().find(|row| row.key == *task);
        row.is_some_and(|row| row.done)
    }

    fn marked(&self, mark: Mark) -> Vec<PublicTask> {
        let marked = self
            .marked
            .iter()
            .filter(|(_, marks)| marks.contains(&mark));
        marked.map(|(task, _)| PublicTask::from(task)).collect()
    }

    fn plan_figures(&self) -> PlanFigures {
        PlanFigures {
            added: PublicTask::all(&self.plan.added),
            edited: PublicTask::all(&self.plan.edited),
            put_back: PublicTask::all(&self.plan.put_back),
            taken_back: PublicTask::all(&self.plan.taken_back),
            reverted: PublicTask::all(&self.plan.reverted),
        }
    }
}

fn message(outcome: &RunOutcome) -> Option<&str> {
    match outcome {
        RunOutcome::Limit { message } | RunOutcome::Regressed { message } => Some(message),
        RunOutcome::NeedsPerson { why }
        | RunOutcome::TryLater { why }
        | RunOutcome::SetUp { why } => Some(why),
        RunOutcome::AllGreen
        | RunOutcome::OnlyDone
        | RunOutcome::Skipped
        | RunOutcome::Stopped { .. } => None,
    }
}

/// A check that the final check left out, as programs see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublicNotRepeated {
    /// The task.
    pub task: PublicTask,
    /// The commands.
    pub check: String,
    /// Why they were left out.
    pub why: NotRepeatedReason,
}

impl PublicNotRepeated {
    pub(crate) fn all(left_out: &[NotRepeated]) -> Vec<Self> {
        let left_out = left_out.iter().map(|one| Self {
            task: (&one.task).into(),
            check: one.check.clone(),
            why: one.why,
        });
        left_out.collect()
    }
}

/// A task, as programs see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublicTask {
    /// Its id.
    pub id: String,
    /// 0 for the first task with this id in the file.
    pub occurrence: u32,
    /// Its title.
    pub title: String,
}

impl PublicTask {
    pub(crate) fn all(keys: &[TaskKey]) -> Vec<Self> {
        keys.iter().map(Self::from).collect()
    }
}

impl From<&TaskKey> for PublicTask {
    fn from(key: &TaskKey) -> Self {
        Self {
            id: key.id.to_string(),
            occurrence: key.occurrence,
            title: key.title.clone(),
        }
    }
}
