//! The state of one task.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{
    AttemptClass, AttemptReport, ChoiceKind, Experience, FailureRecord, Mark, PickedTask,
    PlannedRepair, PromptKind, RedTests, RepairAction, TaskId, TaskKey, TemplatePrompt,
    UsageLedger,
};
use serde::{Deserialize, Serialize};

use super::{PassedCheck, Phase};
use crate::recovery::RecoveryHistory;

/// The state of one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskState {
    /// The task as last picked.
    pub picked: PickedTask,
    /// Its current phase.
    pub phase: Phase,
    /// A person's choice about it, which takes effect once nothing of the task is pending.
    #[serde(rename = "said")]
    pub choice: Option<ChoiceKind>,
    /// The kind of prompt for the next attempt.
    pub prompt: PromptKind,
    /// The number of all attempts.
    pub attempts: u32,
    /// The number of attempts charged to the task.
    pub iterations: u32,
    /// How often an attempt was interrupted.
    pub interruptions: u32,
    /// How often its session was lost.
    pub lost_sessions: u32,
    /// How often an attempt changed nothing.
    pub noops: u32,
    /// Whether the agent was already reminded in this attempt.
    pub reminded: bool,
    /// The report of the last attempt.
    pub report: Option<Box<AttemptReport>>,
    /// Whether the attempt changed files, with its reminder and those before it that were cut short.
    pub changed_files: bool,
    /// The session of the last attempt, as the agent names it.
    pub session: Option<String>,
    /// The usage of its sessions.
    #[serde(default)]
    pub sessions: UsageLedger,
    /// Why it failed last.
    pub failure: Option<FailureRecord>,
    /// What earlier failures with the same cause show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experience: Option<Box<Experience>>,
    /// How many strategies of each recovery template were used for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub template_steps: BTreeMap<String, u32>,
    /// What the template for the last failure tells the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidance: Option<TemplatePrompt>,
    /// The attempt in which it failed last.
    #[serde(default)]
    pub failed_attempt: Option<u32>,
    /// The output of the hook that refused the task's commit.
    pub refusal: Option<String>,
    /// Remarks about how it passed.
    pub marks: BTreeSet<Mark>,
    /// Its commit.
    pub hash: Option<String>,
    /// Whether it passed; `None` while it is pending.
    pub result: Option<bool>,
    /// Fixes made for it in this run, each with the error it was made for.
    #[serde(default)]
    pub fixes: Vec<(TaskId, String)>,
    /// The fingerprint of the failure that the last fix should remove.
    #[serde(default)]
    pub fixed_blocker: Option<String>,
    /// Whether a fix was made since its last attempt.
    #[serde(default)]
    pub was_fixed: bool,
    /// Whether the agent had signalled completion and only Verify failed.
    #[serde(default)]
    pub only_red: bool,
    /// The time limit of its next attempt, as a multiple of the usual one.
    #[serde(default = "one")]
    pub time_factor: u32,
    /// Whether the last attempt was asked to split the task.
    #[serde(default)]
    pub asked_to_split: bool,
    /// How often an attempt was repeated because of passing trouble.
    #[serde(default)]
    pub repeats: u32,
    /// Whether the agent was given the information that it lacked.
    #[serde(default)]
    pub was_enriched: bool,
    /// The fix that regreen carries out itself.
    #[serde(default, rename = "own_fix")]
    pub automatic_fix: Option<AutomaticFix>,
    /// The repairs made for it.
    #[serde(default)]
    pub repaired: Vec<RepairAction>,
    /// The user's messages about it, oldest first.
    #[serde(default)]
    pub context: Vec<String>,
    /// Whether a person may have edited it since it was picked, so that it must be read again.
    #[serde(default)]
    pub edited: bool,
    /// Its last check that passed.
    #[serde(default)]
    pub passed_check: Option<PassedCheck>,
    /// The value of [`State::steps`](crate::State::steps) when its last attempt began.
    #[serde(default)]
    pub attempted_at: u64,
    /// The value of [`State::steps`](crate::State::steps) when the final check found that it no longer passes; `None`
    /// once that is handled.
    #[serde(default)]
    pub regressed_at: Option<u64>,
    /// Whether it failed twice because the same thing was missing or forbidden, with nothing
    /// changed.
    #[serde(default)]
    pub is_stalled: bool,
    /// Its fixes that were ticked without being run.
    #[serde(default)]
    pub superseded: Vec<TaskKey>,
    /// The tests that failed in the last runs of its check, if it names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red_tests: Vec<RedTests>,
    /// The known failures with which it passed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub known_failures: BTreeSet<String>,
}

