//! Diagnoses of the outputs and messages in the tables beside this file, as a careful reader would
//! make them.

use regreen_diagnosis::{evidence_of, rank, scan};
use regreen_model::{Ending, Failure, Source};
use serde::Deserialize;

#[derive(Deserialize)]
struct Messages {
    message: Vec<Case>,
}

#[derive(Deserialize)]
struct Outputs {
    output: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    #[serde(default)]
    exit: i32,
    /// Every defensible kind, best first; empty if it didn't fail.
    kinds: Vec<String>,
    category: Option<String>,
    repair: Option<String>,
    blocker: Option<String>,
}

fn diagnose(case: &Case, source: Source) -> Option<Failure> {
    let ending = Ending {
        exit_code: Some(case.exit),
        ..Ending::default()
    };
    rank(&evidence_of(
        scan(case.text.as_bytes(), source),
        source,
        None,
        ending,
    ))
}

/// Returns what is wrong with the diagnosis, if anything.
fn complaint(case: &Case, source: Source) -> Option<String> {
    let failure = diagnose(case, source);
    let kind = failure.as_ref().map(|f| f.kind.name().to_owned());
    let category = failure.as_ref().map_or("none", |f| f.category.name());
    let repair = failure
        .as_ref()
        .and_then(|f| Some(f.repair.as_ref()?.name()));
    let blocker = failure.as_ref().and_then(|f| f.blocked_on.as_deref());
    let is_right = match &kind {
        Some(kind) => case.kinds.contains(kind),
        None => case.kinds.is_empty(),
    } && case
        .category
        .as_deref()
        .is_none_or(|expected| expected == category)
        && case
            .repair
            .as_deref()
            .is_none_or(|expected| Some(expected) == repair)
        && case
            .blocker
            .as_deref()
            .is_none_or(|expected| Some(expected) == blocker);
    let found = format!("{category}/{kind:?}/{repair:?}/{blocker:?}");
    (!is_right).then(|| format!("{:?}\n  wanted {:?}, found {found}", case.text, case.kinds))
}

fn check(cases: &[Case], source: Source) {
    let complaints: Vec<String> = cases
        .iter()
        .filter_map(|case| complaint(case, source))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn messages_of_agents_are_understood() {
    let table: Messages = toml::from_str(include_str!("agent_messages.toml")).unwrap();
    check(&table.message, Source::Agent);
}

#[test]
fn outputs_of_commands_are_understood() {
    let table: Outputs = toml::from_str(include_str!("command_outputs.toml")).unwrap();
    check(&table.output, Source::Command);
}
