use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use regex::Regex;

use crate::rules::ascii_classes::ascii_classes;

/// How often a pattern is tried with the small engine, which compiles fast.
const FEW: u32 = 96;

/// A pattern that is compiled when first needed: there are hundreds, and one log needs a few dozen,
/// most of them only a few times. The small engine compiles fast and matches slowly; the large one
/// costs more to compile than it saves on a short log. So a pattern gets the large engine once it
/// has been tried often. A pattern that doesn't compile matches nothing; a test compiles them all.
#[derive(Debug)]
pub(crate) struct LazyRegex {
    pattern: &'static str,
    /// Prose needs full Unicode, which only the large engine supports.
    is_prose: bool,
    tries: AtomicU32,
    small: OnceLock<Option<regex_lite::Regex>>,
    large: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    /// Creates a pattern for the output of tools: classes and case folding are ASCII.
    pub(crate) const fn new(pattern: &'static str) -> Self {
        Self::with(pattern, false)
    }

    /// Creates a pattern for text written by people and agents.
    pub(crate) const fn of_prose(pattern: &'static str) -> Self {
        Self::with(pattern, true)
    }

    const fn with(pattern: &'static str, is_prose: bool) -> Self {
        Self {
            pattern,
            is_prose,
            tries: AtomicU32::new(0),
            small: OnceLock::new(),
            large: OnceLock::new(),
        }
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        if self.is_small_enough_for(text) {
            self.small().is_some_and(|regex| regex.is_match(text))
        } else {
            self.large().is_some_and(|regex| regex.is_match(text))
        }
    }

    /// Returns the end of the first match.
    pub(crate) fn end_of_match(&self, text: &str) -> Option<usize> {
        if self.is_small_enough_for(text) {
            Some(self.small()?.find(text)?.end())
        } else {
            Some(self.large()?.find(text)?.end())
        }
    }

    /// Returns the whole match and the named captures.
    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<(&'t str, Vec<(&str, &'t str)>)> {
        if self.is_small_enough_for(text) {
            let regex = self.small()?;
            let found = regex.captures(text)?;
            let names = regex.capture_names().flatten();
            let named = names.filter_map(|name| Some((name, found.name(name)?.as_str())));
            Some((found.get(0)?.as_str(), named.collect()))
        } else {
            let regex = self.large()?;
            let found = regex.captures(text)?;
            let names = regex.capture_names().flatten();
            let named = names.filter_map(|name| Some((name, found.name(name)?.as_str())));
            Some((found.get(0)?.as_str(), named.collect()))
        }
    }

    fn is_small_enough_for(&self, text: &str) -> bool {
        !self.is_prose && (self.is_rare() || has_odd_letters(text))
    }

    fn is_rare(&self) -> bool {
        self.tries.load(Ordering::Relaxed) < FEW && self.tries.fetch_add(1, Ordering::Relaxed) < FEW
    }

    fn small(&self) -> Option<&regex_lite::Regex> {
        let compiled = || regex_lite::Regex::new(self.pattern).ok();
        self.small.get_or_init(compiled).as_ref()
    }

    fn large(&self) -> Option<&Regex> {
        let compiled = || {
            if self.is_prose {
                Regex::new(self.pattern).ok()
            } else {
                Regex::new(&ascii_classes(self.pattern)).ok()
            }
        };
        self.large.get_or_init(compiled).as_ref()
    }
}

/// Returns whether the text has one of the few non-ASCII letters that the large engine folds to
/// ASCII letters.
fn has_odd_letters(text: &str) -> bool {
    text.contains(['\u{17f}', '\u{212a}'])
}

#[cfg(test)]
impl LazyRegex {
    /// Returns the pattern as the large engine reads it.
    pub(crate) fn as_syntax(&self) -> String {
        if self.is_prose {
            self.pattern.to_owned()
        } else {
            ascii_classes(self.pattern)
        }
    }

    /// Returns whether the pattern compiles in every engine that may be used.
    pub(crate) fn compiles(&self) -> bool {
        self.large().is_some() && (self.is_prose || self.small().is_some())
    }

    /// Returns whether both engines find the same in a text.
    pub(crate) fn agrees_on(&self, text: &str) -> bool {
        let small = self.small().and_then(|regex| regex.find(text));
        let large = self.large().and_then(|regex| regex.find(text));
        self.is_prose || small.map(|found| found.range()) == large.map(|found| found.range())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_agree() {
        let texts = [
            "Key: 'a b'",
            "kEY: 'x'\t",
            "\u{212a}ey: 'y'",
            "key: é",
            "keys",
        ];
        let regex = LazyRegex::new(r"(?i)\bkey:\s'?(?P<value>[^\s']+)");
        let early: Vec<_> = texts.iter().map(|text| answers(&regex, text)).collect();
        for _ in 0..FEW {
            assert!(!regex.is_match("none"));
        }
        assert!(!regex.is_small_enough_for("key"));
        let late: Vec<_> = texts.iter().map(|text| answers(&regex, text)).collect();
        assert_eq!(early, late);
        assert_eq!(early[0].2.as_deref(), Some("a"));
        assert_eq!(early[2], (false, None, None));
    }

    fn answers(regex: &LazyRegex, text: &str) -> (bool, Option<usize>, Option<String>) {
        let value = regex.captures(text).map(|(_, named)| named[0].1.to_owned());
        (regex.is_match(text), regex.end_of_match(text), value)
    }

    #[test]
    fn prose_is_read_in_any_alphabet() {
        let regex = LazyRegex::of_prose(r"(?i)\bвсё\b");
        assert!(regex.is_match("ВСЁ готово"));
        assert!(!regex.is_match("всёх"));
    }
}
