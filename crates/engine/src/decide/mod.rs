//! Decisions about inputs: one file per family of transitions.

mod asking;
mod attempting;
mod diagnosing;
mod ending;
mod final_check;
mod healing;
mod modifying;
mod picking;
mod recalling;
mod repairing;
mod reviewing;
mod saving;
mod services;
mod spending;
mod turn;
mod verifying;
mod waiting;

use regreen_model::{Event, FixBudget, RunConfig, Timestamp};

pub use self::diagnosing::OPINION_TIME_MS;
pub use self::services::READY_TIMEOUT_MS;
use self::turn::Turn;
pub(crate) use self::waiting::backoff_ms;
use crate::command::Issued;
use crate::input::Input;
use crate::state::{FinalCheckPhase, Phase, State};

/// Events to store, then commands to perform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Decision {
    /// The events.
    pub events: Vec<Event>,
    /// The commands.
    pub commands: Vec<Issued>,
}

/// Decides what follows from an input. The same state, time and input always give the same
/// decision.
pub fn decide(state: &State, now: Timestamp, input: &Input) -> Decision {
    match input {
        Input::Start {
            run,
            config,
            choices,
            after_limit,
            lost,
            earlier,
            environment,
        } => {
            let started = Event::RunStarted {
                run: run.clone(),
                config: RunConfig::clone(config),
                after_limit: *after_limit,
                lost: lost.clone(),
                earlier: earlier.clone(),
                environment: environment.clone(),
            };
            picking::start(state, now, started, choices)
        }
        Input::Resume(resumption) => picking::resume(state, now, resumption),
        Input::Noticed { messages } => ending::noticed(state, now, messages),
        Input::PlanReviewed { task, changes } => {
            attempting::plan_reviewed(state, now, task.as_ref(), changes)
        }
        Input::ServicesChanged { reports } => services::changed(state, now, reports),
        Input::Stop { signal } => ending::stop(state, now, *signal),
        // A run that has ended asks for nothing, so this can't be an answer.
        _ if state.outcome.is_some() => Decision::default(),
        Input::Decided { choices, answered } => asking::decided(state, now, choices, answered),
        Input::SessionSeen { seq, session } => attempting::seen(state, now, *seq, session),
        Input::PlanRead { seq, plan } if state.reading == Some(*seq) => {
            picking::read(state, now, plan)
        }
        Input::WithFixBudget { answer, budget } => {
            let budget = Some(budget.as_deref().cloned());
            self::answer(state, now, answer, budget)
        }
        Input::FinallyChecked {
            seq,
            results,
            took_ms,
        } if state.final_check.phase == (FinalCheckPhase::Checking { seq: *seq }) => {
            final_check::ended(state, now, results, *took_ms)
        }
        Input::Reopened { seq }
            if state.final_check.phase == (FinalCheckPhase::Reopening { seq: *seq }) =>
        {
            final_check::reopened(state, now)
        }
        Input::ClosingCommitted {
            seq,
            result,
            changed,
        } if state.closing == Some(*seq) => ending::closing_committed(state, now, result, *changed),
        Input::Awaited { seq } if state.awaiting == Some(*seq) => asking::awaited(state, now),
        Input::Halted { .. } => ending::halted(state, now),
        Input::Contended { why, .. } => ending::needs_person(state, now, why),
        Input::Broken { why, .. } => ending::set_up(state, now, why),
        _ => answer(state, now, input, None),
    }
}

/// Decides about the task that was waiting for this answer. An answer that no task is waiting for
/// is late or repeated, and has no effect.
fn answer(
    state: &State,
    now: Timestamp,
    input: &Input,
    budget: Option<Option<FixBudget>>,
) -> Decision {
    let Some(task) = input.seq().and_then(|seq| state.task_of(seq)) else {
        return Decision::default();
    };
    let mut turn = Turn::about(state, now, task.key());
    turn.fix_budget = budget;
    transition(&mut turn, &task.phase, input);
    turn.decision()
}

/// The transition table: the phase of a task, the answer it got, and what follows.
fn transition(turn: &mut Turn<'_>, phase: &Phase, input: &Input) {
    use {Input as I, Phase as P};
    match (phase, input) {
        (P::Attempting { attempt, .. }, I::AttemptEnded { report, .. }) => {
            attempting::ended(turn, *attempt, report);
        }
        (
            P::Attempting { .. } | P::Repairing { .. } | P::Budgeting { .. } | P::Inserting { .. },
            I::Gone { .. },
        ) => attempting::gone(turn),
        (
            P::JudgingClaims { .. },
            I::ClaimsJudged {
                kept, taken_back, ..
            },
        ) => {
            attempting::claims_judged(turn, kept, taken_back);
        }
        (
            P::Verifying { again, first, .. },
            I::Verified {
                verdict,
                diagnosis,
                tests,
                took_ms,
                ..
            },
        ) => {
            let result = verifying::Verified {
                verdict,
                diagnosis: diagnosis.as_deref(),
                tests: tests.as_deref(),
                took_ms: *took_ms,
            };
            verifying::ended(turn, *again, *first, &result);
        }
        (
            P::ReviewingTests { first, .. },
            I::TestsReviewed {
                review, took_ms, ..
            },
        ) => reviewing::ended(turn, *first, review, *took_ms),
        (
            P::AskingOpinion { .. },
            I::OpinionGiven {
                diagnosis,
                usage,
                took_ms,
                ..
            },
        ) => diagnosing::ended(turn, diagnosis.as_deref(), usage.as_ref(), *took_ms),
        (P::Recalling { .. }, I::Recalled { experience, .. }) => {
            recalling::ended(turn, experience.as_deref());
        }
        (P::Inspecting { .. }, I::RepairInspected { inspection, .. }) => {
            healing::inspected(turn, inspection);
        }
        (P::Repairing { .. }, I::RepairEnded { result, .. }) => repairing::ended(turn, result),
        // If someone has taken the id, the answer is a budget with a new one.
        (P::Budgeting { .. } | P::Inserting { .. }, I::BudgetRead { budget, .. }) => {
            healing::budget_read(turn, budget);
        }
        (P::Inserting { fix, .. }, I::Inserted { .. }) => healing::inserted(turn, fix),
        (P::Modifying { .. }, I::Modified { result, .. }) => modifying::ended(turn, result),
        (P::Noting { message, .. }, I::FailureNoted { .. }) => {
            ending::end_at_limit(turn, message.clone());
        }
        (P::Asking { .. }, I::PersonAnswered { answer, choice, .. }) => {
            asking::answered(turn, answer, choice.as_ref());
        }
        (P::Ticking { done, .. }, I::Ticked { superseded, .. }) => {
            saving::ticked(turn, *done, superseded);
        }
        (P::Committing { .. }, I::Committed { result, .. }) => saving::committed(turn, result),
        (P::Recording { .. }, I::Recorded { .. }) => saving::recorded(turn),
        (
            P::Waiting {
                since,
                until,
                repeats,
                ..
            },
            I::Waited { asleep_ms, .. },
        ) => waiting::ended(
            turn,
            until.since(*since).saturating_sub(*asleep_ms),
            *repeats,
        ),
        _ => {}
    }
}
