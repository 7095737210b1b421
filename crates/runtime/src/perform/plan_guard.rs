//! Guards the plan while foreign code runs: saves it before, and reviews it afterwards, even after
//! a crash.
//!
//! `Performer::perform` does this for every command that runs foreign code. An attempt ends its
//! guard itself, to report the changes as its own. Judging claims does too, because it then sets
//! boxes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::rc::Rc;

use regreen_documents::{ForeignCode, TaskFile};
use regreen_engine::{Command, Issued, State};
use regreen_model::{CommandSeq, PersonChoice, PlanChanges, TaskKey};
use regreen_supervisor::LastCopy;
use regreen_workspace::{AttemptName, MAX_FILE, read_text_file};

use super::plan_review::{ReplacedPlan, ReviewedPlan, review_plan};
use super::settings_rows::deny_new_rows;
use crate::atomic_file::write_atomically;
use crate::performer::{PerformError, Performer};
use crate::spec_paths::SpecPaths;

/// The command that the plan is guarded for.
#[derive(Clone, Debug)]
pub(crate) struct GuardedCommand {
    pub(crate) seq: CommandSeq,
    /// The task that foreign code runs for, and its attempt.
    pub(crate) task: Option<(TaskKey, u32)>,
    /// Rows that were already put back once.
    pub(crate) put_back: BTreeSet<TaskKey>,
}

impl GuardedCommand {
    /// The command with this number, which a task of the run is waiting for.
    pub(crate) fn of(seq: CommandSeq, state: &State) -> Self {
        let task = state.task_of(seq);
        Self {
            seq,
            task: task.map(|task| (task.key().clone(), task.attempts)),
            put_back: state.put_back.clone(),
        }
    }

    /// A command that the journal doesn't know, because a power cut has undone its step.
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
    /// `None` if no foreign code runs, and after the review.
    guarded: Option<GuardedPlan>,
    task: Option<TaskKey>,
}

/// The plan from before foreign code ran.
#[derive(Debug)]
struct GuardedPlan {
    command: GuardedCommand,
    before: Rc<TaskFile>,
    code: ForeignCode,
}

impl PlanGuard {
    /// Saves the plan if foreign code is about to run, so that it can be reviewed even if regreen
    /// is killed meanwhile.
    pub(crate) fn begin(
        performer: &mut Performer,
        issued: &Issued,
        state: &State,
    ) -> Result<Self, PerformError> {
        if !performer.runs_foreign_code(&issued.command) {
            return Ok(Self {
                guarded: None,
                task: None,
            });
        }
        let command = GuardedCommand::of(issued.seq, state);
        // It was read just before, to look for lost ticks.
        let before = performer.plan.latest()?;
        forget_copy(&performer.paths)?;
        let saved = &mut performer.saved_plan;
        saved.save(&performer.run, command.seq, &before)?;
        Ok(Self::of(command, before, code_of(&issued.command)))
    }

    /// Finds the guard of a command whose end is not in the journal. It may be later than the
    /// pending command, because a power cut can undo the last steps.
    pub(crate) fn interrupted(
        performer: &mut Performer,
        command: GuardedCommand,
        new_choices: &[&PersonChoice],
    ) -> Option<Self> {
        let before = saved(performer, &command, SavedFor::AnyCommand)?;
        let before = TaskFile::read(before);
        // The review restores a removed file.
        let now = performer.plan.read();
        let now = now.unwrap_or_else(|_| Rc::new(before.clone()));
        let code = match Left::of(performer, &before, &now) {
            Left::Unchanged => return None,
            Left::AsItIs => ForeignCode::Agent,
            Left::Unknown => ForeignCode::Unknown,
        };
        let before = Rc::new(before.as_chosen(&now, new_choices));
        Some(Self::of(command, before, code))
    }

    fn of(command: GuardedCommand, before: Rc<TaskFile>, code: ForeignCode) -> Self {
        Self {
            task: command.task.as_ref().map(|(task, _)| task.clone()),
            guarded: Some(GuardedPlan {
                command,
                before,
                code,
            }),
        }
    }

    /// Returns the task that foreign code runs for.
    pub(crate) fn task(&self) -> Option<&TaskKey> {
        self.task.as_ref()
    }

