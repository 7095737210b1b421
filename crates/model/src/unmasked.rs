use std::fmt;

/// Text as an agent wrote it, before secrets were masked.
///
/// Code can ask questions about the text but can't get at it: an answer is a `Copy` value without
/// any text. It is never stored, and its debug output reveals nothing.
#[derive(Clone, Default)]
pub struct Unmasked(String);

impl Unmasked {
    /// Wraps a text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Asks a question about the text.
    pub fn answer<T: Copy + 'static>(&self, question: impl FnOnce(&str) -> T) -> T {
        question(&self.0)
    }
}

impl fmt::Debug for Unmasked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unmasked(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unmasked_text_answers_questions_and_shows_nothing() {
        let text = Unmasked::new("hunter2".to_owned());
        assert!(text.answer(|text| text.contains("hunter")));
        assert!(!format!("{text:?}").contains("hunter"));
    }
}
