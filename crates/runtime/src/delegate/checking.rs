//! The check of what a delegate did.

use std::collections::BTreeSet;
use std::time::Duration;

use regreen_diagnosis::rank;
use regreen_model::{
    Evidence, Failure, FailureKind, FailureNote, Source, Verdict, VerifyCommand, VerifyResult,
};

use super::child::Child;
use super::pursuit::Work;
use crate::perform::{self, Check};
use crate::perform_error::PerformError;

/// What the check showed.
#[derive(Debug, Default)]
pub(super) struct CheckedWork {
    /// How it is red.
    pub(super) red: Option<RedCheck>,
    /// It was red first.
    pub(super) flaky: bool,
}

/// A check that says no.
#[derive(Clone, Debug, Default)]
pub(super) struct RedCheck {
    /// What ran and what became of it, then the end of what it printed.
    pub(super) error: String,
    pub(super) evidence: Evidence,
}

impl RedCheck {
    pub(super) fn result(&self) -> Box<VerifyResult> {
        Box::new(VerifyResult {
            passed: false,
            evidence: self.evidence.clone(),
        })
    }

    /// Says that it was the check that failed. One that did not end is no timeout of the agent.
    pub(super) fn name_in(&self, found: &mut Failure) {
        let command = &self.evidence.command;
        let first = self.error.lines().next().unwrap_or_default();
        found.message = first.replace('`', "");
        if found.blocked_on.is_none() {
            found.blocked_on.clone_from(command);
        }
        if found.rule == "exit/code" {
            found.suggested_actions = vec!["Run the check and fix what it shows".to_owned()];
        }
        if let Some(limit_ms) = self.evidence.ending.limit_ms {
            found.kind = FailureKind::VerifierBroken;
            found.category = FailureKind::VerifierBroken.category();
            found.blocked_on.clone_from(command);
            let longer = Duration::from_millis(limit_ms.saturating_mul(2));
            found.suggested_actions = vec![
                format!(
                    "Give the check more time: --verify-timeout {}s",
                    longer.as_secs_f64()
                ),
                "See whether the check can end at all".to_owned(),
            ];
        }
    }
}

impl Child<'_> {
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
                red: Some(RedCheck {
                    error,
                    evidence: second.evidence.map(|found| *found).unwrap_or_default(),
                }),
                flaky: false,
            },
            _ => CheckedWork {
                red: None,
                flaky: true,
            },
        })
    }
}

impl CheckedWork {
    /// Why the parts together are not what was asked for.
    pub(super) fn failure_of_parts(&self, files: &BTreeSet<String>) -> Option<FailureNote> {
        let red = self.red.as_ref()?;
        let mut found = rank(&Evidence {
            source: Source::Agent,
            final_message: Some(String::new()),
            files_changed: files.iter().cloned().collect(),
            verify: Some(red.result()),
            ..Evidence::default()
        });
        if let Some(found) = &mut found {
            red.name_in(found);
        }
        Some(FailureNote {
            error: red.error.clone(),
            attempted_fix: String::new(),
            diagnosis: found.map(Box::new),
        })
    }
}
