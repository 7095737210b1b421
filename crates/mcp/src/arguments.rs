//! Checks a tool's arguments against its schema.
//!
//! By hand, because the schemas are ours and use few keywords: a library for all of JSON Schema
//! would be larger than everything else here. A test compares the schemas with [`KEYWORDS`].

use rmcp::model::JsonObject;
use serde_json::Value;

/// The keywords that are checked, and those that say nothing about a value.
#[cfg(test)]
pub(crate) const KEYWORDS: [&str; 10] = [
    "type",
    "enum",
    "minLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "properties",
    "required",
    "additionalProperties",
    "description",
];

/// Checks the arguments of a tool.
///
/// # Errors
/// Returns what is wrong, for whoever called the tool.
pub(crate) fn check(schema: &JsonObject, arguments: &JsonObject) -> Result<(), String> {
    let empty = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.unwrap_or(&empty);
    let required = schema.get("required").and_then(Value::as_array);
    let missing = required.into_iter().flatten().filter_map(Value::as_str);
    for name in missing {
        if !arguments.contains_key(name) {
            return Err(format!("`{name}` is missing"));
        }
    }
    for (name, value) in arguments {
        let Some(property) = properties.get(name).and_then(Value::as_object) else {
            let known: Vec<&str> = properties.keys().map(String::as_str).collect();
            return Err(format!(
                "unknown argument `{name}`; this tool takes: {}",
                known.join(", ")
            ));
        };
        check_value(property, value).map_err(|fault| format!("`{name}` {fault}"))?;
    }
    Ok(())
}

fn check_value(schema: &JsonObject, value: &Value) -> Result<(), String> {
    let is_of_type = match schema.get("type").and_then(Value::as_str) {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        _ => true,
    };
    if !is_of_type {
        let wanted = schema
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or("value");
        return Err(format!("must be of type {wanted}"));
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        return Err(format!("must be one of: {}", allowed.join(", ")));
    }
    let shortest = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
    if let Some(text) = value.as_str() {
        if text.trim().chars().count() < usize::try_from(shortest).unwrap_or(usize::MAX) {
            return Err("must not be empty".to_owned());
        }
        // No command line can carry it.
        if text.contains('\0') {
            return Err("must not contain a NUL character".to_owned());
        }
    }
    check_number(schema, value)
}

fn check_number(schema: &JsonObject, value: &Value) -> Result<(), String> {
    let Some(number) = value.as_f64() else {
        return Ok(());
    };
    let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    if let Some(least) = limit("minimum").filter(|least| number < *least) {
        return Err(format!("must be at least {least}"));
    }
    if let Some(most) = limit("maximum").filter(|most| number > *most) {
        return Err(format!("must be at most {most}"));
    }
    if let Some(above) = limit("exclusiveMinimum").filter(|above| number <= *above) {
        return Err(format!("must be greater than {above}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::{input_schema, tools};

    fn fault(tool: &str, arguments: &Value) -> Option<String> {
        let tools = tools(true);
        let tool = tools.iter().find(|one| one.name == tool).expect("a tool");
        let arguments = arguments.as_object().expect("an object");
        check(input_schema(tool), arguments).err()
    }

    #[test]
    fn wrong_arguments_are_named_with_what_is_wanted() {
        for (tool, arguments, expected) in [
            ("delegate_task", json!({}), "`prompt` is missing"),
            (
                "delegate_task",
                json!({"prompt": "  "}),
                "`prompt` must not be empty",
            ),
            (
                "delegate_task",
                json!({"prompt": "x", "retries": 0}),
                "`retries` must be at least 1",
            ),
            (
                "delegate_task",
                json!({"prompt": "x", "timeout": 0}),
                "`timeout` must be greater than 0",
            ),
            (
                "delegate_task",
                json!({"prompt": "x", "retries": 1.5}),
                "`retries` must be of type integer",
            ),
            (
                "delegate_task",
                json!({"prompt": "x", "agent": "command:rm -rf /"}),
                "`agent` must be one of: auto, claude, codex, gemini, opencode",
            ),
            (
                "why",
                json!({"task": "1\u{0}2"}),
                "`task` must not contain a NUL character",
            ),
            (
                "questions",
                json!({"spec": "x"}),
                "unknown argument `spec`; this tool takes: ",
            ),
            (
                "answer",
                json!({"question": "1.1", "choice": "repair"}),
                "`choice` must be one of: retry, context, fix, skip, stop",
            ),
        ] {
            assert_eq!(fault(tool, &arguments).as_deref(), Some(expected), "{tool}");
        }
    }

    #[test]
    fn right_arguments_pass() {
        for (tool, arguments) in [
            (
                "delegate_task",
                json!({"prompt": "x", "timeout": 0.5, "retries": 3, "verify": "true"}),
            ),
            ("status", json!({})),
            ("explain", json!({"log": "boom", "exit_code": -1})),
            ("stop", json!({"after_task": true})),
        ] {
            assert_eq!(fault(tool, &arguments), None, "{tool}");
        }
    }

    #[test]
    fn the_schemas_use_only_keywords_that_are_checked() {
        for tool in tools(true) {
            let schema = input_schema(&tool);
            let properties = schema.get("properties").and_then(Value::as_object);
            let nested = properties.expect("properties").values();
            let nested = nested.filter_map(Value::as_object);
            for keyword in std::iter::once(schema)
                .chain(nested)
                .flat_map(|one| one.keys())
            {
                assert!(
                    KEYWORDS.contains(&keyword.as_str()),
                    "{}: {keyword}",
                    tool.name
                );
            }
        }
    }
}
