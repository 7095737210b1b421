use std::sync::OnceLock;

use regex::Regex;

/// A pattern that is compiled when it is first needed: there are hundreds, and one log
/// needs a few. One that does not compile matches nothing; a test compiles them all.
#[derive(Debug)]
pub(crate) struct LazyRegex {
    pattern: &'static str,
    regex: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    pub(crate) const fn new(pattern: &'static str) -> Self {
        Self {
            pattern,
            regex: OnceLock::new(),
        }
    }

    #[cfg(test)]
    pub(crate) fn as_str(&self) -> &'static str {
        self.pattern
    }

    pub(crate) fn get(&self) -> Option<&Regex> {
        self.regex
            .get_or_init(|| Regex::new(self.pattern).ok())
            .as_ref()
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.get().is_some_and(|regex| regex.is_match(text))
    }
}
