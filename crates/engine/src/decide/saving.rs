//! Ticking, committing and recording a task that has passed.

use regreen_model::{ChoiceKind, Event, FailureRecord, PlainLine, TaskKey};

use super::turn::Turn;
use super::{ending, healing, picking};
use crate::command::{Command, CommitOrder, Record};
use crate::input::CommitResult;
use crate::state::TaskState;

/// The maximum length of a commit message's first line.
const MESSAGE_CHARS: usize = 72;

/// Ticks the task. If it is an original, its open fixes are no longer needed and are ticked as
/// well.
pub(super) fn tick(turn: &mut Turn<'_>) {
    set_box(turn, true);
}

pub(super) fn set_box(turn: &mut Turn<'_>, done: bool) {
    let Some(task) = turn.task() else { return };
    let (key, is_fix) = (task.key().clone(), task.picked.is_fix());
    let command = Command::Tick {
        task: key.clone(),
        done,
        supersede: done && !is_fix && task.owns_fixes(),
    };
    turn.ask(command, |seq| Event::TickAsked {
        seq,
        task: key,
        done,
    });
}

pub(super) fn ticked(turn: &mut Turn<'_>, done: bool, superseded: &[TaskKey]) {
    if !done {
        return commit_refused(turn);
    }
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    if !superseded.is_empty() {
        turn.emit(Event::FixesSuperseded {
            seq: turn.state.next_seq,
            task,
            fixes: superseded.to_vec(),
        });
    }
    save(turn);
}

/// Commits the task's changes if it asks for that, then records it.
pub(super) fn save(turn: &mut Turn<'_>) {
    let Some(task) = turn.task() else { return };
    let config = &turn.state.config;
    let own = task.picked.commit.clone();
    let commit = own.or_else(|| default_message(turn, task).filter(|_| config.commit_all));
    match commit.filter(|_| config.commits) {
        Some(message) => {
            let message = with_cause(turn, message);
            commit_as(turn, message);
        }
        None => record(turn),
    }
}

/// Adds what was fixed to a fix's commit message, below the first line.
fn with_cause(turn: &Turn<'_>, message: String) -> String {
    match turn.task().and_then(|task| turn.cause_of(task)) {
        Some(cause) if !message.contains('\n') => format!("{message}\n\n{cause}"),
        _ => message,
    }
}

/// Returns the message for a task without a Commit field. A group is committed with its tasks.
fn default_message(turn: &Turn<'_>, task: &TaskState) -> Option<String> {
    let spec = &turn.state.config.spec;
    let is_work = !task.picked.is_group && !task.picked.declines_commit;
    is_work.then(|| {
        let key = task.key();
        PlainLine::flatten(&format!("{spec}: {} {}", key.id, key.title), MESSAGE_CHARS).to_string()
    })
}

pub(super) fn commit_as(turn: &mut Turn<'_>, message: String) {
    let Some(task) = turn.task() else { return };
    let key = task.key().clone();
    let command = Command::Commit(CommitOrder {
        task: key.clone(),
        message,
        attempts: task.attempts,
        number: turn.state.commits,
        parent: task.report.as_ref().and_then(|report| report.head.clone()),
    });
    turn.ask(command, |seq| Event::CommitAsked { seq, task: key });
}

pub(super) fn committed(turn: &mut Turn<'_>, result: &CommitResult) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    let hash = match result {
        CommitResult::HookFailed { output } => return refused(turn, output),
        CommitResult::Impossible { why } => return ending::broken(turn, why),
        CommitResult::Nothing => None,
        CommitResult::Done { hash, warnings } => {
            for message in warnings {
                turn.emit(Event::Warned {
                    message: message.clone(),
                });
            }
            Some(hash.clone())
        }
    };
    turn.emit(Event::Committed { task, hash });
    record(turn);
}

/// Unticks the task again, unless a person wants it ticked.
fn refused(turn: &mut Turn<'_>, output: &str) {
    let Some(task) = turn.task() else { return };
    let (key, is_called_done) = (task.key().clone(), task.choice == Some(ChoiceKind::Done));
    let message = format!(
        "the commit of task {key} was refused; a person marked it as done, so it stays done"
    );
    turn.emit(Event::CommitRefused {
        task: key,
        output: output.to_owned(),
    });
    if is_called_done {
        turn.emit(Event::Warned { message });
        record(turn);
    } else {
        set_box(turn, false);
    }
}

/// Fails the task with the output of the commit hook: a hook that fails is a failed check.
fn commit_refused(turn: &mut Turn<'_>) {
    let refusal = turn.task().and_then(|task| task.refusal.clone());
    let failure = FailureRecord {
        error: refusal.unwrap_or_default(),
        ..FailureRecord::default()
    };
    healing::fail(turn, failure);
}

pub(super) fn record(turn: &mut Turn<'_>) {
    let Some(task) = turn.task() else { return };
    let (key, hash) = (task.key().clone(), task.hash.clone());
    let command = Command::Record(Record {
        task: key.clone(),
        hash,
        superseded: task.superseded.clone(),
    });
    turn.ask(command, |seq| Event::RecordAsked { seq, task: key });
}

pub(super) fn recorded(turn: &mut Turn<'_>) {
    let Some(task) = turn.task() else { return };
    let done = Event::TaskDone {
        task: task.key().clone(),
        marks: task.marks.clone(),
        hash: task.hash.clone(),
    };
    turn.emit(done);
    picking::continue_run(turn);
}
