//! The ends of a run.

use regreen_model::{Event, RunOutcome, StopSignal, TaskKey, Timestamp};

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

/// Ends the run at a limit. Where fixes were made, the progress file says first that they
/// were not enough.
pub(super) fn limit(turn: &mut Turn<'_>, message: String) {
    let is_healing = turn.state.config.recovery;
    let task = turn
        .task()
        .filter(|task| is_healing && (task.picked.is_fix() || task.owns_fixes()));
    match task.map(|task| task.key().clone()) {
        Some(task) => note_failure(turn, task, message),
        None => end_at_limit(turn, message),
    }
}

fn note_failure(turn: &mut Turn<'_>, task: TaskKey, message: String) {
    turn.withdraw();
    let command = Command::NoteFailure { task: task.clone() };
    turn.ask(command, |seq| Event::HistoryAsked { seq, task, message });
}

pub(super) fn note_failure_again(turn: &mut Turn<'_>, message: &str) {
    if let Some(task) = turn.task().map(|task| task.key().clone()) {
        note_failure(turn, task, message.to_owned());
    }
}

pub(super) fn end_at_limit(turn: &mut Turn<'_>, message: String) {
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

/// Ends the run here if the user has asked to stop. Issued commands stay pending.
pub(super) fn stop_if_asked(turn: &mut Turn<'_>) -> bool {
    let Some(signal) = turn.state.stopping else {
        return false;
    };
    end(turn, RunOutcome::Stopped { signal });
    true
}

/// The user asks to stop: what runs is being stopped, and its answer ends the run.
pub(super) fn stop(state: &State, now: Timestamp, signal: StopSignal) -> Decision {
    let mut turn = Turn::about_run(state, now);
    turn.emit(Event::StopAsked { signal });
    turn.decision()
}

/// Passes on what the user should know.
pub(super) fn noticed(state: &State, now: Timestamp, messages: &[String]) -> Decision {
    let mut turn = Turn::about_run(state, now);
    for message in messages {
        turn.emit(Event::Warned {
            message: message.clone(),
        });
    }
    turn.decision()
}

/// A command was stopped because the user asked to stop.
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
