use std::fmt;

use serde::{Deserialize, Serialize};

/// How a stated number is compared with what a command gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    Equal,
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

/// What a task says its Verify command gives, where that is not just "exit code 0".
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
    /// Whether what a command gave is what was stated. `output` is its standard output.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_gives_is_judged_by_what_was_stated() {
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
