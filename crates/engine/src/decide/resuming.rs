//! Going on after the process that drove the run is gone.

use regreen_model::{AttemptClass, AttemptReport, Event, PersonChoice, Timestamp};

use super::turn::Turn;
use super::{Decision, attempting, choosing, saving, verifying};
use crate::command::Command;
use crate::state::{Phase, State};

/// Asks again for what was owed. An attempt is never done again as if nothing had been: it
/// is recorded as interrupted. Everything else says what is to be true, and can be asked
/// for as often as need be.
pub(super) fn resume(state: &State, now: Timestamp, choices: &[PersonChoice]) -> Decision {
    let owed = state.tasks.values().find(|task| task.phase.seq().is_some());
    let mut turn = match owed {
        Some(task) => Turn::about(state, now, task.key()),
        None => Turn::about_run(state, now),
    };
    turn.emit(Event::RunResumed);
    choosing::take_note(&mut turn, choices);
    ask_again(&mut turn);
    turn.decision()
}

fn ask_again(turn: &mut Turn<'_>) {
    let phase = turn.task().map_or(Phase::Open, |task| task.phase.clone());
    match &phase {
        Phase::Attempting { attempt, .. } => interrupted(turn, *attempt),
        Phase::JudgingClaims { .. } => attempting::ask_claims(turn),
        Phase::Verifying { again, .. } => verifying::start(turn, *again),
        Phase::Ticking { done, .. } => saving::set_box(turn, *done),
        Phase::Committing { .. } => saving::ticked(turn, true),
        Phase::Recording { .. } => saving::record(turn),
        Phase::Waiting { since, until, .. } => wait_on(turn, *since, *until),
        Phase::Open | Phase::Closed => turn.read_plan(),
    }
}

fn interrupted(turn: &mut Turn<'_>, attempt: u32) {
    let report = AttemptReport {
        class: AttemptClass::Interrupted,
        error: "regreen or the machine ended while the agent was at work".to_owned(),
        ..AttemptReport::default()
    };
    attempting::ended(turn, attempt, &report);
}

/// A wait goes on to its end; it does not start afresh.
fn wait_on(turn: &mut Turn<'_>, since: Timestamp, until: Timestamp) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.ask(Command::Wait { until }, |seq| Event::WaitStarted {
        seq,
        task,
        since,
        until,
        why: "still waiting".to_owned(),
    });
}
