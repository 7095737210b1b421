//! The output of `regreen delegate`, during the attempts and at the end.

use std::time::{Duration, Instant};

use regreen_diagnosis::Report;
use regreen_engine::delegation::Conclusion;
use regreen_model::{Event, OutlineRow, StopSignal, Timestamp, visible_line};
use regreen_runtime::{DelegationEnd, DelegationObserver, DelegationResult, RunObserver};
use regreen_store::Delegation;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

/// Fits any terminal.
const SHOWN_CHARS: usize = 76;
const SHOW_EVERY: Duration = Duration::from_millis(200);

/// Shows the agent's activity on a terminal, and the response to failures always.
#[derive(Debug, Default)]
pub(super) struct Progress {
    shown: Option<Instant>,
}

impl Progress {
    /// Clears the progress line.
    pub(super) fn finish(&mut self) {
        if self.shown.take().is_some() {
            output::replace_line("");
        }
    }
}

impl RunObserver for Progress {
    fn outline(&mut self, _rows: &[OutlineRow]) {}

    fn recall(&mut self, _at: Timestamp, _event: &Event) {}

    fn event(&mut self, _now: Timestamp, _event: &Event) {}

    fn activity(&mut self, line: &str) {
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() >= SHOW_EVERY);
        if output::can_be_watched() && is_due {
            self.shown = Some(Instant::now());
            output::replace_line(&visible_line(line.trim(), SHOWN_CHARS));
        }
    }
}

impl DelegationObserver for Progress {
    fn milestone(&mut self, line: &str) {
        self.finish();
        output::say(&visible_line(line, SHOWN_CHARS * 4));
    }
}

/// Prints the result, and returns the exit code.
pub(super) fn print(delegated: &DelegationResult, as_json: bool) -> Result<Exit, Problem> {
    let exit = exit(&delegated.end);
    if as_json {
        output::print(&output::json(&object(delegated, exit)))?;
    } else {
        output::print(&text(delegated))?;
    }
    if let Some(why) = why(&delegated.end) {
        output::say(&why);
    }
    Ok(exit)
}

fn exit(end: &DelegationEnd) -> Exit {
    match end {
        DelegationEnd::Ended(Conclusion::Done) => Exit::Success,
        DelegationEnd::Ended(Conclusion::Failed) => Exit::Incomplete,
        DelegationEnd::Ended(Conclusion::NeedsPerson { .. }) => Exit::NeedsPerson,
        DelegationEnd::Ended(Conclusion::TryLater { .. }) => Exit::TryLater,
        DelegationEnd::Ended(Conclusion::SetUp { .. }) => Exit::SetUp,
        DelegationEnd::Stopped(StopSignal::Interrupt) => Exit::Interrupted,
        DelegationEnd::Stopped(StopSignal::Terminate | StopSignal::AfterTask) => Exit::Terminated,
    }
}

/// Returns the answer with its summary, or the failure report; empty if it was stopped.
fn text(delegated: &DelegationResult) -> String {
    match (&delegated.completion, &delegated.failure) {
        (Some(completion), _) => completion.render(),
        (None, Some(failure)) => {
            let report = Report::new(failure.clone()).render();
            format!("{}{report}", delegated.finished_parts)
        }
        (None, None) => String::new(),
    }
}

/// Returns why it ended, unless the report says so already.
fn why(end: &DelegationEnd) -> Option<String> {
    match end {
        DelegationEnd::Ended(Conclusion::NeedsPerson { why }) => {
            Some(format!("A person must decide: {why}"))
        }
        DelegationEnd::Ended(Conclusion::TryLater { why }) => {
            Some(format!("Try again later: {why}"))
        }
        DelegationEnd::Ended(Conclusion::SetUp { why }) => {
            Some(format!("Fix the setup first: {why}"))
        }
        DelegationEnd::Stopped(_) => Some("stopped; the agent was terminated".to_owned()),
        DelegationEnd::Ended(Conclusion::Done | Conclusion::Failed) => None,
    }
}

/// Returns the result as JSON. Scripts rely on the keys.
fn object(delegated: &DelegationResult, exit: Exit) -> Value {
    let DelegationResult {
        session_id,
        end,
        completion,
        failure,
        finished_parts,
        attempts,
    } = delegated;
    json!({
        "session_id": session_id,
        "status": status(end),
        "exit_code": exit.code(),
        "why": why(end),
        "text": text(delegated),
        "completion": completion,
        "failure": failure,
        "finished_parts": Some(finished_parts).filter(|parts| !parts.is_empty()),
        "attempts": attempts.iter().map(attempt).collect::<Vec<_>>(),
    })
}

fn status(end: &DelegationEnd) -> &'static str {
    match end {
        DelegationEnd::Ended(Conclusion::Done) => "completed",
        DelegationEnd::Ended(_) => "failed",
        DelegationEnd::Stopped(_) => "stopped",
    }
}

fn attempt(row: &Delegation) -> Value {
    let at = Timestamp::from_millis(u64::try_from(row.at_ms).unwrap_or(0));
    json!({
        "number": row.number,
        "time": at.iso8601(),
        "prompt_kind": row.prompt_kind,
        "timeout_ms": row.timeout_ms,
        "duration_ms": row.duration_ms,
        "outcome": row.outcome,
        "category": row.category,
        "kind": row.kind,
        "blocked_on": row.blocked_on,
        "files": row.files,
        "tried": row.tried,
        "helped": row.helped,
        "log": row.log,
    })
}
