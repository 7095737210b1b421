//! Diagnoses by exit code and signal if no line explains the failure.

use regreen_model::{Evidence, FailureKind, RepairAction};

use super::cause::Candidate;
use super::diagnosis::{Diagnosis, shortened};
use crate::cause_origin::{EXIT_CODE, EXIT_SIGNAL};
use crate::line::{is_informative, message_of};
use crate::line_prefix::without_prefix;
use crate::rules::lazy_regex::LazyRegex;
use crate::rules::rule::Role;

pub(crate) const SIGKILL: i32 = 9;
const SIGINT: i32 = 2;
/// Shells report a death by signal as 128 plus its number.
const SIGNAL_BASE: i32 = 128;
const LAST_SIGNAL: i32 = 64;

/// Signals with their names.
const NAMES: [(&str, i32); 17] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("XCPU", 24),
    ("SYS", 31),
];

/// The minimum score of a line that overrides the signal.
const STRONGER_THAN_SIGNAL: i32 = 45;

/// Diagnoses the signal that ended the process, unless a line explains more.
pub(crate) fn over(evidence: &Evidence, cause: Option<&Candidate<'_>>) -> Option<Diagnosis> {
    let signal = signal(evidence)?;
    if cause.is_some_and(|cause| cause.score >= STRONGER_THAN_SIGNAL) {
        return None;
    }
    let kind = match signal {
        SIGINT => FailureKind::Interrupted,
        _ => FailureKind::CrashedBySignal,
    };
    Some(Diagnosis {
        confidence: 50,
        message: Some(format!("Ended by {}", signal_name(signal))),
        ..Diagnosis::quoting_last_line(kind, EXIT_SIGNAL, evidence)
    })
}

pub(crate) fn signal(evidence: &Evidence) -> Option<i32> {
    let by_shell = || {
        let code = evidence.ending.exit_code?;
        let signal = code - SIGNAL_BASE;
        (1..=LAST_SIGNAL).contains(&signal).then_some(signal)
    };
    // 255 and its neighbours are ordinary codes; 126 to 128 are the shell's own.
    let is_usual = |signal: &i32| matches!(signal, 1..=15 | 24 | 25 | 31);
    evidence
        .ending
        .signal
        .or_else(|| by_shell().filter(is_usual))
}

/// Returns the name of a signal, such as `SIGSEGV`.
#[must_use]
pub fn signal_name(signal: i32) -> String {
    let known = NAMES.iter().find(|(_, number)| *number == signal);
    known.map_or_else(
        || format!("signal {signal}"),
        |(name, _)| format!("SIG{name}"),
    )
}

/// Diagnoses an unexplained failure by its last informative line.
pub(crate) fn unexplained(evidence: &Evidence) -> Diagnosis {
    let kind = match evidence.ending.exit_code {
        Some(127) => FailureKind::MissingCommand,
        Some(126) => FailureKind::NotExecutable,
        _ => FailureKind::RuntimeException,
    };
    Diagnosis {
        confidence: 20,
        message: evidence
            .ending
            .exit_code
            .map(|code| format!("Ended with exit code {code}")),
        ..silent_command(kind, evidence)
            .or_else(|| complaint(evidence))
            .unwrap_or_else(|| Diagnosis::quoting_last_line(kind, EXIT_CODE, evidence))
    }
}

/// Matches a complaint about a place in a file, in the form of any checker: the place, and at least
/// two words.
static COMPLAINT: LazyRegex = LazyRegex::new(
    r"^(?:[\w.~-]*[\\/])*(?:[\w@+~-][\w.@+~-]*\.[A-Za-z]\w{0,9}|[A-Z]\w*file):\d+(?::\d+)?(?:[:,-]|\s)\s*\S*[A-Za-z(].* \S",
);
/// Matches places in the trace of a program, which complain about nothing.
static TRACE: LazyRegex = LazyRegex::new(r"^\S+:\d+:in\b|^\S+:\d+:\d+\)|\bnote: |: warning: ");

/// Quotes the first of the complaints with which an output of an unknown checker ends.
pub(super) fn complaint(evidence: &Evidence) -> Option<Diagnosis> {
    let at = evidence.output.last_command_at.unwrap_or_default();
    let is_new = evidence.output.new_lines.is_empty();
    let below = last_lines(evidence).take_while(|(line, _)| *line > at);
    let complaints = below.filter(|(_, line)| {
        let said = message_of(line);
        COMPLAINT.is_match(said) && !TRACE.is_match(said)
    });
    let (line, text) = complaints.filter(|_| is_new).last()?;
    Some(Diagnosis {
        blocker: Some(shortened(message_of(text))),
        line: Some(line),
        ..Diagnosis::new(FailureKind::LintError, EXIT_CODE)
    })
}

