//! Strips prefixes that tools and log collectors put before a message: timestamps, service names,
//! log levels, list marks. Rules match a message with or without them.

use std::cell::RefCell;

use crate::rules::lazy_regex::LazyRegex;
use crate::tally::is_tally;

/// Matches one such prefix at the start of a line.
const PIECES: &str = r#"(?x)^(?:
    \s+
  | [^\t]{1,120}\t[^\t]{1,120}\t\u{FEFF}?\d{4}-\d\d-\d\dT[\d:.]+Z\s  # job and step, as gh prints them
  | \[?\d{4}-\d\d-\d\d[T\x20]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d|\x20(?:UTC|GMT|CES?T))?\]?\s* # dates
  | \[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?\s+                             # times
  | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2}\s\d\d:\d\d:\d\d\s\S+\s  # syslog
  | \[\d{1,8}\]\s+                                                  # process or line numbers
  | \#\d+\s+(?:\d+\.\d+\s+)? | \d+\.\d{3}\s                            # build kit steps
  | [\w.-]+[-_]\d+\s+\|\s                                           # compose services
  | [│┃|]\s+ | [╷╵]\s*                                              # boxes
  | E\s{2,}                                                         # pytest
  | npm\s(?:ERR!|error)\s+ | ERR!\s+                                # npm
  | (?:ERR_PNPM_\w+|YN\d{4})\s*:?\s+ | ➤\s | [└├]\s
  | \[(?:ERROR|error|FATAL|fatal|ERR|err)\]\s+                      # log levels in brackets
  | >\s\b                                                          # gradle
  | \*\s(?:What\swent\swrong:\s*)?
  | =\snote:\s+                                                     # rustc
  | ::error[^:]*:: | \#\#\[error\]                                   # github, azure
  | \d+:\s+                                                         # anyhow
  | (?:[✗✘✖×❌⨯]|❯)\s+ | [•●-]\s+
)"#;

/// Matches words that announce the innermost error.
const CAUSE_WORDS: &str = r"^(?i:caused by:?|cause:|reason:|root cause:)\s+";

static PIECE: LazyRegex = LazyRegex::new(PIECES);
static CAUSE: LazyRegex = LazyRegex::new(CAUSE_WORDS);

/// How many prefixes are stripped at most.
const MAX_PIECES: usize = 8;

/// Returns the message in a line.
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
        if is_plain(shorter) {
            return shorter.trim_end();
        }
        rest = shorter;
    }
    rest.trim_end()
}

/// How a line begins that begins with letters and has something to strip all the same.
const WORDS_TO_STRIP: [&str; 16] = [
    "npm ", "E ", "ERR", "YN", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
    "Oct", "Nov", "Dec",
];

/// Returns whether there is nothing to strip. Most messages start with a word, so this avoids the
/// regex.
fn is_plain(line: &str) -> bool {
    let begins_with_word = line.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    begins_with_word
        && !WORDS_TO_STRIP.iter().any(|word| line.starts_with(word))
        && !line.contains(['|', '\t'])
}

/// Removes a leading "caused by".
pub(crate) fn without_cause_words(message: &str) -> &str {
    let may_have_one = message.starts_with(['c', 'C', 'r', 'R']);
    if may_have_one {
        strip(&CAUSE, message)
    } else {
        message
    }
}

fn without_piece(line: &str) -> &str {
    strip(&PIECE, line)
}

fn strip<'a>(regex: &LazyRegex, text: &'a str) -> &'a str {
    regex.end_of_match(text).map_or(text, |end| &text[end..])
}

