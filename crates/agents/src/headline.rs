use regreen_model::{ERROR_CHARS, PlainLine};

/// Longer lines are cut.
const MAX_LINE: usize = 4 * 1024;

/// The line in a failing command's output that best explains the failure. General words for errors
/// are enough for one line; the diagnosis of a failure has rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headline {
    /// The first line of each rank, best rank first: a cause comes before its consequences.
    first: [Option<PlainLine>; 3],
    last: PlainLine,
}

/// Words for errors, from the most certain to the vaguest.
const RANKS: [&[&str]; 3] = [
    &[
        "error:",
        "error[",
        "fatal:",
        "panicked at",
        "exception:",
        "assertionerror",
    ],
    &[
        "no such file",
        "not found",
        "permission denied",
        "cannot ",
        "can't open",
        "unable to",
    ],
    &["error", "fail", "denied", "refused", "missing", "invalid"],
];

/// Lines that only repeat that something failed.
const SYMPTOMS: [&str; 4] = ["*** [", "could not compile", "elifecycle", "traceback ("];
const HARMLESS: [&str; 4] = ["0 error", "no error", "0 failed", "error: 0"];

impl Headline {
    pub(crate) fn add(&mut self, line: &[u8]) {
        let beginning = line.get(..line.len().min(MAX_LINE)).unwrap_or_default();
        let line = PlainLine::flatten(&String::from_utf8_lossy(beginning), ERROR_CHARS);
        if line.is_empty() {
            return;
        }
        if let Some(slot) = rank(line.as_str()).and_then(|rank| self.first.get_mut(rank)) {
            slot.get_or_insert_with(|| line.clone());
        }
        self.last = line;
    }

    /// Returns the headline; empty if there was no output.
    pub(crate) fn line(&self) -> PlainLine {
        let best = self.first.iter().flatten().next();
        best.unwrap_or(&self.last).clone()
    }
}

fn rank(line: &str) -> Option<usize> {
    let line = line.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if has(&SYMPTOMS) || has(&HARMLESS) {
        return None;
    }
    RANKS.iter().position(|words| has(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: &str) {
        let mut headline = Headline::default();
        for line in output.lines() {
            headline.add(line.as_bytes());
        }
        assert_eq!(headline.line().as_str(), expected);
    }

    #[test]
    fn the_cause_is_preferred_to_its_consequences() {
        check(
            "cc -c a.c\na.c:3:5: error: unknown type name 'foo'\na.c:9:1: error: expected ';'\nmake: *** [Makefile:2: all] Error 1\n",
            "a.c:3:5: error: unknown type name 'foo'",
        );
        check(
            "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    import yaml\nModuleNotFoundError: No module named 'yaml'\n",
            "ModuleNotFoundError: No module named 'yaml'",
        );
        check(
            "checking for foo... not found\nconfigure: error: foo is needed\n",
            "configure: error: foo is needed",
        );
        check(
            "\u{1b}[31mcat: missing.txt: No such file or directory\u{1b}[0m\n\n",
            "cat: missing.txt: No such file or directory",
        );
        check(
            "compiled, 0 errors\n3 tests failed\nbye\n",
            "3 tests failed",
        );
    }

    #[test]
    fn without_a_word_for_an_error_the_last_line_is_the_headline() {
        check("one\ntwo\n  \n", "two");
        check("", "");
        check(
            "Traceback (most recent call last):",
            "Traceback (most recent call last):",
        );
    }
}
