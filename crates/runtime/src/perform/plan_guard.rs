//! The plan belongs to people while anything runs that the agent or the repository wrote: it is
//! saved before, and reviewed afterwards, also after a crash.
//!
//! `Performer::perform` does so for every command that runs foreign code. An attempt ends its guard
//! itself, to report the changes as its own; so does the judging of claims, which sets boxes then.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

use regreen_documents::TaskFile;
use regreen_engine::{Issued, State};
use regreen_model::{CommandSeq, PersonChoice, PlanChanges, TaskKey};
use regreen_workspace::{AttemptName, MAX_FILE, read_text_file};

use super::plan_review::{Author, ReplacedPlan, ReviewedPlan, review_plan};
use super::state_file::read_state;
use crate::atomic_file::write_atomically;
use crate::performer::{PerformError, Performer};
use crate::spec_paths::SpecPaths;

/// What the plan is guarded for.
#[derive(Clone, Debug)]
pub(crate) struct GuardedCommand {
    pub(crate) seq: CommandSeq,
    /// The task for which foreign code runs, and its attempt.
    pub(crate) task: Option<(TaskKey, u32)>,
    /// Rows that were put back once already.
    pub(crate) put_back: BTreeSet<TaskKey>,
}

impl GuardedCommand {
    /// The command with this number, which a task of the run waits for.
    pub(crate) fn of(seq: CommandSeq, state: &State) -> Self {
        let task = state.task_of(seq);
        Self {
            seq,
            task: task.map(|task| (task.key().clone(), task.attempts)),
            put_back: state.put_back.clone(),
        }
    }

    /// A command that the journal does not know: a power cut has undone its step.
    pub(crate) fn unknown(state: &State) -> Self {
        Self {
            seq: state.next_seq,
            task: None,
            put_back: state.put_back.clone(),
        }
    }
}

/// Guards the plan while a command is performed.
#[derive(Debug)]
pub(crate) struct PlanGuard {
    /// None where no foreign code runs, and after the review.
    guarded: Option<GuardedPlan>,
    task: Option<TaskKey>,
}

/// The plan as it was when foreign code began to run.
#[derive(Debug)]
struct GuardedPlan {
    command: GuardedCommand,
    before: Rc<TaskFile>,
    author: Author,
}

impl PlanGuard {
    /// Saves the plan if foreign code is to run, so that it can be reviewed even if regreen is
    /// killed meanwhile.
    pub(crate) fn begin(
        performer: &mut Performer,
        issued: &Issued,
        state: &State,
    ) -> Result<Self, PerformError> {
        if !issued.command.runs_foreign_code() {
            return Ok(Self {
                guarded: None,
                task: None,
            });
        }
        let command = GuardedCommand::of(issued.seq, state);
        let before = performer.plan.read()?;
        let saved = heading(&performer.run, command.seq, before.text()) + before.text();
        write_atomically(&saved_path(performer), saved.as_bytes())?;
        Ok(Self::of(command, before, Author::Agent))
    }

    /// Finds the guard of a command whose end the journal does not know. That may be a later one
    /// than the pending command: a power cut can undo the last steps.
    pub(crate) fn interrupted(
        performer: &mut Performer,
        command: GuardedCommand,
        new_choices: &[&PersonChoice],
    ) -> Option<Self> {
        let before = saved(performer, &command, SavedFor::AnyCommand)?;
        let before = TaskFile::read(before);
        // A file that was removed is restored by the review.
        let now = performer.plan.read();
        let now = now.unwrap_or_else(|_| Rc::new(before.clone()));
        let before = Rc::new(before.as_chosen(&now, new_choices));
        Some(Self::of(command, before, Author::AgentOrPerson))
    }

    fn of(command: GuardedCommand, before: Rc<TaskFile>, author: Author) -> Self {
        Self {
            task: command.task.as_ref().map(|(task, _)| task.clone()),
            guarded: Some(GuardedPlan {
                command,
                before,
                author,
            }),
        }
    }

    /// The task for which foreign code runs.
    pub(crate) fn task(&self) -> Option<&TaskKey> {
        self.task.as_ref()
    }

