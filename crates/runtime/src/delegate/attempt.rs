//! One attempt of a delegation.

use std::time::Duration;

use regreen_agents::{Assignment, IdenticalPrompt, parts};
use regreen_engine::delegation::{Attempted, Order};
use regreen_model::{AttemptClass, AttemptReport, FailureNote, PromptKind};

use super::Onlooker;
use super::changes::Changes;
use super::child::Child;
use super::diary::Entry;
use super::failure::Known;
use super::pursuit::{Pursuit, Work};
use crate::clock;
use crate::heard::{Heard, Told};
use crate::perform::AgentRun;
use crate::perform_error::PerformError;
use crate::report;

/// An attempt that was made.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) attempted: Attempted,
    pub(super) entry: Entry,
    pub(super) answer: String,
    pub(super) flaky: bool,
}

impl Child<'_> {
    pub(super) fn attempt(
        &mut self,
        work: &Work,
        pursuit: &mut Pursuit,
        order: Order,
    ) -> Result<Made, PerformError> {
        let prompt = self.prompt(work, pursuit, &order);
        let entry = self.diary.begin(&order, &prompt)?;
        if let Err(refused) = self.keep_prompt(pursuit, &order, entry, &prompt)? {
            return Ok(refused_attempt(order, entry, &refused));
        }
        // What others did in between is not the agent's.
        self.watched.changes();
        let (report, heard) = self.run_agent(&order, entry, &prompt)?;
        let changes = self.changes(entry, &heard)?;
        let report = AttemptReport {
            progressed: report.progressed || !changes.files().is_empty(),
            ..report
        };
        let known = Known {
            report: &report,
            heard: &heard,
            changes: &changes,
            red: None,
        };
        let is_split = order.prompt == PromptKind::Split;
        let (failure, flaky) = match known.failure() {
            None if !is_split => self.checked(work, entry, &known)?,
            failure => (failure, false),
        };
        let duration_ms = report.ending.duration_ms;
        self.diary.end(entry, duration_ms, failure.as_ref())?;
        pursuit.told.push(prompt);
        Ok(Made {
            attempted: Attempted {
                parts: match is_split {
                    true => parts(&heard.final_message),
                    false => Vec::new(),
                },
                order,
                report,
                failure,
            },
            entry,
            answer: heard.final_message,
            flaky,
        })
    }

    /// What the attempt changed and used, also for the summary.
    fn changes(&mut self, entry: Entry, heard: &Heard) -> Result<Changes, PerformError> {
        let changes = self.watched.changes();
        self.files.extend(changes.files());
        for (tool, count) in &heard.tools.counts {
            *self.tools.entry(tool.clone()).or_default() += count;
        }
        self.diary.changed(entry, changes.files())?;
        Ok(changes)
    }

    /// Why the check says that it failed, and whether the check was red first.
    fn checked(
        &mut self,
        work: &Work,
        entry: Entry,
        known: &Known<'_>,
    ) -> Result<(Option<FailureNote>, bool), PerformError> {
        let stem = format!("{}.verify", self.diary.number(entry));
        let checked = self.check(work, &stem)?;
        let failure = checked.red.and_then(|red| {
            let red = Some(red);
            Known { red, ..*known }.failure()
        });
        Ok((failure, checked.flaky))
    }

    fn run_agent(
        &mut self,
        order: &Order,
        entry: Entry,
        prompt: &str,
    ) -> Result<(AttemptReport, Heard), PerformError> {
        let performer = &self.performer;
        let number = self.diary.number(entry);
        let run = AgentRun {
            assignment: Assignment {
                task_id: &self.place.id,
                title: &self.key.title,
                attempt: number,
                spec_dir: "",
                root: &performer.places.root.to_string_lossy(),
                session: performer.agent.session(order.session.as_deref()),
                prompt,
                kind: order.prompt,
                steps: &[],
            },
            folder: &self.place.folder,
            stem: number.to_string(),
            timeout_ms: order.timeout_ms,
            idle_timeout_ms: self.idle_timeout_ms,
            environment: &self.environment,
            usage_file: self.place.folder.join(format!("{number}.usage")),
            purpose: number.to_string(),
        };
        let mut told = Watched(self.onlooker);
        let (ended, heard) = run.run(performer, &mut told)?;
        let ending = report::ending(&ended, Duration::from_millis(order.timeout_ms));
        let program = performer.agent.program();
        let report = report::delegated(program, &ended, ending, &heard, clock::now());
        if report.class == AttemptClass::Interrupted && performer.processes.stop.asked().is_some() {
            return Err(PerformError::Stopped);
        }
        let report = AttemptReport {
            progressed: (report.progressed && !performer.agent.has_sessions()) || heard.is_at_work,
            ..report
        };
        Ok((report, heard))
    }
}

/// Nobody goes on with a delegation after a crash: only people are told.
struct Watched<'o>(&'o mut dyn Onlooker);

impl Told for Watched<'_> {
    fn activity(&mut self, line: &str) {
        self.0.activity(line);
    }

    fn session(&mut self, _id: &str) {}
}

/// An attempt that was not made, because it would fail as the one before.
fn refused_attempt(order: Order, entry: Entry, refused: &IdenticalPrompt) -> Made {
    let why = format!("{refused}; let delegate_retry.md in the prompts folder say {{{{error}}}}");
    Made {
        attempted: Attempted {
            order,
            report: AttemptReport {
                class: AttemptClass::Fatal { why: why.clone() },
                ..AttemptReport::default()
            },
            failure: Some(FailureNote {
                error: why,
                ..FailureNote::default()
            }),
            parts: Vec::new(),
        },
        entry,
        answer: String::new(),
        flaky: false,
    }
}
