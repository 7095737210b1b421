use regreen_model::TaskKey;

use crate::RunId;

/// Which attempt is meant, in all runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptKey {
    pub run: RunId,
    pub task: TaskKey,
    /// Counted from 1 within the run.
    pub number: u32,
}

/// One run of an agent on one task, as people ask about it afterwards. What is not known
/// (yet) is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub key: AttemptKey,
    pub agent: String,
    pub started_ms: i64,
    pub ended_ms: Option<i64>,
    /// The agent's own name for its conversation.
    pub session: Option<String>,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// In the engine's words: passed, failed, interrupted …
    pub outcome: Option<String>,
    /// What the independent check said, in the engine's words.
    pub verify: Option<String>,
    /// Where the full output is.
    pub log: Option<String>,
    /// The trees of the workspace before and after, as git names them.
    pub snapshot_before: Option<String>,
    pub snapshot_after: Option<String>,
    pub cost_microdollars: Option<u64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

impl Attempt {
    /// An attempt that has just begun.
    #[must_use]
    pub fn begun(key: AttemptKey, agent: impl Into<String>, started_ms: i64) -> Self {
        Self {
            key,
            agent: agent.into(),
            started_ms,
            ended_ms: None,
            session: None,
            exit_code: None,
            signal: None,
            outcome: None,
            verify: None,
            log: None,
            snapshot_before: None,
            snapshot_after: None,
            cost_microdollars: None,
            input_tokens: None,
            output_tokens: None,
        }
    }

    /// Adds what an earlier recording knew and this one does not say: recording the beginning
    /// once more never makes the end unknown, and an attempt began when it was first heard of.
    #[must_use]
    pub fn over(self, earlier: Self) -> Self {
        Self {
            started_ms: self.started_ms.min(earlier.started_ms),
            ended_ms: self.ended_ms.or(earlier.ended_ms),
            session: self.session.or(earlier.session),
            exit_code: self.exit_code.or(earlier.exit_code),
            signal: self.signal.or(earlier.signal),
            outcome: self.outcome.or(earlier.outcome),
            verify: self.verify.or(earlier.verify),
            log: self.log.or(earlier.log),
            snapshot_before: self.snapshot_before.or(earlier.snapshot_before),
            snapshot_after: self.snapshot_after.or(earlier.snapshot_after),
            cost_microdollars: self.cost_microdollars.or(earlier.cost_microdollars),
            input_tokens: self.input_tokens.or(earlier.input_tokens),
            output_tokens: self.output_tokens.or(earlier.output_tokens),
            ..self
        }
    }
}
