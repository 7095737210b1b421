use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The author of a text that is diagnosed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// An agent's final message: prose, with quotes of what tools said.
    Agent,
    /// What a command printed.
    #[default]
    Command,
}

/// Everything known about an attempt, or about one command, when it has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Who wrote the text.
    pub source: Source,
    /// The command, if it was one.
    pub command: Option<String>,
    /// How the process ended.
    pub ending: Ending,
    /// What the agent said last.
    pub final_message: Option<String>,
    /// The tools that the agent used.
    pub tools: ToolUse,
    /// The output of the process.
    pub output: Output,
    /// Paths that differ from before the attempt.
    pub files_changed: Vec<String>,
    /// Whether progress was observed; `None` if nothing observed it, and the rest has to tell.
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
    /// Our own limit ended it.
    pub timed_out: bool,
    /// The time limit that it had.
    pub limit_ms: Option<u64>,
    /// How long it ran.
    pub duration_ms: u64,
}

/// Which tools an agent used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolUse {
    /// How often each tool was used.
    pub counts: BTreeMap<String, u32>,
    /// The last tool that succeeded.
    pub last_successful: Option<String>,
}

/// The parts of an output that are kept, whatever its size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Output {
    /// Its length.
    pub bytes: u64,
    /// How many lines it has.
    pub lines: u64,
    /// Its beginning and its end, readable; all of it in `head` if it is short.
    pub head: String,
    /// Its end; empty if `head` is all of it.
    pub tail: String,
    /// The number of the last line in `tail`; the last line of the output if missing.
    pub tail_ends_at: Option<u64>,
    /// In the order of their lines.
    pub findings: Vec<Finding>,
    /// Whether a CI system or a runner says that a step failed.
    pub has_failed_step: bool,
    /// The step that failed, as the CI system or the runner calls it.
    pub failed_step: Option<String>,
    /// The line of the last command that a shell echoed.
    pub last_command_at: Option<u64>,
    /// Lines that green runs don't print and that say that something is wrong, with their numbers.
    #[serde(skip)]
    pub new_lines: Vec<(u64, String)>,
    /// Lines that rules of the user's own match.
    #[serde(skip)]
    pub own_findings: Vec<Finding>,
}

impl Output {
    /// Returns the end of the output; all of it if it is short.
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
    /// The run of the check itself.
    pub evidence: Evidence,
}

/// A line of output that matched a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the rule that matched.
    pub rule: String,
    /// 1-based.
    pub line: u64,
    /// The line without colours, cut at a readable length.
    pub text: String,
    /// Lines before it, for context.
    pub before: Vec<String>,
    /// Lines after it, for context.
    pub after: Vec<String>,
    /// What the rule captured.
    pub captures: BTreeMap<String, String>,
    /// How often the rule matched in the whole output, kept findings or not.
    pub count: u64,
    /// The command above it that a shell or a runner echoed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The lines that belong to it. Shown at once and never stored.
    #[serde(skip)]
    pub excerpt: Excerpt,
    /// Whether green runs print the line as well.
    #[serde(skip)]
    pub is_known: bool,
}

/// Consecutive lines of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// The number of the first of them, 1-based.
    pub first_line: u64,
    /// The number of the last of them.
    pub last_line: u64,
    /// The lines, without colours, each cut at a readable length.
    pub lines: Vec<String>,
}
