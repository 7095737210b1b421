//! How a plan is shown, how agents change it, and the tasks that are written into it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    ERROR_CHARS, Marker, PickedTask, PlainLine, SUMMARY_CHARS, Task, TaskFailure, TaskId, TaskKey,
    VerifyCommand,
};

/// One row of a plan as views show it: every task of the file from the top, without
/// checklist items. Views get all rows each time the plan is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlineRow {
    /// The task.
    pub key: TaskKey,
    /// Its indentation: 0 at the top, one more below a group or below the task that
    /// it fixes.
    pub depth: u16,
    /// What it is.
    pub kind: OutlineKind,
    /// Whether it is ticked.
    pub done: bool,
    /// Runs only when asked for.
    pub optional: bool,
}

/// What a row of an outline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutlineKind {
    /// Written by a person, and run.
    Task,
    /// Repairs another task.
    Fix,
    /// Written by a person; ticked when the tasks below it are done.
    Group,
}

impl OutlineRow {
    /// Returns whether a person wrote it.
    #[must_use]
    pub fn is_original(&self) -> bool {
        match self.kind {
            OutlineKind::Task | OutlineKind::Group => true,
            OutlineKind::Fix => false,
        }
    }
}

/// Which tasks a run chooses from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanQuery {
    /// Whether optional tasks run.
    pub include_optional: bool,
    /// Only this task, its fixes and what stands below it.
    pub only: Option<TaskId>,
    /// Tasks that were skipped or wait for a person.
    pub passed_over: BTreeSet<TaskKey>,
    /// Tasks whose rows agents removed.
    #[serde(default)]
    pub lost: BTreeSet<TaskKey>,
    /// Originals come before their own open fixes, all but these.
    #[serde(default)]
    pub originals_first: Option<BTreeSet<TaskKey>>,
}

/// What the task file has for a run: what is next, and what is left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStatus {
    /// What the run does next.
    pub next: NextStep,
    /// Rows to run, fixes included.
    pub total: u32,
    /// Required originals that are still open, including those that were passed over; of
    /// those that were asked for, if only some were.
    pub open: u32,
    /// The 0-based position among the rows to run of the first that is open, including those
    /// that were passed over.
    #[serde(default)]
    pub first_open: Option<u32>,
    /// The others that are open.
    #[serde(default)]
    pub open_besides: u32,
    /// Tasks that were passed over, or whose rows agents removed, and that are not in the file.
    #[serde(default)]
    pub missing: Vec<TaskKey>,
}

/// The task that a run turns to next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "next", rename_all = "snake_case")]
pub enum NextStep {
    /// Run this task.
    Task(Box<PickedTask>),
    /// Nothing is left to run.
    #[default]
    Nothing,
}

/// What a task has used of its fix budget: the larger of what the rows and the state file say.
/// Deleting a fix row refunds nothing, and neither does losing the state file. Only a person
/// can: fixes made before the task was to be tried again are forgiven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixBudget {
    /// How many fixes deep the task itself is.
    pub depth: u32,
    /// Fixes made for the task itself.
    pub fixes: u32,
    /// Fixes made for its original and everything below that.
    pub root_fixes: u32,
    /// The original at the end of the chain of fixes.
    pub root: TaskId,
    /// The ids of the fixes made for the task itself.
    pub fix_ids: Vec<TaskId>,
    /// The id of its next fix.
    pub next_id: TaskId,
    /// The error that the last fix of the task was to remove, on one line; empty if it had
    /// none.
    #[serde(default)]
    pub last_error: String,
    /// The fixes of the task, and of its fixes, that are not done.
    #[serde(default)]
    pub open_fixes: Vec<TaskKey>,
}

