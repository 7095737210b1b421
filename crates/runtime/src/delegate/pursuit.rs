//! One prompt until it is done, or nothing more can be done: the whole, or a part of it.

use regreen_engine::delegation::{End, Happened, Order, Step, Terms, next};
use regreen_model::{AttemptClass, FailureNote, PromptKind};

use super::attempt::Made;
use super::child::Child;
use super::diary::Entry;
use crate::clock;
use crate::perform_error::PerformError;

/// What is to be done.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) prompt: String,
    pub(super) verify: Option<String>,
    pub(super) terms: Terms,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(super) struct CameTo {
    pub(super) end: End,
    pub(super) answer: String,
    /// Verify was red first.
    pub(super) flaky: bool,
    /// How it failed last.
    pub(super) failure: Option<FailureNote>,
}

/// What is remembered while one prompt is pursued.
#[derive(Debug, Default)]
pub(super) struct Pursuit {
    pub(super) past: Vec<Happened>,
    /// What the agent was told in attempts that failed.
    pub(super) told: Vec<String>,
    /// What was repaired since the last failure, in words.
    pub(super) repaired: Vec<String>,
    /// The failure that something is done about.
    pub(super) failed: Option<Entry>,
    /// How the last attempt failed that was one at the work itself.
    pub(super) failure: Option<FailureNote>,
    pub(super) answer: String,
    pub(super) flaky: bool,
}

impl Pursuit {
    fn came_to(self, end: End) -> CameTo {
        CameTo {
            end,
            answer: self.answer,
            flaky: self.flaky,
            failure: self.failure,
        }
    }

    /// Which of the attempts that are allowed is next, from 1.
    pub(super) fn number(&self) -> u32 {
        let charged = self
            .past
            .iter()
            .filter(|happened| matches!(happened, Happened::Attempted(made) if made.is_charged()));
        u32::try_from(charged.count() + 1).unwrap_or(u32::MAX)
    }
}

impl Child<'_> {
    pub(super) fn pursue(&mut self, work: &Work) -> Result<CameTo, PerformError> {
        let mut pursuit = Pursuit::default();
        loop {
            let step = next(&work.terms, &pursuit.past, clock::now());
            if let Some(failed) = pursuit.failed {
                self.diary.tried(failed, &step)?;
            }
            match step {
                Step::Attempt(order) => self.try_once(work, &mut pursuit, order)?,
                Step::Wait {
                    until,
                    why,
                    repeats,
                } => {
                    let waited = self.wait(until, &why, repeats)?;
                    pursuit.past.push(waited);
                }
                Step::Inspect => {
                    let found = self.inspect(work, &pursuit)?;
                    pursuit.past.push(Happened::Inspected(found));
                }
                Step::Repair(repair) => self.repair(work, &mut pursuit, repair)?,
                Step::DoParts { parts, terms } => {
                    if let Some(end) = self.do_parts(work, &mut pursuit, &parts, terms)? {
                        return Ok(pursuit.came_to(end));
                    }
                }
                Step::End(end) => return Ok(pursuit.came_to(end)),
            }
        }
    }

    fn try_once(
        &mut self,
        work: &Work,
        pursuit: &mut Pursuit,
        order: Order,
    ) -> Result<(), PerformError> {
        let is_split = order.prompt == PromptKind::Split;
        self.announce(work, pursuit, &order);
        let made = self.attempt(work, pursuit, order)?;
        if !is_split {
            self.judge(pursuit, &made)?;
        }
        pursuit
            .past
            .push(Happened::Attempted(Box::new(made.attempted)));
        Ok(())
    }

    /// Says what comes, where it is not the first.
    fn announce(&mut self, work: &Work, pursuit: &Pursuit, order: &Order) {
        let (number, most) = (pursuit.number(), work.terms.attempts);
        let line = match order.prompt {
            _ if pursuit.past.is_empty() => return,
            PromptKind::Split => "asking the agent to divide the work".to_owned(),
            _ => format!("attempt {number} of {most}, {}", order.how()),
        };
        self.onlooker.milestone(&line);
    }

    /// Remembers how an attempt at the work itself ended.
    fn judge(&mut self, pursuit: &mut Pursuit, made: &Made) -> Result<(), PerformError> {
        let failure = made.attempted.failure.clone();
        if let Some(failed) = pursuit.failed.take() {
            self.diary.helped(failed, failure.is_none())?;
        }
        pursuit.failed = failure.is_some().then_some(made.entry);
        // What kept the agent from working says nothing of the work.
        if made.attempted.report.class == AttemptClass::Ordinary || pursuit.failure.is_none() {
            pursuit.failure = failure;
            pursuit.repaired.clear();
        }
        pursuit.answer.clone_from(&made.answer);
        pursuit.flaky = made.flaky;
        Ok(())
    }
}
