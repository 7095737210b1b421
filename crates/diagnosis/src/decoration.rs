//! What tools and log collectors put before a message: time stamps, service names, log
//! levels, list marks. The same message is the same message with or without them.

use crate::lazy_regex::LazyRegex;

/// One piece of decoration at the beginning of a line.
const PIECES: &str = r#"(?x)^(?:
    \s+
  | \[?\d{4}-\d\d-\d\d[T\x20]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d|\x20(?:UTC|GMT|CES?T))?\]?\s* # dates
  | \[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?\s+                             # times
  | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2}\s\d\d:\d\d:\d\d\s\S+\s  # syslog
  | \[\d{1,8}\]\s+                                                  # process or line numbers
  | \#\d+\s+(?:\d+\.\d+\s+)?                                        # build kit steps
  | [\w.-]+[-_]\d+\s+\|\s                                           # compose services
  | [│┃|]\s+ | [╷╵]\s*                                              # boxes
  | E\s{2,}                                                         # pytest
  | npm\s(?:ERR!|error)\s+ | ERR!\s+                                # npm
  | (?:ERR_PNPM_\w+|YN\d{4})\s*:?\s+ | ➤\s | [└├]\s
  | \[(?:ERROR|error|FATAL|fatal|ERR|err)\]\s+                      # log levels in brackets
  | >\s\b                                                          # gradle
  | \*\s(?:What\swent\swrong:\s*)?
  | =\snote:\s+                                                     # rustc
  | ::error[^:]*::                                                  # github
  | \d+:\s+                                                         # anyhow
  | (?:[✗✘✖×❌⨯]|❯)\s+ | [•●-]\s+
)"#;

/// A person's or tool's word for the innermost error.
const CAUSE_WORDS: &str = r"^(?i:caused by:?|cause:|reason:|root cause:)\s+";

static PIECE: LazyRegex = LazyRegex::new(PIECES);
static CAUSE: LazyRegex = LazyRegex::new(CAUSE_WORDS);

/// More pieces than this are no decoration.
const MAX_PIECES: usize = 8;

/// The message in a line.
pub(crate) fn message_of(line: &str) -> &str {
    if is_plain(line) {
        return line.trim_end();
    }
    let mut rest = line;
    for _ in 0..MAX_PIECES {
        let shorter = without_piece(rest);
        if shorter.len() == rest.len() {
            break;
        }
        rest = shorter;
    }
    rest.trim_end()
}

/// Most messages begin with a word and have nothing to strip; that is seen at a glance.
fn is_plain(line: &str) -> bool {
    let begins_with_word = line.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
    begins_with_word && !line.starts_with("npm ") && !line.contains('|')
}

/// The message without a "caused by" before it.
pub(crate) fn without_cause_words(message: &str) -> &str {
    strip(&CAUSE, message)
}

fn without_piece(line: &str) -> &str {
    strip(&PIECE, line)
}

fn strip<'a>(regex: &LazyRegex, text: &'a str) -> &'a str {
    regex.end_of_match(text).map_or(text, |end| &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_message_is_found_behind_any_decoration() {
        for line in [
            "boom: x",
            "   boom: x  ",
            "2026-11-16T00:00:33.821Z boom: x",
            "2026-11-16 00:00:33,821 boom: x",
            "[12:00:01] boom: x",
            "Nov 16 00:00:33 host1 boom: x",
            "[0042] boom: x",
            "#12 0.123 boom: x",
            "web-1  | boom: x",
            "│ boom: x",
            "E       boom: x",
            "npm error boom: x",
            "npm ERR! boom: x",
            "[ERROR] boom: x",
            "  = note: boom: x",
            "    0: boom: x",
            "* What went wrong:boom: x",
            "✖ boom: x",
            "::error file=a.rs,line=1::boom: x",
        ] {
            assert_eq!(message_of(line), "boom: x", "{line}");
        }
    }

    #[test]
    fn words_are_no_decoration() {
        for line in [
            "error: x",
            "Error in a",
            "1.5 apples",
            "e2e: x",
            "-v is unknown",
        ] {
            assert_eq!(message_of(line), line);
        }
        assert_eq!(without_cause_words("Caused by: java.io.X"), "java.io.X");
    }
}
