//! The ends of a run.

use regreen_model::{ERROR_CHARS, Event, PlainLine, RunOutcome, StopSignal, TaskKey, Timestamp};

use super::turn::Turn;
use super::{Decision, picking};
use crate::command::Command;
use crate::input::CommitResult;
use crate::state::State;

/// The scope of the closing commit of a spec without a name.
const DEFAULT_SCOPE: &str = "spec";
const SCOPE_CHARS: usize = 50;

pub(super) fn end(turn: &mut Turn<'_>, outcome: RunOutcome) {
    turn.withdraw();
    turn.save_state();
    turn.emit(Event::RunEnded { outcome });
    turn.ask_aside(Command::Finish);
}

/// Ends a run that has done what it was to do. The progress file names the last commit, so it is
/// committed after that.
pub(super) fn finish(turn: &mut Turn<'_>, outcome: RunOutcome) {
    let is_done = matches!(outcome, RunOutcome::AllGreen | RunOutcome::OnlyDone);
    let is_closed = turn.state.closed_at == Some(turn.state.steps);
    if !is_done || is_closed || !turn.state.has_committed {
        return end(turn, outcome);
    }
    turn.save_state();
    let number = turn.state.commits;
    let spec = PlainLine::first_of(&turn.state.config.spec, SCOPE_CHARS).or(DEFAULT_SCOPE);
    let message = format!("chore({spec}): record progress");
    turn.ask(Command::CloseCommit { message, number }, |seq| {
        Event::ClosingCommitAsked { seq }
    });
}

/// What could not be committed does not take back that everything is done.
pub(super) fn closing_committed(state: &State, now: Timestamp, result: &CommitResult) -> Decision {
    let mut turn = Turn::about_run(state, now);
    let (hash, warnings) = match result {
        CommitResult::Done { hash, warnings } => (Some(hash.clone()), warnings.clone()),
        CommitResult::Nothing => (None, Vec::new()),
        CommitResult::HookFailed { output } => {
            let output = PlainLine::first_of(output, ERROR_CHARS);
            let why = format!("a commit hook refused the spec's own files: {output}");
            (None, vec![why])
        }
        CommitResult::Impossible { why } => (None, vec![why.clone()]),
    };
    for message in warnings {
        turn.emit(Event::Warned { message });
    }
    turn.emit(Event::ClosingCommitted { hash });
    // Hooks take their time: people may have edited the plan meanwhile.
    picking::continue_run(&mut turn);
    turn.decision()
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
