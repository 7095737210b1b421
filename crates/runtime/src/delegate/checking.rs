//! The check of what a delegate did.

use std::collections::BTreeSet;

use regreen_diagnosis::rank;
use regreen_model::{Evidence, FailureNote, Source, Verdict, VerifyCommand, VerifyResult};

use super::child::Child;
use super::pursuit::Work;
use crate::perform::{self, Check};
use crate::perform_error::PerformError;

/// What the check showed.
#[derive(Debug, Default)]
pub(super) struct CheckedWork {
    /// Why it is red.
    pub(super) red: Option<(String, Evidence)>,
    /// It was red first.
    pub(super) flaky: bool,
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
