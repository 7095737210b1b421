//! Checks the result of a run.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::agents::Candidate;
use super::agents::Cli;
use super::agents::Sandbox;
use super::scenario_run::wait_for_no_process;
use super::scenarios::Scenario;

const MAX_WAIT_MS: u64 = 10_000;
/// The usage that the model server reports for each reply.
const INPUT_TOKENS: u64 = 100;
const OUTPUT_TOKENS: u64 = 20;

/// Returns everything that differs from the scenario.
pub(crate) fn faults(
    candidate: Candidate,
    scenario: &Scenario,
    sandbox: &Sandbox,
    code: Option<i32>,
    output: &str,
) -> Vec<String> {
    let lines = output.lines();
    let events: Vec<Value> = lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let mut faults = Vec::new();
    if code != Some(scenario.exit) {
        let end: String = output.lines().rev().take(3).collect::<Vec<_>>().join(" | ");
        faults.push(format!("exit {code:?} instead of {}: {end}", scenario.exit));
    }
    faults.extend(attempts(scenario, &events));
    faults.extend(kinds(scenario, &events));
    faults.extend(services(scenario, &events));
    faults.extend(waits(&events));
    faults.extend(sessions(scenario, &events));
    let spec = sandbox.work.join("specs/demo");
    faults.extend(budgets(scenario, &events, &spec));
    faults.extend(rows(scenario, &spec));
    faults.extend(tokens(candidate, scenario, &events));
    let left = wait_for_no_process(&sandbox.home);
    if !left.is_empty() {
        faults.push(format!("still running: {}", left.join(", ")));
    }
    faults
}

fn named<'e>(events: &'e [Value], name: &str) -> impl Iterator<Item = &'e Value> {
    let name = name.to_owned();
    events.iter().filter(move |event| event["event"] == *name)
}

/// Checks the attempts: the task, how each ended, and what it was charged to.
fn attempts(scenario: &Scenario, events: &[Value]) -> Option<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found: Vec<(String, String, bool)> = named(events, "attempt_ended")
        .map(|event| {
            let charged = event["charged"].as_bool().unwrap_or_default();
            (text(&event["task"]["id"]), text(&event["class"]), charged)
        })
        .collect();
    found.dedup_by(|one, other| one == other && !one.2);
    if scenario.may_lose_session {
        found.retain(|(_, class, _)| class != "session");
    }
    let expected = scenario.attempts.iter();
    let expected: Vec<_> = expected
        .map(|(task, class, charged)| ((*task).to_owned(), (*class).to_owned(), *charged))
        .collect();
    (found != expected).then(|| format!("these were the attempts: {found:?}"))
}

/// Checks the kinds of the failures, if the scenario is about them.
fn kinds(scenario: &Scenario, events: &[Value]) -> Option<String> {
    let found: Vec<&str> = named(events, "task_failed")
        .map(|event| event["diagnosis"]["kind"].as_str().unwrap_or_default())
        .collect();
    let is_wrong = !scenario.kinds.is_empty() && found != scenario.kinds;
    is_wrong.then(|| format!("these were the failures: {}", found.join(", ")))
}

/// Checks what happened to services.
fn services(scenario: &Scenario, events: &[Value]) -> Option<String> {
    let found: Vec<&str> = named(events, "service_changed")
        .filter_map(|event| event["change"].as_str())
        .collect();
    (found != scenario.services).then(|| format!("services: {}", found.join(", ")))
}

/// No run waits longer than allowed, and none waits for something permanent.
fn waits(events: &[Value]) -> Option<String> {
    let summary = named(events, "run_ended").last()?;
    let waited = summary["summary"]["waits"]["ms"].as_u64()?;
    let passes = named(events, "attempt_ended").any(|event| event["class"] == "transient");
    let most = if passes { MAX_WAIT_MS } else { 0 };
    (waited > most).then(|| format!("it waited {waited} ms"))
}

/// Checks whether the last attempt resumed the session of the one before.
fn sessions(scenario: &Scenario, events: &[Value]) -> Option<String> {
    let seen = named(events, "session_seen").filter_map(|event| event["session"].as_str());
    let seen: Vec<&str> = seen.collect();
    let has_resumed = matches!(seen.as_slice(), [.., one, other] if one == other);
    let is_wrong = seen.is_empty() && scenario.exit == 0;
    let is_wrong = is_wrong
        || scenario
            .resumes
            .is_some_and(|resumes| resumes != has_resumed);
    is_wrong.then(|| format!("these were the sessions: {}", seen.join(", ")))
}

/// Checks what the run and its last task have used, as reported by the summary, the state file and
/// the number of the last attempt: exactly what is charged.
fn budgets(scenario: &Scenario, events: &[Value], spec: &Path) -> Option<String> {
    // A lost session costs the task nothing, but costs the run an attempt.
    let counts = |event: &&Value| event["class"] == "ordinary" || event["class"] == "session";
    let of_run = named(events, "attempt_ended").filter(counts).count() as u64;
    let charged = scenario.attempts.iter().filter(|(_, _, charged)| *charged);
    let last = scenario.attempts.last().map(|(task, _, _)| task);
    let of_task = charged.filter(|(task, _, _)| Some(task) == last).count() as u64;
    let state = fs::read_to_string(spec.join(".ralph-state.json")).unwrap_or_default();
    let state: Value = serde_json::from_str(&state).unwrap_or_default();
    let ended = named(events, "run_ended").last();
    let started = named(events, "attempt_started").last();
    let used = [
        ended.and_then(|event| event["summary"]["attempts"]["charged"].as_u64()),
        state["globalIteration"].as_u64(),
        started.and_then(|event| event["number"].as_u64()),
    ];
    // An iteration has a number while it runs, charged or not, and there is no number 0.
    let expected = [of_run, of_run.max(1), of_task.max(1)].map(Some);
    (used != expected).then(|| format!("{used:?} is used, not {expected:?}"))
}

/// If all goes well, the run has used exactly what the model server reported for the replies.
fn tokens(candidate: Candidate, scenario: &Scenario, events: &[Value]) -> Option<String> {
    // Over the protocol, it reports only its last request.
    let is_last_only = candidate.over_acp && candidate.cli == Cli::Opencode;
    if scenario.name != "success" || is_last_only {
        return None;
    }
    let replies = (scenario.replies)(candidate.cli).len() as u64;
    let summary = &named(events, "run_ended").last()?["summary"];
    let used = ["input", "output"].map(|name| summary["tokens"][name].as_u64());
    let told = [INPUT_TOKENS, OUTPUT_TOKENS].map(|tokens| Some(tokens * replies));
    (used != told).then(|| format!("{used:?} tokens are counted, not {told:?}"))
}

/// Checks which rows are ticked at the end.
fn rows(scenario: &Scenario, spec: &Path) -> Option<String> {
    let tasks = fs::read_to_string(spec.join("tasks.md")).unwrap_or_default();
    let ticked = tasks.lines().filter_map(|line| line.strip_prefix("- [x] "));
    let ticked: Vec<&str> = ticked.filter_map(|row| row.split(' ').next()).collect();
    (ticked != scenario.done).then(|| format!("these rows are done: {}", ticked.join(", ")))
}
