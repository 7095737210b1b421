use regreen_model::{Ending, Evidence, Failure, Output, Source};
use serde_json::{Map, Value, json};

/// What `explain` answers: a failure, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub failure: Option<Failure>,
}

/// The evidence that a log file and what is said about its end amount to.
#[must_use]
pub fn evidence_of(
    output: Output,
    source: Source,
    command: Option<String>,
    ending: Ending,
) -> Evidence {
    Evidence {
        source,
        command,
        ending,
        output,
        ..Evidence::default()
    }
}

impl Explanation {
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        Self {
            failure: crate::rank(evidence),
        }
    }

    /// One object with every field, whether it failed or not.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let Some(failure) = &self.failure else {
            return Value::Object(no_failure());
        };
        serde_json::to_value(failure).unwrap_or(Value::Null)
    }
}

fn no_failure() -> Map<String, Value> {
    let nothing = json!({
        "category": null,
        "kind": null,
        "message": "It did not fail",
        "blocked_on": null,
        "line": null,
        "retryable": false,
        "retry_mode": "never",
        "completed_steps": [],
        "files_modified": [],
        "tool_usage": {},
        "last_successful_tool": null,
        "suggested_actions": [],
        "repair": null,
        "rule": null,
        "confidence": null,
        "fingerprint": null,
    });
    match nothing {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
