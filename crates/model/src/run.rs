use serde::{Deserialize, Serialize};

use crate::{
    AgentIdentity, DiagnosisAsk, FinalCheckPolicy, RecoveryTemplate, RepairPolicy, SuggestedLimit,
    TamperPolicy, TaskFeatures, TaskId, TaskKey, TimeForecast,
};

/// The settings of a run, which stay the same until it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The spec's name.
    pub spec: String,
    /// The agent that works on the tasks.
    pub agent: AgentIdentity,
    /// The limits on attempts and fixes.
    pub limits: Limits,
    /// The budgets.
    #[serde(default)]
    pub budgets: Budgets,
    /// How long an attempt may take.
    pub attempt_timeout_ms: u64,
    /// How long a check may take.
    pub verify_timeout_ms: u64,
    /// How long an agent may be idle.
    pub idle_timeout_ms: Option<u64>,
    /// How long the run may wait in total for the agent's service.
    pub max_wait_ms: u64,
    /// Whether optional tasks run.
    pub include_optional: bool,
    /// Whether regreen commits finished tasks.
    pub commits: bool,
    /// Whether tasks without a Commit field are committed as well.
    #[serde(default)]
    pub commit_all: bool,
    /// Whether the state file is kept after the run.
    pub keep_state: bool,
    /// The only task to run, if the run is limited to one.
    pub only: Option<TaskId>,
    /// Whether failures are healed with fix tasks instead of plain retries.
    #[serde(default)]
    pub recovery: bool,
    /// The policy for repairs that regreen makes by itself when it heals failures.
    #[serde(default)]
    pub repairs: RepairPolicy,
    /// Whether other tasks continue while one is waiting for a person.
    #[serde(default)]
    pub keep_going: bool,
    /// How long the run waits for answers when only tasks that wait for people are left; `None` if it ends then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_wait_ms: Option<u64>,
    /// Whether there is a person to ask.
    #[serde(default)]
    pub asks: bool,
    /// The spec's name in suggested commands; `None` where it isn't needed.
    #[serde(default)]
    pub spec_argument: Option<String>,
    /// The command that checks the whole workspace for tasks without a Verify.
    pub gate: Option<String>,
    /// The policy for work that passed earlier but fails at the end.
    #[serde(default)]
    pub final_check: FinalCheckPolicy,
    /// How long the final check may take.
    #[serde(default = "final_check_time_ms")]
    pub final_check_time_ms: u64,
    /// The policy for changes that weaken a check. Runs of versions without it go on without it.
    #[serde(default = "tamper_of_older_runs")]
    pub tamper: TamperPolicy,
    /// The tests whose failure a person has accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_tests: Vec<String>,
    /// Whether tests that failed before a task as well, or that flicker, don't fail it.
    #[serde(default)]
    pub excuse_known_failures: bool,
    /// Whether a task fails if nothing verifies it, or if its Verify passes only the second time.
    #[serde(default)]
    pub strict: bool,
    /// Who is asked for the cause of a failure that the rules are not sure of.
    #[serde(default)]
    pub diagnosis_ask: DiagnosisAsk,
    /// Whether failures are looked up in the user's history. Runs of versions without it go on
    /// without it.
    #[serde(default)]
    pub recall: bool,
    /// The limits that the state file keeps for later runs, if they differ from this run's.
    #[serde(default)]
    pub stored_limits: Option<Limits>,
    /// The path of the progress file, unless it is `.progress.md` in the spec's folder.
    #[serde(default)]
    pub progress_file: Option<String>,
    /// The workspace, where all commands run, if regreen was started in another folder.
    #[serde(default)]
    pub folder: Option<String>,
    /// Whether the workspace is in a git repository. Outside of one there are no diffs and no
    /// commits.
    #[serde(default = "yes")]
    pub in_git: bool,
    /// The originals that were ticked before the spec's first run, so that regreen never checked them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticked_before: Vec<TaskKey>,
    /// Whether a task's own time limit takes the place of `attempt_timeout_ms`, if one is suggested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub auto_timeout: bool,
    /// How long tasks take, as far as earlier runs show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Box<TimeForecast>>,
    /// What to do first about certain failures. The first template for a failure counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<RecoveryTemplate>,
}

/// A shorter limit could end an agent that only starts slowly.
const LEAST_SUGGESTED_MS: u64 = 60_000;

