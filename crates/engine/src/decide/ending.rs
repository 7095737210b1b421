//! The ends of a run.

use regreen_model::{Event, RunOutcome, StopSignal, Timestamp};

use super::Decision;
use super::turn::Turn;
use crate::command::Command;
use crate::state::State;

pub(super) fn end(turn: &mut Turn<'_>, outcome: RunOutcome) {
    turn.withdraw();
    turn.save_state();
    turn.emit(Event::RunEnded { outcome });
    turn.ask_aside(Command::Finish);
}

pub(super) fn limit(turn: &mut Turn<'_>, message: String) {
    end(turn, RunOutcome::Limit { message });
}

pub(super) fn broken(turn: &mut Turn<'_>, why: &str) {
    end(
        turn,
        RunOutcome::SetUp {
            why: why.to_owned(),
        },
    );
}

/// Ends the run here if somebody has asked for it. What was asked for stays owed.
pub(super) fn stop_if_asked(turn: &mut Turn<'_>) -> bool {
    match turn.state.stopping {
        Some(signal) => {
            end(turn, RunOutcome::Stopped { signal });
            true
        }
        None => false,
    }
}

/// Somebody asks to stop: what runs is being ended, and its answer ends the run.
pub(super) fn stop(state: &State, now: Timestamp, signal: StopSignal) -> Decision {
    let mut turn = Turn::about_run(state, now);
    turn.emit(Event::StopAsked { signal });
    turn.decision()
}

/// What people should know, whatever happens next.
pub(super) fn noticed(state: &State, now: Timestamp, messages: &[String]) -> Decision {
    let mut turn = Turn::about_run(state, now);
    for message in messages {
        turn.emit(Event::Warned {
            message: message.clone(),
        });
    }
    turn.decision()
}

/// What was being done was cut short because somebody asked to stop.
pub(super) fn halted(state: &State, now: Timestamp) -> Decision {
    let mut turn = Turn::about_run(state, now);
    stop_if_asked(&mut turn);
    turn.decision()
}

pub(super) fn needs_person(state: &State, now: Timestamp, why: &str) -> Decision {
    let mut turn = Turn::about_run(state, now);
    end(
        &mut turn,
        RunOutcome::NeedsPerson {
            why: why.to_owned(),
        },
    );
    turn.decision()
}

pub(super) fn set_up(state: &State, now: Timestamp, why: &str) -> Decision {
    let mut turn = Turn::about_run(state, now);
    broken(&mut turn, why);
    turn.decision()
}