/// What the state file says about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateFile {
    /// As many as there are tasks, when none is left.
    pub task_index: u32,
    /// How many tasks there are.
    pub total_tasks: u32,
    /// The number of the current task's attempt.
    pub task_iteration: u32,
    /// How many attempts a task may have.
    pub max_task_iterations: u32,
    /// The number of the run's attempt.
    pub global_iteration: u32,
    /// As it was asked for: a limit that grew with the plan would be a fixed one for the
    /// next run, which reads it here.
    pub max_global_iterations: u32,
    /// Recovery that is on stays on in the file; off says nothing.
    #[serde(default)]
    pub recovery: bool,
    /// How many fix tasks a task may get.
    #[serde(default)]
    pub max_fix_tasks: u32,
    /// Fixes made in this run: the task, the fix, and the error it was made for.
    #[serde(default)]
    pub fixes: Vec<(TaskId, TaskId, String)>,
    /// `true` for success, `false` for failed. The run knows nothing of a task that is absent,
    /// and its row tells: success if it is ticked, else pending.
    pub results: BTreeMap<TaskId, bool>,
}

/// The changes of the plan while an agent worked, or while something ran that it may have
/// written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanChanges {
    /// Rows of other tasks that it ticked, which have to be verified.
    pub claims: Vec<Claim>,
    /// Rows it removed twice, which count as skipped.
    pub skipped: Vec<TaskKey>,
    /// Rows it removed once, which were put back.
    pub put_back: Vec<TaskKey>,
    /// Rows that are new.
    pub added: Vec<TaskKey>,
    /// Rows that say something else now.
    pub edited: Vec<TaskKey>,
    /// Rows of which a change was reverted.
    pub reverted: Vec<TaskKey>,
    /// What people should know, one sentence each.
    pub warnings: Vec<String>,
}

/// Another task that the agent says is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The task.
    pub task: TaskKey,
    /// The commands that verify it.
    pub verify: Vec<VerifyCommand>,
    /// Whether it has the marker `[RED]`.
    #[serde(default)]
    pub is_red: bool,
}

/// A change of the plan that an agent asks for, as it wrote it. Whether it is allowed is
/// decided elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModificationRequest {
    /// How the plan is to change.
    #[serde(rename = "type")]
    pub modification: Modification,
    /// The task that it is about.
    pub original_task_id: TaskId,
    /// Why, in the agent's words.
    #[serde(default)]
    pub reasoning: String,
    /// The new tasks.
    pub proposed_tasks: Vec<ProposedTask>,
}

/// How an agent wants to change the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Modification {
    /// The task is too big: these are its parts.
    SplitTask,
    /// Something has to be done first.
    AddPrerequisite,
    /// Something has to be done afterwards.
    AddFollowup,
}

impl Modification {
    /// Returns the name as it is written in data.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SplitTask => "SPLIT_TASK",
            Self::AddPrerequisite => "ADD_PREREQUISITE",
            Self::AddFollowup => "ADD_FOLLOWUP",
        }
    }
}

/// A task as an agent proposes it: the lines of a task file, or its parts by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProposedTask {
    /// Lines of a task file.
    Lines(String),
    /// The parts of a task by name.
    #[serde(rename_all = "camelCase")]
    Fields {
        /// Its title.
        title: String,
        /// What to do.
        #[serde(rename = "do", default)]
        action: Option<String>,
        /// The files it is about.
        #[serde(default)]
        files: Option<String>,
        /// When it is done.
        #[serde(default)]
        done_when: Option<String>,
        /// How to verify it.
        #[serde(default)]
        verify: Option<String>,
        /// The message of its commit.
        #[serde(default)]
        commit: Option<String>,
    },
}

/// Where a fix says to look when its original names no files.
const SAME_FILES: &str = "Same directory as original";
/// A Verify that checks nothing: the original decides whether the fix worked.
const VERIFY_BY_HAND: &str = "echo 'Verify manually'";
const DEFAULT_SCOPE: &str = "recovery";
const DEFAULT_ERROR_TYPE: &str = "error";

