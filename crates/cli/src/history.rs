//! What was done before: the journal, as people ask about it.

use regreen_engine::{JournalLine, State};
use regreen_model::{Event, PersonChoice, TaskKey, Timestamp};
use regreen_runtime::{JournalError, Places, folded, open_store_to_read};
use regreen_store::{Attempt, Payload, Run, Step, StepNo, Store};

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
        Ok(Self {
            store: open_store_to_read(places)?,
            spec: places.spec_key(),
        })
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

    /// The attempts of these runs, in order.
    pub fn attempts(&self, runs: &[Run]) -> Result<Vec<Attempt>, Problem> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let mut attempts = Vec::new();
        for run in runs {
            let in_run = store.attempts_in_run(&run.id).map_err(JournalError::from);
            attempts.extend(in_run.map_err(Problem::from_journal)?);
        }
        Ok(attempts)
    }

    /// What people said of the spec's tasks outside of runs, in order.
    pub fn choices(&self) -> Result<Vec<PersonChoice>, Problem> {
        let choices = self.store.as_ref().map(|store| store.choices(&self.spec));
        choices.unwrap_or(Ok(Vec::new())).map_err(Problem::journal)
    }

    /// What a run has come to.
    pub fn state(&self, run: &Run) -> Result<State, Problem> {
        let state = self.store.as_ref().map(|store| folded(store, &run.id));
        let state = state.transpose().map_err(Problem::from_journal)?;
        Ok(state.map(|(state, _)| state).unwrap_or_default())
    }

    /// Everything that happened in a run.
    pub fn events(&self, run: &Run) -> Result<Vec<(Timestamp, Event)>, Problem> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let events = store.events(&run.id, StepNo::NONE);
        let events = events.map_err(|error| Problem::from_journal(error.into()))?;
        events
            .map(|stored| {
                let stored = stored.map_err(Problem::journal)?;
                let event = stored.event.decode();
                let event = event.map_err(|error| Problem::from_journal(error.into()))?;
                let at = u64::try_from(stored.now_ms).unwrap_or(0);
                Ok((Timestamp::from_millis(at), event))
            })
            .collect()
    }

    /// The steps of a run, one line of JSON each.
    pub fn journal(&self, run: &Run) -> Result<String, Problem> {
        let Some(store) = &self.store else {
            return Ok(String::new());
        };
        let steps = store.steps(&run.id, StepNo::NONE);
        let steps = steps.map_err(|error| Problem::from_journal(error.into()))?;
        steps
            .map(|step| journal_line(&step.map_err(Problem::journal)?))
            .collect()
    }

    /// Whether a task was finished in a run.
    pub fn finished(&self, run: &Run, is_it: impl Fn(&TaskKey) -> bool) -> Result<bool, Problem> {
        let events = self.events(run)?;
        Ok(events.iter().any(|(_, event)| match event {
            Event::TaskDone { task, .. } => is_it(task),
            _ => false,
        }))
    }
}

fn journal_line(step: &Step) -> Result<String, Problem> {
    let unreadable = |error: serde_json::Error| Problem::from_journal(error.into());
    let events = step.events.iter().map(Payload::decode);
    let line = JournalLine {
        now: Timestamp::from_millis(u64::try_from(step.now_ms).unwrap_or(0)),
        input: step.input.decode().map_err(unreadable)?,
        events: events.collect::<Result<_, _>>().map_err(unreadable)?,
    };
    Ok(serde_json::to_string(&line).map_err(unreadable)? + "\n")
}

/// The task that an event is about.
#[must_use]
pub fn task_of(event: &Event) -> Option<&TaskKey> {
    match event {
        Event::TaskPicked { task } => Some(&task.task),
        Event::Chosen { choice } => Some(&choice.task),
        Event::AttemptStarted { task, .. }
        | Event::SessionSeen { task, .. }
        | Event::AttemptPostponed { task, .. }
        | Event::AttemptEnded { task, .. }
        | Event::ClaimsAsked { task, .. }
        | Event::ClaimsJudged { task, .. }
        | Event::VerifyStarted { task, .. }
        | Event::VerifyEnded { task, .. }
        | Event::TaskFailed { task, .. }
        | Event::RepeatPlanned { task }
        | Event::InspectionAsked { task, .. }
        | Event::RepairInspected { task, .. }
        | Event::RepairStarted { task, .. }
        | Event::RepairEnded { task, .. }
        | Event::BudgetAsked { task, .. }
        | Event::FixPlanned { task, .. }
        | Event::FixInserted { task, .. }
        | Event::ModificationAsked { task, .. }
        | Event::PlanModified { task, .. }
        | Event::ModificationRefused { task, .. }
        | Event::SupersedeAsked { task, .. }
        | Event::FixesSuperseded { task, .. }
        | Event::HistoryAsked { task, .. }
        | Event::PersonAsked { task, .. }
        | Event::PersonAnswered { task, .. }
        | Event::TaskParked { task, .. }
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
        Event::RunStarted { .. }
        | Event::RunResumed { .. }
        | Event::PlanAsked { .. }
        | Event::LimitSettled { .. }
        | Event::Warned { .. }
        | Event::StopAsked { .. }
        | Event::RunEnded { .. } => None,
    }
}
