//! Collects names while output is read.

use std::collections::BTreeSet;

use crate::TestResults;

/// The longest name that is compared.
const MAX_NAME: usize = 300;
/// The most names that are kept.
const MAX_NAMES: usize = 100_000;

/// What was found in the output so far.
#[derive(Debug, Default)]
pub(crate) struct Found {
    failed: BTreeSet<String>,
    passed: BTreeSet<String>,
    /// How many failures were named, including those with the same name.
    failures: u64,
    /// How many tests failed, as the runner counts them.
    pub(crate) counted_failed: Option<u64>,
    /// How many tests passed, as the runner counts them.
    pub(crate) counted_passed: Option<u64>,
    /// Whether something other than a named test went wrong, or not everything ran.
    pub(crate) is_broken: bool,
}

impl Found {
    pub(crate) fn fail(&mut self, name: &str) {
        self.failures += 1;
        match is_name(name) && self.failed.len() < MAX_NAMES {
            true => drop(self.failed.insert(name.to_owned())),
            false => self.is_broken = true,
        }
    }

    pub(crate) fn pass(&mut self, name: &str) {
        if is_name(name) && self.passed.len() < MAX_NAMES {
            self.passed.insert(name.to_owned());
        }
    }

    /// How many failures were named.
    pub(crate) fn failures(&self) -> u64 {
        self.failures
    }

    /// How many different tests failed.
    pub(crate) fn different(&self) -> u64 {
        u64::try_from(self.failed.len()).unwrap_or(u64::MAX)
    }

    /// Ends with the results, if the number of failures named is the one that the runner counts.
    pub(crate) fn results(mut self, named: u64) -> TestResults {
        self.passed.retain(|name| !self.failed.contains(name));
        let passed = u64::try_from(self.passed.len()).unwrap_or(u64::MAX);
        TestResults {
            is_complete: !self.is_broken && self.counted_failed == Some(named),
            passed_count: self.counted_passed.unwrap_or(passed),
            failed: self.failed,
            passed: self.passed,
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control)
}

/// Returns the number before a word, such as 3 for `failed` in `3 failed, 2 passed`.
pub(crate) fn count_of(line: &str, word: &str) -> Option<u64> {
    let is_apart = |c: char| !c.is_alphanumeric();
    let words: Vec<&str> = line
        .split(is_apart)
        .filter(|word| !word.is_empty())
        .collect();
    let mut pairs = words.windows(2);
    pairs.find_map(|pair| (pair[1] == word).then(|| pair[0].parse().ok())?)
}

/// Returns the text without the sequences that colour it.
pub(crate) fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(sequence) = rest.strip_prefix('[') {
            let end = sequence.find(|c: char| ('@'..='~').contains(&c));
            rest = end.map_or("", |end| &sequence[end + 1..]);
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_stands_before_its_word() {
        let line = "== 2 failed, 13 passed, 1 error in 0.07s ==";
        assert_eq!(count_of(line, "failed"), Some(2));
        assert_eq!(count_of(line, "passed"), Some(13));
        assert_eq!(count_of(line, "skipped"), None);
    }

    #[test]
    fn colours_are_removed_and_what_has_no_end_as_well() {
        assert_eq!(without_colours("\u{1b}[31mFAILED\u{1b}[0m a"), "FAILED a");
        assert_eq!(without_colours("a\u{1b}[31"), "a");
    }
}
