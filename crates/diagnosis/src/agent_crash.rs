//! Crashes of the agent's own program, whose stack trace and exit code say nothing about the
//! project.

use std::sync::LazyLock;

use regex::Regex;
use regreen_model::{
    AttemptClass, AttemptReport, Confidence, Ending, Failure, FailureKind, OutputKind, RetryMode,
    Transcript,
};

use crate::agent_startup::startup_error;
use crate::attempt_failure::unexplained_failure;
use crate::cause_origin::AGENT_CRASH;
use crate::rank::{fingerprint, signal_name};

/// How many of the last lines are searched.
const SEARCHED: usize = 200;
/// The maximum number of lines in an error after its first one.
const MAX_MESSAGE: usize = 4;
/// Signals that end a program because of its own defect.
const DEFECTS: [i32; 7] = [4, 5, 6, 7, 8, 11, 31];

/// Diagnoses an agent that crashed without having reported how the task ended.
pub(crate) fn crash(report: &AttemptReport, transcript: &Transcript) -> Option<Failure> {
    let Ending {
        exit_code,
        signal,
        timed_out,
        ..
    } = report.ending;
    let has_failed = signal.is_some() || exit_code.is_some_and(|code| code != 0);
    let is_own = transcript.output_kind != OutputKind::Commands
        && transcript.finished != Some(true)
        && report.class == AttemptClass::Ordinary;
    if timed_out || !has_failed || !is_own || report.signalled || report.reports_failure {
        return None;
    }
    if let Some(signal) = signal.filter(|signal| DEFECTS.contains(signal)) {
        let name = signal_name(signal);
        let what = format!("the agent was killed by {name}");
        return Some(failure(FailureKind::CrashedBySignal, what));
    }
    let printed = transcript.output.as_ref()?;
    let uncaught = uncaught_error(printed.end()).map(ToOwned::to_owned);
    let error = uncaught.or_else(|| startup_error(transcript, report.ending))?;
    Some(failure(FailureKind::RuntimeException, error))
}

fn failure(kind: FailureKind, error: String) -> Failure {
    Failure {
        message: format!("The agent itself crashed: {error}"),
        retryable: true,
        // Nothing in the project can be changed about it.
        retry_mode: RetryMode::AsIs,
        suggested_actions: vec![
            "Run the agent on its own and see whether it crashes there too".to_owned(),
            "Update or reinstall the agent".to_owned(),
        ],
        rule: AGENT_CRASH.to_owned(),
        confidence: Confidence::percent(80),
        fingerprint: fingerprint(kind, &error),
        ..unexplained_failure(kind, error)
    }
}

/// How a language prints an uncaught error.
struct StackTrace {
    /// Matches a line of the trace, which follows or precedes the error.
    frame: &'static LazyLock<Option<Regex>>,
    /// Matches the line that names the error.
    error: &'static LazyLock<Option<Regex>>,
    /// Whether the error is the line after the frames.
    is_last: bool,
}

macro_rules! patterns {
    ($($name:ident = $pattern:literal;)+) => {
        $(static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($pattern).ok());)+
    };
}

patterns! {
    PYTHON_FRAME = r#"^  File "[^"]+", line \d+"#;
    PYTHON_ERROR = r"^[A-Za-z_][\w.]*(?:: \S.*)?$";
    JAVASCRIPT_FRAME = r"^\s+at \S";
    JAVASCRIPT_ERROR = r"^(?:Uncaught )?(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b.*|^Exception in thread .*";
    RUST_FRAME = r"^note: run with `RUST_BACKTRACE";
    RUST_ERROR = r"^thread '.*' (?:\(\d+\) )?panicked at ";
    GO_FRAME = r"^goroutine \d+ \[";
    GO_ERROR = r"^(?:panic|fatal error): ";
    RUBY_FRAME = r"^\s+from \S+:\d+:in ";
    RUBY_ERROR = r"^\S+\.rb:\d+:in .*: .*";
}

