use regreen_engine::{Command, CommitResult, Decision, Input, Issued, State};
use regreen_model::{Event, RunOutcome, Timestamp};
use regreen_store::{
    AppendError, CommandSeq, StoreError, HistoryRow, IssuedCommand, VersionedJson, RunEnd, RunError, RunId,
    Snapshot, SnapshotError, Step, StepNo, Store,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::clock;

/// The shape of what this version stores.
const VERSION: u32 = 1;
/// So many steps are folded at most when a run goes on.
const SNAPSHOT_EVERY: u64 = 200;

/// One run in the store.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) store: Store,
    pub(crate) run: RunId,
    last: StepNo,
}

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the journal was written by a version of regreen that this one cannot read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl JournalError {
    /// What is wrong with the file itself, if that is it.
    #[must_use]
    pub fn fault(&self) -> Option<&StoreError> {
        match self {
            Self::Store(fault)
            | Self::Append(AppendError::Store(fault) | AppendError::Run(RunError::Store(fault)))
            | Self::Run(RunError::Store(fault))
            | Self::Snapshot(
                SnapshotError::Store(fault) | SnapshotError::Run(RunError::Store(fault)),
            ) => Some(fault),
            Self::Append(_) | Self::Run(_) | Self::Snapshot(_) | Self::Unreadable(_) => None,
        }
    }
}

impl Journal {
    /// A run that has no steps yet.
    pub(crate) fn begun(store: Store, run: RunId) -> Self {
        Self {
            store,
            run,
            last: StepNo::NONE,
        }
    }

    /// A run that has, with the state they led to.
    pub(crate) fn reopened(store: Store, run: RunId) -> Result<(Self, State), JournalError> {
        let (state, last) = folded(&store, &run)?;
        Ok((Self { store, run, last }, state))
    }

    /// Everything that has happened in the run so far.
    pub(crate) fn recall(
        &self,
        mut tell: impl FnMut(Timestamp, &Event),
    ) -> Result<(), JournalError> {
        for stored in self.store.events(&self.run, StepNo::NONE)? {
            let stored = stored?;
            let at = Timestamp::from_millis(u64::try_from(stored.now_ms).unwrap_or(0));
            tell(at, &decode(&stored.event)?);
        }
        Ok(())
    }

    /// Stores a step. When this returns, the death of this process cannot take it back; nor
    /// can a power cut, unless it is one that can be had again.
    pub(crate) fn append(
        &mut self,
        now: Timestamp,
        input: &Input,
        answers: Option<u64>,
        decision: &Decision,
        history: &[HistoryRow],
    ) -> Result<(), JournalError> {
        let events = decision.events.iter().map(|event| payload("event", event));
        let owed = decision.commands.iter().filter(|issued| is_owed(issued));
        let commands = owed.map(|issued| {
            Ok(IssuedCommand {
                seq: CommandSeq(issued.seq),
                command: payload("command", &issued.command)?,
            })
        });
        let step = Step {
            number: self.last.next(),
            now_ms: clock::stored_ms(now),
            answers: answers.map(CommandSeq),
            input: payload("input", input)?,
            events: events.collect::<Result<_, _>>()?,
            commands: commands.collect::<Result<_, serde_json::Error>>()?,
        };
        match can_be_had_again(input, decision) {
            true => self.store.append_unsynced(&self.run, &step, history)?,
            false => self.store.append(&self.run, &step, history)?,
        }
        self.last = step.number;
        Ok(())
    }

    /// Says that the run has ended: the next one begins anew.
    pub(crate) fn end(&mut self, outcome: &RunOutcome) -> Result<(), JournalError> {
        let end = RunEnd {
            ended_ms: clock::stored_ms(clock::now()),
            outcome: outcome.name().to_owned(),
            exit_code: None,
        };
        Ok(self.store.end_run(&self.run, &end)?)
    }

    /// Keeps the state now and then, so that going on need not begin at the first step.
    pub(crate) fn keep(&mut self, state: &State) -> Result<(), JournalError> {
        if !self.last.0.is_multiple_of(SNAPSHOT_EVERY) {
            return Ok(());
        }
        let snapshot = Snapshot {
            step: self.last,
            state: payload("state", state)?,
        };
        Ok(self.store.save_snapshot(&self.run, &snapshot)?)
    }
}

/// What is said aside is said again by whatever comes next.
fn is_owed(issued: &Issued) -> bool {
    !matches!(issued.command, Command::SaveState(_) | Command::Finish)
}

/// Whether nothing is lost if a power cut takes a step back. It says that something is now as
/// it was to be: asked for again, that is found so. And it asks for nothing that must not be
/// done twice.
fn can_be_had_again(input: &Input, decision: &Decision) -> bool {
    let is_so = match input {
        Input::Ticked { .. } | Input::Recorded { .. } => true,
        Input::Committed { result, .. } => {
            matches!(result, CommitResult::Done { .. } | CommitResult::Nothing)
        }
        _ => false,
    };
    let can_be_repeated = |issued: &Issued| {
        matches!(
            issued.command,
            Command::Commit(_)
                | Command::Record(_)
                | Command::ReadPlan { .. }
                | Command::SaveState(_)
        )
    };
    is_so && decision.commands.iter().all(can_be_repeated)
}

fn payload(kind: &str, body: &impl Serialize) -> Result<VersionedJson, serde_json::Error> {
    VersionedJson::new(kind, VERSION, body)
}

/// The state a run is in: its events, folded.
///
/// # Errors
/// If the run is not there, or cannot be read.
pub fn folded(store: &Store, run: &RunId) -> Result<(State, StepNo), JournalError> {
    let (mut state, mut last) = match store.latest_snapshot(run)? {
        Some(kept) => (decode(&kept.state)?, kept.step),
        None => (State::default(), StepNo::NONE),
    };
    for stored in store.events(run, last)? {
        let stored = stored?;
        state.apply(&decode::<Event>(&stored.event)?);
    }
    last = store.run(run)?.last_step;
    Ok((state, last))
}

fn decode<T: DeserializeOwned>(payload: &VersionedJson) -> Result<T, serde_json::Error> {
    payload.decode()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use regreen_model::Verdict;

    use super::*;

    fn decision(commands: impl IntoIterator<Item = Command>) -> Decision {
        let issued = |command| Issued { seq: 2, command };
        Decision {
            events: Vec::new(),
            commands: commands.into_iter().map(issued).collect(),
        }
    }

    #[test]
    fn only_what_can_be_had_again_may_be_taken_back() {
        let read = Command::ReadPlan {
            include_optional: false,
            only: None,
            passed_over: BTreeSet::new(),
            originals_first: None,
        };
        let goes_on = decision([read]);
        assert!(can_be_had_again(&Input::Recorded { seq: 1 }, &goes_on));
        assert!(can_be_had_again(&Input::Ticked { seq: 1 }, &goes_on));
        let ends = decision([Command::Finish]);
        assert!(!can_be_had_again(&Input::Recorded { seq: 1 }, &ends));
        // A tick must not be there without its reason.
        let verified = Input::Verified {
            seq: 1,
            verdict: Verdict::Green,
            diagnosis: None,
            took_ms: 0,
        };
        assert!(!can_be_had_again(&verified, &goes_on));
        let output = "no".to_owned();
        let refused = Input::Committed {
            seq: 1,
            result: CommitResult::HookFailed { output },
        };
        assert!(!can_be_had_again(&refused, &goes_on));
    }
}
