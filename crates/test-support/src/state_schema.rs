//! Checks the state files that regreen writes against docs/state-file.schema.json.

use std::fs;
use std::path::Path;

use serde_json::Value;

const SCHEMA: &str = include_str!("../../../docs/state-file.schema.json");
const STATE: &str = ".ralph-state.json";

/// Panics if a state file below a folder does not match the schema.
pub(crate) fn check_state_files(folder: &Path) {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let specs = fs::read_dir(folder.join("specs")).into_iter().flatten();
    for spec in specs.flatten() {
        let file = spec.path().join(STATE);
        // Some tests put a pipe or a device in its place.
        if !file.symlink_metadata().is_ok_and(|found| found.is_file()) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        let Ok(state) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        let mut faults = Vec::new();
        check(&schema, &state, "", &mut faults);
        let file = file.display();
        assert!(faults.is_empty(), "{file}: {}\n{text}", faults.join("; "));
    }
}

/// Checks a value against a schema; supports only the part of JSON Schema that the file uses.
fn check(schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let mut expect = |is_well: bool, what: &str| {
        if !is_well {
            faults.push(format!("{at}: not {what}: {value}"));
        }
    };
    match schema["type"].as_str() {
        Some("object") => expect(value.is_object(), "an object"),
        Some("array") => expect(value.is_array(), "a list"),
        Some("string") => expect(value.is_string(), "text"),
        Some("boolean") => expect(value.is_boolean(), "true or false"),
        Some("integer") => expect(value.is_u64() || value.is_i64(), "a whole number"),
        Some(other) => panic!("the schema uses a type that is not known here: {other}"),
        None => {}
    }
    if let Some(allowed) = schema["enum"].as_array() {
        expect(allowed.contains(value), "one of the values");
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_i64(), value.as_i64()) {
        expect(number >= least, "large enough");
    }
    if let (Some(pattern), Some(text)) = (schema["pattern"].as_str(), value.as_str()) {
        assert_eq!(pattern, "^[a-z0-9-]+$", "the only pattern known here");
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        expect(
            !text.is_empty() && text.chars().all(is_plain),
            "a plain name",
        );
    }
    for key in schema["required"].as_array().into_iter().flatten() {
        let key = key.as_str().unwrap();
        expect(
            value.get(key).is_some(),
            &format!("complete, without {key}"),
        );
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let known = schema["properties"].get(key);
        let known = known.or_else(|| schema.get("additionalProperties"));
        if let Some(known) = known {
            check(known, inner, &format!("{at}/{key}"), faults);
        }
    }
    for (at_index, inner) in value.as_array().into_iter().flatten().enumerate() {
        if let Some(items) = schema.get("items") {
            check(items, inner, &format!("{at}/{at_index}"), faults);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(state: &str) -> Vec<String> {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let mut faults = Vec::new();
        check(
            &schema,
            &serde_json::from_str(state).unwrap(),
            "",
            &mut faults,
        );
        faults
    }

    #[test]
    fn a_state_file_has_to_be_what_the_schema_says() {
        let identity =
            r#""source":"direct","name":"demo","basePath":"./specs/demo","phase":"execution""#;
        assert_eq!(faults(&format!("{{{identity}}}")), Vec::<String>::new());
        for bad in [
            "{}",
            r#"{"source":"x","name":"demo","basePath":"","phase":"execution"}"#,
            r#"{"source":"direct","name":"De mo","basePath":"","phase":"execution"}"#,
        ] {
            assert!(!faults(bad).is_empty(), "{bad}");
        }
        for more in [
            r#""taskIteration":0"#,
            r#""taskResults":{"1.1":"success"}"#,
            r#""fixTaskMap":{"1.1":{"attempts":1}}"#,
            r#""modificationMap":{"1.1":{"count":1,"modifications":[{"id":"1.1.1","type":"X"}]}}"#,
        ] {
            assert!(
                !faults(&format!("{{{identity},{more}}}")).is_empty(),
                "{more}"
            );
        }
    }
}
