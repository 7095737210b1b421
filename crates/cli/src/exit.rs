//! Exit codes.

use std::fmt::Write as _;
use std::process::ExitCode;

use regreen_model::RunOutcome;

/// Every way for regreen to exit. Scripts rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Success = 0,
    /// A task failed or was skipped, or a limit was reached.
    Incomplete = 1,
    /// Bad usage, or unreadable input.
    BadInput = 2,
    /// A person must decide; nothing is lost.
    NeedsPerson = 3,
    TryLater = 75,
    /// Something that regreen needs is missing or refused, so it would fail the same way again.
    SetUp = 78,
    Interrupted = 130,
    Terminated = 143,
}

impl Exit {
    pub const ALL: [Self; 8] = [
        Self::Success,
        Self::Incomplete,
        Self::BadInput,
        Self::NeedsPerson,
        Self::TryLater,
        Self::SetUp,
        Self::Interrupted,
        Self::Terminated,
    ];

    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the exit code for the outcome of a run.
    pub fn of(outcome: &RunOutcome) -> Self {
        let code = outcome.exit_code();
        let found = Self::ALL.into_iter().find(|exit| exit.code() == code);
        found.unwrap_or(Self::Incomplete)
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Success => "success; all tasks are done",
            Self::Incomplete => "a task failed or was skipped, or a limit was reached",
            Self::BadInput => "usage error, or input that cannot be read",
            Self::NeedsPerson => "a person must decide",
            Self::TryLater => "try again later",
            Self::SetUp => "fix the setup first",
            Self::Interrupted => "interrupted (Ctrl-C); progress is saved",
            Self::Terminated => "terminated; progress is saved",
        }
    }

    /// Returns all codes with their meanings, for `--help`.
    pub fn table() -> String {
        let mut text = String::from("Exit codes:\n");
        for exit in Self::ALL {
            let _ = writeln!(text, "  {:>3}  {}", exit.code(), exit.meaning());
        }
        text
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_rely_on_the_numbers() {
        let codes: Vec<u8> = Exit::ALL.into_iter().map(Exit::code).collect();
        assert_eq!(codes, [0, 1, 2, 3, 75, 78, 130, 143]);
    }
}
