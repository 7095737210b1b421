//! The history of earlier runs, from the journal.

use std::collections::{BTreeMap, BTreeSet};

use regreen_engine::{JournalLine, State};
use regreen_model::{Event, PersonChoice, TaskId, TaskKey, Timestamp};
use regreen_runtime::{SpecPaths, load_state, open_store_read_only};
use regreen_store::{Attempt, AttemptKey, Run, Step, StepNo, Store, StoredEvent, VersionedJson};

use crate::arguments::{MaybeTask, OneAttempt, OneTask};
use crate::output;
use crate::plan::{Plan, SelectedTask};
use crate::problem::Problem;
use crate::spec_context::SpecContext;

/// The journal of one spec, read-only. A workspace without a journal has no runs; opening it does
/// not create one.
#[derive(Debug)]
pub struct SpecHistory {
    store: Option<Store>,
    spec: String,
}

impl SpecHistory {
    pub fn open(places: &SpecPaths) -> Result<Self, Problem> {
        Ok(Self {
            store: open_store_read_only(&places.root)?,
            spec: places.spec_key(),
        })
    }

    /// Returns the runs of the spec, newest last.
    pub fn runs(&self) -> Result<Vec<Run>, Problem> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let mut runs = store.runs(usize::MAX).map_err(Problem::journal)?;
        runs.retain(|run| run.spec == self.spec);
        runs.reverse();
        Ok(runs)
    }

    /// Returns the run with this name, or the newest run.
    pub fn run_named(&self, name: Option<&str>, spec: &str) -> Result<Run, Problem> {
        let mut runs = self.runs()?;
        let Some(name) = name else {
            return runs.pop().ok_or_else(|| Problem::NoRun {
                spec: spec.to_owned(),
            });
        };
        let found = runs.iter().find(|run| run.id.as_str() == name).cloned();
        found.ok_or_else(|| match runs.as_slice() {
            [] => Problem::NoRun {
                spec: spec.to_owned(),
            },
            runs => Problem::NoSuchRun {
                name: name.to_owned(),
                known: runs.iter().map(|run| run.id.to_string()).collect(),
            },
        })
    }

    /// Returns the attempts at the tasks with these keys in all runs, in order.
    pub fn attempts_at(&self, runs: &[Run], tasks: &[TaskKey]) -> Result<Vec<Attempt>, Problem> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let ids: BTreeSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
        let mut attempts = Vec::new();
        for id in ids {
            let of_id = store.attempts_of_task(&self.spec, id);
            attempts.extend(of_id.map_err(Problem::journal)?);
        }
        let order: BTreeMap<&str, usize> =
            runs.iter().map(|run| run.id.as_str()).zip(0..).collect();
        attempts.sort_by_key(|one| {
            let run = order.get(one.key.run.as_str()).copied();
            (run, one.started_ms, one.key.number)
        });
        Ok(attempts)
    }

    /// Returns how often each recorded task was attempted, for each run that did.
    pub fn attempt_counts(&self) -> Result<Vec<(TaskKey, u32)>, Problem> {
        let store = self.store.as_ref();
        let counts = store.map(|store| store.attempt_counts(&self.spec));
        counts.unwrap_or(Ok(Vec::new())).map_err(Problem::journal)
    }

    /// Returns an attempt of a run, if it has begun.
    pub fn attempt(
        &self,
        run: &Run,
        task: &TaskKey,
        number: u32,
    ) -> Result<Option<Attempt>, Problem> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        let found = store.attempt(&AttemptKey {
            run: run.id.clone(),
            task: task.clone(),
            number,
        });
        found.map_err(|error| Problem::from_journal(error.into()))
    }

    /// Finds the task that is meant, in the plan or among those that runs have recorded.
    pub fn find(&self, plan: &Plan, named: &OneTask) -> Result<SelectedTask, Problem> {
        let earlier = match TaskId::parse(&named.task) {
            Some(id) => self.tasks_named(&id, None)?,
            None => Vec::new(),
        };
        plan.find(named, earlier.iter())
    }

    /// Returns the keys under which runs have recorded this task.
    pub fn keys_of(&self, plan: &Plan, selected: &SelectedTask) -> Result<Vec<TaskKey>, Problem> {
        let key = &selected.key;
        let mut keys = self.tasks_named(&key.id, Some(&key.title))?;
        keys.retain(|key| plan.is(selected, key));
        Ok(keys)
    }

    /// Returns the keys under which runs have recorded this task, its fixes and the tasks below it.
    fn keys_of_family(
        &self,
        plan: &Plan,
        selected: &SelectedTask,
    ) -> Result<Vec<TaskKey>, Problem> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let all = store.all_tasks_named(&self.spec);
        let mut keys = all.map_err(Problem::journal)?;
        keys.retain(|key| plan.belongs(selected, key));
        Ok(keys)
    }

    fn tasks_named(&self, id: &TaskId, title: Option<&str>) -> Result<Vec<TaskKey>, Problem> {
        let store = self.store.as_ref();
        let named = store.map(|store| store.tasks_named(&self.spec, id, title));
        named.unwrap_or(Ok(Vec::new())).map_err(Problem::journal)
    }

    /// Returns the choices that people made outside runs, in order.
    pub fn choices(&self) -> Result<Vec<PersonChoice>, Problem> {
        let choices = self.store.as_ref().map(|store| store.choices(&self.spec));
        choices.unwrap_or(Ok(Vec::new())).map_err(Problem::journal)
    }

    /// Returns the latest state of a run.
    pub fn state(&self, run: &Run) -> Result<State, Problem> {
        let state = self.store.as_ref().map(|store| load_state(store, &run.id));
        let state = state.transpose().map_err(Problem::from_journal)?;
        Ok(state.map(|(state, _)| state).unwrap_or_default())
    }

    /// Returns the events of a run, with their times.
    pub fn events(&self, run: &Run) -> Result<Vec<(Timestamp, Event)>, Problem> {
        let events = self.events_after(run, StepNo::NONE, usize::MAX)?;
        Ok(events.into_iter().map(|one| (one.at, one.event)).collect())
    }

    /// Returns the first event of a run.
    pub fn first_event(&self, run: &Run) -> Result<Option<Event>, Problem> {
        let first = self.events_after(run, StepNo::NONE, 1)?.pop();
        Ok(first.map(|one| one.event))
    }

    /// Returns the last event of a run for which `find` returns something, and that. Reads
    /// backwards: in a long run, it is usually near the end.
    pub fn last_event<T>(
        &self,
        run: &Run,
        find: impl Fn(&RecordedEvent) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let mut until = run.last_step;
        let mut count = 64;
        while until > StepNo::NONE {
            let after = StepNo(until.0.saturating_sub(count));
            let mut events = self.events_after(run, after, usize::MAX)?;
            events.retain(|one| one.step <= until);
            if let Some(found) = events.iter().rev().find_map(&find) {
                return Ok(Some(found));
            }
            (until, count) = (after, count * 2);
        }
        Ok(None)
    }

    fn events_after(
        &self,
        run: &Run,
        after: StepNo,
        most: usize,
    ) -> Result<Vec<RecordedEvent>, Problem> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let events = store.events(&run.id, after);
        let events = events.map_err(|error| Problem::from_journal(error.into()))?;
        events
            .take(most)
            .map(|stored| RecordedEvent::decode(&stored.map_err(Problem::journal)?))
            .collect()
    }

    /// Returns the events of a run around those that name one of these tasks. Whatever is left out
    /// names none of them.
    pub fn events_naming(
        &self,
        run: &Run,
        tasks: &[TaskKey],
    ) -> Result<Vec<RecordedEvent>, Problem> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let events = store.events_naming(&run.id, tasks);
        let events = events.map_err(|error| Problem::from_journal(error.into()))?;
        events.iter().map(RecordedEvent::decode).collect()
    }

    /// Returns the steps of a run, as one line of JSON each.
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

    /// Whether a run finished a task, recorded under these keys.
    fn finished(&self, run: &Run, keys: &[TaskKey]) -> Result<bool, Problem> {
        let events = self.events_naming(run, keys)?;
        Ok(events.iter().any(|one| match &one.event {
            Event::TaskDone { task, .. } => keys.contains(task),
            _ => false,
        }))
    }
}

