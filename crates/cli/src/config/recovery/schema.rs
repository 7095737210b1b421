//! The JSON schema of a file with recovery templates, for editors.

use regreen_model::{FailureKind, TemplateStrategy};
use serde_json::{Value, json};

/// Returns the JSON schema of `recovery.toml`.
pub fn recovery_schema() -> Value {
    let text = |meaning: &str| json!({ "description": meaning, "type": "string" });
    let argv = |meaning: &str| {
        json!({
            "description": meaning,
            "type": "array",
            "items": { "type": "string" },
            "minItems": 1,
        })
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "recovery templates of regreen (recovery.toml)",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "template": {
                "description": "What to do first about certain failures",
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["first"],
                    "oneOf": [{ "required": ["kind"] }, { "required": ["fingerprint"] }],
                    "properties": {
                        "kind": {
                            "description": "The kind of the failures",
                            "enum": FailureKind::ALL.map(FailureKind::name).as_slice(),
                        },
                        "fingerprint": {
                            "description": "The fingerprint of the failures, as `regreen explain --json` prints it",
                            "type": "string",
                            "pattern": "^[0-9a-f]{16}$",
                        },
                        "first": {
                            "description": "The strategies, in order; each is used once per task, then the recovery table decides",
                            "type": "array",
                            "items": { "enum": TemplateStrategy::ALL.map(TemplateStrategy::name) },
                            "minItems": 1,
                            "uniqueItems": true,
                        },
                        "wait": text("How long to wait, at most 1h"),
                        "prompt": text("What the agent is told about such a failure"),
                        "question": text("What a person is asked"),
                        "repair": argv("Program and arguments of your own repair; only in your own file"),
                        "check": argv("Program and arguments that must exit with 0 after the repair"),
                        "does": text("What the repair does, for people"),
                        "timeout": text("How long the repair and its check may each run, at most 1h"),
                    },
                },
            },
        },
    })
}
