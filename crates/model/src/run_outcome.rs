use serde::{Deserialize, Serialize};

/// How a run ended, or why it paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RunOutcome {
    /// Every required original is ticked.
    AllGreen,
    /// The one task that was asked for is done; others are open.
    OnlyDone,
    /// Nothing is left but what was skipped.
    Skipped,
    /// A limit was reached: what is said about it.
    Limit { message: String },
    /// A person must decide what only a person can.
    NeedsPerson { why: String },
    /// The agent's service is out of reach for longer than we may wait.
    TryLater { why: String },
    /// The set-up is broken: it would fail the same way again.
    SetUp { why: String },
    /// Somebody asked regreen to stop. The run goes on when it is started again.
    Stopped { signal: StopSignal },
}

impl RunOutcome {
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::AllGreen => "all_green",
            Self::OnlyDone => "only_done",
            Self::Skipped => "skipped",
            Self::Limit { .. } => "limit",
            Self::NeedsPerson { .. } => "needs_person",
            Self::TryLater { .. } => "try_later",
            Self::SetUp { .. } => "set_up",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// Whether starting again goes on with this run.
    #[must_use]
    pub fn is_pause(&self) -> bool {
        match self {
            Self::AllGreen | Self::OnlyDone | Self::Skipped | Self::Limit { .. } => false,
            Self::NeedsPerson { .. }
            | Self::TryLater { .. }
            | Self::SetUp { .. }
            | Self::Stopped { .. } => true,
        }
    }

    /// What the process says about it when it ends. Scripts rely on the numbers.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::AllGreen | Self::OnlyDone => 0,
            Self::Skipped | Self::Limit { .. } => 1,
            Self::NeedsPerson { .. } => 3,
            Self::TryLater { .. } => 75,
            Self::SetUp { .. } => 78,
            Self::Stopped { signal } => signal.exit_code(),
        }
    }
}

/// How somebody asked regreen to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopSignal {
    Interrupt,
    Terminate,
}

impl StopSignal {
    /// 128 and the number of the signal, as shells have it.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_that_scripts_rely_on() {
        let (message, why) = (String::new(), String::new());
        let outcomes = [
            RunOutcome::AllGreen,
            RunOutcome::OnlyDone,
            RunOutcome::Skipped,
            RunOutcome::Limit { message },
            RunOutcome::NeedsPerson { why: why.clone() },
            RunOutcome::TryLater { why: why.clone() },
            RunOutcome::SetUp { why },
            RunOutcome::Stopped {
                signal: StopSignal::Interrupt,
            },
            RunOutcome::Stopped {
                signal: StopSignal::Terminate,
            },
        ];
        let codes = outcomes.each_ref().map(RunOutcome::exit_code);
        assert_eq!(codes, [0, 0, 1, 1, 3, 75, 78, 130, 143]);
    }
}
