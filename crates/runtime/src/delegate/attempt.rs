//! One attempt of a delegation: prompt, run and check.

use std::fs;

use regreen_agents::{
    Assignment, DelegateBrief, IdenticalPrompt, PromptReason, parts, refuse_identical,
};
use regreen_diagnosis::{DelegatedAttempt, ObservedAttempt, needs_opinion};
use regreen_engine::OPINION_TIME_MS;
use regreen_engine::delegation::{Attempted, DelegatedOrder};
use regreen_model::{
    AttemptClass, AttemptReport, FailureRecord, PromptKind, Transcript, VerifyCommand,
};

use super::DelegationObserver;
use super::active::ActiveDelegation;
use super::changes::FileChanges;
use super::log::LoggedAttempt;
use super::work::{DelegatedWork, DelegationState};
use crate::execution::AgentRun;
use crate::listener::TranscriptObserver;
use crate::perform::{LookedUpProject, Question, items_for_text};
use crate::performer::PerformError;
use crate::verify::{Check, CheckResult};

#[derive(Debug)]
pub(super) struct FinishedAttempt {
    pub(super) attempted: Attempted,
    pub(super) logged: LoggedAttempt,
    pub(super) answer: String,
    pub(super) flaky: bool,
}

impl ActiveDelegation<'_> {
    pub(super) fn attempt(
        &mut self,
        work: &DelegatedWork,
        state: &mut DelegationState,
        order: DelegatedOrder,
    ) -> Result<FinishedAttempt, PerformError> {
        let prompt = self.prompt(work, state, &order);
        let logged = self.log.begin(&order, &prompt)?;
        if let Err(refused) = self.save_prompt(state, &order, logged, &prompt)? {
            return Ok(refused_attempt(order, logged, &refused));
        }
        // Changes that others made since the last attempt are not this agent's work.
        self.tracker.changes();
        let seen = self.run_agent(&order, logged, &prompt)?;
        let mut report = seen.delegation_report();
        if report.class == AttemptClass::Interrupted && self.is_stopping() {
            return Err(PerformError::Stopped);
        }
        let changes = self.note_changes(logged, &seen.transcript)?;
        let files = changes.files();
        report.progressed |= !files.is_empty();
        let known = DelegatedAttempt {
            report: &report,
            transcript: &seen.transcript,
            files_changed: &files,
            completed_steps: &changes.steps(),
            failed_check: None,
        };
        let is_split = order.prompt == PromptKind::Split;
        let (failure, flaky) = match known.failure() {
            None if !is_split => {
                let stem = format!("{}.verify", self.log.number(logged));
                self.check(work, &stem, &known)?
            }
            failure => (failure, false),
        };
        let failure = match failure {
            Some(failure) if !is_split => Some(self.with_opinion(failure, &report, logged)?),
            failure => failure,
        };
        self.log
            .end(logged, report.ending.duration_ms, failure.as_ref())?;
        state.failed_prompts.push(prompt);
        let answer = seen.transcript.final_message;
        Ok(FinishedAttempt {
            attempted: Attempted {
                parts: if is_split { parts(&answer) } else { Vec::new() },
                order,
                report,
                failure,
            },
            logged,
            answer,
            flaky,
        })
    }

    /// Adds what the agent thinks of a failure, if it may be asked and the rules are not sure.
    fn with_opinion(
        &mut self,
        failure: FailureRecord,
        report: &AttemptReport,
        logged: LoggedAttempt,
    ) -> Result<FailureRecord, PerformError> {
        let found = failure.diagnosis.as_deref();
        let Some(rules) =
            found.filter(|found| needs_opinion(self.diagnosis_ask, report, Some(found)))
        else {
            return Ok(failure);
        };
        let given = self.context.ask_opinion(&Question {
            task_id: &self.folder.id,
            attempt: self.log.number(logged),
            folder: &self.folder.path,
            rules,
            timeout_ms: OPINION_TIME_MS,
            environment: &self.environment,
        })?;
        Ok(FailureRecord {
            diagnosis: given.diagnosis.map(Box::new).or(failure.diagnosis),
            ..failure
        })
    }

    /// Runs the final check. Returns why it failed, and whether it failed first and then passed.
    pub(super) fn check(
        &mut self,
        work: &DelegatedWork,
        stem: &str,
        known: &DelegatedAttempt<'_>,
    ) -> Result<(Option<FailureRecord>, bool), PerformError> {
        let Some(command) = &work.verify else {
            return Ok((None, false));
        };
        let check = Check {
            purpose: "verify".to_owned(),
            folder: self.folder.path.clone(),
            stem: stem.to_owned(),
            commands: &[VerifyCommand::always(command.clone())],
            gate: None,
            timeout_ms: self.context.verify_timeout_ms,
            deadline: None,
            environment: &self.environment,
        };
        let (result, is_second) = self.context.verify_with_retry(&check, self.observer)?;
        Ok(match &result {
            CheckResult::Failed {
                failure, evidence, ..
            } => {
                let failed_check = Some((failure, evidence.as_ref()));
                let known = DelegatedAttempt {
                    failed_check,
                    ..*known
                };
                (known.failure(), false)
            }
            CheckResult::Passed | CheckResult::Unverified | CheckResult::RanNoTest { .. } => {
                (None, is_second)
            }
        })
    }

    fn prompt(
        &self,
        work: &DelegatedWork,
        state: &DelegationState,
        order: &DelegatedOrder,
    ) -> String {
        let session = order.session.as_deref();
        let resumes = self.context.agent.session(session).is_some();
        let brief = DelegateBrief {
            prompt: &work.prompt,
            attempt: state.number().min(work.terms.attempts),
            max_attempts: work.terms.attempts,
        };
        let since = state.repaired.join("\n");
        let project = match (order.prompt, &state.failure) {
            (PromptKind::Enriched, Some(failure)) => {
                LookedUpProject::looked_up(&self.context.root, failure)
            }
            _ => LookedUpProject::default(),
        };
        let reason = match (order.prompt, &state.failure) {
            (PromptKind::First, _) | (_, None) => PromptReason::First,
            (PromptKind::Split, failure) => PromptReason::Split(failure.as_ref()),
            (PromptKind::Enriched, Some(failure)) => {
                PromptReason::Enriched(failure, project.context())
            }
            (_, Some(failure)) => PromptReason::Retry {
                failure,
                since: &since,
            },
        };
        let prompt = self.prompts().delegated(&brief, &reason, resumes);
        let is_first = order.prompt == PromptKind::First && !resumes;
        let items = || items_for_text(&self.context.root, &work.prompt);
        let project = is_first
            .then(|| self.context.project_section(items))
            .flatten();
        let known = state.experience.as_deref();
        let remembered = known.and_then(|known| self.prompts().recall(&self.folder.id, known));
        let sections = [project, remembered].into_iter().flatten();
        sections.fold(prompt, |prompt, more| {
            format!("{}\n\n{more}", prompt.trim_end())
        })
    }

    /// Saves the prompt beside the log; refuses a prompt that an attempt has already failed with.
    fn save_prompt(
        &self,
        state: &DelegationState,
        order: &DelegatedOrder,
        logged: LoggedAttempt,
        prompt: &str,
    ) -> Result<Result<(), IdenticalPrompt>, PerformError> {
        let has_failed = state.failure.is_some() && order.session.is_none();
        if has_failed && order.prompt != PromptKind::First {
            for failed in &state.failed_prompts {
                if let Err(refused) = refuse_identical(prompt, failed) {
                    return Ok(Err(refused));
                }
            }
        }
        let name = format!("{}.prompt.md", self.log.number(logged));
        fs::write(self.folder.path.join(name), self.log.masks.mask(prompt))?;
        Ok(Ok(()))
    }

    fn run_agent(
        &mut self,
        order: &DelegatedOrder,
        logged: LoggedAttempt,
        prompt: &str,
    ) -> Result<ObservedAttempt, PerformError> {
        let context = &self.context;
        let number = self.log.number(logged);
        let run = AgentRun {
            assignment: Assignment {
                task_id: &self.folder.id,
                title: &self.title,
                attempt: number,
                spec_dir: "",
                root: &context.root.to_string_lossy(),
                session: context.agent.session(order.session.as_deref()),
                prompt,
                kind: order.prompt,
                steps: &[],
            },
            folder: &self.folder.path,
            stem: number.to_string(),
            timeout_ms: order.timeout_ms,
            idle_timeout_ms: self.idle_timeout_ms,
            environment: &self.environment,
            usage_file: self.folder.path.join(format!("{number}.usage")),
            purpose: number.to_string(),
        };
        context.attempt_once(run, &mut ActivityOnly(self.observer))
    }

    /// Adds up what the attempts change and use, for the result.
    fn note_changes(
        &mut self,
        logged: LoggedAttempt,
        transcript: &Transcript,
    ) -> Result<FileChanges, PerformError> {
        let changes = self.tracker.changes();
        self.files.extend(changes.files());
        for step in changes.steps() {
            if !self.steps.contains(&step) {
                self.steps.push(step);
            }
        }
        for (tool, count) in &transcript.tools.counts {
            *self.tools.entry(tool.clone()).or_default() += count;
        }
        self.log.changed(logged, changes.files())?;
        Ok(changes)
    }

    fn is_stopping(&self) -> bool {
        self.context.processes.stop.asked().is_some()
    }
}

/// Forwards the agent's activity. The session is not stored, because a delegation is never resumed
/// after a crash.
struct ActivityOnly<'o>(&'o mut dyn DelegationObserver);

impl TranscriptObserver for ActivityOnly<'_> {
    fn activity(&mut self, line: &str) {
        self.0.activity(line);
    }

    fn session(&mut self, _id: &str) {}
}

/// The report of an attempt that was not made because it would fail like the one before.
fn refused_attempt(
    order: DelegatedOrder,
    logged: LoggedAttempt,
    refused: &IdenticalPrompt,
) -> FinishedAttempt {
    let why = format!("{refused}; add {{{{error}}}} to delegate_retry.md in the prompts folder");
    FinishedAttempt {
        attempted: Attempted {
            order,
            report: AttemptReport {
                class: AttemptClass::Fatal { why: why.clone() },
                ..AttemptReport::default()
            },
            failure: Some(FailureRecord::new(why)),
            parts: Vec::new(),
        },
        logged,
        answer: String::new(),
        flaky: false,
    }
}