    /// Reverts forbidden changes to the plan, and returns the other changes. Later calls find
    /// nothing, because the file then belongs to people again. The saved plan is kept until the
    /// changes are in the journal; if regreen is killed before that, the plan is reviewed again.
    pub(crate) fn end(&mut self, performer: &mut Performer) -> Result<PlanChanges, PerformError> {
        let Some(plan) = &self.guarded else {
            return Ok(PlanChanges::default());
        };
        let reviewed = ReviewedPlan {
            before: Rc::clone(&plan.before),
            task: self.task.clone(),
        };
        let mut replaced = plan.replaced(performer);
        let put_back = &plan.command.put_back;
        let changes = review_plan(performer, &reviewed, put_back, &mut replaced)?;
        let now = performer.plan.latest()?;
        deny_new_rows(performer, &reviewed.before, &now)?;
        self.guarded = None;
        Ok(changes)
    }
}

impl Performer {
    /// Leaves the review of the plan to the next run, as after a kill: here it failed. The copy shows
    /// how foreign code left the plan.
    pub(crate) fn leave_plan_to_next_run(&mut self) -> Result<(), PerformError> {
        self.saved_plan.keep_for_next_run();
        let LastCopy { file, copy } = last_copy(&self.paths);
        if let Ok(left) = read_text_file(&file, MAX_FILE) {
            write_atomically(&copy, left.as_bytes())?;
        }
        Ok(())
    }
}

impl GuardedPlan {
    fn replaced(&self, performer: &Performer) -> ReplacedPlan {
        let (paths, run) = (&performer.paths, &performer.run);
        let (folder, attempt) = match &self.command.task {
            Some((task, attempt)) => (paths.task_folder(run, task), *attempt),
            None => (paths.run_folder(run), 0),
        };
        ReplacedPlan::new(folder, attempt, self.code)
    }
}

/// What runs for a command.
pub(crate) fn code_of(command: &Command) -> ForeignCode {
    match command {
        Command::Verify { .. }
        | Command::ReviewTests(_)
        | Command::JudgeClaims { .. }
        | Command::FinalCheck(_) => ForeignCode::Checks,
        Command::Commit(_) | Command::CloseCommit { .. } => ForeignCode::CommitHooks,
        Command::Repair(_) => ForeignCode::Repair,
        _ => ForeignCode::Agent,
    }
}

/// How foreign code left the plan when regreen was killed.
enum Left {
    /// As it was before: people have made all changes since.
    Unchanged,
    /// As it is now: no one has changed it since.
    AsItIs,
    /// Both have changed it, or it is not known when the last process ended.
    Unknown,
}

impl Left {
    /// Goes by the copy that the keeper made when the last process had ended.
    fn of(performer: &Performer, before: &TaskFile, now: &TaskFile) -> Self {
        let copy = last_copy(&performer.paths).copy;
        match read_text_file(&copy, MAX_FILE) {
            Ok(left) if left == before.text() => Self::Unchanged,
            Ok(left) if left == now.text() => Self::AsItIs,
            _ => Self::Unknown,
        }
    }
}

/// The copy of the plan that a keeper makes if regreen is killed.
pub(crate) fn last_copy(paths: &SpecPaths) -> LastCopy {
    LastCopy {
        file: paths.spec.tasks.clone(),
        copy: paths.scratch_of_spec("plan-left"),
    }
}

/// Forgets the copy: it was made for another command, or before the last process had ended.
pub(crate) fn forget_copy(paths: &SpecPaths) -> Result<(), PerformError> {
    match fs::remove_file(last_copy(paths).copy) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Whether foreign code had started to run for a command that was interrupted.
pub(crate) fn had_begun(performer: &Performer, command: &GuardedCommand) -> bool {
    saved(performer, command, SavedFor::ThisCommand).is_some()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SavedFor {
    ThisCommand,
    /// Any command of the run.
    AnyCommand,
}

/// Returns the plan that was saved for a command, if it was saved completely.
fn saved(performer: &Performer, command: &GuardedCommand, is_for: SavedFor) -> Option<String> {
    let (run, saved) = (&performer.run, &performer.saved_plan);
    let seq = (is_for == SavedFor::ThisCommand).then_some(command.seq);
    let older = || {
        let (task, attempt) = command.task.as_ref()?;
        saved.read_older(&AttemptName::new(run, task, *attempt))
    };
    saved.read(run, seq).or_else(older)
}
