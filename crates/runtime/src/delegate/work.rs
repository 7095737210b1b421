//! Works on one prompt, the whole or a part, until it is done or nothing is left to try.

use regreen_agents::PartBrief;
use regreen_diagnosis::DelegatedAttempt;
use regreen_engine::delegation::{
    Attempted, Conclusion, DelegatedOrder, Happened, NextAction, Terms, next,
};
use regreen_model::{
    Advice, AttemptClass, AttemptReport, Experience, FailureCategory, FailureRecord, PlainLine,
    PromptKind, Transcript,
};

use super::active::ActiveDelegation;
use super::attempt::FinishedAttempt;
use super::log::LoggedAttempt;
use crate::clock;
use crate::performer::PerformError;

const TITLE_CHARS: usize = 80;

/// A prompt, and the check that decides when it is done.
#[derive(Clone, Debug)]
pub(super) struct DelegatedWork {
    pub(super) prompt: String,
    pub(super) verify: Option<String>,
    pub(super) terms: Terms,
}

/// How the work ended.
#[derive(Clone, Debug)]
pub(super) struct DelegationOutcome {
    pub(super) end: Conclusion,
    pub(super) answer: String,
    /// The check failed first and then passed.
    pub(super) flaky: bool,
    /// The last failure.
    pub(super) failure: Option<FailureRecord>,
    /// The answers of the parts that finished, if others did not.
    pub(super) finished_parts: String,
}

/// The state of the work on one prompt.
#[derive(Debug, Default)]
pub(super) struct DelegationState {
    pub(super) past: Vec<Happened>,
    pub(super) failed_prompts: Vec<String>,
    /// What earlier failures show that are like the last one.
    pub(super) experience: Option<Box<Experience>>,
    /// A description of each repair since the last failure.
    pub(super) repaired: Vec<String>,
    /// The failed attempt that regreen is recovering from.
    pub(super) failed: Option<LoggedAttempt>,
    /// How the last attempt at the work itself failed.
    pub(super) failure: Option<FailureRecord>,
    pub(super) answer: String,
    /// The answers of the parts that finished, if others did not.
    pub(super) finished_parts: String,
    pub(super) flaky: bool,
}

impl DelegationState {
    /// Keeps the answers of finished parts even if the rest is done another way, or not at all.
    fn into_outcome(self, end: Conclusion) -> DelegationOutcome {
        let answer = match self.finished_parts.as_str() {
            "" => self.answer,
            parts => format!("{parts}## The rest\n\n{}", self.answer),
        };
        DelegationOutcome {
            end,
            answer,
            flaky: self.flaky,
            failure: self.failure,
            finished_parts: self.finished_parts,
        }
    }

    /// Returns the number of the next charged attempt, counted from 1.
    pub(super) fn number(&self) -> u32 {
        let charged = self
            .past
            .iter()
            .filter(|happened| matches!(happened, Happened::Attempted(made) if made.is_charged()));
        u32::try_from(charged.count() + 1).unwrap_or(u32::MAX)
    }
}

