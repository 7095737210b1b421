//! How a plan is shown, how agents change it, and the tasks that regreen adds to it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    ERROR_CHARS, Marker, PickedTask, PlainLine, SUMMARY_CHARS, Task, TaskFailure, TaskFeatures,
    TaskId, TaskKey, VerifyCommand,
};

/// A row of a plan as views show it. Views get all rows, in file order and without checklist items,
/// each time the plan is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlineRow {
    /// The task.
    pub key: TaskKey,
    /// Its level: 0 at the top, one more below a group or below the task it fixes.
    pub depth: u16,
    /// The kind of row.
    pub kind: OutlineKind,
    /// Whether it is ticked.
    pub done: bool,
    /// Whether it runs only on request.
    pub optional: bool,
    /// What its text shows.
    #[serde(default)]
    pub features: TaskFeatures,
    /// The line of its box, counting from 1; 0 if unknown.
    #[serde(default)]
    pub line: usize,
}

/// The kind of a row in an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutlineKind {
    /// A task that a person wrote.
    Task,
    /// A task that fixes another.
    Fix,
    /// A group, which is ticked when the tasks below it are done.
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

/// The tasks that a run picks from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanQuery {
    /// Whether optional tasks run.
    pub include_optional: bool,
    /// Limits the run to this task, its fixes and the rows below it.
    pub only: Option<TaskId>,
    /// Tasks that were skipped or are waiting for a person.
    pub passed_over: BTreeSet<TaskKey>,
    /// Tasks whose rows agents removed.
    #[serde(default)]
    pub lost: BTreeSet<TaskKey>,
    /// If set, originals come before their own open fixes, except for these.
    #[serde(default)]
    pub originals_first: Option<BTreeSet<TaskKey>>,
}

/// The tasks that the file still has for a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStatus {
    /// The run's next step.
    pub next: NextStep,
    /// Rows to run, fixes included.
    pub total: u32,
    /// Whether it has no tasks at all, optional ones included.
    #[serde(default)]
    pub is_empty: bool,
    /// The number of required originals still open, including those passed over; if the run is
    /// limited to one task, only those within it.
    pub open: u32,
    /// The 0-based position, among the rows to run, of the first open row, including those passed
    /// over.
    #[serde(default)]
    pub first_open: Option<u32>,
    /// The number of other open tasks.
    #[serde(default)]
    pub open_besides: u32,
    /// Tasks that were passed over, or whose rows agents removed, and that aren't in the file.
    #[serde(default)]
    pub missing: Vec<TaskKey>,
    /// Tasks that were passed over, and that someone has ticked since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<TaskKey>,
}

/// The next step of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "next", rename_all = "snake_case")]
pub enum NextStep {
    /// Run this task.
    Task(Box<PickedTask>),
    /// Nothing is left to run.
    #[default]
    Nothing,
}

/// A task's use of its fix budget: the larger of what the rows and the state file say, so that
/// neither deleting a fix row nor losing the state file refunds anything. Only a person can: fixes
/// made before a retry was chosen are forgiven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixBudget {
    /// The depth of the task itself in its chain of fixes.
    pub depth: u32,
    /// Fixes made for the task itself.
    pub fixes: u32,
    /// Fixes made for its original and all descendants.
    pub root_fixes: u32,
    /// The original at the end of the chain of fixes.
    pub root: TaskId,
    /// The ids of the fixes made for the task itself.
    pub fix_ids: Vec<TaskId>,
    /// The id of its next fix.
    pub next_id: TaskId,
    /// The error that the task's last fix was made for, on one line; empty if there was none.
    #[serde(default)]
    pub last_error: String,
    /// The open fixes of the task and of its fixes.
    #[serde(default)]
    pub open_fixes: Vec<TaskKey>,
}

/// The contents of the state file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateFile {
    /// The current task's position; equal to `total_tasks` when none is left.
    pub task_index: u32,
    /// How many tasks there are.
    pub total_tasks: u32,
    /// The attempt number within the current task.
    pub task_iteration: u32,
    /// The limit on attempts per task.
    pub max_task_iterations: u32,
    /// The attempt number within the run.
    pub global_iteration: u32,
    /// The limit on attempts per run, as requested. The next run reads it from here, so a value
    /// that had grown with the plan would then be fixed.
    pub max_global_iterations: u32,
    /// Whether recovery is on. Only `true` is written, so a file that has it keeps it.
    #[serde(default)]
    pub recovery: bool,
    /// The limit on fix tasks per task.
    #[serde(default)]
    pub max_fix_tasks: u32,
    /// Fixes made in this run: the task, the fix, and the error it was made for.
    #[serde(default)]
    pub fixes: Vec<(TaskId, TaskId, String)>,
    /// `true` for success, `false` for failure. For a task that is absent, its row decides: success
    /// if ticked, otherwise pending.
    pub results: BTreeMap<TaskId, bool>,
}

