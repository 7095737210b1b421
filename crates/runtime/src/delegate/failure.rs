//! Why an attempt of a delegation failed.

use std::collections::BTreeMap;

use regreen_model::{
    AttemptClass, AttemptReport, Confidence, Evidence, Failure, FailureKind, FailureNote, RetryMode,
};

use super::changes::Changes;
use super::checking::RedCheck;
use crate::heard::Heard;
use crate::why;

/// All that is known of an attempt.
#[derive(Debug)]
pub(super) struct Known<'a> {
    pub(super) report: &'a AttemptReport,
    pub(super) heard: &'a Heard,
    pub(super) changes: &'a Changes,
    /// What the check showed that is red.
    pub(super) red: Option<RedCheck>,
}

impl Known<'_> {
    /// Why it failed; `None` if it did not.
    pub(super) fn failure(&self) -> Option<FailureNote> {
        let mut found = match self.of_the_agents_own() {
            Some(trouble) => trouble,
            None => why::why(&self.evidence(), self.heard, self.has_failed())
                .or_else(|| self.unexplained())?,
        };
        if found.completed_steps.is_empty() {
            found.completed_steps = self.changes.steps();
        }
        // What the agent says that it did is not what is there.
        found.files_modified = self.changes.files();
        if let Some(red) = &self.red {
            red.name_in(&mut found);
        }
        Some(FailureNote {
            error: self.error(&found),
            attempted_fix: String::new(),
            diagnosis: Some(Box::new(found)),
        })
    }

    fn evidence(&self) -> Evidence {
        let Self { report, heard, .. } = self;
        Evidence {
            ending: report.ending,
            files_changed: self.changes.files(),
            progressed: Some(report.progressed),
            verify: self.red.as_ref().map(RedCheck::result),
            ..why::evidence(heard)
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
        let kind = trouble.map_or(FailureKind::AgentMissing, |trouble| trouble.kind);
        let found = of_kind(kind, why);
        Some(match &self.report.class {
            // It would fail the same way again.
            AttemptClass::Fatal { .. } => Failure {
                retryable: false,
                retry_mode: RetryMode::AfterHuman,
                ..found
            },
            _ => found,
        })
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
            (Some(red), _) => red.error.clone(),
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
        FailureKind::AgentMissing => "Install the agent, or choose another with --agent",
        FailureKind::RateLimited | FailureKind::ServiceUnavailable => "Wait, then retry",
        FailureKind::AuthFailed => "Log in again",
        _ => "Complete remaining work",
    }
}
