//! No counter exceeds its limit.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{
    AttemptClass, AttemptReport, ChoiceKind, Event, Limits, PromptKind, RunConfig, TaskKey,
    Timestamp,
};

use crate::world::Check;

const FREE_INTERRUPTIONS: u32 = 2;
const FREE_SESSIONS: u32 = 2;
const REPEATS: u32 = 2;
const MOST_TIME: u64 = 8;

#[derive(Debug, Default)]
pub(super) struct Counters {
    config: Option<RunConfig>,
    most_attempts: Option<u32>,
    /// Attempts that count against the run.
    attempts: u32,
    tasks: BTreeMap<TaskKey, Spent>,
    /// The last attempt of each task, and its prompt while it is running.
    numbers: BTreeMap<TaskKey, u32>,
    at_work: BTreeMap<TaskKey, PromptKind>,
    /// Tasks that start over when they are picked again.
    closed: BTreeSet<TaskKey>,
    /// Tasks that a person has decided about.
    decided: BTreeSet<TaskKey>,
    waiting: BTreeMap<TaskKey, (Timestamp, Timestamp)>,
    waited_ms: u64,
    /// The tokens that each session last reported.
    used: BTreeMap<String, u64>,
}

#[derive(Debug, Default)]
struct Spent {
    charged: u32,
    interruptions: u32,
    sessions: u32,
    repeats: u32,
    /// Whether an agent was told what it lacks. One whose service was down has not read it.
    enriched: bool,
    /// Whether only Verify failed in the last attempt.
    only_red: bool,
}

impl Counters {
    pub(super) fn limits(&self) -> Option<Limits> {
        self.config.as_ref().map(|config| config.limits)
    }

    pub(super) fn has_gate(&self) -> bool {
        let config = self.config.as_ref();
        config.is_some_and(|config| config.gate.is_some())
    }

    pub(super) fn includes_optional(&self) -> bool {
        let config = self.config.as_ref();
        config.is_some_and(|config| config.include_optional)
    }

