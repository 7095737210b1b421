//! The line to quote where no rule knows one.

use regreen_model::Evidence;

use crate::lazy_regex::LazyRegex;

/// Lines that end an output and say nothing about it: places in the code, and where to read
/// more.
static EMPTY_TALK: LazyRegex = LazyRegex::new(
    r"(?xi)^\s*(?:at\s(?:async\s)?\S+.*[:(]|File\s\x22.*line\s\d|\d+:\s+0x|\#\d+\s+0x)
        | ^[\s\^~|─═│┃╵╷╰╯=*.\#(){}\[\];-]+$ | ^\s*\[C\]:\sin | ^\(?use\s`
        | (?:^|:\s)(?:try|see|run|use|check|read)\s.*(?:--?h(?:elp)?\b|manual|log|more\s|https?://)
        | for\s(?:more|further)\s(?:information|details|help)
        | full\slog|complete\slog|^node\.js\sv\d",
);
/// Further up nobody would look.
const TELLING: usize = 6;

/// The line and its number; the very last one if none of the last lines tells more.
pub(super) fn last_telling_line(evidence: &Evidence) -> Option<(u64, &str)> {
    let lines = || {
        let numbered = evidence.output.end().lines().rev().enumerate();
        let shown = numbered.flat_map(|(n, line)| line.rsplit('\r').map(move |part| (n, part)));
        shown.filter(|(_, line)| !line.trim().is_empty())
    };
    let is_empty_talk = |line: &str| EMPTY_TALK.is_match(line);
    let telling = lines().take(TELLING).find(|(_, line)| !is_empty_talk(line));
    let (from_end, text) = telling.or_else(|| lines().next())?;
    Some((
        evidence.output.lines.saturating_sub(from_end as u64),
        text.trim(),
    ))
}

#[cfg(test)]
mod tests {
    use regreen_model::{Ending, Source};

    use super::*;

    fn check(text: &str, expected: Option<(u64, &str)>) {
        let output = crate::scan(text.as_bytes(), Source::Command);
        let evidence = crate::evidence_of(output, Source::Command, None, Ending::default());
        assert_eq!(last_telling_line(&evidence), expected, "{text}");
    }

    #[test]
    fn it_is_the_last_line_that_says_something() {
        check("a\nb\n\n", Some((2, "b")));
        check("10 %\r90 %\r", Some((1, "90 %")));
        check("", None);
    }

    #[test]
    fn where_to_read_more_and_places_in_code_say_nothing() {
        check(
            "no quorum\ntool: try 'tool --help' for more information\n",
            Some((1, "no quorum")),
        );
        check(
            "no quorum\n    at async Promise.all (index 0)\n",
            Some((1, "no quorum")),
        );
        check(
            "no quorum\nCheck the log at /p/a.log\n",
            Some((1, "no quorum")),
        );
        check(
            "See https://x.test for help\n",
            Some((1, "See https://x.test for help")),
        );
    }
}