impl ActiveDelegation<'_> {
    /// Follows the engine's steps until the work is over.
    pub(super) fn run(&mut self, work: &DelegatedWork) -> Result<DelegationOutcome, PerformError> {
        let mut state = DelegationState::default();
        loop {
            let step = next(&work.terms, &state.past, clock::now());
            if let Some(failed) = state.failed {
                self.log.tried(failed, &step, state.experience.as_deref())?;
            }
            match step {
                NextAction::Attempt(order) => self.try_once(work, &mut state, order)?,
                NextAction::Wait {
                    until,
                    why,
                    repeats,
                } => {
                    let waited = self.wait(until, &why, repeats)?;
                    state.past.push(waited);
                }
                NextAction::Recall => {
                    let known = self.recall(&mut state);
                    state.past.push(Happened::Recalled(known));
                }
                NextAction::Inspect => {
                    let found = self.inspect(work, &state)?;
                    state.past.push(Happened::Inspected(found));
                }
                NextAction::Repair(repair) => self.repair(work, &mut state, repair)?,
                NextAction::DoParts { parts, terms } => {
                    if let Some(end) = self.run_parts(work, &mut state, &parts, terms)? {
                        return Ok(state.into_outcome(end));
                    }
                }
                NextAction::End(end) => return Ok(state.into_outcome(end)),
            }
        }
    }

    /// Looks the last failure up in the user's history.
    fn recall(&mut self, state: &mut DelegationState) -> Option<Box<Experience>> {
        let (memory, failure) = (self.memory.as_ref()?, state.failure.as_ref()?);
        let known = memory.recall(failure, &self.folder.id).map(Box::new);
        if let Some(known) = &known {
            let healed = known.advice.first().map(Advice::words);
            let healed =
                healed.map(|words| format!("a failure like this was healed before: {words}"));
            let told = known.warning().or(healed);
            told.into_iter()
                .for_each(|line| self.observer.milestone(&line));
        }
        state.experience.clone_from(&known);
        known
    }

    fn try_once(
        &mut self,
        work: &DelegatedWork,
        state: &mut DelegationState,
        order: DelegatedOrder,
    ) -> Result<(), PerformError> {
        let is_split = order.prompt == PromptKind::Split;
        self.announce(work, state, &order);
        let made = self.attempt(work, state, order)?;
        if !is_split {
            self.note_attempt(state, &made)?;
        }
        state
            .past
            .push(Happened::Attempted(Box::new(made.attempted)));
        Ok(())
    }

    /// Announces an attempt, unless it is the first.
    fn announce(&mut self, work: &DelegatedWork, state: &DelegationState, order: &DelegatedOrder) {
        let (number, most) = (state.number(), work.terms.attempts);
        let line = match order.prompt {
            _ if state.past.is_empty() => return,
            PromptKind::Split => "asking the agent to split the work".to_owned(),
            _ => format!("attempt {number} of {most}, {}", order.how()),
        };
        self.observer.milestone(&line);
    }

    /// Notes how an attempt at the work itself ended.
    fn note_attempt(
        &mut self,
        state: &mut DelegationState,
        made: &FinishedAttempt,
    ) -> Result<(), PerformError> {
        let failure = made.attempted.failure.clone();
        state.experience = None;
        if let Some(failed) = state.failed.take() {
            self.log.helped(failed, failure.is_none())?;
        }
        state.failed = failure.is_some().then_some(made.logged);
        // A failure that kept the agent from working says nothing about the work.
        if made.attempted.report.class == AttemptClass::Ordinary || state.failure.is_none() {
            state.failure = failure;
            state.repaired.clear();
        }
        state.answer.clone_from(&made.answer);
        state.flaky = made.flaky;
        Ok(())
    }

    /// Works on the parts one after the other. Returns `Some` if nothing is left to try.
    fn run_parts(
        &mut self,
        work: &DelegatedWork,
        state: &mut DelegationState,
        parts: &[String],
        terms: Terms,
    ) -> Result<Option<Conclusion>, PerformError> {
        let mut answers = String::new();
        let mut failed = None;
        for (at, part) in parts.iter().enumerate() {
            let (number, total) = (at + 1, parts.len());
            self.observer
                .milestone(&format!("Executing subtask {number}/{total}"));
            let outcome = self.run(&self.part(work, parts, at, terms))?;
            let failure = outcome
                .failure
                .map(|failure| after_parts(failure, parts, at));
            match outcome.end {
                Conclusion::Done => {
                    let title = PlainLine::flatten(part, TITLE_CHARS);
                    let answer = outcome.answer.trim_end();
                    answers.push_str(&format!(
                        "## Subtask {number}/{total}: {title}\n\n{answer}\n\n"
                    ));
                }
                Conclusion::Failed => {
                    failed = Some(failure.unwrap_or_else(|| part_failed(number, total)));
                    break;
                }
                end => {
                    state.failure = failure;
                    state.finished_parts = answers;
                    return Ok(Some(end));
                }
            }
        }
        let (failure, flaky) = match failed {
            Some(failure) => {
                state.finished_parts = std::mem::take(&mut answers);
                (Some(failure), false)
            }
            None => self.check_parts(work)?,
        };
        self.note_parts(work, state, failure, answers, flaky)?;
        Ok(None)
    }

    fn part(
        &self,
        work: &DelegatedWork,
        parts: &[String],
        at: usize,
        terms: Terms,
    ) -> DelegatedWork {
        let brief = PartBrief {
            number: at + 1,
            total: parts.len(),
            part: parts.get(at).map_or("", String::as_str),
            whole: &work.prompt,
            done: parts.get(..at).unwrap_or_default(),
        };
        DelegatedWork {
            prompt: self.prompts().delegated_part(&brief),
            verify: None,
            terms: Terms {
                max_wait_ms: terms.max_wait_ms.saturating_sub(self.waited_ms),
                ..terms
            },
        }
    }

    /// Checks the whole once all parts are done, and whether that check is flaky.
    fn check_parts(
        &mut self,
        work: &DelegatedWork,
    ) -> Result<(Option<FailureRecord>, bool), PerformError> {
        let stem = format!("{}.parts", self.log.rows.len());
        let files: Vec<String> = self.files.iter().cloned().collect();
        self.check(
            work,
            &stem,
            &DelegatedAttempt {
                report: &AttemptReport::default(),
                transcript: &Transcript::default(),
                files_changed: &files,
                completed_steps: &[],
                failed_check: None,
            },
        )
    }

    fn note_parts(
        &mut self,
        work: &DelegatedWork,
        state: &mut DelegationState,
        failure: Option<FailureRecord>,
        answer: String,
        flaky: bool,
    ) -> Result<(), PerformError> {
        if let Some(failed) = state.failed.take() {
            self.log.helped(failed, failure.is_none())?;
        }
        state.failure.clone_from(&failure);
        state.answer = answer;
        state.flaky = flaky;
        let order = DelegatedOrder {
            prompt: PromptKind::First,
            timeout_ms: work.terms.timeout_ms,
            session: None,
        };
        state.past.push(Happened::Attempted(Box::new(Attempted {
            order,
            report: AttemptReport::default(),
            failure,
            parts: Vec::new(),
        })));
        Ok(())
    }
}

/// The failure of a part, if nothing else is known about it.
fn part_failed(number: usize, total: usize) -> FailureRecord {
    FailureRecord::new(format!("subtask {number}/{total} was not finished"))
}

/// Adds the parts before the failed one as completed steps.
fn after_parts(mut failure: FailureRecord, parts: &[String], at: usize) -> FailureRecord {
    if let (Some(found), Some(done)) = (failure.diagnosis.as_mut(), parts.get(..at))
        && !done.is_empty()
    {
        found.category = FailureCategory::Partial;
        found.completed_steps.splice(0..0, done.iter().cloned());
    }
    failure
}
