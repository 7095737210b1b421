//! How a JSON file is laid out.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The layout of a file that was read, kept when it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonStyle {
    has_byte_order_mark: bool,
    /// What one level is indented by; `None` if everything stands on one line.
    indent: Option<String>,
    /// Lists of plain values stand on one line, though other things do not.
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
            // A line break inside a JSON string is always escaped.
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

    /// One value, on several lines where it has parts.
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

/// Most words have nothing in them that would have to be escaped.
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

/// A list with something in it that ends on its own line.
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
