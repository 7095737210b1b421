use regreen_engine::{Decision, Input, State};
use regreen_model::{Event, RunOutcome, Timestamp};
use regreen_store::{
    AppendError, CommandSeq, HistoryRow, IssuedCommand, RunEnd, RunError, RunId, Snapshot,
    SnapshotError, Step, StepNo, Store, StoreError, VersionedJson,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::clock;

/// The format version of what is stored.
const VERSION: u32 = 1;
/// The most steps that resuming a run has to fold, unless its state knows more than twice as many tasks: a
/// snapshot takes the longer the more there are.
const SNAPSHOT_EVERY: u64 = 200;

/// One run in the store.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) store: Store,
    pub(crate) run: RunId,
    last: StepNo,
    /// The step of the last snapshot, as far as this process knows.
    kept: StepNo,
}

/// Why a step could not be stored, or a run could not be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A step could not be appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The run could not be found or created.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The saved state could not be used.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A step is in a format that the engine cannot read.
    #[error("the journal was written by an incompatible version of regreen: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl JournalError {
    /// Returns the database error behind this one, if any.
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
    /// Returns the journal of a run that has no steps yet.
    pub(crate) fn begun(store: Store, run: RunId) -> Self {
        Self {
            store,
            run,
            last: StepNo::NONE,
            kept: StepNo::NONE,
        }
    }

    /// Returns the journal of a run with steps, and the state that they add up to.
    pub(crate) fn reopened(store: Store, run: RunId) -> Result<(Self, State), JournalError> {
        let (kept, mut state) = kept_state(&store, &run)?;
        let last = fold_after(kept, &store, &run, &mut state)?;
        let journal = Self {
            store,
            run,
            last,
            kept,
        };
        Ok((journal, state))
    }

    /// Replays all events of the run so far.
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

    /// Stores a step. It then survives the death of this process, and a power cut too, unless the
    /// step would come out the same if taken again.
    pub(crate) fn append(
        &mut self,
        now: Timestamp,
        input: &Input,
        answers: Option<u64>,
        decision: &Decision,
        history: &[HistoryRow],
    ) -> Result<(), JournalError> {
        let events = decision.events.iter().map(|event| payload("event", event));
        let commands = decision.commands.iter();
        let awaited = commands.filter(|issued| issued.command.awaits_answer());
        let commands = awaited.map(|issued| {
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
        if decision.is_reissuable(input) {
            self.store.append_unsynced(&self.run, &step, history)?;
        } else {
            self.store.append(&self.run, &step, history)?;
        }
        self.last = step.number;
        Ok(())
    }

    /// Marks the run as ended, so that the next `run` starts a new one.
    pub(crate) fn end(&mut self, outcome: &RunOutcome) -> Result<(), JournalError> {
        let end = RunEnd {
            ended_ms: clock::stored_ms(clock::now()),
            outcome: outcome.name().to_owned(),
            exit_code: None,
        };
        Ok(self.store.end_run(&self.run, &end)?)
    }

    /// Stores a snapshot of the state every now and then, so that resuming need not fold all steps.
    pub(crate) fn keep(&mut self, state: &State) -> Result<(), JournalError> {
        let known = u64::try_from(state.tasks.len()).unwrap_or(u64::MAX);
        let every = SNAPSHOT_EVERY.max(known / 2);
        if self.last.0 < self.kept.0.saturating_add(every) {
            return Ok(());
        }
        let snapshot = Snapshot {
            step: self.last,
            state: payload("state", state)?,
        };
        self.store.save_snapshot(&self.run, &snapshot)?;
        self.kept = self.last;
        Ok(())
    }
}

fn payload(kind: &str, body: &impl Serialize) -> Result<VersionedJson, serde_json::Error> {
    VersionedJson::new(kind, VERSION, body)
}

/// Loads the state of a run by folding its events.
///
/// # Errors
/// Returns an error if the run does not exist or cannot be read.
pub fn load_state(store: &Store, run: &RunId) -> Result<(State, StepNo), JournalError> {
    let (kept, mut state) = kept_state(store, run)?;
    let last = fold_after(kept, store, run, &mut state)?;
    Ok((state, last))
}

/// Returns the newest state that was kept, and its step.
fn kept_state(store: &Store, run: &RunId) -> Result<(StepNo, State), JournalError> {
    let kept = store.latest_snapshot(run)?;
    let kept = kept.map(|kept| decode(&kept.state).map(|state: State| (kept.step, state)));
    Ok(match kept.transpose()? {
        // An earlier version did not fold everything that this one relies on.
        Some((step, state)) if !state.is_outdated() => (step, state),
        _ => (StepNo::NONE, State::default()),
    })
}

/// Applies the events after a step, and returns the last step.
fn fold_after(
    step: StepNo,
    store: &Store,
    run: &RunId,
    state: &mut State,
) -> Result<StepNo, JournalError> {
    for stored in store.events(run, step)? {
        state.apply(&decode::<Event>(&stored?.event)?);
    }
    Ok(store.run(run)?.last_step)
}

fn decode<T: DeserializeOwned>(payload: &VersionedJson) -> Result<T, serde_json::Error> {
    payload.decode()
}
