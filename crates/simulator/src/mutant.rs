//! Planted bugs, to check that the invariants catch them. They wrap the engine and the performer of
//! its commands; the engine itself has none of them.

use regreen_documents::TaskFile;
use regreen_model::{
    Event, Mark, NextStep, RunOutcome, Spending, Task, TaskId, TaskKey, Timestamp, Verdict,
};

use crate::task_lists;
use crate::world::World;
use regreen_engine::Decision;
use regreen_engine::Input;
use regreen_engine::{Command, Issued};
use regreen_engine::{Phase, State};

/// One bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutant {
    /// A Verify that fails twice counts as passed.
    TrustsSecondRed,
    /// After a crash, a fix that was being inserted is inserted under another id.
    InsertsFixAnew,
    /// Every second attempt is not charged.
    ForgetsToCharge,
    /// Fixes whose rows were deleted no longer count.
    RefundsDeletedFixes,
    /// A run that skipped something reports that everything is done.
    CallsSkippedGreen,
    /// After a crash, a finished task is picked again.
    PicksDoneAgain,
    /// A late answer is accepted for whatever is pending.
    HearsLateAnswers,
    /// The box is ticked before anything is verified.
    TicksBeforeVerifying,
    /// Ticking a box changes the line endings.
    TickChangesLineEndings,
    /// A wait interrupted by a crash starts over.
    WaitsAnew,
    /// The time limit of an attempt doubles without bound.
    DoublesTimeForEver,
    /// A task that passes supersedes the fixes of others.
    SupersedesAnyFix,
    /// An attempt interrupted by a crash isn't recorded.
    ForgetsCutOffAttempt,
    /// Attempts are made despite exhausted budgets.
    Overspends,
    /// Changes that checks and hooks make to the plan count as a person's.
    TrustsChecksWithPlan,
    /// A row that the agent made optional counts as optional.
    AcceptsStars,
    /// A Verify that the agent wrote counts as the task's Verify.
    AcceptsVerify,
    /// A row that the agent marked as a fix counts as one.
    AcceptsFixMarkers,
    /// A task that the agent ticked counts as done.
    AcceptsTicks,
    /// A row that the agent removed stays removed.
    AcceptsRemovals,
    /// Repairs that never helped are made again.
    ForgetsUselessRepairs,
    /// The strategies of a recovery template are used again and again.
    RepeatsTemplates,
    /// Checks that passed once aren't repeated at the end.
    SkipsFinalCheck,
    /// A test that the task broke is excused.
    ExcusesNewFailures,
    /// A task with known failures is done like any other.
    HidesKnownFailures,
}

impl Mutant {
    /// All planted bugs.
    pub const ALL: [Self; 25] = [
        Self::TrustsSecondRed,
        Self::InsertsFixAnew,
        Self::ForgetsToCharge,
        Self::RefundsDeletedFixes,
        Self::CallsSkippedGreen,
        Self::PicksDoneAgain,
        Self::HearsLateAnswers,
        Self::TicksBeforeVerifying,
        Self::TickChangesLineEndings,
        Self::WaitsAnew,
        Self::DoublesTimeForEver,
        Self::SupersedesAnyFix,
        Self::ForgetsCutOffAttempt,
        Self::Overspends,
        Self::TrustsChecksWithPlan,
        Self::AcceptsStars,
        Self::AcceptsVerify,
        Self::AcceptsFixMarkers,
        Self::AcceptsTicks,
        Self::AcceptsRemovals,
        Self::ForgetsUselessRepairs,
        Self::RepeatsTemplates,
        Self::SkipsFinalCheck,
        Self::ExcusesNewFailures,
        Self::HidesKnownFailures,
    ];

