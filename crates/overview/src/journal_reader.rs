//! Reads the events of a run that are new since the last time.

use regreen_model::{Event, Timestamp};
use regreen_store::{RunError, RunId, StepNo, Store, StoreError};

/// Follows the journal of one run.
#[derive(Debug)]
pub struct JournalReader {
    run: RunId,
    after: StepNo,
}

/// Why a journal couldn't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadJournalError {
    /// The run is unknown, or the file is damaged.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The file can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A newer regreen wrote something that this one doesn't know.
    #[error("an event of run {run} can't be read: {why}")]
    Unknown {
        /// The run.
        run: RunId,
        /// The cause.
        why: serde_json::Error,
    },
}

impl JournalReader {
    /// Starts at the beginning of a run.
    #[must_use]
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            after: StepNo::NONE,
        }
    }

    /// Returns the run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the events that were stored since the last call, oldest first.
    ///
    /// # Errors
    /// Returns an error if the journal can't be read.
    pub fn new_events(
        &mut self,
        store: &Store,
    ) -> Result<Vec<(Timestamp, Event)>, ReadJournalError> {
        let mut found = Vec::new();
        self.for_each_new(store, |at, event| found.push((at, event)))?;
        Ok(found)
    }

    /// Like [`new_events`](Self::new_events), one event at a time: a long run has many. After an
    /// error, the next call starts behind the last step that could be read.
    ///
    /// # Errors
    /// Returns an error if the journal can't be read.
    pub fn for_each_new(
        &mut self,
        store: &Store,
        mut take: impl FnMut(Timestamp, Event),
    ) -> Result<(), ReadJournalError> {
        let mut last = self.after;
        for stored in store.events(&self.run, self.after)? {
            let stored = stored?;
            if stored.step != last {
                self.after = last;
                last = stored.step;
            }
            let at = Timestamp::from_millis(u64::try_from(stored.now_ms).unwrap_or(0));
            let event = stored.event.decode();
            let event = event.map_err(|why| ReadJournalError::Unknown {
                run: self.run.clone(),
                why,
            })?;
            take(at, event);
        }
        self.after = last;
        Ok(())
    }
}