impl RunConfig {
    /// Returns the time limit that earlier runs suggest for an attempt at a task.
    #[must_use]
    pub fn suggested_limit(&self, features: &TaskFeatures) -> Option<SuggestedLimit> {
        self.times.as_ref()?.of(features)?.limit
    }

    /// Returns the time limit of an attempt. `factor` is 1, or more for a task that made progress
    /// until a limit ended it: then its suggested limit was too short.
    #[must_use]
    pub fn time_limit(&self, features: Option<&TaskFeatures>, factor: u64) -> u64 {
        let usual = |factor: u64| self.attempt_timeout_ms.saturating_mul(factor);
        let suggested = features.filter(|_| self.auto_timeout);
        let suggested = suggested.and_then(|features| self.suggested_limit(features));
        match suggested.map(|limit| limit.ms.max(LEAST_SUGGESTED_MS)) {
            None => usual(factor),
            Some(limit) if factor <= 1 => limit,
            Some(limit) => limit.saturating_mul(factor).max(usual(factor / 2)),
        }
    }
}

fn yes() -> bool {
    true
}

fn final_check_time_ms() -> u64 {
    30 * 60 * 1000
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            spec: String::new(),
            agent: AgentIdentity::default(),
            limits: Limits::default(),
            budgets: Budgets::default(),
            attempt_timeout_ms: 30 * 60 * 1000,
            verify_timeout_ms: 10 * 60 * 1000,
            idle_timeout_ms: None,
            max_wait_ms: 6 * 60 * 60 * 1000,
            include_optional: false,
            commits: true,
            commit_all: false,
            keep_state: false,
            only: None,
            recovery: false,
            repairs: RepairPolicy::default(),
            keep_going: false,
            answer_wait_ms: None,
            asks: false,
            spec_argument: None,
            gate: None,
            final_check: FinalCheckPolicy::default(),
            final_check_time_ms: final_check_time_ms(),
            tamper: TamperPolicy::default(),
            accepted_tests: Vec::new(),
            excuse_known_failures: false,
            strict: false,
            diagnosis_ask: DiagnosisAsk::default(),
            recall: false,
            stored_limits: None,
            progress_file: None,
            folder: None,
            in_git: true,
            ticked_before: Vec::new(),
            auto_timeout: false,
            times: None,
            templates: Vec::new(),
        }
    }
}

fn tamper_of_older_runs() -> TamperPolicy {
    TamperPolicy::Off
}

/// How often regreen tries before it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Attempts of one task.
    pub task_iterations: u32,
    /// Attempts of a whole run.
    pub global_iterations: u32,
    /// Fix tasks that one task may get.
    pub fixes_per_task: u32,
    /// The maximum depth of fixes of fixes; an original has depth 0.
    pub fix_depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            task_iterations: 5,
            global_iterations: 100,
            fixes_per_task: 3,
            fix_depth: 3,
        }
    }
}

impl Limits {
    /// Returns the message about the limit on a whole run's attempts, with the progress file if
    /// there is one to review.
    #[must_use]
    pub fn used_up(global_iterations: u32, progress: Option<&str>) -> String {
        let review = progress.map(|file| format!(" Review {file} for failure patterns."));
        format!(
            "ERROR: Maximum global iterations ({global_iterations}) reached.{}",
            review.unwrap_or_default()
        )
    }

    /// Returns the limits with this many fixes per task. Also raises the limit on attempts if
    /// needed: a task needs one more attempt than it has fixes, or the last fix would never run.
    #[must_use]
    pub fn with_fixes_per_task(self, fixes: u32) -> Self {
        let needed = match fixes {
            0..=4 => 0,
            fixes => fixes.saturating_add(1),
        };
        Self {
            fixes_per_task: fixes,
            task_iterations: self.task_iterations.max(needed),
            ..self
        }
    }

    /// Returns how many fix tasks one original and its descendants may get in total. Limits per
    /// task alone would still allow dozens of attempts on one original.
    #[must_use]
    pub fn fixes_per_root(&self) -> u32 {
        self.fixes_per_task.max(10)
    }
}

/// How much may be spent before regreen stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budgets {
    /// On a whole run.
    pub run: Budget,
    /// On one original with all its fixes.
    pub task: Budget,
}

