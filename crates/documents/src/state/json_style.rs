//! How a JSON file is laid out.

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use serde_json::{Serializer, Value};

/// The layout of a file that was read, kept when it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonStyle {
    has_byte_order_mark: bool,
    /// What one level is indented by; `None` if everything stands on one line.
    indent: Option<String>,
    eol: &'static str,
    has_final_eol: bool,
}

impl Default for JsonStyle {
    fn default() -> Self {
        Self {
            has_byte_order_mark: false,
            indent: Some("  ".to_owned()),
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
            eol: crate::markdown::eol_of(text),
            has_final_eol: text.ends_with(['\n', '\r']),
        }
    }

    pub(super) fn render(&self, value: &Value) -> String {
        let mut text = match &self.indent {
            Some(indent) => formatted(value, PrettyFormatter::with_indent(indent.as_bytes())),
            None => formatted(value, CompactFormatter),
        };
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
}

fn formatted(value: &Value, formatter: impl Formatter) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, formatter);
    // Neither a JSON value nor memory can refuse to be written.
    let _ = value.serialize(&mut serializer);
    String::from_utf8_lossy(&bytes).into_owned()
}
