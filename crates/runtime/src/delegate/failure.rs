//! Why an attempt of a delegation failed.

use std::collections::BTreeMap;

use regreen_diagnosis::rank;
use regreen_model::{
    AttemptClass, AttemptReport, Confidence, Evidence, Failure, FailureKind, FailureNote, Output,
    Source, VerifyResult,
};

use super::changes::Changes;
use crate::heard::Heard;

/// All that is known of an attempt.
#[derive(Debug)]
pub(super) struct Known<'a> {
    pub(super) report: &'a AttemptReport,
    pub(super) heard: &'a Heard,
    pub(super) changes: &'a Changes,
    /// What the check showed that is red.
    pub(super) red: Option<(String, Evidence)>,
}

impl Known<'_> {
    /// Why it failed; `None` if it did not.
    pub(super) fn failure(&self) -> Option<FailureNote> {
        let mut found = match self.of_the_agents_own() {
            Some(trouble) => trouble,
            None => rank(&self.evidence()).or_else(|| self.unexplained())?,
        };
        if found.completed_steps.is_empty() {
            found.completed_steps = self.changes.steps();
        }
        for path in self.changes.files() {
            if !found.files_modified.contains(&path) {
                found.files_modified.push(path);
            }
        }
        Some(FailureNote {
            error: self.error(&found),
            attempted_fix: String::new(),
            diagnosis: Some(Box::new(found)),
        })
    }

    fn evidence(&self) -> Evidence {
        let Self { report, heard, .. } = self;
        let message = heard.final_message.clone();
        let evidence = Evidence {
            source: Source::Agent,
            ending: report.ending,
            tools: heard.tools.clone(),
            files_changed: self.changes.files(),
            progressed: Some(report.progressed),
            verify: self.red.as_ref().map(|(_, evidence)| {
                Box::new(VerifyResult {
                    passed: false,
                    evidence: evidence.clone(),
                })
            }),
            ..Evidence::default()
        };
        // A program that failed without a word to us may have told the reason elsewhere.
        match &heard.output {
            Some(output) if self.has_failed() && message.trim().is_empty() => Evidence {
                source: Source::Command,
                output: output.clone(),
                ..evidence
            },
            _ => Evidence {
                output: Output {
                    head: message.clone(),
                    ..Output::default()
                },
                final_message: Some(message),
                ..evidence
            },
        }
    }

    fn has_failed(&self) -> bool {
        self.report.unfinished || self.report.class != AttemptClass::Ordinary
    }

    /// What kept the agent from working, in its own words or ours.
    fn of_the_agents_own(&self) -> Option<Failure> {
        let why = match &self.report.class {
            AttemptClass::Ordinary | AttemptClass::Interrupted => return None,
            AttemptClass::Fatal { why }
            | AttemptClass::Session { why }
            | AttemptClass::Transient { why, .. } => why.clone(),
        };
        let trouble = self.heard.trouble.as_ref();
        let kind = trouble.map_or(FailureKind::MissingCommand, |trouble| trouble.kind);
        Some(of_kind(kind, why))
    }

    /// It failed, and no rule says why.
    fn unexplained(&self) -> Option<Failure> {
        let why = self.report.error.clone();
        self.has_failed()
            .then(|| of_kind(FailureKind::IncompleteWork, why))
    }

    /// What the next attempt is told of it.
    fn error(&self, found: &Failure) -> String {
        match (&self.red, self.heard.final_message.trim()) {
            _ if self.report.ending.timed_out => self.report.error.clone(),
            (Some((why, _)), _) => why.clone(),
            (None, "") => found.message.clone(),
            (None, said) => said.to_owned(),
        }
    }
}

/// A failure of which no more than its kind is known.
pub(super) fn of_kind(kind: FailureKind, message: String) -> Failure {
    Failure {
        category: kind.category(),
        kind,
        blocked_on: Some(message.clone()),
        message,
        line: None,
        retryable: kind.retryable(),
        retry_mode: kind.retry_mode(),
        completed_steps: Vec::new(),
        files_modified: Vec::new(),
        tool_usage: BTreeMap::new(),
        last_successful_tool: None,
        suggested_actions: vec![advice(kind).to_owned()],
        repair: None,
        rule: "exit/unfinished".to_owned(),
        confidence: Confidence::percent(60),
        fingerprint: kind.name().to_owned(),
    }
}

fn advice(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::MissingCommand => "Install the agent, or choose another with --agent",
        FailureKind::RateLimited | FailureKind::ServiceUnavailable => "Wait, then retry",
        FailureKind::AuthFailed => "Log in again",
        _ => "Complete remaining work",
    }
}
