//! The stated result of a command, and whether its actual result meets it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How the actual number is compared with the stated one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// The same number.
    Equal,
    /// This number or more.
    AtLeast,
    /// More than this number.
    MoreThan,
    /// This number or less.
    AtMost,
    /// Less than this number.
    LessThan,
}

/// The stated result of a Verify command, if it isn't just "exit code 0".
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// `returns 0`, `→ 3`: the number it prints, or its exit code if it doesn't print a lone
    /// number.
    Returns(Comparison, u64),
    /// `prints 3`, `grep -c … returns 3`, `at least 5`: the number it prints.
    Prints(Comparison, u64),
    /// `exits 2`.
    Exits(u64),
    /// An older form of `Lines` with `Equal`, found in journals of earlier versions.
    Matches(u64),
    /// `0 matches`, `3 files`, `2+ results`: the number of lines, or the number that a counter
    /// prints.
    Lines(Comparison, u64),
    /// `no output`.
    NoOutput,
    /// `outputs "PASS"`, `shows 4.2.0`: the output contains the text.
    Outputs(String),
    /// `shows no ERROR`: the output doesn't contain the text.
    Lacks(String),
    /// `both return 1.0.0`: it prints at least two lines, and each contains the text.
    EveryLine(String),
    /// `fails`.
    Fails,
    /// `exits 0 and prints "done"`: all of these.
    All(Vec<Expectation>),
    /// `exits 0`, next to other expectations.
    Passes,
}

/// How a command ended, and what it printed.
#[derive(Clone, Copy, Debug)]
pub struct CommandResult<'o> {
    /// The exit code, as a shell reports it.
    pub exit_code: i32,
    /// Its standard output.
    pub stdout: &'o str,
    /// Its standard error.
    pub stderr: &'o str,
    /// Whether only the beginning and the end of the output are here.
    pub is_cut: bool,
    /// Whether it is a search, which exits with 1 if it finds nothing.
    pub is_search: bool,
    /// Whether exit code 1 means "no", and a higher one that it couldn't tell.
    pub says_no_with_one: bool,
    /// Whether a failure is an answer. It is none if no server answered the program that decides.
    pub is_answer: bool,
}

impl Comparison {
    /// Compares the actual number with the stated one.
    #[must_use]
    pub fn holds(self, actual: u64, stated: u64) -> bool {
        match self {
            Self::Equal => actual == stated,
            Self::AtLeast => actual >= stated,
            Self::MoreThan => actual > stated,
            Self::AtMost => actual <= stated,
            Self::LessThan => actual < stated,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Equal => "",
            Self::AtLeast => ">= ",
            Self::MoreThan => "> ",
            Self::AtMost => "<= ",
            Self::LessThan => "< ",
        }
    }
}

impl Expectation {
    /// Returns whether the result of a command meets the expectation.
    #[must_use]
    pub fn is_met(&self, result: CommandResult<'_>) -> bool {
        self.is_met_by(result, result.has_answered())
    }

    /// Returns whether it states how the command must end.
    fn states_ending(&self) -> bool {
        match self {
            Self::Exits(_) | Self::Fails | Self::Passes => true,
            Self::All(parts) => parts.iter().any(Self::states_ending),
            _ => false,
        }
    }

