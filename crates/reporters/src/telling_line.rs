//! The one line of a long reason that a person would quote.

use regreen_diagnosis::{evidence_of, rank, scan};
use regreen_model::{Ending, PlainLine, Source};

use crate::shown::reason;

/// What is said is one line already, or else the diagnosis chooses; where it cannot, the
/// first line that says anything.
pub(crate) fn telling_line(text: &str) -> String {
    let first = PlainLine::first_of(text, usize::MAX);
    if PlainLine::flatten(text, usize::MAX) == first {
        return reason(first.as_str());
    }
    let quoted = quoted_line(text).map(|line| reason(&line));
    // A line without a word is what a command counted: it says nothing by itself.
    quoted
        .filter(|line| line.contains(char::is_alphabetic))
        .unwrap_or_else(|| reason(first.as_str()))
}

fn quoted_line(text: &str) -> Option<String> {
    let failed = Ending {
        exit_code: Some(1),
        ..Ending::default()
    };
    let output = scan(text.as_bytes(), Source::Command);
    rank(&evidence_of(output, Source::Command, None, failed))?.blocked_on
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(telling_line(text), expected);
    }

    #[test]
    fn one_line_is_told_as_it_is() {
        check("exit code 1 from make", "exit code 1 from make");
        check("\n  \u{1b}[31mboom\u{1b}[0m\n\n", "boom");
        check("", "");
    }

    #[test]
    fn of_several_lines_the_cause_is_told() {
        check(
            "exit code 2: make test\ncc -c a.c\na.c:3:5: error: unknown type name 'foo'\nmake: *** [Makefile:2: all] Error 1\n",
            "a.c:3:5: error: unknown type name 'foo'",
        );
        check("it is not so\nand so it ends", "and so it ends");
    }

    #[test]
    fn a_number_alone_tells_nothing() {
        check(
            "`grep -c x f` printed too much\n3\n",
            "grep -c x f printed too much",
        );
    }
}