/// A fix that regreen carries out itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutomaticFix {
    /// `None` until it has a row.
    pub fix: Option<TaskId>,
    /// The repair.
    pub repair: PlannedRepair,
    /// Whether a person has agreed to it.
    pub agreed: bool,
}

impl TaskState {
    /// Whether an attempt resumes the previous session. After a failure the agent starts a new one;
    /// after an interruption, or if it only has to add something, it doesn't.
    pub(crate) fn continues_session(&self, prompt: PromptKind) -> bool {
        let was_interrupted = self.report.as_ref().is_some_and(|report| {
            report.ending.timed_out || matches!(report.class, AttemptClass::Transient { .. })
        });
        match prompt {
            PromptKind::Reminder
            | PromptKind::NoOp
            | PromptKind::Interrupted
            | PromptKind::Split => true,
            PromptKind::NewSession | PromptKind::Enriched => false,
            PromptKind::First | PromptKind::Retry => was_interrupted,
        }
    }

    /// Creates the state of a picked task. If an earlier run left it unfinished, it starts with
    /// that failure.
    #[must_use]
    pub fn new(picked: PickedTask) -> Self {
        Self {
            phase: Phase::Open,
            choice: None,
            prompt: match picked.failed_before {
                Some(_) => PromptKind::Retry,
                None => PromptKind::First,
            },
            attempts: 0,
            iterations: 0,
            interruptions: 0,
            lost_sessions: 0,
            noops: 0,
            reminded: false,
            report: None,
            changed_files: false,
            session: None,
            sessions: UsageLedger::default(),
            failure: picked.failed_before.clone(),
            experience: None,
            template_steps: BTreeMap::new(),
            guidance: None,
            failed_attempt: None,
            picked,
            refusal: None,
            marks: BTreeSet::new(),
            hash: None,
            result: None,
            fixes: Vec::new(),
            fixed_blocker: None,
            was_fixed: false,
            only_red: false,
            time_factor: one(),
            asked_to_split: false,
            repeats: 0,
            was_enriched: false,
            automatic_fix: None,
            repaired: Vec::new(),
            context: Vec::new(),
            edited: false,
            passed_check: None,
            attempted_at: 0,
            regressed_at: None,
            is_stalled: false,
            superseded: Vec::new(),
            red_tests: Vec::new(),
            known_failures: BTreeSet::new(),
        }
    }

    /// Returns the kind of prompt for the next attempt. An interrupted reminder is repeated.
    #[must_use]
    pub fn next_prompt(&self) -> PromptKind {
        if self.reminded {
            PromptKind::Reminder
        } else {
            self.prompt
        }
    }

    /// Returns the number of the next attempt among those charged to the task. A reminder belongs
    /// to the previous one.
    #[must_use]
    pub fn iteration(&self, prompt: PromptKind) -> u32 {
        let is_new = !matches!(prompt, PromptKind::Reminder | PromptKind::Split);
        (self.iterations + u32::from(is_new)).max(1)
    }

    /// Returns the number of charged attempts in words.
    pub(crate) fn attempts_made(&self) -> String {
        match self.iterations {
            1 => "1 attempt".to_owned(),
            attempts => format!("{attempts} attempts"),
        }
    }

    /// Returns its key.
    #[must_use]
    pub fn key(&self) -> &TaskKey {
        &self.picked.task
    }

    /// Whether fixes were made for it, in this run or before.
    pub(crate) fn owns_fixes(&self) -> bool {
        self.picked.has_fixes || !self.fixes.is_empty()
    }

    /// Returns the part of its past that recovery depends on.
    pub(crate) fn history(&self) -> RecoveryHistory<'_> {
        RecoveryHistory {
            iterations: self.iterations,
            lost_sessions: self.lost_sessions,
            interruptions: self.interruptions,
            repeats: self.repeats,
            was_enriched: self.was_enriched,
            asked_to_split: self.asked_to_split,
            is_reminder: self.next_prompt() == PromptKind::Reminder,
            repaired: &self.repaired,
            was_repaired: false,
            is_stalled: self.is_stalled,
            template_steps: Some(&self.template_steps),
        }
    }
}

fn one() -> u32 {
    1
}
