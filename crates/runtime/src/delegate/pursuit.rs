//! One prompt until it is done, or nothing more can be done: the whole, or a part of it.

use regreen_agents::PartBrief;
use regreen_engine::delegation::{Attempted, End, Happened, Order, Step, Terms, next};
use regreen_engine::{RepairOrder, RepairScene};
use regreen_model::{
    AttemptClass, AttemptReport, FailureCategory, FailureNote, Inspection, PlainLine,
    PlannedRepair, PromptKind, RepairResult, Timestamp, VerifyCommand,
};

use super::attempt::Made;
use super::child::Child;
use super::diary::Entry;
use crate::clock;
use crate::log_file::LogFile;
use crate::perform::{self, Site};
use crate::perform_error::PerformError;

const TITLE_CHARS: usize = 80;

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
    failed: Option<Entry>,
    failure: Option<FailureNote>,
    answer: String,
    flaky: bool,
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

    /// How the last attempt failed that was one at the work itself.
    pub(super) fn failure(&self) -> Option<&FailureNote> {
        self.failure.as_ref()
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

    fn wait(
        &mut self,
        until: Timestamp,
        why: &str,
        repeats: bool,
    ) -> Result<Happened, PerformError> {
        let began = clock::now();
        let ms = until.since(began);
        let seconds = ms.div_ceil(1000);
        self.onlooker
            .milestone(&format!("waiting {seconds} s: {why}"));
        if !self.performer.processes.stop.sleep_until(until) {
            return Err(PerformError::Stopped);
        }
        if !repeats {
            self.waited_ms = self.waited_ms.saturating_add(ms);
        }
        Ok(Happened::Waited { ms, repeats })
    }

    fn scene(&self, work: &Work, pursuit: &Pursuit) -> Option<RepairScene> {
        let failure = pursuit.failure().and_then(FailureNote::told)?;
        Some(RepairScene {
            task: self.key.clone(),
            attempt: u32::try_from(self.diary.rows.len()).unwrap_or(u32::MAX),
            failure: failure.clone(),
            verify: work
                .verify
                .iter()
                .cloned()
                .map(VerifyCommand::always)
                .collect(),
            environment: self.environment.clone(),
        })
    }

    fn site(&self, scene: &RepairScene) -> Site {
        let commands = scene.verify.iter().map(|verify| verify.command.clone());
        Site {
            commands: commands.collect(),
            log: perform::log_in(&self.place.folder, scene.attempt),
        }
    }

    fn inspect(&mut self, work: &Work, pursuit: &Pursuit) -> Result<Inspection, PerformError> {
        match self.scene(work, pursuit) {
            Some(scene) => perform::inspect_at(&self.performer, &scene, &self.site(&scene)),
            None => Ok(Inspection::Refused {
                why: "nothing is known of the failure".to_owned(),
            }),
        }
    }

    fn repair(
        &mut self,
        work: &Work,
        pursuit: &mut Pursuit,
        repair: PlannedRepair,
    ) -> Result<(), PerformError> {
        self.onlooker.milestone(&format!("repair: {}", repair.does));
        let action = repair.action.clone();
        let Some(scene) = self.scene(work, pursuit) else {
            return Ok(());
        };
        let site = self.site(&scene);
        let log = LogFile::create(&self.place.folder, &format!("{}.repair", scene.attempt))?;
        let order = RepairOrder {
            fix: self.key.clone(),
            attempt: scene.attempt,
            repair,
            agreed: false,
            again: false,
            scene,
        };
        let result = perform::repair_at(&mut self.performer, &order, &site, log)?;
        if let RepairResult::Done { did, environment } = &result {
            pursuit.repaired.push(did.clone());
            self.environment.extend(environment.iter().cloned());
        }
        pursuit.past.push(Happened::Repaired { action, result });
        Ok(())
    }

    /// Does the parts one after the other; `Some` if there is nothing more to be done.
    fn do_parts(
        &mut self,
        work: &Work,
        pursuit: &mut Pursuit,
        parts: &[String],
        terms: Terms,
    ) -> Result<Option<End>, PerformError> {
        let mut answers = String::new();
        let mut failure = None;
        for (at, part) in parts.iter().enumerate() {
            let (number, total) = (at + 1, parts.len());
            self.onlooker
                .milestone(&format!("Executing subtask {number}/{total}"));
            let came_to = self.pursue(&self.part(work, parts, at, terms))?;
            let title = PlainLine::flatten(part, TITLE_CHARS);
            let answer = came_to.answer.trim_end();
            answers.push_str(&format!(
                "## Subtask {number}/{total}: {title}\n\n{answer}\n\n"
            ));
            match came_to.end {
                End::Done => {}
                End::Failed => {
                    failure = came_to
                        .failure
                        .map(|failure| after_parts(failure, parts, at));
                    break;
                }
                end => {
                    pursuit.failure = came_to
                        .failure
                        .map(|failure| after_parts(failure, parts, at));
                    return Ok(Some(end));
                }
            }
        }
        let made = self.judged_parts(work, failure, answers)?;
        self.judge_parts(work, pursuit, made)?;
        Ok(None)
    }

    fn part(&self, work: &Work, parts: &[String], at: usize, terms: Terms) -> Work {
        let brief = PartBrief {
            number: at + 1,
            total: parts.len(),
            part: parts.get(at).map_or("", String::as_str),
            whole: &work.prompt,
            done: parts.get(..at).unwrap_or_default(),
        };
        Work {
            prompt: self.prompts().delegated_part(&brief),
            verify: None,
            terms: Terms {
                max_wait_ms: terms.max_wait_ms.saturating_sub(self.waited_ms),
                ..terms
            },
        }
    }

    /// The whole is checked when all parts are done.
    fn judged_parts(
        &mut self,
        work: &Work,
        failure: Option<FailureNote>,
        answer: String,
    ) -> Result<(Option<FailureNote>, String, bool), PerformError> {
        if failure.is_some() {
            return Ok((failure, answer, false));
        }
        let checked = self.check(work, &self.parts_stem())?;
        let failure = checked.failure_of_parts(&self.files);
        Ok((failure, answer, checked.flaky))
    }

    fn parts_stem(&self) -> String {
        format!("{}.parts", self.diary.rows.len())
    }

    fn judge_parts(
        &mut self,
        work: &Work,
        pursuit: &mut Pursuit,
        (failure, answer, flaky): (Option<FailureNote>, String, bool),
    ) -> Result<(), PerformError> {
        if let Some(failed) = pursuit.failed.take() {
            self.diary.helped(failed, failure.is_none())?;
        }
        pursuit.failure.clone_from(&failure);
        pursuit.answer = answer;
        pursuit.flaky = flaky;
        let order = Order {
            prompt: PromptKind::First,
            timeout_ms: work.terms.timeout_ms,
            session: None,
        };
        pursuit.past.push(Happened::Attempted(Box::new(Attempted {
            order,
            report: AttemptReport::default(),
            failure,
            parts: Vec::new(),
        })));
        Ok(())
    }
}

/// How a part failed, with the parts before it as what is completed.
fn after_parts(mut failure: FailureNote, parts: &[String], at: usize) -> FailureNote {
    if let (Some(found), Some(done)) = (failure.diagnosis.as_mut(), parts.get(..at))
        && !done.is_empty()
    {
        found.category = FailureCategory::Partial;
        found.completed_steps.splice(0..0, done.iter().cloned());
    }
    failure
}