/// An event of a journal.
#[derive(Debug)]
pub struct RecordedEvent {
    /// The step it happened in.
    pub step: StepNo,
    pub at: Timestamp,
    pub event: Event,
}

impl RecordedEvent {
    fn decode(stored: &StoredEvent) -> Result<Self, Problem> {
        let event = stored.event.decode();
        Ok(Self {
            step: stored.step,
            at: Timestamp::from_millis(u64::try_from(stored.now_ms).unwrap_or(0)),
            event: event.map_err(|error| Problem::from_journal(error.into()))?,
        })
    }
}

impl MaybeTask {
    /// Returns the named task, or else the one that the newest run turned to last.
    pub fn or_current(&self) -> Result<OneTask, Problem> {
        if let Some(task) = &self.task {
            let named = OneTask {
                task: task.clone(),
                line: self.line,
                spec: self.spec.clone(),
            };
            return named.or_most_recent();
        }
        let context = SpecContext::with_flag(self.spec.as_deref())?;
        let name = &context.places.spec.name;
        let history = SpecHistory::open(&context.places)?;
        let run = history.run_named(None, name)?;
        let picked = history.last_event(&run, |one| match &one.event {
            Event::TaskPicked { task } => Some(task.task.clone()),
            _ => None,
        })?;
        let key = picked.ok_or_else(|| Problem::NoRun { spec: name.clone() })?;
        let plan = Plan::read(&context)?;
        Ok(OneTask {
            task: key.id.to_string(),
            line: plan
                .row_of(&key)
                .and_then(|row| Some(plan.file.task(row)?.line)),
            spec: self.spec.clone(),
        })
    }
}

