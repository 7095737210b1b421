//! Diagnoses an attempt at a delegated prompt.

use std::time::Duration;

use regreen_model::{
    AttemptClass, AttemptReport, Evidence, Failure, FailureKind, FailureRecord, RetryMode,
    Transcript, VerifyResult,
};

use super::cause;
use super::checks::refuted_claim;
use super::questions::asked;
use super::unexplained::unexplained_failure;
use super::words::{evidence_of_attempt, explain};
use crate::cause_origin::EXIT_CODE;
use crate::last_words::last_words;

/// The known facts about an attempt at a delegated prompt.
#[derive(Clone, Copy, Debug)]
pub struct DelegatedAttempt<'a> {
    /// The report of the attempt.
    pub report: &'a AttemptReport,
    /// The agent's decoded output.
    pub transcript: &'a Transcript,
    /// The files that changed.
    pub files_changed: &'a [String],
    /// The changes to files, in words: `Created 2 files`.
    pub completed_steps: &'a [String],
    /// How the check of the work failed, if it did, and the evidence.
    pub failed_check: Option<(&'a FailureRecord, &'a Evidence)>,
}

impl DelegatedAttempt<'_> {
    /// Explains why the attempt failed; `None` if it didn't.
    #[must_use]
    pub fn failure(&self) -> Option<FailureRecord> {
        let mut failure = match self.agent_failure() {
            Some(failure) => failure,
            None => {
                let explained = explain(&self.evidence(), self.transcript, self.has_failed());
                // The end of a delegation decides: a successful one may end with an offer.
                let asked = asked(self.report, self.transcript, explained.as_ref());
                let asked = asked.filter(|_| self.has_failed() || explained.is_some());
                let found = cause(self.report, self.transcript, asked.or(explained));
                found.or_else(|| self.unexplained())?
            }
        };
        if failure.completed_steps.is_empty() {
            failure.completed_steps = self.completed_steps.to_vec();
        }
        // The actual changes count, not what the agent claims.
        failure.files_modified = self.files_changed.to_vec();
        if let Some((check, evidence)) = self.failed_check {
            blame_check(&mut failure, check, evidence);
        }
        Some(FailureRecord {
            error: self.error(&failure),
            attempted_fix: String::new(),
            last_words: last_words(self.transcript, None),
            diagnosis: Some(Box::new(failure)),
        })
    }

    fn evidence(&self) -> Evidence {
        let verify = self.failed_check.map(|(_, evidence)| VerifyResult {
            passed: false,
            evidence: evidence.clone(),
        });
        Evidence {
            files_changed: self.files_changed.to_vec(),
            verify: verify.map(Box::new),
            ..evidence_of_attempt(self.report, self.transcript)
        }
    }

    fn has_failed(&self) -> bool {
        self.report.unfinished || self.report.class != AttemptClass::Ordinary
    }

    /// Diagnoses what kept the agent itself from working.
    fn agent_failure(&self) -> Option<Failure> {
        let why = match &self.report.class {
            AttemptClass::Ordinary | AttemptClass::Interrupted => return None,
            AttemptClass::Fatal { why }
            | AttemptClass::Session { why }
            | AttemptClass::Transient { why, .. } => why.clone(),
        };
        let trouble = self.transcript.trouble.as_ref();
        let kind = trouble.map_or(FailureKind::AgentMissing, |trouble| trouble.kind);
        let failure = unexplained_failure(kind, why);
        Some(match &self.report.class {
            // It would fail the same way again.
            AttemptClass::Fatal { .. } => Failure {
                retryable: false,
                retry_mode: RetryMode::AfterHuman,
                ..failure
            },
            _ => failure,
        })
    }

    /// Creates the diagnosis of a failure that no rule explains.
    fn unexplained(&self) -> Option<Failure> {
        let why = self.report.failure.error.clone();
        self.has_failed()
            .then(|| unexplained_failure(FailureKind::IncompleteWork, why))
    }

    /// Returns the error for the next attempt's prompt.
    fn error(&self, failure: &Failure) -> String {
        match (self.failed_check, self.transcript.final_message.trim()) {
            _ if self.report.ending.timed_out => self.report.failure.error.clone(),
            (Some((check, _)), _) => check.error.clone(),
            (None, "") => failure.message.clone(),
            (None, message) => message.to_owned(),
        }
    }
}

/// Names the failed check of the work as the cause. A check that didn't end isn't a timeout of the
/// agent.
fn blame_check(failure: &mut Failure, check: &FailureRecord, evidence: &Evidence) {
    let command = &evidence.command;
    let first_line = check.error.lines().next().unwrap_or_default();
    failure.message = first_line.replace('`', "");
    if failure.rule == EXIT_CODE {
        let said = check.diagnosis.as_ref();
        failure.blocked_on = said.and_then(|found| found.blocked_on.clone());
        *failure = refuted_claim(failure.clone());
    }
    if failure.blocked_on.is_none() {
        failure.blocked_on.clone_from(command);
    }
    if let Some(limit_ms) = evidence.ending.limit_ms {
        failure.kind = FailureKind::VerifierBroken;
        failure.category = FailureKind::VerifierBroken.category();
        failure.blocked_on.clone_from(command);
        let longer = Duration::from_millis(limit_ms.saturating_mul(2));
        failure.suggested_actions = vec![
            format!(
                "Give the check more time: --verify-timeout {}s",
                longer.as_secs_f64()
            ),
            "Check whether the command can finish at all".to_owned(),
        ];
    }
}
