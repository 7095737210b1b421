//! Going on after the process that drove the run is gone.

use regreen_model::{AttemptClass, AttemptReport, Event, FailureRecord, RepairResult, Timestamp};

use super::turn::Turn;
use super::{
    Decision, attempting, choosing, ending, healing, modifying, repairing, saving, verifying,
};
use crate::command::Command;
use crate::input::Resumption;
use crate::state::{Phase, State};

/// Asks again for what was owed. An attempt is never done again as if nothing had been: it
/// is recorded as interrupted. Everything else says what is to be true, and can be asked
/// for as often as need be.
pub(super) fn resume(state: &State, now: Timestamp, resumption: &Resumption) -> Decision {
    let mut turn = match state.pending_task() {
        Some(task) => Turn::about(state, now, task.key()),
        None => Turn::about_run(state, now),
    };
    turn.emit(Event::RunResumed {
        config: resumption.config.clone(),
        at: Some(now),
    });
    choosing::take_note(&mut turn, &resumption.choices);
    ask_again(&mut turn, resumption.interrupted.as_deref());
    turn.decision()
}

fn ask_again(turn: &mut Turn<'_>, left: Option<&AttemptReport>) {
    let phase = turn.task().map_or(Phase::Open, |task| task.phase.clone());
    match &phase {
        Phase::Attempting { attempt, .. } => {
            attempting::ended(turn, *attempt, left.unwrap_or(&cut_off()));
        }
        Phase::JudgingClaims { .. } => attempting::ask_claims(turn),
        Phase::Verifying { first: true, .. } => verifying::start_first(turn),
        Phase::Verifying { again, .. } => verifying::start(turn, *again),
        Phase::Inspecting { .. } => repairing::inspect(turn),
        Phase::Repairing { .. } => repair_again(turn),
        Phase::Budgeting { .. } => healing::ask_budget_again(turn),
        Phase::Inserting { .. } => healing::insert_again(turn),
        Phase::Modifying { .. } => modifying::ask_again(turn),
        Phase::Superseding { .. } => saving::supersede(turn),
        Phase::TickingFixes { fixes, .. } => saving::tick_fixes(turn, fixes),
        Phase::Noting { message, .. } => ending::note_failure_again(turn, message),
        Phase::Ticking { done, .. } => saving::set_box(turn, *done),
        Phase::Committing { .. } => saving::save(turn),
        Phase::Recording { .. } => saving::record(turn),
        Phase::Waiting {
            since,
            until,
            repeats,
            ..
        } => wait_on(turn, *since, *until, *repeats),
        // Somebody may have decided about the task meanwhile, in the file.
        Phase::Open | Phase::Asking { .. } | Phase::Closed => turn.read_plan(),
    }
}

/// Of an attempt that left nothing to look at.
fn cut_off() -> AttemptReport {
    AttemptReport {
        class: AttemptClass::Interrupted,
        failure: FailureRecord::new("regreen or the machine ended while the agent was at work"),
        ..AttemptReport::default()
    }
}

/// A repair looks at the workspace again before it does anything, and says so if nothing is left
/// to do. Where a person has decided meanwhile, it is not done again.
fn repair_again(turn: &mut Turn<'_>) {
    if choosing::is_decided(turn) || !repairing::start_again(turn) {
        let why = "regreen or the machine ended while it was done".to_owned();
        repairing::ended(turn, &RepairResult::Failed { why });
    }
}

/// A wait goes on to its end; it does not start afresh.
fn wait_on(turn: &mut Turn<'_>, since: Timestamp, until: Timestamp, repeats: bool) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.ask(Command::Wait { until }, |seq| Event::WaitStarted {
        seq,
        task,
        since,
        until,
        why: "still waiting".to_owned(),
        repeats,
    });
}
