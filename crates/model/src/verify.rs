use std::fmt;

use serde::{Deserialize, Serialize};

/// One command of a Verify field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyCommand {
    /// The command, for a shell.
    pub command: String,
    /// How sure it is that it is a command.
    pub form: VerifyForm,
    /// What is expected instead of exit code 0.
    pub expects: Option<Expectation>,
}

/// How sure it is that a text is a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifyForm {
    /// It is a command: a missing program is a failure.
    Always,
    /// It is a command if its first word is a program or a shell builtin; else it is prose.
    IfProgram,
}

impl VerifyCommand {
    /// Makes a command that is always run and has to exit with 0.
    #[must_use]
    pub fn always(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            form: VerifyForm::Always,
            expects: None,
        }
    }

    /// Returns the word that has to be a program: the first one after assignments, `!` and `(`.
    #[must_use]
    pub fn program(&self) -> &str {
        words(&self.command)
            .map(|word| word.trim_start_matches(['(', '!', '{']))
            .find(|word| !word.is_empty() && !is_assignment(word))
            .map(|word| word.trim_end_matches([';', ')']))
            .unwrap_or_default()
    }
}

/// Splits a command into words at blanks outside quotes.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    command
        .split(move |c: char| {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), c) if c == open => quote = None,
                _ => {}
            }
            quote.is_none() && c.is_whitespace()
        })
        .filter(|word| !word.is_empty())
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// How a command's number is compared with the stated one.
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

/// The result that a task states for its Verify command, if it is not just "exit code 0".
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// `returns 0`, `→ 3`, `returns >= 5`: the number it prints, or its exit code if it
    /// prints no lone number.
    Returns(Comparison, u64),
    /// `exits 2`.
    Exits(u64),
    /// `0 matches`, `no matches`: lines printed, or the number printed by a counter.
    Matches(u64),
    /// `no output`.
    NoOutput,
    /// `outputs "PASS"`: the text is somewhere in what it prints.
    Outputs(String),
    /// `fails`.
    Fails,
}

impl Comparison {
    /// Compares what a command gave with the stated number.
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
    /// Returns whether a command's result is the stated one. `output` is its standard output.
    #[must_use]
    pub fn is_met(&self, exit_code: i32, output: &str) -> bool {
        let lines = || output.lines().filter(|line| !line.trim().is_empty());
        let printed: Option<u64> = output.trim().parse().ok();
        let counted = || printed.unwrap_or(u64::try_from(lines().count()).unwrap_or(u64::MAX));
        match self {
            Self::Returns(comparison, stated) => match (printed, u64::try_from(exit_code)) {
                (Some(printed), _) => comparison.holds(printed, *stated),
                (None, Ok(code)) => comparison.holds(code, *stated),
                (None, Err(_)) => false,
            },
            Self::Exits(stated) => u64::try_from(exit_code) == Ok(*stated),
            Self::Matches(stated) => counted() == *stated,
            Self::NoOutput => lines().next().is_none(),
            Self::Outputs(text) => output.contains(text),
            Self::Fails => exit_code != 0,
        }
    }
}

/// One spelling for each meaning, whichever of the many spellings the file has.
impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returns(comparison, n) => write!(f, "returns {}{n}", comparison.sign()),
            Self::Exits(n) => write!(f, "exits {n}"),
            Self::Matches(n) => write!(f, "{n} matches"),
            Self::NoOutput => f.write_str("no output"),
            Self::Outputs(text) => write!(f, "outputs {text}"),
            Self::Fails => f.write_str("fails"),
        }
    }
}

/// The outcome of an independent check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It passed.
    Green,
    /// It failed.
    Red {
        /// The error.
        error: String,
    },
    /// There was nothing to run.
    Unverified,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_first_word_after_assignments_and_signs() {
        for (command, program) in [
            ("make test", "make"),
            ("A=1 B=\"x\" make", "make"),
            ("RUSTFLAGS=\"-D warnings\" cargo test", "cargo"),
            ("! grep -q x f", "grep"),
            ("(cd a && make)", "cd"),
            ("!grep x", "grep"),
            ("true;", "true"),
            ("", ""),
            ("A=1", ""),
        ] {
            assert_eq!(
                VerifyCommand::always(command).program(),
                program,
                "{command}"
            );
        }
    }

    #[test]
    fn a_commands_result_is_compared_with_the_stated_one() {
        use Comparison::{AtLeast, Equal};
        for (expected, code, output, met) in [
            // `grep -c` finds nothing and says so with 0 and exit code 1.
            (Expectation::Returns(Equal, 0), 1, "0\n", true),
            (Expectation::Returns(Equal, 0), 0, "3\n", false),
            (Expectation::Returns(Equal, 0), 0, "all well\n", true),
            (Expectation::Returns(Equal, 0), 2, "", false),
            (Expectation::Returns(AtLeast, 5), 0, "7", true),
            (Expectation::Exits(2), 2, "", true),
            (Expectation::Matches(0), 1, "", true),
            (Expectation::Matches(0), 0, "a: x\nb: x\n", false),
            (Expectation::Matches(2), 0, "a: x\nb: x\n", true),
            (Expectation::NoOutput, 0, " \n", true),
            (Expectation::NoOutput, 0, "x", false),
            (Expectation::Outputs("PASS".into()), 0, "1 PASS\n", true),
            (Expectation::Fails, 1, "", true),
            (Expectation::Fails, 0, "", false),
        ] {
            assert_eq!(
                expected.is_met(code, output),
                met,
                "{expected} {code} {output}"
            );
        }
    }
}
