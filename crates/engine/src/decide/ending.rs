//! How a run ends.

use regreen_model::{ERROR_CHARS, Event, PlainLine, RunOutcome, StopSignal, TaskKey, Timestamp};

use super::turn::Turn;
use super::{Decision, picking};
use crate::command::Command;
use crate::input::CommitResult;
use crate::state::{State, TaskState};

/// The scope of the closing commit if the spec has no name.
const DEFAULT_SCOPE: &str = "spec";
const SCOPE_CHARS: usize = 50;

pub(super) fn end(turn: &mut Turn<'_>, outcome: RunOutcome) {
    turn.withdraw();
    turn.save_state();
    turn.emit(Event::RunEnded { outcome });
    turn.ask_aside(Command::Finish);
}

/// Ends a run that did what it was meant to do. The progress file names the last commit, so it is
/// committed afterwards.
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
    let command = Command::CloseCommit {
        message,
        number,
        completes: outcome == RunOutcome::AllGreen,
    };
    turn.ask(command, |seq| Event::ClosingCommitAsked { seq });
}

/// Everything stays done even if the closing commit failed. If its hooks changed other files, the
/// final check follows once more.
pub(super) fn closing_committed(
    state: &State,
    now: Timestamp,
    result: &CommitResult,
    changed: bool,
) -> Decision {
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
    turn.emit(Event::ClosingCommitted { hash, changed });
    // Hooks take time; people may have edited the plan meanwhile.
    picking::continue_run(&mut turn);
    turn.decision()
}

/// Ends the run at a limit. First the progress file says that fixes were not enough, if some were
/// made; it is also made if the message names it.
pub(super) fn limit(turn: &mut Turn<'_>, message: String) {
    let task = turn.task();
    let task = task.filter(|task| is_healed(turn, task) || turn.is_used_up());
    match task.map(|task| task.key().clone()) {
        Some(task) => note_failure(turn, task, message),
        None => end_at_limit(turn, message),
    }
}

fn is_healed(turn: &Turn<'_>, task: &TaskState) -> bool {
    turn.state.config.recovery && (task.picked.is_fix() || task.owns_fixes())
}

fn note_failure(turn: &mut Turn<'_>, task: TaskKey, message: String) {
    turn.withdraw();
    let failure = turn.task().and_then(|task| task.failure.as_ref());
    let command = Command::NoteFailure {
        task: task.clone(),
        kind: failure.and_then(|failure| Some(failure.confident_diagnosis()?.kind)),
    };
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

/// Handles the user's request to stop. The running command is being stopped, and its answer ends
/// the run.
pub(super) fn stop(state: &State, now: Timestamp, signal: StopSignal) -> Decision {
    let mut turn = Turn::about_run(state, now);
    turn.emit(Event::StopAsked { signal });
    turn.decision()
}

/// Passes warnings on to the user.
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
