//! `docs/json-events.md` lists everything that is written, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::Timestamp;
use regreen_reporters::{JsonLines, Reporter as _};
use serde_json::{Map, Value};

use crate::every_event::{every_event, rows};

const PAGE: &str = include_str!("../../../../docs/json-events.md");
const ON_EVERY_LINE: [&str; 4] = ["v", "at", "run", "event"];

/// Fields by event.
type Fields = BTreeMap<String, BTreeSet<String>>;

fn documented() -> Fields {
    let (_, events) = PAGE.split_once("\n## Events\n").expect("a part on events");
    let sections = events.split("\n### ").skip(1);
    sections
        .map(|section| {
            let name = code_span(section).expect("an event's name");
            let fields = section.lines().filter_map(|line| line.strip_prefix("| "));
            let fields = fields.filter(|row| row.starts_with('`'));
            let fields = fields.filter_map(code_span).map(str::to_owned);
            (name.to_owned(), fields.collect())
        })
        .collect()
}

/// Returns the text between the first two backticks.
fn code_span(text: &str) -> Option<&str> {
    text.split('`').nth(1)
}

fn written() -> Vec<Map<String, Value>> {
    let mut out = Vec::new();
    let mut view = JsonLines::new(&mut out);
    for event in every_event("text") {
        view.event(Timestamp::from_millis(1), &event);
        view.outline(&rows("text"));
    }
    view.finish(Timestamp::from_millis(1));
    let lines = std::str::from_utf8(&out).expect("it is text").lines();
    lines
        .map(|line| serde_json::from_str(line).expect("it is an object"))
        .collect()
}

fn fields_written() -> Fields {
    let mut fields = Fields::new();
    for line in written() {
        let name = line["event"].as_str().expect("it has a name").to_owned();
        let own = fields.entry(name).or_default();
        for (key, value) in &line {
            if !ON_EVERY_LINE.contains(&key.as_str()) {
                collect(key, value, own);
            }
        }
    }
    fields
}

/// Descends into objects and lists of objects. Tasks are described once for all events, and so are
/// repairs, each of which has its own arguments.
fn collect(path: &str, value: &Value, fields: &mut BTreeSet<String>) {
    let (object, path) = match value {
        Value::Array(values) => (
            values.first().and_then(Value::as_object),
            format!("{path}[]"),
        ),
        value => (value.as_object(), path.to_owned()),
    };
    match object {
        Some(object) if !is_task(object) && !is_repair(object) => {
            for (key, value) in object {
                collect(&format!("{path}.{key}"), value, fields);
            }
        }
        _ => {
            fields.insert(path.trim_end_matches("[]").to_owned());
        }
    }
}

fn is_task(object: &Map<String, Value>) -> bool {
    object.keys().eq(["id", "occurrence", "title"])
}

fn is_repair(object: &Map<String, Value>) -> bool {
    object.contains_key("action")
}

#[test]
fn every_event_and_every_field_is_documented_and_there() {
    let (documented, written) = (documented(), fields_written());
    let names = |fields: &Fields| fields.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&written), names(&documented));
    for (event, fields) in &written {
        assert_eq!(fields, &documented[event], "{event}");
    }
}

#[test]
fn every_line_says_what_it_is() {
    for line in written() {
        let first: Vec<&str> = line.keys().map(String::as_str).take(4).collect();
        assert_eq!(first, ON_EVERY_LINE);
        assert_eq!(line["v"], 1);
        assert_eq!(line["at"], "1970-01-01T00:00:00.001Z");
    }
}