const STACK_TRACES: [StackTrace; 5] = [
    StackTrace {
        frame: &PYTHON_FRAME,
        error: &PYTHON_ERROR,
        is_last: true,
    },
    StackTrace {
        frame: &JAVASCRIPT_FRAME,
        error: &JAVASCRIPT_ERROR,
        is_last: false,
    },
    StackTrace {
        frame: &RUST_FRAME,
        error: &RUST_ERROR,
        is_last: false,
    },
    StackTrace {
        frame: &GO_FRAME,
        error: &GO_ERROR,
        is_last: false,
    },
    StackTrace {
        frame: &RUBY_FRAME,
        error: &RUBY_ERROR,
        is_last: false,
    },
];

/// Returns the line that names the error, if a text ends with the stack trace of an uncaught error.
/// An agent that quotes a tool's stack trace says something after it.
fn uncaught_error(text: &str) -> Option<&str> {
    let mut lines: Vec<&str> = text.lines().rev().take(SEARCHED).collect();
    lines.reverse();
    let lines: Vec<&str> = lines
        .into_iter()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    STACK_TRACES.iter().find_map(|trace| trace.error_of(&lines))
}

impl StackTrace {
    fn error_of<'t>(&self, lines: &[&'t str]) -> Option<&'t str> {
        let (frame, error) = (self.frame.as_ref()?, self.error.as_ref()?);
        let last_frame = lines.iter().rposition(|line| frame.is_match(line))?;
        if self.is_last {
            let after = &lines[last_frame + 1..];
            let at = after.iter().position(|line| error.is_match(line))?;
            return (after.len() - at <= 1 + MAX_MESSAGE).then_some(after[at]);
        }
        let is_rest = |line: &&str| line.starts_with([' ', '\t']) || is_end_of_trace(line);
        if !lines[last_frame + 1..].iter().all(is_rest) {
            return None;
        }
        let at = lines[..last_frame]
            .iter()
            .rposition(|line| error.is_match(line))?;
        Some(self.message(lines, at))
    }

    /// Returns the error message, which newer versions of Rust print below the location.
    fn message<'t>(&self, lines: &[&'t str], at: usize) -> &'t str {
        let below = lines.get(at + 1).filter(|_| lines[at].ends_with(':'));
        below.copied().unwrap_or(lines[at])
    }
}

/// Whether a runtime prints this line after a stack trace.
fn is_end_of_trace(line: &str) -> bool {
    const ENDS: [&str; 7] = [
        "Node.js v",
        "}",
        "]",
        "exit status",
        "created by ",
        "main.",
        "... ",
    ];
    ENDS.iter().any(|end| line.starts_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(uncaught_error(text), expected, "{text}");
    }

    const PYTHON: &str = "Traceback (most recent call last):\n  File \"/opt/agent/main.py\", line 3, in <module>\n    run(config[\"model\"])\n        ~~~~~~^^^^^^^^^\nKeyError: 'model'\n";

    #[test]
    fn the_error_of_a_stack_trace_at_the_end_is_found() {
        check(PYTHON, Some("KeyError: 'model'"));
        check(
            "file:///opt/agent/cli.js:3\nthrow new TypeError('x');\n      ^\n\nTypeError: x is not a function\n    at main (file:///opt/agent/cli.js:3:7)\n    at node:internal/main:1:1\n\nNode.js v20.11.0\n",
            Some("TypeError: x is not a function"),
        );
        check(
            "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
            Some("index out of bounds"),
        );
        check(
            "panic: no config\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:4 +0x1d\nexit status 2\n",
            Some("panic: no config"),
        );
        check(
            "agent.rb:2:in `fetch': key not found: :model (KeyError)\n\tfrom agent.rb:2:in `<main>'\n",
            Some("agent.rb:2:in `fetch': key not found: :model (KeyError)"),
        );
    }

    #[test]
    fn a_stack_trace_that_someone_comments_on_is_a_quote() {
        check(
            &format!("{PYTHON}\nThe test fails.\nI looked.\nAt the code.\nAnd again.\nNo idea.\n"),
            None,
        );
        check("the build fails\n", None);
        check("", None);
    }
}
