use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Who wrote the text that is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// An agent's final message: prose, with quotes of what tools said.
    Agent,
    /// What a command printed.
    #[default]
    Command,
}

/// What is known of an attempt, or of one command, when it has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    pub source: Source,
    /// What was run, if it was a command.
    pub command: Option<String>,
    pub ending: Ending,
    /// What the agent said last.
    pub final_message: Option<String>,
    pub tools: ToolUse,
    pub output: Output,
    /// Paths that differ from before the attempt.
    pub files_changed: Vec<String>,
    /// Whether it was seen to get on, where somebody watched; else what else is here tells.
    pub progressed: Option<bool>,
    /// What the independent check said, if it ran.
    pub verify: Option<Box<VerifyResult>>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ending {
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// Our own limit ended it.
    pub timed_out: bool,
    pub limit_ms: Option<u64>,
    pub duration_ms: u64,
}

/// Which tools an agent used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolUse {
    pub counts: BTreeMap<String, u32>,
    pub last_successful: Option<String>,
}

/// What is kept of an output of any size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Output {
    pub bytes: u64,
    pub lines: u64,
    /// Its beginning and its end, readable; all of it in `head` if it is short.
    pub head: String,
    pub tail: String,
    /// In the order of their lines.
    pub findings: Vec<Finding>,
}

impl Output {
    /// The end of the output; all of it if it is short.
    #[must_use]
    pub fn end(&self) -> &str {
        if self.tail.trim().is_empty() {
            &self.head
        } else {
            &self.tail
        }
    }
}

/// What an independent check found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyResult {
    pub passed: bool,
    /// The run of the check itself.
    pub evidence: Evidence,
}

/// A line of output that says something about how the run went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the rule that matched.
    pub rule: String,
    /// 1-based.
    pub line: u64,
    /// The line without colours, cut at a readable length.
    pub text: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
    /// What the rule took out of the line.
    pub captures: BTreeMap<String, String>,
    /// How often the rule matched in the whole output, kept findings or not.
    pub count: u64,
}
