//! The history of earlier runs, from the journal.

use regreen_engine::{JournalLine, State};
use regreen_model::{Event, PersonChoice, TaskKey, Timestamp};
use regreen_runtime::{JournalError, SpecPaths, load_state, open_store_read_only};
use regreen_store::{Attempt, Run, Step, StepNo, Store, VersionedJson};

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

    /// Returns the attempts of these runs, in order.
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

    /// Whether a run finished a task.
    pub fn finished(&self, run: &Run, is_it: impl Fn(&TaskKey) -> bool) -> Result<bool, Problem> {
        let events = self.events(run)?;
        Ok(events.iter().any(|(_, event)| match event {
            Event::TaskDone { task, .. } => is_it(task),
            _ => false,
        }))
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
        let events = history.events(&run)?;
        let picked = events.iter().rev().find_map(|(_, event)| match event {
            Event::TaskPicked { task } => Some(&task.task),
            _ => None,
        });
        let key = picked.ok_or_else(|| Problem::NoRun { spec: name.clone() })?;
        let plan = Plan::read(&context)?;
        Ok(OneTask {
            task: key.id.to_string(),
            line: plan
                .row_of(key)
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
        let attempts = history.attempts(&history.runs()?)?;
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
    /// All attempts of the spec.
    pub attempts: Vec<Attempt>,
    pub selected: SelectedTask,
}

impl TaskHistory {
    pub fn open(named: &OneTask) -> Result<Self, Problem> {
        let context = SpecContext::with_flag(named.spec.as_deref())?;
        let plan = Plan::read(&context)?;
        let spec_history = SpecHistory::open(&context.places)?;
        let runs = spec_history.runs()?;
        let attempts = spec_history.attempts(&runs)?;
        let earlier = attempts.iter().map(|attempt| &attempt.key.task);
        let selected = plan.find(named, earlier)?;
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
        for run in self.runs.iter().rev().filter(has_tried) {
            let is_it = |key: &_| self.plan.is(&self.selected, key);
            if Some(&run.id) != newest && self.spec_history.finished(run, is_it)? {
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