/// Matches lines that explain nothing: locations in code, links to documentation, and reports that
/// something else failed.
static UNINFORMATIVE: LazyRegex = LazyRegex::new(
    r"(?xi)^\s*(?:at\s(?:async\s)?\S+.*[:(]|File\s\x22.*line\s\d|\d+:\s+0x|\#\d+\s+0x)
        | ^[\s\^~|─═│┃╵╷╰╯=*.\#(){}\[\];-]+$ | ^\s*\[C\]:\sin | ^\(?use\s`
        | (?:^|:\s)(?:try|see|run|use|check|read)\s.*(?:--?h(?:elp)?\b|manual|log|more\s|https?://)
        | for\s(?:more|further)\s(?:information|details|help)
        | full\slog|complete\slog|^node\.js\sv\d
        | ^\s*[-=_*]{3,}\s.*\s[-=_*]{3,}\s*$ | ^[.FEsxXSWIRN*]{2,}(?:\s+\[\s*\d+%\])?\s*$ | ^make(?:\[\d+\])?:\s(?:entering|leaving)\sdirectory | ^\s*wrote\s
        | ^\s*https?://\S+$ | ^\s*FAILED$ | ^\[Pipeline\]\s | ^stage\s\x22.*\x22\sskipped\sdue\sto\s | ^(?:info\s)?visit\shttps?:// | ^randomi[sz]ed\swith\sseed | ^\$\s | ^\+{1,3}\s\S
        | ^alternatively\b | ^all\s(?:finished|done)\W*$ | ^done\W*$ | ^(?:finished|done|took|duration|elapsed|time)\b.{0,40}\d+(?:\.\d+)?\s?(?:m?s|seconds?|min)",
);

/// Returns whether a line may explain something.
pub(crate) fn is_informative(line: &str) -> bool {
    line.bytes()
        .any(|byte| byte.is_ascii_alphanumeric() || byte > 127)
        && !UNINFORMATIVE.is_match(line)
        && !is_tally(line)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LineKind {
    Plain,
    /// A log record, which the program survived to write.
    Logged,
    /// The program reports that it will retry.
    Retried,
    /// A warning or a hint.
    Warned,
    /// A quoted line of source code.
    Quoted,
    /// Something that succeeded, despite its name.
    Passing,
}

impl LineKind {
    pub(crate) fn of(line: &str) -> Self {
        let is = |regex: &LazyRegex| regex.is_match(line);
        if is(&PASSING) {
            Self::Passing
        } else if is(&QUOTED) {
            Self::Quoted
        } else if is(&WARNED) {
            Self::Warned
        } else if is(&RETRIED) || is(&WAITING) {
            Self::Retried
        } else if is(&LOGGED) {
            Self::Logged
        } else {
            Self::Plain
        }
    }

    /// Returns how much less such a line proves.
    pub(crate) fn discount(self) -> i32 {
        match self {
            Self::Plain => 0,
            Self::Logged => 20,
            Self::Retried => 45,
            Self::Warned => 42,
            Self::Quoted => 60,
            Self::Passing => 100,
        }
    }
}

/// Returns whether a line says that what failed is tried again.
pub(crate) fn announces_retry(line: &str) -> bool {
    RETRIED.is_match(line) || APT_GOES_ON.is_match(line)
}

/// Remembers the kind of the line that was asked for last: several rules match the same line.
#[derive(Debug, Default)]
pub(crate) struct LastKind(RefCell<Option<(String, LineKind)>>);

impl LastKind {
    pub(crate) fn of(&self, line: &str) -> LineKind {
        let line = line.trim_end();
        let mut last = self.0.borrow_mut();
        match &*last {
            Some((known, kind)) if known == line => *kind,
            _ => last.insert((line.to_owned(), LineKind::of(line))).1,
        }
    }
}

static PASSING: LazyRegex = LazyRegex::new(
    r"(?x)^\s*(?:[✓✔√✅]|ok\s+\d+\b|ok\s*[-:]|PASS(?:ED)?\b|---\sPASS)
        | \.\.\.\s*(?:ok|passed|PASSED|done|expected\sfailure|skipped.*|yes|no)\s*$
        | \bPASSED\b(?:\s+\[\s*\d+%\])?\s*$
        | ^\s*(?:test\s\S+\s+\.\.\.\s+)?ok\s*$
        | \d\s?m?s\s+(?:OK|ok|PASS(?:ED)?)\s*$
        | \bxfailed\b.*\bpassed\b | ^\s*XFAIL\b
        | ^--\s(?:Looking|Checking|Performing|Check)\b
        | ^(?:checking|configure:\schecking)\s",
);

static QUOTED: LazyRegex = LazyRegex::new(
    r"(?x)^\s*(?:>\s*)?\d+\s*[|│┃]\s | ^\d+\t
        | ^\s*[|│]\s+[\^~-]+
        | ^>\s{3,}
        | ^\s{4,}(?:raise|return|throw|throw\snew|assert|await|yield|print|except|import|from|def|if|logging|log|logger|console)\b
        | ^\s*(?:at\s|File\s\x22|\#\d+\s+0x|>>>\s|\+\s{2,})
        | ^\s*(?://|\#\s|--\s|/\*)
        | ^\+{1,3}\s",
);

static WARNED: LazyRegex = LazyRegex::new(
    r"(?xi)^\s*(?:\S+:\s)?(?:\[?warn(?:ing)?s?\]?|hint|note|tip|help|info|debug|notice|deprecated|deprecation)\b\s*[:\]!\[(|\s-]
        | ^\s*\S*:\d+(?::\d+)?:\s(?:warning|note|remark)\b
        | \b\w*Warning:\s | (?:^|\s)(?:level=|\x22level\x22:\s*\x22)(?:warn|warning|info|debug)
        | ^\S*\s?(?:\S+\s)?\[?(?:WARN|WARNING|INFO|DEBUG|TRACE|NOTICE)\]?[\s:]
        | ^\w{3}\s[\d\s:.-]+\S*\s(?-i:WARN|WARNING|INFO|DEBUG|TRACE|NOTICE)\s
        | ^npm\s(?:WARN|warn|notice)\b | ^(?:try|did\syou\smean|suggestion|consider|maybe\syou\smeant)\b
        | \b0\s(?:errors?|failed|failures)\b | \(ignored\)|\bignoring\b|\bskipping\b|\(expected\)|as\sexpected",
);

static RETRIED: LazyRegex = LazyRegex::new(
    r"(?xi)\bretrying\b|\bretry(?:ing)?\s+(?:in|after|\d)|\btr(?:y|ies)\sremaining\b|\bwill\s(?:re)?try\b|\btrying\s(?:again|next)
        |\battempt\s+\#?\d+(?:\s*(?:/|of)\s*\d+)?\s+failed|\bfalling\sback\b|\brecovered\b|\bfallback\b|reconnecting",
);

/// Matches a program that waits for something, whatever it says of the last try.
static WAITING: LazyRegex = LazyRegex::new(r"(?i)^\s*waiting\s(?:for|until)\b");

/// Matches how apt goes on after a source that it could not read.
static APT_GOES_ON: LazyRegex = LazyRegex::new(r"^Ign:\d+\s");

static LOGGED: LazyRegex = LazyRegex::new(
    r"(?x)^\s*(?:ERROR|CRITICAL)(?::[\w.]+:|\s{2,}\S+:\S+:\d+\s)
        | (?:^|\s)\[?(?:ERROR|ERR|error)\]?\s+(?:\[[\w.:-]+\]|[\w.]+\s-)\s
        | ^\S+\s(?:\S+\s)?(?:ERROR|SEVERE)\s
        | ^\w{3}\s[\d\s:.-]+\S*\s(?:ERROR|SEVERE|FATAL)\s
        | level=(?:error|fatal)|\x22level\x22:\s*\x22(?:error|fatal)",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_found_behind_any_prefix() {
        for line in [
            "boom: x",
            "   boom: x  ",
            "2026-11-16T00:00:33.821Z boom: x",
            "build\tRun the tests\t2026-11-16T00:00:33.8212345Z boom: x",
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
    fn words_are_not_stripped() {
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

    fn check(kind: LineKind, lines: &[&str]) {
        for line in lines {
            assert_eq!(LineKind::of(line), kind, "{line}");
        }
    }

    #[test]
    fn a_passing_test_with_any_name_is_not_an_error() {
        check(
            LineKind::Passing,
            &[
                "✓ prints 'command not found' for unknown verbs",
                "ok 3 - connection refused is reported",
                "test_failed_upload (t.T) ... ok",
                "test parser::no_such_file ... ok",
                "tests/a.py::test_error PASSED [ 50%]",
                "-- Looking for nosuch.h - not found",
                "checking for gcc... no",
            ],
        );
    }

    #[test]
    fn shown_source_is_quoted() {
        check(
            LineKind::Quoted,
            &[
                "  12 | raise ValueError(1)",
                "    raise RuntimeError(\"x\")",
                ">       assert False, \"boom\"",
                "    at Object.readFileSync (node:fs:452:35)",
                "  File \"/a/b.py\", line 1, in <module>",
            ],
        );
    }

    #[test]
    fn warnings_retries_and_records_say_less_than_plain_errors() {
        check(
            LineKind::Warned,
            &[
                "warning: unused variable",
                "a.c:1:13: warning: unused variable",
                "npm warn deprecated x",
                "WARNING: Retrying (Retry(total=4))",
                "/a/test_a.py:5: UserWarning: Connection refused",
                "make: [Makefile:2: all] Error 1 (ignored)",
                "2026-05-06T01:02:03Z DEBUG pool-0 status=500",
            ],
        );
        check(
            LineKind::Retried,
            &[
                "attempt 1 failed: Connection refused",
                "connection lost, retrying in 5 s",
            ],
        );
        check(
            LineKind::Logged,
            &["ERROR:root:cannot connect", "ERROR    root:test_a.py:3 no"],
        );
        check(
            LineKind::Plain,
            &[
                "ERROR: No matching distribution found for x",
                "error: could not compile",
                "bash: line 1: x: command not found",
                "OSError: [Errno 98] Address already in use",
                "[ERROR] Failed to execute goal",
            ],
        );
    }
}
