//! What was done before: the journal, as people ask about it.

use regreen_model::{Event, TaskId, TaskKey, Timestamp};
use regreen_runtime::{Places, open_store};
use regreen_store::{Attempt, Run, StepNo, Store};

use crate::problem::Problem;

/// The journal of a workspace, asked about one spec. Asking changes nothing and makes
/// nothing: where there is no journal, nothing was done.
#[derive(Debug)]
pub struct History {
    store: Option<Store>,
    spec: String,
}

impl History {
    pub fn open(places: &Places) -> Result<Self, Problem> {
        let is_there = places.database().is_file();
        Ok(Self {
            store: is_there.then(|| open_store(places)).transpose()?,
            spec: places.spec_key(),
        })
    }

    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// The runs of the spec, the newest last.
    pub fn runs(&self) -> Result<Vec<Run>, Problem> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let mut runs = store.runs(usize::MAX).map_err(Problem::journal)?;
        runs.retain(|run| run.spec == self.spec);
        runs.reverse();
        Ok(runs)
    }

    /// All attempts of the tasks with an id, the newest last.
    pub fn attempts(&self, task: &TaskId) -> Result<Vec<Attempt>, Problem> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        store
            .attempts_of_task(&self.spec, task)
            .map_err(Problem::journal)
    }

    /// The attempt that is meant: of the newest run that has one, by number or the last.
    pub fn attempt(&self, task: &TaskId, number: Option<u32>) -> Result<Attempt, Problem> {
        let mut attempts = self.attempts(task)?;
        let newest = attempts.last().map(|attempt| attempt.key.run.clone());
        attempts.retain(|attempt| Some(&attempt.key.run) == newest.as_ref());
        let known: Vec<u32> = attempts.iter().map(|attempt| attempt.key.number).collect();
        let is_meant = |attempt: &Attempt| number.is_none_or(|n| attempt.key.number == n);
        let meant = attempts.into_iter().rfind(is_meant);
        meant.ok_or_else(|| Problem::NoAttempt {
            task: task.to_string(),
            number,
            known,
        })
    }

    /// Everything that happened in a run.
    pub fn events(&self, run: &Run) -> Result<Vec<(Timestamp, Event)>, Problem> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let events = store
            .events(&run.id, StepNo::NONE)
            .map_err(|error| Problem::Run(regreen_runtime::JournalError::from(error).into()))?;
        events
            .map(|stored| {
                let stored = stored.map_err(Problem::journal)?;
                let event = stored.event.decode().map_err(Problem::old_journal)?;
                let at = u64::try_from(stored.now_ms).unwrap_or(0);
                Ok((Timestamp::from_millis(at), event))
            })
            .collect()
    }
}

/// The task that an event is about.
#[must_use]
pub fn task_of(event: &Event) -> Option<&TaskKey> {
    match event {
        Event::TaskPicked { task } => Some(&task.task),
        Event::AttemptStarted { task, .. }
        | Event::AttemptPostponed { task, .. }
        | Event::AttemptEnded { task, .. }
        | Event::ClaimsAsked { task, .. }
        | Event::ClaimsJudged { task, .. }
        | Event::VerifyStarted { task, .. }
        | Event::VerifyEnded { task, .. }
        | Event::TaskFailed { task, .. }
        | Event::TickAsked { task, .. }
        | Event::CommitAsked { task, .. }
        | Event::CommitRefused { task, .. }
        | Event::Marked { task, .. }
        | Event::Committed { task, .. }
        | Event::RecordAsked { task, .. }
        | Event::TaskDone { task, .. }
        | Event::TaskGone { task }
        | Event::TaskSkipped { task }
        | Event::WaitStarted { task, .. }
        | Event::WaitEnded { task, .. } => Some(task),
        _ => None,
    }
}
