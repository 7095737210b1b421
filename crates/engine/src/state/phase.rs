//! What a task waits for.

use regreen_model::{ChoiceKind, CommandSeq, PlannedRepair, TaskId, TaskKey, Timestamp};
use serde::{Deserialize, Serialize};

/// The phases of a task, named after what it is waiting for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// To be picked.
    Open,
    /// An attempt.
    Attempting {
        /// The pending command.
        seq: CommandSeq,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The check of ticks on other tasks.
    JudgingClaims {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Its Verify.
    Verifying {
        /// The pending command.
        seq: CommandSeq,
        /// Whether this is the second run of the check.
        again: bool,
        /// Whether the check runs before the agent is asked again.
        #[serde(default)]
        first: bool,
    },
    /// A review of the tests that failed.
    ReviewingTests {
        /// The pending command.
        seq: CommandSeq,
        /// Whether the check ran before the agent is asked again.
        #[serde(default)]
        first: bool,
    },
    /// The agent's opinion about its failure.
    AskingOpinion {
        /// The pending command.
        seq: CommandSeq,
    },
    /// What earlier failures show.
    Recalling {
        /// The pending command.
        seq: CommandSeq,
    },
    /// An inspection of what can be repaired.
    Inspecting {
        /// The pending command.
        seq: CommandSeq,
    },
    /// The automatic fix to be carried out.
    Repairing {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Its fix budget.
    Budgeting {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Its fix to be inserted.
    Inserting {
        /// The pending command.
        seq: CommandSeq,
        /// The id of the fix.
        fix: TaskId,
        /// Whether the error came back after a fix that should have removed it.
        again: bool,
    },
    /// The rows that the agent asked for.
    Modifying {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Its open fixes to be read. Found only in journals of earlier versions.
    Superseding {
        /// The pending command.
        seq: CommandSeq,
    },
    /// These fixes to be ticked. Found only in journals of earlier versions.
    TickingFixes {
        /// The pending command.
        seq: CommandSeq,
        /// The fixes.
        fixes: Vec<TaskKey>,
    },
    /// A note in the progress file that healing failed.
    Noting {
        /// The pending command.
        seq: CommandSeq,
        /// The message about the limit.
        message: String,
    },
    /// A person's answer.
    Asking {
        /// `None` while nobody is being asked. The question is open all the same, and an answer to
        /// an earlier command is late.
        seq: Option<CommandSeq>,
        /// The question.
        why: String,
        /// The repair that the person may allow.
        #[serde(default)]
        repair: Option<PlannedRepair>,
        /// Whether someone has answered at another terminal, so that the answer is there for the asking.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_answered: bool,
    },
    /// Its box to be ticked or unticked.
    Ticking {
        /// The pending command.
        seq: CommandSeq,
        /// `true` to tick, `false` to untick.
        done: bool,
    },
    /// Its commit.
    Committing {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Its entry in the progress file.
    Recording {
        /// The pending command.
        seq: CommandSeq,
    },
    /// The agent's service, or the delay before a repeat.
    Waiting {
        /// The pending command.
        seq: CommandSeq,
        /// When the wait began.
        since: Timestamp,
        /// When it ends.
        until: Timestamp,
        /// Whether the wait comes before a repeat.
        #[serde(default)]
        repeats: bool,
    },
    /// Nothing.
    Closed,
}

impl Phase {
    /// Returns the pending command, if there is one.
    #[must_use]
    pub fn seq(&self) -> Option<CommandSeq> {
        match self {
            Self::Attempting { seq, .. }
            | Self::JudgingClaims { seq }
            | Self::Verifying { seq, .. }
            | Self::ReviewingTests { seq, .. }
            | Self::AskingOpinion { seq }
            | Self::Recalling { seq }
            | Self::Inspecting { seq }
            | Self::Repairing { seq }
            | Self::Budgeting { seq }
            | Self::Inserting { seq, .. }
            | Self::Modifying { seq }
            | Self::Superseding { seq }
            | Self::TickingFixes { seq, .. }
            | Self::Noting { seq, .. }
            | Self::Ticking { seq, .. }
            | Self::Committing { seq }
            | Self::Recording { seq }
            | Self::Waiting { seq, .. } => Some(*seq),
            Self::Asking { seq, .. } => *seq,
            Self::Open | Self::Closed => None,
        }
    }

    /// Whether the pending command runs foreign code; see [`Command`](crate::Command).
    pub(crate) fn runs_foreign_code(&self) -> bool {
        matches!(
            self,
            Self::Attempting { .. }
                | Self::JudgingClaims { .. }
                | Self::Verifying { .. }
                | Self::ReviewingTests { .. }
                | Self::AskingOpinion { .. }
                | Self::Repairing { .. }
                | Self::Committing { .. }
        )
    }

    /// Whether it is completed no matter what a person chooses meanwhile: an interrupted attempt is
    /// recorded, and no file is left half changed. The box ends up as the choice wants it: ticked
    /// for "done", unticked for "retry".
    pub(crate) fn outlasts(&self, choice: ChoiceKind) -> bool {
        match self {
            Self::Attempting { .. } | Self::JudgingClaims { .. } | Self::Repairing { .. } => true,
            Self::Ticking { done: true, .. } | Self::Committing { .. } | Self::Recording { .. } => {
                choice != ChoiceKind::Retry
            }
            Self::Ticking { done: false, .. } => choice != ChoiceKind::Done,
            Self::Superseding { .. } | Self::TickingFixes { .. } => choice != ChoiceKind::Retry,
            Self::Open
            | Self::Verifying { .. }
            | Self::ReviewingTests { .. }
            | Self::AskingOpinion { .. }
            | Self::Recalling { .. }
            | Self::Inspecting { .. }
            | Self::Budgeting { .. }
            | Self::Inserting { .. }
            | Self::Modifying { .. }
            | Self::Noting { .. }
            | Self::Asking { .. }
            | Self::Waiting { .. }
            | Self::Closed => false,
        }
    }
}
