//! Describes a failure in two lines: its kind and place, and the line that a person would quote.

use regreen_diagnosis::{SourcePlace, evidence_of, rank, scan};
use regreen_model::{Ending, FailureKind, FailureRecord, PlainLine, Source};

use crate::text::reason;

/// Returns `test failure · tests/test_form.py:18`, as far as known.
///
/// The line below says what failed. Of a false claim, only the claim is worth a line of its own.
#[must_use]
pub fn kind_and_place(failure: &FailureRecord) -> Option<String> {
    let found = failure.confident_diagnosis();
    let kind = found.map(|found| match found.kind {
        FailureKind::FalseSuccessClaim => "the agent claimed success".to_owned(),
        kind => kind.words().to_owned(),
    });
    let quoted = found.and_then(|found| found.blocked_on.as_deref());
    let place = place_of(&failure.error, quoted.unwrap_or(""));
    let parts: Vec<String> = kind.into_iter().chain(place).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Returns the line that sums up a failure.
#[must_use]
pub fn headline(failure: &FailureRecord) -> String {
    headline_of(failure.cause())
}

/// Returns the line of a text that a person would quote: the text itself if it is a single line, or
/// else the diagnosed line, or else the first non-empty line.
#[must_use]
pub fn headline_of(text: &str) -> String {
    let line = regreen_model::headline(text, || quoted_line(text));
    let first = || text.lines().find(|line| !line.trim().is_empty());
    reason(&line.unwrap_or_else(|| first().unwrap_or_default().to_owned()))
}

fn quoted_line(text: &str) -> Option<String> {
    let failed = Ending {
        exit_code: Some(1),
        ..Ending::default()
    };
    let output = scan(text.as_bytes(), Source::Command);
    rank(&evidence_of(output, Source::Command, None, failed))?.blocked_on
}

/// Returns the place in a source file that a quoted line of output refers to, such as
/// `src/print.rs:7`: one that the line names, or else the nearest one around it.
fn place_of(output: &str, quoted: &str) -> Option<String> {
    let named = SourcePlace::in_line(quoted);
    let place = named.or_else(|| {
        let lines: Vec<&str> = output.lines().collect();
        let quoted = PlainLine::flatten(quoted, usize::MAX);
        let is_quoted = |line: &&str| {
            let line = PlainLine::flatten(line, usize::MAX);
            line.as_str().contains(quoted.as_str())
        };
        let at = lines
            .iter()
            .position(is_quoted)
            .filter(|_| !quoted.is_empty())?;
        SourcePlace::around(&lines, at)
    })?;
    Some(reason(&format!("{}:{}", place.file, place.line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(headline_of(text), expected);
    }

    #[test]
    fn a_single_line_is_quoted_unchanged() {
        check("exit code 1 from make", "exit code 1 from make");
        check("\n  \u{1b}[31mboom\u{1b}[0m\n\n", "boom");
        check("", "");
    }

    #[test]
    fn of_several_lines_the_cause_is_quoted() {
        check(
            "exit code 2: make test\ncc -c a.c\na.c:3:5: error: unknown type name 'foo'\nmake: *** [Makefile:2: all] Error 1\n",
            "a.c:3:5: error: unknown type name 'foo'",
        );
        check("it is not so\nand so it ends", "and so it ends");
    }

    #[test]
    fn a_number_alone_proves_nothing() {
        check(
            "`grep -c x f` printed too much\n3\n",
            "`grep -c x f` printed too much",
        );
    }

    #[test]
    fn the_place_is_read_from_the_line_or_found_near_it() {
        let check = |output: &str, quoted: &str, expected: Option<&str>| {
            assert_eq!(place_of(output, quoted).as_deref(), expected, "{quoted}");
        };
        check("", "a.c:3:5: error: unknown type", Some("a.c:3"));
        check("", "  File \"./py/a.py\", line 6, in f", Some("py/a.py:6"));
        check(
            "thread 'x' panicked at src/print.rs:7:5:\nassertion failed\n",
            "assertion failed",
            Some("src/print.rs:7"),
        );
        check(
            "E   assert 1 == 2\n\npy/test_a.py:6: AssertionError\n",
            "E   assert 1 == 2",
            Some("py/test_a.py:6"),
        );
        check("", "refused by 127.0.0.1:8080 at 12:30:01", None);
        check("", "/usr/lib/python3/x.py:3: boom", None);
        check("a.c:1: x\n", "not in it", None);
    }
}