/// Returns whether a step of a CI system failed, and the last command that a shell echoed in it
/// printed something that may explain why. If an earlier command failed, the script doesn't stop at
/// failures.
pub(super) fn last_command_speaks(evidence: &Evidence, candidates: &[Candidate<'_>]) -> bool {
    let output = &evidence.output;
    let Some(at) = output.last_command_at.filter(|_| output.has_failed_step) else {
        return false;
    };
    let wrappers = candidates.iter().filter(|c| c.rule.role == Role::Wrapper);
    let wrappers: Vec<u64> = wrappers.map(|c| c.finding.excerpt.last_line).collect();
    let goes_on = wrappers.iter().any(|line| *line < at);
    let speaks = |line: u64| line > at && !wrappers.contains(&line);
    !goes_on && informative_lines(evidence).any(|(line, _)| speaks(line))
}

fn without_echo_mark(line: &str) -> &str {
    line.trim_start_matches(['+', '$', '>']).trim_start()
}

/// Quotes the last command that a shell echoed, if it printed nothing: what stands above it is the
/// output of commands that passed.
fn silent_command(kind: FailureKind, evidence: &Evidence) -> Option<Diagnosis> {
    let at = evidence.output.last_command_at?;
    let mut below = last_lines(evidence).take_while(|(line, _)| *line > at);
    let (line, echoed) = last_lines(evidence).find(|(line, _)| *line <= at)?;
    let is_silent = line == at && below.all(|(_, line)| !is_informative(line));
    is_silent.then(|| Diagnosis {
        blocker: Some(shortened(without_echo_mark(echoed))),
        line: Some(at),
        ..Diagnosis::new(kind, EXIT_CODE)
    })
}

/// Parses a signal given as a number or a name: `9`, `KILL`, `SIGKILL`.
#[must_use]
pub fn signal_number(text: &str) -> Option<i32> {
    let name = text.trim().to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    let by_name = NAMES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, n)| *n);
    by_name.or_else(|| name.parse().ok())
}

/// How many of the last lines are searched.
const SEARCHED: usize = 12;

/// Returns the last informative line with its number, or the very last line if none is.
pub(super) fn last_informative_line(evidence: &Evidence) -> Option<(u64, &str)> {
    let telling = informative_lines(evidence).next();
    telling.or_else(|| last_lines(evidence).next())
}

/// Returns those of the last lines that explain something, the last one first.
pub(super) fn informative_lines(evidence: &Evidence) -> impl Iterator<Item = (u64, &str)> {
    let searched = last_lines(evidence).take(SEARCHED);
    searched.filter(|(_, line)| is_informative(line))
}

/// Returns the lines of the end of the output that are not empty, the last one first.
fn last_lines(evidence: &Evidence) -> impl Iterator<Item = (u64, &str)> {
    let output = &evidence.output;
    let last_line = output.tail_ends_at.unwrap_or(output.lines);
    let numbered = output.end().lines().rev().enumerate();
    let shown = numbered.flat_map(|(n, line)| line.rsplit('\r').map(move |part| (n, part)));
    let shown = shown.map(|(n, part)| (n, without_prefix(part)));
    let told = shown.filter(|(_, line)| !line.trim().is_empty());
    told.map(move |(n, line)| (last_line.saturating_sub(n as u64), line.trim()))
}

pub(crate) fn with_script_of_command(diagnosis: Diagnosis, evidence: &Evidence) -> Diagnosis {
    let is_open = diagnosis.repair.is_none() && diagnosis.kind == FailureKind::CrlfScript;
    let script = evidence
        .command
        .as_deref()
        .and_then(script)
        .filter(|_| is_open);
    match script {
        Some(path) => Diagnosis {
            repair: Some(RepairAction::CrlfToLf { path }),
            ..diagnosis
        },
        None => diagnosis,
    }
}

/// Returns the path that a plain command runs.
fn script(command: &str) -> Option<String> {
    let first = command.split_whitespace().next()?;
    let is_path = first.contains('/')
        && first
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"./_-".contains(&b));
    is_path.then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use regreen_model::{Ending, Source};

    use super::*;

    fn check(text: &str, expected: Option<(u64, &str)>) {
        let output = crate::scan(text.as_bytes(), Source::Command);
        let evidence = crate::evidence_of(output, Source::Command, None, Ending::default());
        assert_eq!(last_informative_line(&evidence), expected, "{text}");
    }

    #[test]
    fn the_last_informative_line_is_chosen() {
        check("a\nb\n\n", Some((2, "b")));
        check("10 %\r90 %\r", Some((1, "90 %")));
        check("", None);
    }

    #[test]
    fn hints_and_code_locations_are_not_informative() {
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

    #[test]
    fn the_first_complaint_about_a_place_is_quoted_whoever_makes_it() {
        let text = "Checking...\nb.zz:3 D002 Trailing whitespace\nc.zz:4: (W/1) odd title\nDetails:\n - A = 0\n";
        let output = crate::scan(text.as_bytes(), Source::Command);
        let ending = Ending {
            exit_code: Some(1),
            ..Ending::default()
        };
        let failure = crate::rank(&crate::evidence_of(output, Source::Command, None, ending));
        let failure = failure.unwrap();
        assert_eq!(failure.kind, FailureKind::LintError);
        assert_eq!(failure.line, Some(2));
        for line in [
            "a.rb:3:in `x': oh no",
            "12:30:01 a b",
            "at a.js:3:4",
            "a.c:3: ok",
        ] {
            assert!(!COMPLAINT.is_match(line) || TRACE.is_match(line), "{line}");
        }
    }

    #[test]
    fn the_script_of_a_plain_command_is_known() {
        assert_eq!(script("./t.py --fast").as_deref(), Some("./t.py"));
        assert_eq!(script("python t.py"), None);
        assert_eq!(script("$(x)/t.py"), None);
        assert_eq!(script(""), None);
    }
}
