use std::io::{self, Write};

use regreen_model::is_format_control;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Writes JSON on one line with all invisible characters escaped, so that hostile text is harmless
/// on a terminal and contains no line break of any kind.
#[derive(Clone, Copy, Debug)]
struct Escaping;

pub(super) fn to_line(value: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Escaping))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_invisible) {
            let (visible, hidden) = rest.split_at(at);
            writer.write_all(visible.as_bytes())?;
            let mut chars = hidden.chars();
            for unit in chars.next().into_iter().flat_map(escaped_units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

fn is_invisible(c: char) -> bool {
    c.is_control() || is_format_control(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns the code units to escape: JSON escapes are UTF-16.
fn escaped_units(c: char) -> Vec<u16> {
    c.encode_utf16(&mut [0; 2]).to_vec()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invisible_characters_are_escaped() {
        let text = "a\u{1b}[31m\n\u{7f}\u{9b}\u{202e}\u{2028}\u{e0041}é\"";
        let expected = r#""a\u001b[31m\n\u007f\u009b\u202e\u2028\udb40\udc41é\"""#;
        assert_eq!(to_line(&text).unwrap(), expected);
    }

    proptest! {
        #[test]
        fn any_text_is_one_visible_line_and_reads_back(text in any::<String>()) {
            let line = to_line(&text).unwrap();
            prop_assert!(!line.contains(is_invisible));
            prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }
}