    /// Returns whether a review with this bug accepts the plan as it is after an agent's changes.
    pub(crate) fn accepts(self, before: &TaskFile, after: &TaskFile) -> bool {
        let count = |is_so: &dyn Fn(&Task) -> bool| {
            let so = |file: &TaskFile| file.tasks().iter().filter(|task| is_so(task)).count();
            (so(before), so(after))
        };
        let (old, new) = match self {
            Self::AcceptsStars => count(&|task| task.optional),
            Self::AcceptsFixMarkers => count(&|task| task.is_fix()),
            Self::AcceptsTicks => count(&|task| task.done),
            Self::AcceptsRemovals => {
                let (old, new) = count(&|task| task.id.is_some());
                (new, old)
            }
            Self::AcceptsVerify => count(&|task| {
                let verify = task.fields.verify.as_deref();
                verify.is_some_and(|verify| verify.contains(task_lists::FORGED_VERIFY))
            }),
            _ => return false,
        };
        new > old
    }

    /// Picks a task as a performer with this bug does.
    pub(crate) fn next(self, world: &World, next: NextStep) -> NextStep {
        let is_due = self == Self::PicksDoneAgain && world.crashes > 0;
        let done = world.state.tasks.values().find(|task| {
            let is_finished = task.phase == Phase::Closed && task.result == Some(true);
            is_due && is_finished && !task.picked.is_group
        });
        done.map_or(next, |task| NextStep::Task(Box::new(task.picked.clone())))
    }

    /// Returns the superseded fixes as a performer with this bug does.
    pub(crate) fn open_fixes(self, file: &TaskFile, task: &TaskKey) -> Vec<TaskKey> {
        if self != Self::SupersedesAnyFix {
            return file.open_fixes(task);
        }
        let is_open_fix = |row: &_| file.fixed_by(*row).is_some() && !file.is_done(*row);
        let rows = file.rows().filter(is_open_fix);
        rows.filter_map(|row| file.key(row)).collect()
    }
}

/// Decides what follows from an input, with or without a bug.
pub(crate) fn decide(
    mutant: Option<Mutant>,
    state: &State,
    now: Timestamp,
    input: &Input,
) -> Decision {
    let Some(mutant) = mutant else {
        return regreen_engine::decide(state, now, input);
    };
    let misheard = mishear(mutant, state, input);
    let believed = believe(mutant, state);
    let believed = believed.as_ref().unwrap_or(state);
    let mut decision = regreen_engine::decide(believed, now, misheard.as_ref().unwrap_or(input));
    distort(mutant, state, now, input, &mut decision);
    decision
}

/// Returns the state that the engine with this bug sees.
fn believe(mutant: Mutant, state: &State) -> Option<State> {
    let change: fn(&mut State) = match mutant {
        Mutant::Overspends => |state| state.spent = Spending::default(),
        Mutant::ForgetsUselessRepairs => |state| {
            let tasks = state.tasks.values_mut();
            tasks.for_each(|task| task.experience = None);
        },
        Mutant::RepeatsTemplates => |state| {
            let tasks = state.tasks.values_mut();
            tasks.for_each(|task| task.template_steps.clear());
        },
        _ => return None,
    };
    let mut believed = state.clone();
    change(&mut believed);
    Some(believed)
}

/// Returns the input that the engine with this bug sees.
fn mishear(mutant: Mutant, state: &State, input: &Input) -> Option<Input> {
    match (mutant, input) {
        (Mutant::TrustsSecondRed, Input::Verified { seq, .. }) => {
            let is_second = state
                .task_of(*seq)
                .is_some_and(|task| matches!(task.phase, Phase::Verifying { again: true, .. }));
            is_second.then_some(Input::Verified {
                diagnosis: None,
                took_ms: 0,
                seq: *seq,
                tests: None,
                verdict: Verdict::Green,
            })
        }
        (Mutant::HearsLateAnswers, Input::Verified { verdict, .. }) => {
            let is_verifying = |phase: &Phase| matches!(phase, Phase::Verifying { .. });
            let mut owed = state
                .tasks
                .values()
                .filter(|task| is_verifying(&task.phase));
            let seq = owed.find_map(|task| task.phase.seq())?;
            let verdict = verdict.clone();
            Some(Input::Verified {
                seq,
                verdict,
                diagnosis: None,
                tests: None,
                took_ms: 0,
            })
        }
        (Mutant::ExcusesNewFailures, Input::TestsReviewed { seq, review, .. }) => {
            let mut review = review.clone();
            review.new.clear();
            review.turned_green.insert("mended".to_owned());
            Some(Input::TestsReviewed {
                seq: *seq,
                review,
                took_ms: 0,
            })
        }
        _ => None,
    }
}

