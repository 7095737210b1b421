use regreen_model::{Ending, Evidence, Failure, Finding, Output, Source};
use serde_json::{Map, Value, json};

use crate::rank;
use crate::report::Report;
use crate::report::child_failure::ChildFailure;

/// Fields of a failure that are not in a log.
const OF_RUNS: [&str; 2] = ["tool_usage", "last_successful_tool"];

/// The answer of `explain`: a failure, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The failure, if there is one.
    pub failure: Option<Failure>,
    /// The finding whose line is quoted, with its neighbours.
    quoted: Option<Finding>,
    duration_ms: u64,
}

/// Creates evidence from a log and from what is known about the end of its program.
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
    /// Explains the evidence.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        let failure = rank(evidence);
        let line = failure
            .as_ref()
            .and_then(|failure| u64::try_from(failure.line?).ok());
        let quoted = evidence
            .output
            .findings
            .iter()
            .find(|finding| Some(finding.line) == line);
        Self {
            failure,
            quoted: quoted.cloned(),
            duration_ms: evidence.ending.duration_ms,
        }
    }

    /// Returns one object with every field, whether it failed or not. It leaves out the use of
    /// tools, which only a run knows.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let Some(failure) = &self.failure else {
            return Value::Object(no_failure());
        };
        let mut fields = serde_json::to_value(failure).unwrap_or(Value::Null);
        if let Value::Object(fields) = &mut fields {
            fields.retain(|name, _| !OF_RUNS.contains(&name.as_str()));
        }
        fields
    }

    /// Returns the failure as a report, with its metadata.
    #[must_use]
    pub fn report_text(&self) -> String {
        match &self.failure {
            Some(failure) => Report::new(ChildFailure::of(failure, "", self.duration_ms)).render(),
            None => "It did not fail.\n".to_owned(),
        }
    }

    /// Returns the finding whose line is quoted, with its neighbours.
    #[must_use]
    pub fn quoted(&self) -> Option<&Finding> {
        self.quoted.as_ref()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(text: &str, exit_code: i32) -> Explanation {
        let ending = Ending {
            exit_code: Some(exit_code),
            ..Ending::default()
        };
        let output = crate::scan(text.as_bytes(), Source::Command);
        Explanation::of(&evidence_of(output, Source::Command, None, ending))
    }

    #[test]
    fn the_quoted_line_has_its_context() {
        let explanation = explained(
            "installing\nbash: line 3: jq: command not found\nbye\n",
            127,
        );
        let quoted = explanation.quoted().unwrap();
        assert_eq!(quoted.line, 2);
        assert_eq!(quoted.before, ["installing"]);
        assert_eq!(quoted.after, ["bye"]);
        let report = explanation.report_text();
        assert!(report.contains("Category: tool_error\n"), "{report}");
    }

    #[test]
    fn where_the_exit_code_is_unknown_the_text_decides() {
        let failed = |text: &str| {
            let output = crate::scan(text.as_bytes(), Source::Command);
            let evidence = evidence_of(output, Source::Command, None, Ending::default());
            Explanation::of(&evidence).failure.is_some()
        };
        for text in [
            "Error: something odd happened\n",
            "make: *** [Makefile:3: all] Error 2\n",
            "job failed: the gadget is not calibrated\n",
            "step 1\nProcess completed with exit code 1.\n",
            "Failed to start the gadget\n\n",
        ] {
            assert!(failed(text), "{text}");
        }
        for text in [
            "compiled, 0 errors\n",
            "warning: failed to load x, using the default\n",
            "Error: retrying\nbuilt in 3 s\n",
            "errors: 0\n",
            "hello\n",
        ] {
            assert!(!failed(text), "{text}");
        }
    }

    #[test]
    fn the_answer_has_the_same_fields_whether_it_failed_or_not() {
        let keys = |explanation: &Explanation| -> Vec<String> {
            explanation
                .to_json()
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect()
        };
        assert_eq!(
            keys(&explained("error: x\n", 1)),
            keys(&explained("fine\n", 0))
        );
        assert_eq!(
            keys(&explained("fine\n", 0)),
            [
                "category",
                "kind",
                "message",
                "blocked_on",
                "line",
                "retryable",
                "retry_mode",
                "completed_steps",
                "files_modified",
                "suggested_actions",
                "repair",
                "rule",
                "confidence",
                "fingerprint"
            ]
        );
        assert_eq!(explained("fine\n", 0).report_text(), "It did not fail.\n");
    }
}
