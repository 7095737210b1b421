//! Going on after the process that drove the run is gone.

use regreen_model::{AttemptClass, AttemptReport, Event, RunConfig, TaskKey, Timestamp};

use super::turn::Turn;
use super::{Decision, attempting, saving, verifying};
use crate::command::Command;
use crate::state::{Phase, State};

/// Asks again for what was owed. An attempt is never done again as if nothing had been: it
/// is recorded as interrupted. Everything else says what is to be true, and can be asked
/// for as often as need be.
pub(super) fn resume(
    state: &State,
    now: Timestamp,
    config: Option<&RunConfig>,
    interrupted: Option<&AttemptReport>,
) -> Decision {
    let resumed = Event::RunResumed {
        config: config.map(|config| Box::new(config.clone())),
    };
    let owed = state.tasks.values().find(|task| task.phase.seq().is_some());
    let Some(task) = owed else {
        let mut turn = Turn::about_run(state, now);
        turn.emit(resumed);
        turn.read_plan();
        return turn.decision();
    };
    let mut turn = Turn::about(state, now, task.key());
    turn.emit(resumed);
    match (&task.phase, interrupted) {
        (Phase::Attempting { attempt, .. }, Some(report)) => {
            attempting::ended(&mut turn, *attempt, report);
        }
        (phase, _) => ask_again(&mut turn, task.key(), phase),
    }
    turn.decision()
}

fn ask_again(turn: &mut Turn<'_>, key: &TaskKey, phase: &Phase) {
    match phase {
        Phase::Attempting { attempt, .. } => interrupted(turn, *attempt),
        Phase::JudgingClaims { .. } => attempting::ask_claims(turn),
        Phase::Verifying { again, .. } => verifying::start(turn, *again),
        Phase::Ticking { done, .. } => saving::set_box(turn, *done),
        Phase::Committing { .. } => saving::ticked(turn, true),
        Phase::Recording { .. } => saving::record(turn),
        Phase::Waiting { since, until, .. } => wait_on(turn, key, *since, *until),
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
fn wait_on(turn: &mut Turn<'_>, key: &TaskKey, since: Timestamp, until: Timestamp) {
    turn.ask(Command::Wait { until }, |seq| Event::WaitStarted {
        seq,
        task: key.clone(),
        since,
        until,
        why: "still waiting".to_owned(),
    });
}