/// A task that is to be written into a task file.
///
/// Text from outside is in [`PlainLine`]s. `files` and `verify` are copied from a task of
/// the same file and may have several lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTask {
    /// Its id.
    pub id: TaskId,
    /// Its markers.
    pub markers: Vec<Marker>,
    /// Its title.
    pub title: PlainLine,
    /// The Do field.
    pub action: Option<PlainLine>,
    /// Numbered below `action`.
    pub steps: Vec<PlainLine>,
    /// The Files field.
    pub files: Option<String>,
    /// The Done when field.
    pub done_when: Option<PlainLine>,
    /// The Verify field.
    pub verify: Option<String>,
    /// The Commit field.
    pub commit: Option<PlainLine>,
}

/// What a fix task is made of, besides the task it repairs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixOrigin {
    /// The error to fix.
    pub error: String,
    /// The error in few words, for the title; empty if the first line of the error says it best.
    #[serde(default)]
    pub summary: String,
    /// The failure's kind in words (`missing file`); empty without a diagnosis.
    #[serde(default)]
    pub error_type: String,
    /// What the agent says it tried.
    pub attempted_fix: String,
    /// The spec's name; empty outside one.
    pub scope: String,
    /// A fourth step, for a repeated blocker or for what regreen repaired itself.
    pub extra_step: String,
}

impl NewTask {
    /// Makes the task that repairs `parent`, which has the id `parent_id` and failed as `origin`
    /// says.
    #[must_use]
    pub fn fix(id: TaskId, parent_id: &TaskId, parent: &Task, origin: &FixOrigin) -> Self {
        let summary = match origin.summary.trim() {
            "" => &origin.error,
            _ => &origin.summary,
        };
        let summary =
            PlainLine::first_of(summary, SUMMARY_CHARS).or(&format!("task {parent_id} failure"));
        let error = PlainLine::flatten(&origin.error, ERROR_CHARS).or(TaskFailure::NO_ERROR);
        let attempted = PlainLine::flatten(&origin.attempted_fix, ERROR_CHARS)
            .or(TaskFailure::NO_ATTEMPTED_FIX);
        let scope = PlainLine::first_of(&origin.scope, SUMMARY_CHARS).or(DEFAULT_SCOPE);
        let error_type =
            PlainLine::first_of(&origin.error_type, SUMMARY_CHARS).or(DEFAULT_ERROR_TYPE);
        Self {
            id,
            markers: vec![Marker::Fix(Some(parent_id.clone()))],
            title: joined("Fix: ", &summary, ""),
            action: Some(joined("Address the error: ", &error, "")),
            steps: fix_steps(&error, &attempted, &origin.extra_step),
            files: Some(or_text(parent.fields.files.as_deref(), SAME_FILES)),
            done_when: Some(joined("Error \"", &error, "\" no longer occurs")),
            verify: Some(or_text(parent.fields.verify.as_deref(), VERIFY_BY_HAND)),
            commit: Some(joined(
                &format!("fix({scope}): address "),
                &error_type,
                &format!(" from task {parent_id}"),
            )),
        }
    }
}

fn fix_steps(error: &PlainLine, attempted: &PlainLine, extra: &str) -> Vec<PlainLine> {
    let mut steps = vec![
        joined("Analyze the failure: ", attempted, ""),
        PlainLine::flatten("Review related code in Files list", ERROR_CHARS),
        joined("Implement fix for: ", error, ""),
    ];
    let extra = PlainLine::flatten(extra, ERROR_CHARS);
    if !extra.is_empty() {
        steps.push(extra);
    }
    steps
}

/// Puts our words around a harmless line; the line's limit does not apply to our words.
fn joined(before: &str, line: &PlainLine, after: &str) -> PlainLine {
    PlainLine::flatten(&format!("{before}{line}{after}"), usize::MAX)
}

fn or_text(text: Option<&str>, fallback: &str) -> String {
    match text.map(str::trim) {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => fallback.to_owned(),
    }
}
