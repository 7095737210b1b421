//! `regreen hook explain`: tells a session why its shell command failed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use regreen_agents::untrusted;
use regreen_diagnosis::{Explanation, Scanner, evidence_of};
use regreen_model::{Ending, Source};
use regreen_redaction::Masks;
use regreen_reporters::LineStyle;
use regreen_workspace::{RealDisk, workspace_root};
use serde_json::Value;

use super::decision::fill;
use crate::commands::explain::answer_text;
use crate::config::{RuleFiles, usual_user_file};

/// A diagnosis should cost a session little.
const BUDGET: usize = 3000;

/// Returns what to tell the session; `None` if the diagnosis isn't sure of the cause.
pub(super) fn explanation(input: &[u8]) -> Option<String> {
    let command = FailedCommand::read(input)?;
    let root = workspace_root(&RealDisk, &command.cwd);
    let own = Arc::new(RuleFiles::load(usual_user_file().as_deref(), &root).rules);
    let source = Source::Command;
    let mut scanner = Scanner::new(source).with_own_rules(own.clone());
    scanner.feed(command.output.as_bytes());
    let evidence = evidence_of(scanner.finish(), source, command.text, command.ending);
    let explanation = Explanation::with_own_rules(&evidence, &own);
    let failure = explanation.failure.as_ref();
    failure.filter(|failure| failure.is_confident() && failure.blocked_on.is_some())?;
    let text = Masks::built_in().mask(&answer_text(&explanation, LineStyle::default()));
    let template = include_str!("explain.md");
    let diagnosis = untrusted(&text, BUDGET);
    Some(fill(template, &[("diagnosis", diagnosis)]))
}

/// A shell command that failed in a session.
#[derive(Debug, PartialEq, Eq)]
struct FailedCommand {
    cwd: PathBuf,
    text: Option<String>,
    output: String,
    ending: Ending,
}

impl FailedCommand {
    /// Returns `None` if the input is about anything else, or if the user stopped the command.
    fn read(input: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(input).ok()?;
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
        let is_stopped = value.get("is_interrupt") == Some(&Value::Bool(true));
        if text("/tool_name") != Some("Bash") || is_stopped {
            return None;
        }
        let (ending, output) = ending_and_output(text("/error")?);
        Some(Self {
            cwd: Path::new(text("/cwd")?).to_owned(),
            text: text("/tool_input/command").map(str::to_owned),
            output: output.to_owned(),
            ending,
        })
    }
}

/// Divides Claude Code's report, which begins with the exit code, into how the command ended and
/// what it printed.
fn ending_and_output(error: &str) -> (Ending, &str) {
    let (first, rest) = error.split_once('\n').unwrap_or((error, ""));
    let exit_code = first
        .strip_prefix("Exit code ")
        .and_then(|code| code.trim().parse().ok());
    let output = if exit_code.is_some() { rest } else { error };
    let timed_out = |line: &str| line.starts_with("Command timed out after ");
    let ending = Ending {
        exit_code,
        timed_out: [output.lines().next(), output.lines().last()]
            .into_iter()
            .flatten()
            .any(timed_out),
        ..Ending::default()
    };
    (ending, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failed_shell_command_that_nobody_stopped_is_explained() {
        let read = |text: &str| FailedCommand::read(text.as_bytes());
        let failed = read(
            r#"{"cwd":"/w","tool_name":"Bash","tool_input":{"command":"make"},"error":"Exit code 2\nboom"}"#,
        );
        let failed = failed.unwrap();
        assert_eq!(failed.text.as_deref(), Some("make"));
        assert_eq!(failed.output, "boom");
        assert_eq!(failed.ending.exit_code, Some(2));
        for other in [
            "",
            "[]",
            r#"{"cwd":"/w","tool_name":"Edit","error":"Exit code 2\nboom"}"#,
            r#"{"cwd":"/w","tool_name":"Bash"}"#,
            r#"{"cwd":"/w","tool_name":"Bash","error":7}"#,
            r#"{"cwd":"/w","tool_name":"Bash","error":"Exit code 130","is_interrupt":true}"#,
            r#"{"tool_name":"Bash","error":"Exit code 2"}"#,
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn the_report_of_claude_code_says_how_the_command_ended() {
        let read = |text: &str| {
            let (ending, output) = ending_and_output(text);
            (ending.exit_code, ending.timed_out, output.to_owned())
        };
        assert_eq!(read("Exit code 1"), (Some(1), false, String::new()));
        let timed_out = "Command timed out after 1s";
        let report = format!("Exit code 143\n{timed_out}");
        assert_eq!(read(&report), (Some(143), true, timed_out.to_owned()));
        assert_eq!(read("no code\nb"), (None, false, "no code\nb".to_owned()));
    }
}
