use std::sync::Arc;

use crate::anchors::Anchors;
use crate::filter::Filter;

/// Shorter values are words; masking them would hide the log, not a secret.
pub const MIN_VALUE_CHARS: usize = 8;
/// Longer values are searched for piece by piece.
const PIECE: usize = 4096;

/// What is masked: the built-in rules and the given values. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Masks {
    anchors: Arc<Anchors>,
}

impl Masks {
    /// The built-in rules and `values`, each of which is masked wherever it stands, also as a
    /// JSON string writes it. Values of fewer than [`MIN_VALUE_CHARS`] characters are left out.
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let values = values.into_iter();
        let texts = values.flat_map(|value| searchable(value.as_ref()));
        Self {
            anchors: Arc::new(Anchors::new(texts)),
        }
    }

    /// The built-in rules alone.
    #[must_use]
    pub fn built_in() -> Self {
        Self::new::<&str>([])
    }

    /// For one stream of bytes.
    #[must_use]
    pub fn filter(&self) -> Filter {
        Filter::new(self.clone())
    }

    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        let mut masked = Vec::with_capacity(text.len());
        let mut filter = self.filter();
        filter.feed(text.as_bytes(), &mut masked);
        filter.finish(&mut masked);
        String::from_utf8_lossy(&masked).into_owned()
    }

    pub(crate) fn anchors(&self) -> &Anchors {
        &self.anchors
    }
}

/// The texts to search for to find `value`: its lines (nothing that is searched for has a
/// line break), as they are and as JSON writes them.
fn searchable(value: &str) -> Vec<Vec<u8>> {
    let lines = value.lines().map(str::trim);
    let long = lines.filter(|line| line.chars().count() >= MIN_VALUE_CHARS);
    long.flat_map(|line| [line.to_owned(), json_escaped(line)])
        .flat_map(|text| pieces(text.as_bytes()))
        .collect()
}

fn json_escaped(line: &str) -> String {
    line.chars().fold(String::new(), |mut escaped, c| {
        if matches!(c, '"' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
        escaped
    })
}

/// All of `text` in pieces of bounded length; the last one overlaps rather than being short.
fn pieces(text: &[u8]) -> Vec<Vec<u8>> {
    if text.len() <= PIECE {
        return vec![text.to_vec()];
    }
    let last = &text[text.len() - PIECE..];
    let whole = text.chunks_exact(PIECE).chain([last]);
    whole.map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(values: &[&str], text: &str) -> String {
        Masks::new(values).mask(text)
    }

    #[test]
    fn a_given_value_is_masked_wherever_it_stands() {
        let values = ["correct horse"];
        assert_eq!(
            mask(&values, "a=correct horse;acorrect horseb"),
            "a=***secret***;a***secret***b"
        );
    }

    #[test]
    fn a_given_value_is_masked_as_json_writes_it() {
        let value = r#"quo"te\slash"#;
        let json = serde_json::json!({ "v": value }).to_string();
        assert_eq!(mask(&[value], &json), r#"{"v":"***secret***"}"#);
    }

    #[test]
    fn short_values_are_no_secrets() {
        assert_eq!(mask(&["1234567", "", "  "], "1234567  8"), "1234567  8");
    }

    #[test]
    fn each_line_of_a_value_is_masked() {
        let value = "first line\nsecond line\nx";
        assert_eq!(
            mask(&[value], "second line, first line, x"),
            "***secret***, ***secret***, x"
        );
    }

    #[test]
    fn a_very_long_value_is_masked_as_a_whole() {
        let value: String = (0..3000).map(|n| format!("{n:x}.")).collect();
        assert!(value.len() > 2 * PIECE);
        let masked = mask(&[&value], &format!("<{value}>"));
        assert!(masked.replace("***secret***", "") == "<>", "{masked}");
    }

    #[test]
    fn a_letter_that_may_belong_to_an_escape_stays() {
        assert_eq!(mask(&["new-secret"], r"C:\new-secret"), r"C:\n***secret***");
        assert_eq!(
            mask(&["new-secret"], r"C:\\new-secret"),
            r"C:\\***secret***"
        );
    }

    #[test]
    fn a_value_and_a_key_that_overlap_are_both_gone() {
        let key = format!("sk-ant-{}", "a1".repeat(20));
        let value = "prefix and sk-ant-a1a1a1";
        let masked = mask(&[value], &format!("prefix and {key} tail"));
        assert_eq!(masked, "***secret*** tail");
    }
}
