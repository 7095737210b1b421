//! Journals written by earlier versions.
//!
//! `fixtures/journals-0.1.0` holds simulated runs of version 0.1.0 that reach every transition
//! that version had. A journal is never rewritten: if one of these tests fails, an event or an
//! input has lost a name that old journals use.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "fixtures are read from files; a test that cannot read them has failed"
)]

use std::fs;
use std::path::Path;

use regreen_engine::{Input, JournalLine, Resumption, State, decide};

const JOURNALS: &str = "tests/fixtures/journals-0.1.0";

#[test]
fn every_step_of_an_older_version_is_read_without_loss() {
    for (name, text) in journals() {
        for (number, line) in text.lines().enumerate() {
            let step = parse(&name, number, line);
            let written = serde_json::to_value(&step).unwrap();
            let read: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_covers(&written, &read, &format!("{name}:{}", number + 1));
        }
    }
}

#[test]
fn a_run_of_an_older_version_resumes_after_any_step() {
    for (name, text) in journals() {
        let mut state = State::default();
        for (number, line) in text.lines().enumerate() {
            let step = parse(&name, number, line);
            if matches!(step.input, Input::Start { .. }) {
                state = State::default();
            }
            for event in &step.events {
                state.apply(event);
            }
            if state.outcome.is_some() {
                continue;
            }
            let resume = Input::Resume(Resumption::default());
            let decision = decide(&state, step.now, &resume);
            let mut resumed = state.clone();
            for event in &decision.events {
                resumed.apply(event);
            }
            assert!(
                !decision.commands.is_empty() || resumed.outcome.is_some(),
                "{name}:{}: nothing follows the resumption of {state:?}",
                number + 1
            );
        }
    }
}

fn journals() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(JOURNALS);
    let mut journals: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    journals.sort();
    assert_eq!(journals.len(), 53);
    journals
}

fn parse(name: &str, number: usize, line: &str) -> JournalLine {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}:{}: {error}", number + 1))
}

/// Asserts that everything in `read` is in `written` as well: fields may be added but not removed.
fn assert_covers(written: &serde_json::Value, read: &serde_json::Value, place: &str) {
    use serde_json::Value;
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => {
            for (key, value) in read {
                let place = format!("{place}/{key}");
                let Some(written) = written.get(key) else {
                    assert!(value.is_null(), "{place} is lost");
                    continue;
                };
                assert_covers(written, value, &place);
            }
        }
        (Value::Array(written), Value::Array(read)) if written.len() == read.len() => {
            for (index, (written, read)) in written.iter().zip(read).enumerate() {
                assert_covers(written, read, &format!("{place}/{index}"));
            }
        }
        (written, read) => assert_eq!(written, read, "{place} changed"),
    }
}