    /// Returns whether the result meets the expectation. Output counts only if the command ended
    /// well, or ended as another expectation states.
    fn is_met_by(&self, result: CommandResult<'_>, ended_well: bool) -> bool {
        let code = u64::try_from(result.exit_code);
        match self {
            Self::Returns(comparison, stated) => match (result.number(), code) {
                (Some(printed), _) => ended_well && comparison.holds(printed, *stated),
                (None, Ok(code)) => comparison.holds(code, *stated),
                (None, Err(_)) => false,
            },
            Self::Prints(comparison, stated) => {
                let printed = result.number();
                ended_well && printed.is_some_and(|printed| comparison.holds(printed, *stated))
            }
            Self::Exits(stated) => code == Ok(*stated),
            Self::Matches(stated) => {
                Self::Lines(Comparison::Equal, *stated).is_met_by(result, ended_well)
            }
            Self::Lines(comparison, stated) => {
                let count = result.number().unwrap_or_else(|| result.lines());
                let is_seen = match comparison {
                    Comparison::AtMost | Comparison::LessThan => result.has_looked_everywhere(),
                    _ if count == 0 => result.has_told_all(),
                    _ => ended_well,
                };
                is_seen && comparison.holds(count, *stated)
            }
            Self::NoOutput => {
                result.has_told_all() && result.lines() == 0 && result.stderr.trim().is_empty()
            }
            Self::Outputs(text) => ended_well && result.has(text),
            // A part of a longer word counts too: `TypeError` is an error.
            Self::Lacks(text) => {
                let is_printed = result.stdout.contains(text) || result.stderr.contains(text);
                result.has_looked_everywhere() && !result.is_cut && !is_printed
            }
            Self::EveryLine(text) => {
                let mut lines = result.stdout.lines().filter(|line| !line.trim().is_empty());
                ended_well && result.lines() >= 2 && lines.all(|line| has_words(line, text))
            }
            Self::Fails => {
                let is_error = result.says_no_with_one && result.exit_code > 1;
                result.exit_code != 0 && result.has_run() && !is_error
            }
            Self::All(parts) => {
                let ended_well = ended_well || self.states_ending();
                parts.iter().all(|part| part.is_met_by(result, ended_well))
            }
            Self::Passes => result.exit_code == 0,
        }
    }
}

impl CommandResult<'_> {
    fn lines(self) -> u64 {
        let lines = self.stdout.lines().filter(|line| !line.trim().is_empty());
        u64::try_from(lines.count()).unwrap_or(u64::MAX)
    }

    /// Returns the number if the command prints nothing else, or only file names beside it as `wc
    /// -l` and `grep -c` do.
    fn number(self) -> Option<u64> {
        let lines = || self.stdout.lines().filter(|line| !line.trim().is_empty());
        let count = |line: &str| line.rsplit_once(':')?.1.parse::<u64>().ok();
        if self.lines() > 1
            && let Some(counts) = lines().map(count).collect::<Option<Vec<u64>>>()
        {
            return Some(counts.into_iter().fold(0, u64::saturating_add));
        }
        let mut words = self.stdout.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let is_lone = words.next().is_none() || (words.next().is_none() && self.lines() == 1);
        is_lone.then_some(number)
    }

    /// Returns whether the output counts. A command that fails didn't meet its expectation,
    /// whatever it printed: "3 passed" may be followed by "1 failed". But exit code 1 of a search
    /// or comparison is an answer: "nothing found" or "no".
    fn has_answered(self) -> bool {
        self.exit_code == 0 || (self.exit_code == 1 && self.says_no_with_one)
    }

    /// Returns whether the command ran to its end. A missing program or module fails as well, as
    /// does what is out of time or killed, but not as the task means it.
    fn has_run(self) -> bool {
        let is_killed = (124..=192).contains(&self.exit_code) && self.exit_code != 128;
        !is_killed && self.is_answer && !self.stderr.lines().any(could_not_ask)
    }

    /// Returns whether empty output proves anything, which it does only if nothing went wrong: a
    /// search that finds nothing exits with 1 silently, while a search in a missing file complains.
    fn has_told_all(self) -> bool {
        self.exit_code == 0 || (self.has_run() && self.stderr.trim().is_empty())
    }

    /// Returns whether missing output proves anything, which it does only if the command ran to its
    /// end: failing tests don't print everything either. A search that finds nothing has run to its
    /// end.
    fn has_looked_everywhere(self) -> bool {
        let has_found_nothing = self.stdout.trim().is_empty() || self.number() == Some(0);
        let is_silent = has_found_nothing && self.stderr.trim().is_empty();
        self.exit_code == 0 || (self.exit_code == 1 && self.is_search && is_silent)
    }

    fn has(self, text: &str) -> bool {
        has_words(self.stdout, text) || has_words(self.stderr, text)
    }
}

/// Returns whether this is `python3: No module named pytest`, which `python3 -m pytest` prints, or
/// curl's report that there is no server. A module that a test imports is named after
/// `ModuleNotFoundError`.
fn could_not_ask(line: &str) -> bool {
    let python = line
        .split_once(": No module named ")
        .map(|(python, _)| python);
    python.is_some_and(|python| python.contains("python") && !python.contains("Error"))
        || line.starts_with("curl: (7)")
        || line.starts_with("curl: (6)")
}