    /// Reverts what must not change in the plan, and returns what else has changed. Later calls
    /// find nothing: from now on the file belongs to people. The saved plan stays until the journal
    /// knows of the changes: if regreen is killed before, it is reviewed again.
    pub(crate) fn end(&mut self, performer: &mut Performer) -> Result<PlanChanges, PerformError> {
        let Some(plan) = &self.guarded else {
            return Ok(PlanChanges::default());
        };
        let reviewed = ReviewedPlan {
            before: Rc::clone(&plan.before),
            running: plan.running(performer),
        };
        let mut replaced = plan.replaced(performer);
        let put_back = &plan.command.put_back;
        let changes = review_plan(performer, &reviewed, put_back, &mut replaced)?;
        self.guarded = None;
        Ok(changes)
    }
}

impl GuardedPlan {
    /// The task, its root, their fixes, and the tasks that it is a part of.
    fn running(&self, performer: &Performer) -> Vec<TaskKey> {
        let Some((task, _)) = &self.command.task else {
            return Vec::new();
        };
        let mut running = self.before.worked_on(task);
        let wholes = read_state(performer).wholes(&task.id);
        let rows = wholes.iter().flat_map(|id| self.before.rows_with_id(id));
        running.extend(rows.filter_map(|row| self.before.key(row)));
        running
    }

    fn replaced(&self, performer: &Performer) -> ReplacedPlan {
        let (paths, run) = (&performer.paths, &performer.run);
        let (folder, attempt) = match &self.command.task {
            Some((task, attempt)) => (paths.task_folder(run, task), *attempt),
            None => (paths.run_folder(run), 0),
        };
        ReplacedPlan::new(folder, attempt, self.author)
    }
}

/// Whether foreign code had begun to run for a command during which the process ended.
pub(crate) fn had_begun(performer: &Performer, command: &GuardedCommand) -> bool {
    saved(performer, command, SavedFor::ThisCommand).is_some()
}

/// Forgets the saved plan: the journal knows what has changed in it.
pub(crate) fn forget_saved(performer: &Performer) {
    // What can't be removed is reviewed again after a crash, which finds nothing.
    let _ = fs::remove_file(saved_path(performer));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SavedFor {
    ThisCommand,
    /// Any command of the run.
    AnyCommand,
}

/// The plan that was saved for a command, if all of it was.
fn saved(performer: &Performer, command: &GuardedCommand, is_for: SavedFor) -> Option<String> {
    let saved = read_text_file(&saved_path(performer), MAX_FILE).ok()?;
    let (_, text) = saved.split_once('\n')?;
    let found = saved.strip_suffix(text)?;
    let run = &performer.run;
    let attempt = command.task.as_ref();
    let older = attempt.map(|(task, attempt)| older_heading(run, task, *attempt, text));
    let is_it = found == heading(run, command.seq, text) || Some(found) == older.as_deref();
    let is_of_run = || {
        let seq = found.strip_prefix(run.as_str())?.strip_prefix(" #")?;
        let (seq, length) = seq.trim_end().split_once(' ')?;
        let length: usize = length.parse().ok()?;
        seq.parse::<CommandSeq>()
            .ok()
            .filter(|_| length == text.len())
    };
    let is_any = is_for == SavedFor::AnyCommand && is_of_run().is_some();
    (is_it || is_any).then(|| text.to_owned())
}

fn heading(run: &str, seq: CommandSeq, text: &str) -> String {
    format!("{run} #{seq} {}\n", text.len())
}

/// Version 0.1.0 saved the plan for attempts only.
fn older_heading(run: &str, task: &TaskKey, attempt: u32, text: &str) -> String {
    let AttemptName {
        run,
        task,
        occurrence,
        attempt,
    } = AttemptName::new(run, task, attempt);
    format!("{run} {task}+{occurrence} {attempt} {}\n", text.len())
}

/// Whether a run ended before it could review the plan: the next one does so first.
#[must_use]
pub fn is_plan_unreviewed(paths: &SpecPaths) -> bool {
    saved_in(paths).exists()
}

fn saved_path(performer: &Performer) -> PathBuf {
    saved_in(&performer.paths)
}

fn saved_in(paths: &SpecPaths) -> PathBuf {
    paths.scratch().join("plan-before")
}
