use regreen_model::Failure;

use crate::AttemptKey;

/// Why an attempt failed, as people look for it afterwards.
///
/// Category and kind are names here, not types: a file may hold kinds that a later version
/// of regreen added, and those are still worth showing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureRow {
    pub attempt: AttemptKey,
    pub at_ms: i64,
    pub category: String,
    pub kind: String,
    pub message: String,
    pub blocked_on: Option<String>,
    /// The same for the same blocker.
    pub fingerprint: String,
    /// The whole failure as JSON.
    pub report: String,
}

impl FailureRow {
    /// # Errors
    /// If the failure has no form in JSON.
    pub fn new(
        attempt: AttemptKey,
        at_ms: i64,
        failure: &Failure,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self {
            attempt,
            at_ms,
            category: failure.category.to_string(),
            kind: failure.kind.to_string(),
            message: failure.message.clone(),
            blocked_on: failure.blocked_on.clone(),
            fingerprint: failure.fingerprint.clone(),
            report: serde_json::to_string(failure)?,
        })
    }

    /// The failure itself.
    ///
    /// # Errors
    /// If it was stored by a version of regreen that says more than this one knows.
    pub fn failure(&self) -> Result<Failure, serde_json::Error> {
        serde_json::from_str(&self.report)
    }
}
