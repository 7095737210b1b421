use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{
    AttemptReport, ChoiceKind, Event, PickedTask, PromptKind, RunConfig, Spending, TaskKey,
    UsageLedger,
};

/// What a run has used up of what it may use: a fold of its events, by the same rules that
/// the engine charges by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) run: String,
    pub(crate) config: RunConfig,
    /// Attempts that are charged to the run.
    pub(crate) used: u32,
    pub(crate) waited_ms: u64,
    /// Tokens, and what they cost.
    pub(crate) spent: Spending,
    sessions: UsageLedger,
    /// The task that was picked last.
    pub(crate) picked: Option<PickedTask>,
    limit: Option<u32>,
    /// Only Verify was red when a task failed last.
    only_red: bool,
    charged: BTreeMap<TaskKey, u32>,
    closed: BTreeSet<TaskKey>,
}

impl Tally {
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::RunStarted { run, config, .. } => {
                *self = Self {
                    run: run.clone(),
                    config: config.clone(),
                    ..Self::default()
                };
            }
            Event::RunResumed {
                config: Some(config),
                ..
            } => self.adopt(config),
            Event::Chosen { choice } if choice.what == ChoiceKind::Retry => {
                self.charged.remove(&choice.task);
            }
            Event::LimitSettled { max_iterations } => self.limit = Some(*max_iterations),
            Event::TaskPicked { task } => self.pick(task),
            Event::AttemptEnded {
                task,
                charged,
                counted,
                report,
                ..
            } => {
                self.used += u32::from(counted.unwrap_or(*charged));
                *self.charged.entry(task.clone()).or_default() += u32::from(*charged);
                self.spend(report);
            }
            Event::TaskFailed { only_red, .. } => self.only_red = *only_red,
            Event::RepeatPlanned { task } if !self.only_red => {
                let charged = self.charged.entry(task.clone()).or_default();
                *charged = charged.saturating_sub(1);
            }
            Event::TaskDone { task, .. } | Event::TaskSkipped { task } => {
                self.closed.insert(task.clone());
            }
            Event::WaitEnded { waited_ms, .. } => {
                self.waited_ms = self.waited_ms.saturating_add(*waited_ms);
            }
            _ => {}
        }
    }

    fn spend(&mut self, report: &AttemptReport) {
        if let Some(usage) = &report.usage {
            let session = report.session.as_deref();
            self.spent.add_usage(&self.sessions.count(session, usage));
        }
    }

    /// A limit that was changed is settled anew; one that was not stays as it was.
    fn adopt(&mut self, config: &RunConfig) {
        if config.limits.global_iterations != self.config.limits.global_iterations {
            self.limit = None;
        }
        self.config = config.clone();
    }

    /// A closed task that is picked again was reopened by a person and starts afresh.
    fn pick(&mut self, task: &PickedTask) {
        if self.closed.remove(&task.task) {
            self.charged.remove(&task.task);
        }
        self.picked = Some(task.clone());
    }

    /// Whether a task repairs another one.
    pub(crate) fn is_fix(&self, task: &TaskKey) -> bool {
        let picked = self.picked.as_ref();
        picked.is_some_and(|picked| picked.task == *task && picked.is_fix())
    }

    /// Attempts that are charged to a task.
    pub(crate) fn used_by(&self, task: &TaskKey) -> u32 {
        self.charged.get(task).copied().unwrap_or(0)
    }

    /// Which of the task's attempts this is that has just started, of those that count. A
    /// reminder is part of the one before it.
    pub(crate) fn number_of(&self, task: &TaskKey, prompt: PromptKind) -> u32 {
        let used = self.used_by(task);
        match prompt {
            PromptKind::Reminder | PromptKind::Split => used.max(1),
            PromptKind::First
            | PromptKind::Retry
            | PromptKind::NoOp
            | PromptKind::Interrupted
            | PromptKind::NewSession
            | PromptKind::Enriched => used + 1,
        }
    }

    pub(crate) fn limit_of_task(&self) -> u32 {
        self.config.limits.task_iterations
    }

    pub(crate) fn limit_of_run(&self) -> u32 {
        self.limit.unwrap_or(self.config.limits.global_iterations)
    }

    /// What a task is verified with, as far as the plan says.
    pub(crate) fn verified_with(&self, task: &TaskKey) -> Vec<&str> {
        let picked = self.picked.as_ref().filter(|picked| picked.task == *task);
        let Some(picked) = picked else {
            return Vec::new();
        };
        if picked.verify.is_empty() && !picked.is_group {
            return self.config.gate.as_deref().into_iter().collect();
        }
        let commands = picked.verify.iter();
        commands.map(|verify| verify.command.as_str()).collect()
    }
}
