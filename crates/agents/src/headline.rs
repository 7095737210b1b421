use regreen_model::{ERROR_CHARS, PlainLine};

/// No more of a line is looked at.
const MAX_LINE: usize = 4 * 1024;

/// The line of a failing command's output that tells most about why it failed. What is known
/// of errors in general is enough for one line; the diagnosis of a failure looks closer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headline {
    /// The first line of each rank, the best rank first: the cause comes before what follows
    /// from it.
    first: [Option<PlainLine>; 3],
    last: PlainLine,
}

/// Words that name an error, from the surest to the vaguest.
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

/// Lines that only pass on that something failed.
const SYMPTOMS: [&str; 4] = ["*** [", "could not compile", "elifecycle", "traceback ("];
const HARMLESS: [&str; 4] = ["0 error", "no error", "0 failed", "error: 0"];

impl Headline {
    pub(crate) fn see(&mut self, line: &[u8]) {
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

    /// Empty if nothing was printed.
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
        let mut telling = Headline::default();
        for line in output.lines() {
            telling.see(line.as_bytes());
        }
        assert_eq!(telling.line().as_str(), expected);
    }

    #[test]
    fn the_cause_is_told_rather_than_what_follows_from_it() {
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
    fn without_a_word_of_error_the_last_line_tells_most() {
        check("one\ntwo\n  \n", "two");
        check("", "");
        check(
            "Traceback (most recent call last):",
            "Traceback (most recent call last):",
        );
    }
}