/// A limit on spending; `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Cost, in millionths of a dollar.
    pub cost_micro_usd: Option<u64>,
    /// Tokens: output and input, including cached input.
    pub tokens: Option<u64>,
    /// Time spent on attempts, checks and waits.
    pub time_ms: Option<u64>,
}

/// How a run ended, or why it paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RunOutcome {
    /// Every required original is ticked.
    AllGreen,
    /// The one requested task is done; others are open.
    OnlyDone,
    /// All that is left was skipped.
    Skipped,
    /// A limit was reached.
    Limit {
        /// The message about it.
        message: String,
    },
    /// Work that had passed no longer passes.
    Regressed {
        /// The message about it.
        message: String,
    },
    /// A person must decide.
    NeedsPerson {
        /// The reason, for people.
        why: String,
    },
    /// The agent's service is unavailable for longer than the run may wait.
    TryLater {
        /// The reason, for people.
        why: String,
    },
    /// The setup is broken; another try would fail the same way.
    SetUp {
        /// The reason, for people.
        why: String,
    },
    /// The user stopped the run. The next start resumes it.
    Stopped {
        /// How the user asked.
        signal: StopSignal,
    },
}

impl RunOutcome {
    /// Returns the name used in stored data.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::AllGreen => "all_green",
            Self::OnlyDone => "only_done",
            Self::Skipped => "skipped",
            Self::Limit { .. } => "limit",
            Self::Regressed { .. } => "regressed",
            Self::NeedsPerson { .. } => "needs_person",
            Self::TryLater { .. } => "try_later",
            Self::SetUp { .. } => "set_up",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// Returns whether the next start resumes this run.
    #[must_use]
    pub fn is_pause(&self) -> bool {
        match self {
            Self::AllGreen
            | Self::OnlyDone
            | Self::Skipped
            | Self::Limit { .. }
            | Self::Regressed { .. } => false,
            Self::NeedsPerson { .. }
            | Self::TryLater { .. }
            | Self::SetUp { .. }
            | Self::Stopped { .. } => true,
        }
    }

    /// Returns the exit code of the process. Scripts rely on the numbers.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::AllGreen | Self::OnlyDone => 0,
            Self::Skipped | Self::Limit { .. } | Self::Regressed { .. } => 1,
            Self::NeedsPerson { .. } => 3,
            Self::TryLater { .. } => 75,
            Self::SetUp { .. } => 78,
            Self::Stopped { signal } => signal.exit_code(),
        }
    }
}

/// How the user asked regreen to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopSignal {
    /// SIGINT, as Ctrl-C sends it.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// `regreen stop --after-task`: finish the current task first.
    AfterTask,
}

impl StopSignal {
    /// Returns 128 plus the number of the signal, as shells do.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate | Self::AfterTask => 143,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_may_have_ten_fixes_or_as_many_as_one_task_may() {
        assert_eq!(Limits::default().fixes_per_root(), 10);
        let generous = Limits {
            fixes_per_task: 25,
            ..Limits::default()
        };
        assert_eq!(generous.fixes_per_root(), 25);
    }

    #[test]
    fn more_than_four_fixes_need_more_attempts() {
        let iterations = |fixes| Limits::default().with_fixes_per_task(fixes).task_iterations;
        assert_eq!([1, 4, 5, 6, 20].map(iterations), [5, 5, 6, 7, 21]);
        let generous = Limits {
            task_iterations: 30,
            ..Limits::default()
        };
        assert_eq!(generous.with_fixes_per_task(6).task_iterations, 30);
    }

    #[test]
    fn every_outcome_has_the_exit_code_that_scripts_rely_on() {
        let (message, why) = (String::new(), String::new());
        let outcomes = [
            RunOutcome::AllGreen,
            RunOutcome::OnlyDone,
            RunOutcome::Skipped,
            RunOutcome::Limit {
                message: message.clone(),
            },
            RunOutcome::Regressed { message },
            RunOutcome::NeedsPerson { why: why.clone() },
            RunOutcome::TryLater { why: why.clone() },
            RunOutcome::SetUp { why },
            RunOutcome::Stopped {
                signal: StopSignal::Interrupt,
            },
            RunOutcome::Stopped {
                signal: StopSignal::Terminate,
            },
        ];
        let codes = outcomes.each_ref().map(RunOutcome::exit_code);
        assert_eq!(codes, [0, 0, 1, 1, 1, 3, 75, 78, 130, 143]);
    }
}
