//! The layout of the state file, and the keys that regreen reads.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The layout of a file that was read, which writing preserves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonStyle {
    has_byte_order_mark: bool,
    /// The indent of one level; `None` if everything is on one line.
    indent: Option<String>,
    /// Whether lists of plain values are on one line although other values aren't.
    has_inline_lists: bool,
    eol: &'static str,
    has_final_eol: bool,
}

impl Default for JsonStyle {
    fn default() -> Self {
        Self {
            has_byte_order_mark: false,
            indent: Some("  ".to_owned()),
            has_inline_lists: true,
            eol: "\n",
            has_final_eol: true,
        }
    }
}

impl JsonStyle {
    pub(super) fn of(text: &str) -> Self {
        let body = text.trim();
        let mut indents = body
            .split(['\n', '\r'])
            .skip(1)
            .map(|line| &line[..line.len() - line.trim_start().len()]);
        let indent = indents.find(|indent| !indent.is_empty());
        Self {
            has_byte_order_mark: text.starts_with('\u{FEFF}'),
            indent: body
                .contains(['\n', '\r'])
                .then(|| indent.unwrap_or_default().to_owned()),
            has_inline_lists: body.split(['\n', '\r']).any(has_inline_list),
            eol: crate::markdown::eol_of(text),
            has_final_eol: text.ends_with(['\n', '\r']),
        }
    }

    pub(super) fn render(&self, members: &Map<String, Value>) -> String {
        let mut text = String::new();
        match &self.indent {
            Some(indent) => self.write_object(members, indent, 0, &mut text),
            None => text = Value::Object(members.clone()).to_string(),
        }
        if self.eol != "\n" {
            // Line breaks inside JSON strings are always escaped, so this changes only the layout.
            text = text.replace('\n', self.eol);
        }
        if self.has_byte_order_mark {
            text.insert(0, '\u{FEFF}');
        }
        if self.has_final_eol {
            text.push_str(self.eol);
        }
        text
    }

    /// Writes a value, on several lines if it has parts.
    fn write(&self, value: &Value, indent: &str, depth: usize, text: &mut String) {
        match value {
            Value::Array(items) if self.has_inline_lists && items.iter().all(is_plain) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                let _ = write!(text, "[{}]", items.join(", "));
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('[');
                for (at, item) in items.iter().enumerate() {
                    new_line(text, indent, depth + 1, at > 0);
                    self.write(item, indent, depth + 1, text);
                }
                new_line(text, indent, depth, false);
                text.push(']');
            }
            Value::Object(members) => self.write_object(members, indent, depth, text),
            Value::String(word) => write_word(text, word),
            plain => {
                let _ = write!(text, "{plain}");
            }
        }
    }

    fn write_object(
        &self,
        members: &Map<String, Value>,
        indent: &str,
        depth: usize,
        text: &mut String,
    ) {
        text.push('{');
        for (at, (key, member)) in members.iter().enumerate() {
            new_line(text, indent, depth + 1, at > 0);
            write_word(text, key);
            text.push_str(": ");
            self.write(member, indent, depth + 1, text);
        }
        if !members.is_empty() {
            new_line(text, indent, depth, false);
        }
        text.push('}');
    }
}

fn new_line(text: &mut String, indent: &str, depth: usize, comma: bool) {
    text.push_str(if comma { ",\n" } else { "\n" });
    for _ in 0..depth {
        text.push_str(indent);
    }
}

/// Writes a string. Most have nothing to escape.
fn write_word(text: &mut String, word: &str) {
    let is_plain = |byte: u8| (byte.is_ascii_graphic() || byte == b' ') && !b"\"\\".contains(&byte);
    if word.bytes().all(is_plain) {
        text.push('"');
        text.push_str(word);
        text.push('"');
    } else {
        let _ = write!(text, "{}", Value::from(word));
    }
}

