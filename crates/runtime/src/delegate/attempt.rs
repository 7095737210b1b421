//! One attempt of a delegation, and the check of it.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use regreen_agents::{
    Agent, Assignment, DelegateBrief, IdenticalPrompt, Occasion, PreviousAttempt, parts,
    refuse_identical,
};
use regreen_diagnosis::rank;
use regreen_engine::delegation::{Attempted, Order};
use regreen_model::{
    AttemptClass, AttemptReport, Evidence, FailureNote, PromptKind, Source, Verdict, VerifyCommand,
    VerifyResult,
};

use super::Onlooker;
use super::child::Child;
use super::diary::Entry;
use super::failure::Known;
use super::pursuit::{Pursuit, Work};
use crate::clock;
use crate::heard::{Heard, Told};
use crate::perform::{self, AgentRun, Around, Check, completed};
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

/// What the check showed.
#[derive(Debug, Default)]
pub(super) struct CheckedWork {
    /// Why it is red.
    pub(super) red: Option<(String, Evidence)>,
    /// It was red first.
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
        let changes = self.watched.changes();
        self.files.extend(changes.files());
        self.diary.changed(entry, changes.files())?;
        for (tool, count) in &heard.tools.counts {
            *self.tools.entry(tool.clone()).or_default() += count;
        }
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
        let mut failure = known.failure();
        let mut checked = CheckedWork::default();
        if failure.is_none() && order.prompt != PromptKind::Split {
            let stem = format!("{}.verify", self.diary.number(entry));
            checked = self.check(work, &stem)?;
            let red = checked.red.take();
            failure = red.and_then(|red| {
                let red = Some(red);
                Known { red, ..known }.failure()
            });
        }
        let duration_ms = report.ending.duration_ms;
        self.diary.end(entry, duration_ms, failure.as_ref())?;
        pursuit.told.push(prompt);
        Ok(Made {
            attempted: Attempted {
                parts: match order.prompt {
                    PromptKind::Split => parts(&heard.final_message),
                    _ => Vec::new(),
                },
                order,
                report,
                failure,
            },
            entry,
            answer: heard.final_message,
            flaky: checked.flaky,
        })
    }

    /// What the agent is told.
    fn prompt(&self, work: &Work, pursuit: &Pursuit, order: &Order) -> String {
        let session = order.session.as_deref();
        let resumes = self.performer.agent.session(session).is_some();
        let brief = DelegateBrief {
            prompt: &work.prompt,
            attempt: pursuit.number().min(work.terms.attempts),
            max_attempts: work.terms.attempts,
        };
        let since = pursuit.repaired.join("\n");
        let previous = pursuit.failure().map(|failure| previous(failure, &since));
        let around = match (order.prompt, pursuit.failure()) {
            (PromptKind::Enriched, Some(failure)) => {
                Around::looked_up(&self.performer.places.root, failure)
            }
            _ => Around::default(),
        };
        let occasion = match (order.prompt, previous) {
            (PromptKind::First, _) | (_, None) => Occasion::First,
            (PromptKind::Split, _) => Occasion::Split,
            (PromptKind::Enriched, Some(previous)) => {
                Occasion::Enriched(previous, around.surroundings())
            }
            (_, Some(previous)) => Occasion::Retry(previous),
        };
        self.prompts().delegated(&brief, &occasion, resumes)
    }

    /// Keeps what the agent is told beside the log; unless it is what failed already.
    fn keep_prompt(
        &self,
        pursuit: &Pursuit,
        order: &Order,
        entry: Entry,
        prompt: &str,
    ) -> Result<Result<(), IdenticalPrompt>, PerformError> {
        let has_failed = pursuit.failure().is_some() && order.session.is_none();
        let is_news = !matches!(order.prompt, PromptKind::First);
        for told in pursuit.told.iter().filter(|_| has_failed && is_news) {
            if let Err(refused) = refuse_identical(prompt, told) {
                return Ok(Err(refused));
            }
        }
        let name = format!("{}.prompt.md", self.diary.number(entry));
        let kept = self.diary.masks.mask(prompt);
        fs::write(self.place.folder.join(name), kept)?;
        Ok(Ok(()))
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
            scans: matches!(performer.agent, Agent::Command(_)),
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

    /// Runs what has to be green in the end; once more if it is not.
    pub(super) fn check(&mut self, work: &Work, stem: &str) -> Result<CheckedWork, PerformError> {
        let Some(command) = &work.verify else {
            return Ok(CheckedWork::default());
        };
        let commands = [VerifyCommand::always(command.clone())];
        let check = Check {
            purpose: "verify".to_owned(),
            folder: self.place.folder.clone(),
            stem: stem.to_owned(),
            commands: &commands,
            gate: None,
            timeout_ms: self.performer.verify_timeout_ms,
            environment: &self.environment,
        };
        let first = perform::verify(&mut self.performer, &check, self.onlooker)?;
        if !matches!(first.verdict, Verdict::Red { .. }) {
            return Ok(CheckedWork::default());
        }
        let second = perform::verify(&mut self.performer, &check, self.onlooker)?;
        Ok(match second.verdict {
            Verdict::Red { error } => CheckedWork {
                red: Some((
                    error,
                    second.evidence.map(|found| *found).unwrap_or_default(),
                )),
                flaky: false,
            },
            _ => CheckedWork {
                red: None,
                flaky: true,
            },
        })
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

impl CheckedWork {
    /// Why the parts together are not what was asked for.
    pub(super) fn failure_of_parts(&self, files: &BTreeSet<String>) -> Option<FailureNote> {
        let (why, evidence) = self.red.as_ref()?;
        let found = rank(&Evidence {
            source: Source::Agent,
            final_message: Some(String::new()),
            files_changed: files.iter().cloned().collect(),
            verify: Some(Box::new(VerifyResult {
                passed: false,
                evidence: evidence.clone(),
            })),
            ..Evidence::default()
        });
        Some(FailureNote {
            error: why.clone(),
            attempted_fix: String::new(),
            diagnosis: found.map(Box::new),
        })
    }
}

fn previous<'a>(failure: &'a FailureNote, since: &'a str) -> PreviousAttempt<'a> {
    PreviousAttempt {
        error: &failure.error,
        details: since,
        suggestions: match failure.told() {
            Some(found) => &found.suggested_actions,
            None => &[],
        },
        completed: completed(failure.diagnosis.as_deref()),
        ..PreviousAttempt::default()
    }
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
