use regreen_model::{Mark, RunOutcome, TaskKey};
use serde::Serialize;

use super::Summary;
use crate::public_task::PublicTask;

/// The summary of a run as data: what programs get of it, and what the text is made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figures {
    pub run: String,
    pub spec: String,
    /// `None` while the run has not ended.
    pub outcome: Option<&'static str>,
    pub exit_code: Option<u8>,
    /// The limit that was reached, or why it could not go on.
    pub message: Option<String>,
    /// Tasks of people that have to be done.
    pub originals: Originals,
    pub fixes: Fixes,
    pub attempts: Attempts,
    pub waits: Waits,
    /// While somebody worked on it: pauses are left out.
    pub time_ms: u64,
    /// In millionths of a dollar, where the agent says so.
    pub cost_micro_usd: Option<u64>,
    pub tokens: Tokens,
    pub unverified: Vec<PublicTask>,
    pub flaky: Vec<PublicTask>,
    pub nothing_changed: Vec<PublicTask>,
    /// Ticked by the agent while it worked on another task, and verified.
    pub claimed: Vec<PublicTask>,
    pub skipped: Vec<PublicTask>,
    /// The task that failed last and has not passed since.
    pub failed: Option<PublicTask>,
    /// Tasks that wait for a person.
    pub waiting: Vec<PublicTask>,
    pub plan_changes: PlanFigures,
    pub warnings: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Originals {
    pub done: usize,
    pub total: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fixes {
    pub done: usize,
    pub made: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Attempts {
    pub made: u32,
    /// Those that count against the limit.
    pub charged: u32,
    pub limit: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Waits {
    pub count: u32,
    pub ms: u64,
}

/// As far as the agent says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
}

/// What agents did to the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanFigures {
    pub added: Vec<PublicTask>,
    pub edited: Vec<PublicTask>,
    /// Rows that were gone and stand there again.
    pub put_back: Vec<PublicTask>,
    /// Ticks of other tasks that were not believed.
    pub taken_back: Vec<PublicTask>,
}

impl Summary {
    #[must_use]
    pub fn figures(&self) -> Figures {
        let config = &self.tally.config;
        let originals = self.outline.originals(config.include_optional);
        let fixes = self.outline.fixes();
        let outcome = self.outcome.as_ref();
        Figures {
            run: self.tally.run.clone(),
            spec: config.spec.clone(),
            outcome: outcome.map(name),
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
                charged: self.tally.used,
                limit: self.tally.limit_of_run(),
            },
            waits: Waits {
                count: self.waits,
                ms: self.waited_ms(),
            },
            time_ms: self.active_ms,
            cost_micro_usd: self.tally.spent.cost_micro_usd,
            tokens: Tokens {
                input: self.tally.spent.input_tokens,
                output: self.tally.spent.output_tokens,
            },
            unverified: self.marked(Mark::Unverified),
            flaky: self.marked(Mark::Flaky),
            nothing_changed: self.marked(Mark::NothingChanged),
            claimed: self.marked(Mark::Claimed),
            skipped: self.still_open_of(&self.skipped),
            failed: self.open_failure().map(PublicTask::from),
            waiting: self.still_open_of(&self.waiting),
            plan_changes: self.plan_figures(),
            warnings: self.warnings,
        }
    }

    fn open_failure(&self) -> Option<&TaskKey> {
        let failed = self.failed.as_ref();
        failed.filter(|task| !self.is_done(task))
    }

    fn still_open_of(&self, tasks: &[TaskKey]) -> Vec<PublicTask> {
        let open = tasks.iter().filter(|task| !self.is_done(task));
        open.map(PublicTask::from).collect()
    }

    /// Somebody may have ticked it since.
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
        }
    }
}

/// What programs know an outcome by.
fn name(outcome: &RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::AllGreen => "all_green",
        RunOutcome::OnlyDone => "only_done",
        RunOutcome::Skipped => "skipped",
        RunOutcome::Limit { .. } => "limit",
        RunOutcome::NeedsPerson { .. } => "needs_person",
        RunOutcome::TryLater { .. } => "try_later",
        RunOutcome::SetUp { .. } => "set_up",
        RunOutcome::Stopped { .. } => "stopped",
    }
}

fn message(outcome: &RunOutcome) -> Option<&str> {
    match outcome {
        RunOutcome::Limit { message } => Some(message),
        RunOutcome::NeedsPerson { why }
        | RunOutcome::TryLater { why }
        | RunOutcome::SetUp { why } => Some(why),
        RunOutcome::AllGreen
        | RunOutcome::OnlyDone
        | RunOutcome::Skipped
        | RunOutcome::Stopped { .. } => None,
    }
}
