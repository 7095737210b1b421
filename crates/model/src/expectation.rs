use std::fmt;

/// How a stated number is compared with what a command gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    Equal,
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

/// What a task says its Verify command gives, where that is not just "exit code 0".
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
