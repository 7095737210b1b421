use regreen_model::{Event, PromptKind, Span, Timestamp};

use crate::shown::reason;
use crate::tally::Tally;

/// What is being done right now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Doing {
    /// The run has not begun, or is over.
    #[default]
    Nothing,
    Planning,
    Attempting {
        number: u32,
        limit: u32,
    },
    Reminding,
    JudgingClaims,
    Verifying {
        again: bool,
    },
    Saving,
    Waiting {
        until: Timestamp,
        why: String,
    },
    /// A person is asked, and has the terminal.
    Asking,
    Stopping,
    Repairing,
}

impl Doing {
    /// What begins with an event, if anything does.
    pub(super) fn begun_by(event: &Event, tally: &Tally) -> Option<Self> {
        Some(match event {
            Event::RunStarted { .. } | Event::RunResumed { .. } | Event::PlanAsked { .. } => {
                Self::Planning
            }
            Event::AttemptStarted {
                prompt: PromptKind::Reminder,
                ..
            } => Self::Reminding,
            Event::AttemptStarted { task, prompt, .. } => Self::Attempting {
                number: tally.number_of(task, *prompt),
                limit: tally.limit_of_task(),
            },
            Event::RepairStarted { .. } => Self::Repairing,
            Event::ClaimsAsked { .. } => Self::JudgingClaims,
            Event::VerifyStarted { again, .. } => Self::Verifying { again: *again },
            Event::TickAsked { .. } => Self::Saving,
            Event::WaitStarted { until, why, .. } => Self::Waiting {
                until: *until,
                why: reason(why),
            },
            Event::PersonAsked { .. } => Self::Asking,
            Event::StopAsked { .. } => Self::Stopping,
            Event::RunEnded { .. } => Self::Nothing,
            _ => return None,
        })
    }

    /// Whether the agent is at work.
    pub(super) fn has_agent(&self) -> bool {
        matches!(self, Self::Attempting { .. } | Self::Reminding)
    }

    pub(super) fn words(&self, began: Timestamp, elapsed_ms: u64) -> String {
        let elapsed = Span::whole_seconds(elapsed_ms);
        match self {
            Self::Nothing | Self::Asking => String::new(),
            Self::Planning => "reading the plan".to_owned(),
            Self::Attempting { number, limit } => {
                format!("attempt {number} of {limit} · {elapsed}")
            }
            Self::Reminding => format!("reminding the agent to signal · {elapsed}"),
            Self::Repairing => format!("repairing · {elapsed}"),
            Self::JudgingClaims => format!("checking what else the agent ticked · {elapsed}"),
            Self::Verifying { again: false } => format!("verifying · {elapsed}"),
            Self::Verifying { again: true } => format!("verifying once more · {elapsed}"),
            Self::Saving => "saving".to_owned(),
            Self::Waiting { until, why } => {
                let left = Span::whole_seconds(until.since(began.plus(elapsed_ms)));
                format!(
                    "waiting until {} UTC, {left} left · {why}",
                    until.utc_time()
                )
            }
            Self::Stopping => format!("stopping · {elapsed}"),
        }
    }
}