impl OneTask {
    /// Names the line of the open task that was tried last, if several tasks have the id.
    pub fn or_most_recent(self) -> Result<Self, Problem> {
        let context = SpecContext::with_flag(self.spec.as_deref())?;
        let plan = Plan::read(&context)?;
        let mut open = plan.ambiguous(&self);
        let count = open.len();
        open.retain(|row| !plan.file.is_done(*row));
        if open.is_empty() {
            return Ok(self);
        }
        let history = SpecHistory::open(&context.places)?;
        let keys: Vec<TaskKey> = open.iter().filter_map(|row| plan.file.key(*row)).collect();
        let attempts = history.attempts_at(&history.runs()?, &keys)?;
        let mut tried = attempts.iter().rev();
        let last = tried.find_map(|attempt| {
            let row = plan.row_of(&attempt.key.task);
            row.filter(|row| open.contains(row))
        });
        let row = last.or(open.first().copied());
        let line = row.and_then(|row| Some(plan.file.task(row)?.line));
        if let Some(line) = line {
            let id = &self.task;
            output::note(&format!(
                "{count} tasks have the id {id}; this is the one on line {line} (choose with --line)"
            ));
        }
        Ok(Self { line, ..self })
    }
}

fn journal_line(step: &Step) -> Result<String, Problem> {
    let unreadable = |error: serde_json::Error| Problem::from_journal(error.into());
    let events = step.events.iter().map(VersionedJson::decode);
    let line = JournalLine {
        now: Timestamp::from_millis(u64::try_from(step.now_ms).unwrap_or(0)),
        input: step.input.decode().map_err(unreadable)?,
        events: events.collect::<Result<_, _>>().map_err(unreadable)?,
    };
    Ok(serde_json::to_string(&line).map_err(unreadable)? + "\n")
}

/// One task and its history: the subject of `why`, `log`, `diff` and `undo`.
#[derive(Debug)]
pub struct TaskHistory {
    pub context: SpecContext,
    pub plan: Plan,
    pub spec_history: SpecHistory,
    pub runs: Vec<Run>,
    /// The attempts at the task, its fixes and the tasks below it, and at others with an id of
    /// theirs.
    attempts: Vec<Attempt>,
    pub selected: SelectedTask,
}