    pub(super) fn hear(&mut self, now: Timestamp, event: &Event) -> Check {
        match event {
            Event::RunStarted { config, .. } => self.config = Some(config.clone()),
            Event::RunResumed {
                config: Some(config),
                ..
            } => self.config = Some(RunConfig::clone(config)),
            Event::LimitSettled { max_iterations } => self.most_attempts = Some(*max_iterations),
            Event::Chosen { choice } => self.chosen(&choice.task, choice.what),
            Event::TaskPicked { task } if self.closed.remove(&task.task) => {
                self.tasks.remove(&task.task);
            }
            Event::AttemptStarted {
                task,
                attempt,
                prompt,
                timeout_ms,
                ..
            } => self.starts(task, *attempt, *prompt, *timeout_ms)?,
            Event::AttemptEnded { task, report, .. } => self.ended(task, report)?,
            Event::TaskDone { task, .. }
            | Event::TaskGone { task }
            | Event::TaskSkipped { task } => {
                self.closed.insert(task.clone());
                self.decided.remove(task);
                self.at_work.remove(task);
            }
            Event::TaskFailed { task, only_red, .. } => {
                self.decided.remove(task);
                self.tasks.entry(task.clone()).or_default().only_red = *only_red;
            }
            Event::RepairStarted { task, attempt, .. } => self.number(task, *attempt)?,
            Event::RepeatPlanned { task } => self.repeats(task)?,
            Event::FixesSuperseded { fixes, .. } => self.closed.extend(fixes.iter().cloned()),
            Event::WaitStarted {
                task,
                since,
                until,
                repeats: false,
                ..
            } => self.waits(now, task, *since, *until)?,
            Event::WaitEnded { task, .. } => {
                if let Some((since, until)) = self.waiting.remove(task) {
                    self.waited_ms += until.since(since);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn chosen(&mut self, task: &TaskKey, what: ChoiceKind) {
        self.waiting.remove(task);
        if self.at_work.contains_key(task) {
            self.decided.insert(task.clone());
        }
        match what {
            ChoiceKind::Retry => drop(self.tasks.remove(task)),
            ChoiceKind::Skip | ChoiceKind::Done => drop(self.closed.insert(task.clone())),
        }
    }

    fn number(&mut self, task: &TaskKey, attempt: u32) -> Check {
        let last = self.numbers.insert(task.clone(), attempt).unwrap_or(0);
        match attempt == last + 1 {
            true => Ok(()),
            false => Err(format!("attempt {attempt} of {task} follows {last}")),
        }
    }

    fn starts(&mut self, task: &TaskKey, attempt: u32, prompt: PromptKind, ms: u64) -> Check {
        self.number(task, attempt)?;
        if self.at_work.insert(task.clone(), prompt).is_some() {
            return Err(format!("attempt {attempt} of {task} begins in another"));
        }
        let Some(config) = &self.config else {
            return Err("an attempt before the run began".to_owned());
        };
        let most = self
            .most_attempts
            .unwrap_or(config.limits.global_iterations);
        if prompt != PromptKind::Reminder && self.attempts >= most {
            return Err(format!(
                "attempt {} of {most} in the run",
                self.attempts + 1
            ));
        }
        let used: u64 = self.used.values().sum();
        if config.budgets.run.tokens.is_some_and(|most| used >= most) {
            return Err(format!("an attempt of {task} after {used} tokens"));
        }
        let spent = self.tasks.get(task).map_or(0, |spent| spent.charged);
        let is_charged = !matches!(prompt, PromptKind::Reminder | PromptKind::Split);
        if is_charged && spent >= config.limits.task_iterations {
            return Err(format!("attempt {} of task {task}", spent + 1));
        }
        let was_enriched = self.tasks.get(task).is_some_and(|spent| spent.enriched);
        if prompt == PromptKind::Enriched && was_enriched {
            return Err(format!("{task} was told what it lacks a second time"));
        }
        if ms > config.attempt_timeout_ms * MOST_TIME {
            return Err(format!("an attempt of {task} gets {ms} ms"));
        }
        Ok(())
    }

    fn ended(&mut self, task: &TaskKey, report: &AttemptReport) -> Check {
        let Some(prompt) = self.at_work.remove(task) else {
            return Err(format!("an attempt of {task} ended that was not made"));
        };
        if let (Some(session), Some(usage)) = (&report.session, &report.usage) {
            self.used.insert(session.clone(), usage.input_tokens);
        }
        // A person's decision lets the task start over.
        if self.decided.remove(task) {
            self.tasks.remove(task);
            return Ok(());
        }
        let recovers = self.config.as_ref().is_some_and(|config| config.recovery);
        let is_stuck = recovers && report.ending.timed_out && !report.progressed;
        let spent = self.tasks.entry(task.clone()).or_default();
        let is_unread = matches!(
            report.class,
            AttemptClass::Transient { .. } | AttemptClass::Fatal { .. }
        );
        spent.enriched |= prompt == PromptKind::Enriched && !is_unread;
        let is_charged = match report.class {
            AttemptClass::Ordinary => !is_stuck,
            AttemptClass::Interrupted => {
                spent.interruptions += 1;
                spent.interruptions > FREE_INTERRUPTIONS
            }
            AttemptClass::Session { .. } => {
                spent.sessions += 1;
                spent.sessions > FREE_SESSIONS
            }
            AttemptClass::Transient { .. } | AttemptClass::Fatal { .. } => false,
        };
        let is_extra = matches!(prompt, PromptKind::Reminder | PromptKind::Split);
        let is_cut_off = report.class == AttemptClass::Interrupted;
        spent.charged += u32::from(is_charged && (is_cut_off || !is_extra));
        if prompt == PromptKind::Reminder {
            return Ok(());
        }
        let is_counted = matches!(
            report.class,
            AttemptClass::Ordinary | AttemptClass::Session { .. }
        );
        self.attempts += u32::from(is_counted);
        Ok(())
    }

    /// Checks that a repeat is charged as a repeat.
    fn repeats(&mut self, task: &TaskKey) -> Check {
        let spent = self.tasks.entry(task.clone()).or_default();
        spent.repeats += 1;
        if !spent.only_red {
            spent.charged = spent.charged.saturating_sub(1);
        }
        match spent.repeats > REPEATS {
            false => Ok(()),
            true => Err(format!("{task} is repeated {} times", spent.repeats)),
        }
    }

    /// Checks that a wait interrupted by a crash counts as one wait.
    fn waits(
        &mut self,
        now: Timestamp,
        task: &TaskKey,
        since: Timestamp,
        until: Timestamp,
    ) -> Check {
        let is_other = |wait: &(Timestamp, Timestamp)| *wait != (since, until);
        if self.waiting.get(task).is_some_and(is_other) {
            return Err(format!("the wait for {task} began anew"));
        }
        let is_new = self.waiting.insert(task.clone(), (since, until)).is_none();
        let most = self.config.as_ref().map_or(0, |config| config.max_wait_ms);
        let all = self.waited_ms + until.since(now);
        match is_new && all > most {
            false => Ok(()),
            true => Err(format!("the run waits {all} ms, but may {most}")),
        }
    }
}