/// Whether the line has a non-empty list that ends on the same line.
fn has_inline_list(line: &str) -> bool {
    let Some((_, list)) = line.split_once('[') else {
        return false;
    };
    list.split_once(']')
        .is_some_and(|(inside, _)| !inside.trim().is_empty())
}

fn is_plain(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// A known key with an invalid value, and what is used instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateWarning {
    /// The path in the file: `fixTaskMap.1.3.attempts`.
    pub path: String,
    /// The error, and the value used instead.
    pub message: String,
}

impl StateWarning {
    pub(super) fn new(path: String, expected: &str, found: &Value, used: &str) -> Self {
        let found = type_name(found);
        Self {
            path,
            message: format!("expected {expected}, found {found}; using {used}"),
        }
    }
}

pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number regreen cannot use here",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Returns a whole number in range, including one written as `3.0`.
pub(super) fn as_count(value: &Value) -> Option<u32> {
    let number = value.as_number()?;
    if let Some(count) = number.as_u64() {
        return u32::try_from(count).ok();
    }
    let count = number.as_f64()?;
    let is_whole = count.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&count);
    is_whole.then(|| format!("{count:.0}").parse().ok())?
}

/// A key whose value is a whole number.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountKey {
    pub(super) name: &'static str,
    pub(super) default: u32,
}

/// A boolean key; all of them default to false.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlagKey {
    pub(super) name: &'static str,
}

pub(super) const EPIC_NAME: &str = "epicName";
pub(super) const MAX_MODIFICATIONS: CountKey = count("maxModificationsPerTask", 3);
pub(super) const MAX_MODIFICATION_DEPTH: CountKey = count("maxModificationDepth", 2);
pub(super) const TASK_INDEX: CountKey = count("taskIndex", 0);
pub(super) const TOTAL_TASKS: CountKey = count("totalTasks", 0);
pub(super) const TASK_ITERATION: CountKey = count("taskIteration", 1);
pub(super) const MAX_TASK_ITERATIONS: CountKey = count("maxTaskIterations", 5);
pub(super) const GLOBAL_ITERATION: CountKey = count("globalIteration", 1);
pub(super) const MAX_GLOBAL_ITERATIONS: CountKey = count("maxGlobalIterations", 100);
pub(super) const MAX_FIX_TASKS: CountKey = count("maxFixTasksPerOriginal", 3);
pub(super) const MAX_FIX_DEPTH: CountKey = count("maxFixTaskDepth", 3);
pub(super) const COUNTS: &[CountKey] = &[
    TASK_INDEX,
    TOTAL_TASKS,
    TASK_ITERATION,
    MAX_TASK_ITERATIONS,
    GLOBAL_ITERATION,
    MAX_GLOBAL_ITERATIONS,
    MAX_FIX_TASKS,
    MAX_FIX_DEPTH,
];

pub(super) const RECOVERY_MODE: FlagKey = FlagKey {
    name: "recoveryMode",
};
/// Whether a person must approve before the next phase.
pub(super) const AWAITING_APPROVAL: FlagKey = FlagKey {
    name: "awaitingApproval",
};
/// Whether all phases run without asking.
pub(super) const QUICK_MODE: FlagKey = FlagKey { name: "quickMode" };
pub(super) const FLAGS: &[FlagKey] = &[RECOVERY_MODE, AWAITING_APPROVAL, QUICK_MODE];

/// A key whose value is an object with one entry per task id.
pub(super) const FIX_TASK_MAP: &str = "fixTaskMap";
pub(super) const TASK_RESULTS: &str = "taskResults";
pub(super) const MODIFICATION_MAP: &str = "modificationMap";
pub(super) const MAPS: &[&str] = &[FIX_TASK_MAP, TASK_RESULTS, MODIFICATION_MAP];

pub(super) const PHASE: &str = "phase";

const fn count(name: &'static str, default: u32) -> CountKey {
    CountKey { name, default }
}