impl TaskHistory {
    pub fn open(named: &OneTask) -> Result<Self, Problem> {
        let context = SpecContext::with_flag(named.spec.as_deref())?;
        let plan = Plan::read(&context)?;
        let spec_history = SpecHistory::open(&context.places)?;
        let runs = spec_history.runs()?;
        let selected = spec_history.find(&plan, named)?;
        let family = spec_history.keys_of_family(&plan, &selected)?;
        let attempts = spec_history.attempts_at(&runs, &family)?;
        Ok(Self {
            context,
            plan,
            spec_history,
            runs,
            attempts,
            selected,
        })
    }

    /// Returns the attempts at the task itself, without those at its fixes.
    fn own_attempts(&self) -> Result<Vec<&Attempt>, Problem> {
        let is_own = |attempt: &&Attempt| self.plan.is(&self.selected, &attempt.key.task);
        let own: Vec<&Attempt> = self.attempts.iter().filter(is_own).collect();
        match own.as_slice() {
            [] if self.runs.is_empty() => Err(Problem::NoRun {
                spec: self.context.places.spec.name.clone(),
            }),
            [] => Err(self.no_attempt(None, &[])),
            _ => Ok(own),
        }
    }

    /// Returns an attempt by number, or the last one, in a named run or in the newest run that has
    /// the task.
    pub fn attempt(&self, asked: &OneAttempt) -> Result<&Attempt, Problem> {
        let in_run = self.in_run(&self.own_attempts()?, asked.run.as_deref())?;
        let is_meant = |one: &&&Attempt| asked.attempt.is_none_or(|n| one.key.number == n);
        let meant = in_run.iter().rfind(is_meant).copied();
        meant.ok_or_else(|| self.no_attempt(asked.attempt, &in_run))
    }

    fn no_attempt(&self, number: Option<u32>, known: &[&Attempt]) -> Problem {
        Problem::NoAttempt {
            task: self.selected.key.id.to_string(),
            number,
            known: known.iter().map(|attempt| attempt.key.number).collect(),
        }
    }

    /// Returns the attempts at the task, its fixes and the tasks below it, in order: those of one
    /// run, or all since an earlier run finished the task.
    pub fn since_finished(&self, run: Option<&str>) -> Result<Vec<&Attempt>, Problem> {
        let belongs = |attempt: &&Attempt| self.plan.belongs(&self.selected, &attempt.key.task);
        let mut all: Vec<&Attempt> = self.attempts.iter().filter(belongs).collect();
        if all.is_empty() {
            return self.own_attempts();
        }
        if let Some(run) = run {
            return self.in_run(&all, Some(run));
        }
        if let Some(run) = self.finished_before(&all)? {
            let last = all.iter().rposition(|one| one.key.run == run.id);
            all.drain(..last.map_or(0, |at| at + 1));
        }
        Ok(all)
    }

    /// Returns the last run that finished the task, except the run that tried it last.
    fn finished_before(&self, attempts: &[&Attempt]) -> Result<Option<&Run>, Problem> {
        let newest = attempts.last().map(|attempt| &attempt.key.run);
        let has_tried = |run: &&Run| attempts.iter().any(|one| one.key.run == run.id);
        let keys = self.spec_history.keys_of(&self.plan, &self.selected)?;
        for run in self.runs.iter().rev().filter(has_tried) {
            if Some(&run.id) != newest && self.spec_history.finished(run, &keys)? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// Keeps the attempts of a named run, or of the newest.
    fn in_run<'a>(
        &self,
        attempts: &[&'a Attempt],
        run: Option<&str>,
    ) -> Result<Vec<&'a Attempt>, Problem> {
        let mut runs: Vec<&str> = attempts.iter().map(|one| one.key.run.as_str()).collect();
        runs.dedup();
        let wanted = run.or(runs.last().copied()).unwrap_or_default();
        let is_wanted = |one: &&&Attempt| one.key.run.as_str() == wanted;
        let in_run: Vec<&Attempt> = attempts.iter().filter(is_wanted).copied().collect();
        if in_run.is_empty() {
            return Err(Problem::NotInRun {
                task: self.selected.key.id.to_string(),
                known: runs.into_iter().map(str::to_owned).collect(),
            });
        }
        Ok(in_run)
    }
}