/// Changes to the plan while an agent or other foreign code ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanChanges {
    /// Rows of other tasks that it ticked, which must be verified.
    pub claims: Vec<Claim>,
    /// Rows it removed for the second time, which count as skipped.
    pub skipped: Vec<TaskKey>,
    /// Rows it removed for the first time, which were put back.
    pub put_back: Vec<TaskKey>,
    /// New rows.
    pub added: Vec<TaskKey>,
    /// Rows whose text changed.
    pub edited: Vec<TaskKey>,
    /// Rows in which a change was reverted.
    pub reverted: Vec<TaskKey>,
    /// Warnings for people, one sentence each.
    pub warnings: Vec<String>,
    /// The commands of services that new rows declare and no row declared before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
}

/// A tick that the agent made on another task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The task.
    pub task: TaskKey,
    /// The commands that verify it.
    pub verify: Vec<VerifyCommand>,
    /// Whether it has a `[RED]` marker.
    #[serde(default)]
    pub is_red: bool,
}

/// A change to the plan that an agent asks for, as it wrote it. `documents` decides whether it is
/// allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModificationRequest {
    /// How to change the plan.
    #[serde(rename = "type")]
    pub modification: Modification,
    /// The task that the request is about.
    pub original_task_id: TaskId,
    /// The reason, in the agent's words.
    #[serde(default)]
    pub reasoning: String,
    /// The new tasks.
    pub proposed_tasks: Vec<ProposedTask>,
}

/// How an agent wants to change the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Modification {
    /// Split the task, which is too big, into these parts.
    SplitTask,
    /// Do something else first.
    AddPrerequisite,
    /// Do something else afterwards.
    AddFollowup,
}

impl Modification {
    /// Returns the name used in stored data.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SplitTask => "SPLIT_TASK",
            Self::AddPrerequisite => "ADD_PREREQUISITE",
            Self::AddFollowup => "ADD_FOLLOWUP",
        }
    }
}

/// A task as an agent proposes it: as lines of a task file or as named parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProposedTask {
    /// Lines of a task file.
    Lines(String),
    /// Named parts of a task.
    #[serde(rename_all = "camelCase")]
    Fields {
        /// Its title.
        title: String,
        /// The work to do.
        #[serde(rename = "do", default)]
        action: Option<String>,
        /// The files it is about.
        #[serde(default)]
        files: Option<String>,
        /// When it counts as done.
        #[serde(default)]
        done_when: Option<String>,
        /// How to verify it.
        #[serde(default)]
        verify: Option<String>,
        /// Its commit message.
        #[serde(default)]
        commit: Option<String>,
    },
}

/// The Files field of a fix whose original has none.
const SAME_FILES: &str = "Same directory as original";
/// A Verify that checks nothing, because the original decides whether the fix worked.
const VERIFY_BY_HAND: &str = "echo 'Verify manually'";
const DEFAULT_SCOPE: &str = "recovery";
const DEFAULT_ERROR_TYPE: &str = "error";

/// A task to be written into a task file.
///
/// Untrusted text is in [`PlainLine`]s. `files` and `verify` are copied from a task of the same
/// file and may have several lines.
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
    /// Numbered steps below `action`.
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

/// The contents of a fix task that don't come from the task it fixes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixOrigin {
    /// The error to fix.
    pub error: String,
    /// The error in brief, for the title; empty if its first line serves best.
    #[serde(default)]
    pub summary: String,
    /// The failure's kind in words (`missing file`); empty without a diagnosis.
    #[serde(default)]
    pub error_type: String,
    /// The fix that the agent says it tried.
    pub attempted_fix: String,
    /// The spec's name; empty outside a spec.
    pub scope: String,
    /// A fourth step, for a blocker that came back or a repair that regreen makes itself.
    pub extra_step: String,
}

impl NewTask {
    /// Creates the task that fixes `parent`, whose id is `parent_id`, from how it failed.
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

/// Puts regreen's own words around a harmless line; the length limit applies only to the line.
fn joined(before: &str, line: &PlainLine, after: &str) -> PlainLine {
    PlainLine::flatten(&format!("{before}{line}{after}"), usize::MAX)
}

fn or_text(text: Option<&str>, fallback: &str) -> String {
    match text.map(str::trim) {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => fallback.to_owned(),
    }
}
