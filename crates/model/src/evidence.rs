use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The author of a diagnosed text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// An agent's final message: prose that quotes tool output.
    Agent,
    /// The output of a command.
    #[default]
    Command,
}

/// Everything known about an attempt or a command that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// The author of the text.
    pub source: Source,
    /// The command, if it is one.
    pub command: Option<String>,
    /// How the process ended.
    pub ending: Ending,
    /// The agent's last message.
    pub final_message: Option<String>,
    /// The tools that the agent used.
    pub tools: ToolUse,
    /// The output of the process.
    pub output: Output,
    /// Paths that differ from before the attempt.
    pub files_changed: Vec<String>,
    /// Whether progress was observed; `None` if nothing watched for it, so that the rest must tell.
    pub progressed: Option<bool>,
    /// The result of the independent check, if it ran.
    pub verify: Option<Box<VerifyResult>>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ending {
    /// The exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Whether regreen's own time limit ended it.
    pub timed_out: bool,
    /// Its time limit.
    pub limit_ms: Option<u64>,
    /// How long it ran.
    pub duration_ms: u64,
}

/// The tools that an agent used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolUse {
    /// How often each tool was used.
    pub counts: BTreeMap<String, u32>,
    /// The last tool that succeeded.
    pub last_successful: Option<String>,
}

/// The parts of an output that are kept. Their size is bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Output {
    /// The length of the whole output.
    pub bytes: u64,
    /// The number of lines in the whole output.
    pub lines: u64,
    /// The beginning of the output, as readable text; all of it if it is short.
    pub head: String,
    /// The end of the output; empty if `head` holds all of it.
    pub tail: String,
    /// The line number at which `tail` ends; the last line of the output if absent.
    pub tail_ends_at: Option<u64>,
    /// The findings, in line order.
    pub findings: Vec<Finding>,
    /// Whether a CI system or a task runner says that a step failed.
    pub has_failed_step: bool,
    /// The name that the CI system or task runner gives the failed step.
    pub failed_step: Option<String>,
    /// The line number of the last command that a shell echoed.
    pub last_command_at: Option<u64>,
    /// Lines that passing runs don't print and that report a problem, with their numbers.
    #[serde(skip)]
    pub new_lines: Vec<(u64, String)>,
    /// Lines that match the user's own rules.
    #[serde(skip)]
    pub own_findings: Vec<Finding>,
}

impl Output {
    /// Returns the end of the output, or all of it if it is short.
    #[must_use]
    pub fn end(&self) -> &str {
        if self.tail.trim().is_empty() {
            &self.head
        } else {
            &self.tail
        }
    }
}

/// The result of an independent check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyResult {
    /// Whether the check passed.
    pub passed: bool,
    /// The evidence from the check itself.
    pub evidence: Evidence,
}

/// A line of output that matched a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the rule that matched.
    pub rule: String,
    /// The line number, 1-based.
    pub line: u64,
    /// The line without colours, shortened if necessary.
    pub text: String,
    /// Lines before it, for context.
    pub before: Vec<String>,
    /// Lines after it, for context.
    pub after: Vec<String>,
    /// The rule's captures.
    pub captures: BTreeMap<String, String>,
    /// How often the rule matched in the whole output, including matches that weren't kept.
    pub count: u64,
    /// The last command that a shell or task runner echoed above the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The surrounding lines. They are only displayed, never stored.
    #[serde(skip)]
    pub excerpt: Excerpt,
    /// Whether passing runs print the line as well.
    #[serde(skip)]
    pub is_known: bool,
}

/// Consecutive lines of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// The number of the first line, 1-based.
    pub first_line: u64,
    /// The number of the last line.
    pub last_line: u64,
    /// The lines without colours, each shortened if necessary.
    pub lines: Vec<String>,
}