/// Returns whether a text contains another one that isn't part of a longer word or number there.
fn has_words(all: &str, text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let starts_inside = text.starts_with(is_part);
    let ends_inside = text.ends_with(is_part);
    all.match_indices(text).any(|(at, _)| {
        let before = all[..at].chars().next_back();
        let after = all[at + text.len()..].chars().next();
        let joins =
            |c: char| is_part(c) || c == '.' && text.starts_with(|c: char| c.is_ascii_digit());
        let is_longer_before = starts_inside && before.is_some_and(joins);
        let is_longer_after = ends_inside && after.is_some_and(is_part);
        !is_longer_before && !is_longer_after
    })
}

/// Writes one spelling for each meaning, whichever of the many spellings the file uses.
impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returns(comparison, n) => write!(f, "returns {}{n}", comparison.sign()),
            Self::Prints(comparison, n) => write!(f, "prints {}{n}", comparison.sign()),
            Self::Exits(n) => write!(f, "exits {n}"),
            Self::Matches(n) => write!(f, "{n} matches"),
            Self::Lines(comparison, n) => write!(f, "{}{n} matches", comparison.sign()),
            Self::NoOutput => f.write_str("no output"),
            Self::Outputs(text) => write!(f, "outputs {text}"),
            Self::Lacks(text) => write!(f, "does not output {text}"),
            Self::EveryLine(text) => write!(f, "each line has {text}"),
            Self::Fails => f.write_str("fails"),
            Self::Passes => f.write_str("exits 0"),
            Self::All(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    let and = if at == 0 { "" } else { " and " };
                    write!(f, "{and}{part}")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: &Expectation, exit_code: i32, stdout: &str, stderr: &str, met: bool) {
        let result = CommandResult {
            exit_code,
            stdout,
            stderr,
            is_cut: false,
            is_search: true,
            says_no_with_one: true,
            is_answer: true,
        };
        assert_eq!(
            expected.is_met(result),
            met,
            "{expected}: exit code {exit_code}, {stdout:?}, {stderr:?}"
        );
    }

    #[test]
    fn a_commands_result_is_compared_with_the_stated_one() {
        use Comparison::{AtLeast, Equal};
        use Expectation::{
            All, EveryLine, Exits, Fails, Lacks, Lines, Matches, NoOutput, Outputs, Passes, Prints,
            Returns,
        };
        for (expected, code, output, met) in [
            // `grep -c` that finds nothing prints 0 and exits with 1.
            (Returns(Equal, 0), 1, "0\n", true),
            (Returns(Equal, 0), 0, "3\n", false),
            (Returns(Equal, 0), 0, "all well\n", true),
            (Returns(Equal, 0), 2, "", false),
            (Prints(AtLeast, 5), 0, "7", true),
            (Prints(Equal, 2), 2, "", false),
            (Prints(Equal, 1626), 0, "  1626 src/a.py\n", true),
            (Prints(Equal, 5), 0, "5 passed in 1s\n", false),
            (Prints(Equal, 2), 0, "a:1\nb:1\n", true),
            (Exits(2), 2, "", true),
            (Matches(0), 1, "", true),
            (Lines(Equal, 0), 0, "a: x\nb: x\n", false),
            (Lines(Equal, 2), 0, "a: x\nb: x\n", true),
            (Lines(AtLeast, 2), 0, "a: x\nb: x\nc\n", true),
            (NoOutput, 0, " \n", true),
            (NoOutput, 0, "x", false),
            (Outputs("PASS".into()), 0, "1 PASS\n", true),
            (Outputs("4.2.0".into()), 0, "v 14.2.0\n", false),
            (Outputs("4.2.0".into()), 0, "version 4.2.0\n", true),
            (Outputs("3.12".into()), 0, "Python 3.12.4\n", true),
            (Outputs("usage: x".into()), 2, "usage: x\n", false),
            (
                All(vec![Exits(2), Outputs("usage: x".into())]),
                2,
                "usage: x\n",
                true,
            ),
            (Lacks("ERROR".into()), 0, "fine\n", true),
            (Lacks("ERROR".into()), 0, "an ERROR\n", false),
            (Lacks("ERROR".into()), 0, "ERRORS: 3\n", false),
            (Lacks("Error".into()), 0, "TypeError: x\n", false),
            (Lacks("Error".into()), 0, "errors: 0\n", true),
            (EveryLine("1.0.0".into()), 0, "1.0.0\n1.0.0\n", true),
            (EveryLine("1.0.0".into()), 0, "1.0.0\n1.0.1\n", false),
            (EveryLine("1.0.0".into()), 0, "1.0.0\n", false),
            (Fails, 1, "", true),
            (Fails, 0, "", false),
            // A search in a missing file hasn't looked anywhere.
            (Fails, 2, "", false),
            (All(vec![Passes, Outputs("x".into())]), 0, "x", true),
            (All(vec![Passes, Outputs("x".into())]), 1, "x", false),
        ] {
            check(&expected, code, output, "", met);
        }
    }

    #[test]
    fn an_absence_is_not_proved_by_a_command_that_went_wrong() {
        use Expectation::{Fails, Lacks, Lines, NoOutput};
        let missing = "grep: a: No such file or directory\n";
        let zero = || Lines(Comparison::Equal, 0);
        for expected in [NoOutput, zero(), Lacks("ERROR".into())] {
            check(&expected, 1, "", "", true);
            check(&expected, 2, "", missing, false);
            check(&expected, 127, "", "", false);
        }
        check(&zero(), 0, "", "warning: slow\n", true);
        check(&NoOutput, 0, "", "1 problem\n", false);
        for code in [126, 127] {
            check(&Fails, code, "", "bash: x: command not found\n", false);
        }
        // Out of time, and killed.
        for code in [124, 137, 143] {
            check(&Fails, code, "", "", false);
        }
        for complaint in [
            "/usr/bin/python3: No module named pytest\n",
            "curl: (7) Failed to connect to 127.0.0.1 port 9\n",
        ] {
            check(&Fails, 1, "", complaint, false);
        }
        check(
            &Fails,
            1,
            "",
            "E   ModuleNotFoundError: No module named 'login'\n",
            true,
        );
        let unanswered = CommandResult {
            exit_code: 7,
            stdout: "",
            stderr: "",
            is_cut: false,
            is_search: false,
            says_no_with_one: false,
            is_answer: false,
        };
        for expected in [Fails, NoOutput, zero()] {
            assert!(!expected.is_met(unanswered), "{expected}");
        }
        assert!(Expectation::Exits(7).is_met(unanswered));
        let cut = CommandResult {
            exit_code: 0,
            stdout: "",
            stderr: "",
            is_cut: true,
            is_search: false,
            says_no_with_one: false,
            is_answer: true,
        };
        assert!(!Lacks("ERROR".into()).is_met(cut));
    }

    #[test]
    fn little_output_of_a_command_that_failed_proves_nothing() {
        use Expectation::{Lacks, Lines};
        let few = |comparison| Lines(comparison, 3);
        for expected in [
            Lacks("ERROR".into()),
            few(Comparison::AtMost),
            few(Comparison::LessThan),
        ] {
            for (exit_code, stdout, is_search, met) in [
                (0, "1 passed\n", false, true),
                (1, "FAILED a\n", false, false),
                (1, "FAILED a\n", true, false),
                (1, "", false, false),
                (2, "", true, false),
                // `grep x f` and `grep -c x f g`, neither of which finds anything.
                (1, "", true, true),
                (1, "f:0\ng:0\n", true, true),
            ] {
                let result = CommandResult {
                    exit_code,
                    stdout,
                    stderr: "",
                    is_cut: false,
                    is_search,
                    says_no_with_one: is_search,
                    is_answer: true,
                };
                let told = format!("{expected}: {result:?}");
                assert_eq!(expected.is_met(result), met, "{told}");
            }
        }
    }

    #[test]
    fn what_a_command_prints_counts_only_if_it_ends_well() {
        use Comparison::{AtLeast, Equal};
        use Expectation::{Lines, Outputs, Prints, Returns};
        for expected in [
            Prints(Equal, 3),
            Prints(AtLeast, 2),
            Returns(Equal, 3),
            Outputs("3".into()),
            Lines(AtLeast, 1),
        ] {
            for (exit_code, says_no_with_one, met) in [
                (0, false, true),
                (1, false, false),
                (1, true, true),
                (2, true, false),
            ] {
                let result = CommandResult {
                    exit_code,
                    stdout: "3\n",
                    stderr: "",
                    is_cut: false,
                    is_search: false,
                    says_no_with_one,
                    is_answer: true,
                };
                assert_eq!(expected.is_met(result), met, "{expected}: {result:?}");
            }
        }
    }
}