/// Returns the decision that the engine with this bug makes.
fn distort(mutant: Mutant, state: &State, now: Timestamp, input: &Input, decision: &mut Decision) {
    match (mutant, input) {
        (Mutant::InsertsFixAnew, Input::Resume(_)) => renumber_fix(decision),
        (Mutant::ForgetsToCharge, _) => forget_charge(decision),
        (Mutant::CallsSkippedGreen, _) => call_green(decision),
        (Mutant::HidesKnownFailures, _) => hide_known_failures(decision),
        (Mutant::TicksBeforeVerifying, Input::AttemptEnded { .. }) => tick_first(decision),
        (Mutant::WaitsAnew, Input::Resume(_)) => wait_anew(decision, now),
        (Mutant::DoublesTimeForEver, _) => double_time(decision, state),
        (Mutant::ForgetsCutOffAttempt, Input::Resume(_)) => {
            let is_end = |event: &Event| matches!(event, Event::AttemptEnded { .. });
            decision.events.retain(|event| !is_end(event));
        }
        _ => {}
    }
}

fn renumber_fix(decision: &mut Decision) {
    let another = |id: &TaskId| TaskId::parse(&format!("{id}9"));
    for event in &mut decision.events {
        if let Event::FixPlanned { fix, .. } = event
            && let Some(id) = another(fix)
        {
            *fix = id;
        }
    }
    for Issued { command, .. } in &mut decision.commands {
        if let Command::InsertFix(order) = command
            && let Some(id) = another(&order.id)
        {
            order.id = id;
        }
    }
}

fn forget_charge(decision: &mut Decision) {
    for event in &mut decision.events {
        if let Event::AttemptEnded {
            charged, attempt, ..
        } = event
        {
            *charged &= !attempt.is_multiple_of(2);
        }
    }
}

fn call_green(decision: &mut Decision) {
    for event in &mut decision.events {
        if let Event::RunEnded { outcome } = event
            && *outcome == RunOutcome::Skipped
        {
            *outcome = RunOutcome::AllGreen;
        }
    }
}

fn hide_known_failures(decision: &mut Decision) {
    for event in &mut decision.events {
        if let Event::TaskDone { marks, .. } = event {
            marks.remove(&Mark::KnownFailures);
        }
    }
}

fn tick_first(decision: &mut Decision) {
    let verify = decision
        .commands
        .iter()
        .find_map(|issued| match &issued.command {
            Command::Verify { task, .. } => Some((issued.seq, task.clone())),
            _ => None,
        });
    if let Some((seq, task)) = verify {
        let command = Command::Tick {
            task,
            done: true,
            supersede: false,
        };
        decision.commands.insert(0, Issued { seq, command });
    }
}

fn wait_anew(decision: &mut Decision, now: Timestamp) {
    for event in &mut decision.events {
        if let Event::WaitStarted { since, until, .. } = event {
            *until = now.plus(until.since(*since));
            *since = now;
        }
    }
}

fn double_time(decision: &mut Decision, state: &State) {
    for event in &mut decision.events {
        if let Event::AttemptStarted {
            timeout_ms,
            attempt,
            task,
            ..
        } = event
        {
            let report = state.tasks.get(task).and_then(|task| task.report.as_ref());
            if report.is_some_and(|report| report.ending.timed_out && report.progressed) {
                *timeout_ms = state.config.attempt_timeout_ms << (*attempt - 1).min(20);
            }
        }
    }
}
