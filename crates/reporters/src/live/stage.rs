use regreen_model::{Event, PromptKind, Span, Timestamp};

use crate::text::{attempt_words, reason};
use crate::totals::RunTotals;

/// What a run is doing right now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// The run has not started, or is over.
    #[default]
    Idle,
    ReadingPlan,
    Attempt {
        /// The number in the name of its log.
        attempt: u32,
        /// Its number among the attempts that count.
        number: u32,
        of: u32,
        limit_ms: u64,
    },
    Reminder {
        limit_ms: u64,
    },
    CheckingClaims,
    Verify {
        again: bool,
        limit_ms: u64,
    },
    FinalCheck {
        checks: u32,
        limit_ms: u64,
    },
    Saving,
    Waiting {
        until: Timestamp,
        why: String,
    },
    /// A person is being asked, and is using the terminal.
    Asking,
    Stopping,
    Repairing,
}

impl Stage {
    /// Returns the stage that an event starts, if any.
    pub(super) fn begun_by(event: &Event, totals: &RunTotals) -> Option<Self> {
        Some(match event {
            Event::RunStarted { .. } | Event::RunResumed { .. } | Event::PlanAsked { .. } => {
                Self::ReadingPlan
            }
            Event::AttemptStarted {
                prompt: PromptKind::Reminder,
                timeout_ms,
                ..
            } => Self::Reminder {
                limit_ms: *timeout_ms,
            },
            Event::AttemptStarted {
                task,
                attempt,
                prompt,
                timeout_ms,
                ..
            } => Self::Attempt {
                attempt: *attempt,
                number: totals.number_of(task, *prompt),
                of: totals.limit_of_task(),
                limit_ms: *timeout_ms,
            },
            Event::RepairStarted { .. } => Self::Repairing,
            Event::ClaimsAsked { .. } => Self::CheckingClaims,
            Event::VerifyStarted { again, .. } => Self::Verify {
                again: *again,
                limit_ms: totals.config.verify_timeout_ms,
            },
            Event::FinalCheckStarted { checks, .. } => Self::FinalCheck {
                checks: *checks,
                limit_ms: totals.config.final_check_time_ms,
            },
            Event::TickAsked { .. } | Event::ReopenAsked { .. } => Self::Saving,
            Event::WaitStarted { until, why, .. } => Self::Waiting {
                until: *until,
                why: reason(why),
            },
            Event::PersonAsked { .. } | Event::AnswersAwaited { .. } => Self::Asking,
            Event::StopAsked { .. } => Self::Stopping,
            Event::RunEnded { .. } => Self::Idle,
            _ => return None,
        })
    }

    /// Whether something is running that reports its activity.
    pub(super) fn has_activity(&self) -> bool {
        matches!(
            self,
            Self::Attempt { .. }
                | Self::Reminder { .. }
                | Self::Verify { .. }
                | Self::FinalCheck { .. }
        )
    }

    /// Describes the stage at a point in time.
    pub(super) fn describe(&self, began: Timestamp, now: Timestamp) -> String {
        let elapsed_ms = now.since(began);
        let elapsed = Span::whole_seconds(elapsed_ms);
        let of = |limit_ms: &u64| format!("{elapsed} of {}", limit(*limit_ms));
        match self {
            Self::Idle | Self::Asking => String::new(),
            Self::ReadingPlan => "reading the plan".to_owned(),
            Self::Attempt {
                attempt,
                number,
                of: attempts,
                limit_ms,
            } => {
                let attempt = attempt_words(*attempt, *number, *attempts);
                format!("{attempt} · {}", of(limit_ms))
            }
            Self::Reminder { limit_ms } => {
                format!("waiting for the completion signal · {}", of(limit_ms))
            }
            Self::Repairing => format!("repairing · {elapsed}"),
            Self::CheckingClaims => format!("verifying other ticked tasks · {elapsed}"),
            Self::Verify {
                again: false,
                limit_ms,
            } => format!("verifying · {}", of(limit_ms)),
            Self::Verify {
                again: true,
                limit_ms,
            } => format!("verifying again · {}", of(limit_ms)),
            Self::FinalCheck { checks, limit_ms } => {
                let checks = match checks {
                    1 => "1 check".to_owned(),
                    checks => format!("{checks} checks"),
                };
                format!("final check: {checks} · {}", of(limit_ms))
            }
            Self::Saving => "saving".to_owned(),
            Self::Waiting { until, why } => {
                let left = Span::left(until.since(now));
                format!(
                    "waiting until {} UTC · {left} left · {why}",
                    until.utc_time()
                )
            }
            Self::Stopping => format!("stopping · {elapsed}"),
        }
    }
}

/// Returns a time limit without redundant zeros: `30m`, `1m 30s`.
fn limit(millis: u64) -> String {
    let text = Span::from_millis(millis).to_string();
    let short = text.strip_suffix(" 00s").or(text.strip_suffix(" 00m"));
    short.unwrap_or(&text).to_owned()
}
