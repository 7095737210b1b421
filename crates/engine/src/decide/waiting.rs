//! Waiting for an agent's service.

use regreen_model::{AttemptClass, Event, PlainLine, RunOutcome, Span, Timestamp};

use super::turn::Turn;
use super::{attempting, ending, healing, spending, verifying};
use crate::command::Command;

const FIRST_WAIT_MS: u64 = 2_000;
const LONGEST_WAIT_MS: u64 = 5 * 60 * 1_000;
const SHOWN_CHARS: usize = 200;

/// Waits until the time that the service named, but at least for the backoff. Gives up if the run
/// has waited long enough.
pub(super) fn start(turn: &mut Turn<'_>) {
    if ending::stop_if_asked(turn) {
        return;
    }
    let Some(task) = turn.task() else { return };
    let why = healing::agent_trouble(task).unwrap_or_default();
    let until = task.report.as_ref().and_then(|report| match report.class {
        AttemptClass::Transient { until, .. } => until,
        _ => None,
    });
    // The wait would be pointless: no attempt could follow it.
    if let Some(message) = spending::used_up(turn) {
        return ending::limit(turn, message);
    }
    let why = PlainLine::flatten(&why, SHOWN_CHARS).to_string();
    let now = turn.now;
    let until = now
        .plus(backoff_ms(turn.state.waits, now))
        .max(until.unwrap_or(now));
    let time_left = spending::run_time_left(turn);
    if until.since(now) > time_left {
        let left = Span::from_millis(time_left);
        let why = format!("{why}; --max-time leaves {left}, which is too little to wait for it");
        return ending::end(turn, RunOutcome::TryLater { why });
    }
    let budget = turn.state.config.max_wait_ms;
    if turn.state.waited_ms.saturating_add(until.since(now)) > budget {
        return ending::end(turn, RunOutcome::TryLater { why });
    }
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.ask(Command::Wait { until }, |seq| Event::WaitStarted {
        seq,
        task,
        since: now,
        until,
        why,
        repeats: false,
    });
}

/// Returns the backoff, which doubles with every wait in a row. Adds up to a tenth, so that many
/// runs don't all come back at once; the time is random enough for that, and can be replayed.
pub(crate) fn backoff_ms(waits: u32, now: Timestamp) -> u64 {
    let doubled = FIRST_WAIT_MS.saturating_mul(1 << waits.min(16));
    let wait = doubled.min(LONGEST_WAIT_MS);
    wait + now.as_millis() % (wait / 10)
}

/// Waits briefly before a repeat.
pub(super) fn repeat(turn: &mut Turn<'_>, delay_ms: u64) {
    if let Some(task) = turn.task().map(|task| task.key().clone()) {
        turn.emit(Event::RepeatPlanned { task });
    }
    pause(turn, delay_ms);
}

/// Waits before the next attempt, or the next check if only that failed.
pub(super) fn pause(turn: &mut Turn<'_>, delay_ms: u64) {
    let Some(task) = turn.task() else { return };
    let cause = task.failure.as_ref().map_or("", |failure| failure.cause());
    let (why, key) = (
        PlainLine::first_of(cause, SHOWN_CHARS).to_string(),
        task.key().clone(),
    );
    let now = turn.now;
    let until = now.plus(delay_ms);
    turn.ask(Command::Wait { until }, |seq| Event::WaitStarted {
        seq,
        task: key,
        since: now,
        until,
        why,
        repeats: true,
    });
    ending::stop_if_asked(turn);
}

/// Ends a wait. It costs its planned length without the time asleep, even if the machine was off or its clock was
/// changed.
pub(super) fn ended(turn: &mut Turn<'_>, waited_ms: u64, repeats: bool) {
    let Some(task) = turn.task() else { return };
    let (task, only_red) = (task.key().clone(), task.only_red || task.picked.is_group);
    turn.emit(Event::WaitEnded { task, waited_ms });
    if repeats && only_red {
        verifying::start(turn, false);
    } else {
        attempting::start(turn);
    }
}
