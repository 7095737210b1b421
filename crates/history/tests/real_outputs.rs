//! Real outputs: failures made by running real tools, each with five sets of names, paths, numbers
//! and versions, many of them below make.

#![expect(
    clippy::expect_used,
    clippy::disallowed_macros,
    reason = "a test that cannot go on has failed, and prints what it measured"
)]

use std::collections::BTreeMap;

use regreen_diagnosis::{evidence_of, rank, scan};
use regreen_history::{Fingerprint, template};
use regreen_model::{Ending, Source};
use serde::Deserialize;

const OUTPUTS: &str = include_str!("fixtures/real_outputs.jsonl");

#[derive(Deserialize)]
struct Output {
    cause: String,
    variant: u32,
    command: String,
    exit_code: i32,
    output: String,
}

/// A failure as the history would keep it.
struct Kept {
    cause: String,
    variant: u32,
    kind: String,
    line: String,
    fingerprint: Fingerprint,
}

fn kept(output: Output) -> Kept {
    let ending = Ending {
        exit_code: Some(output.exit_code),
        ..Ending::default()
    };
    let evidence = evidence_of(
        scan(output.output.as_bytes(), Source::Command),
        Source::Command,
        Some(output.command),
        ending,
    );
    let failure = rank(&evidence).expect("it failed");
    let line = failure.blocked_on.unwrap_or(failure.message);
    let kind = failure.kind.name().to_owned();
    let own = format!("{} {}", output.cause, output.variant);
    Kept {
        fingerprint: Fingerprint::of(&kind, &line, &own),
        cause: output.cause,
        variant: output.variant,
        kind,
        line,
    }
}

fn all() -> Vec<Kept> {
    let lines = OUTPUTS.lines();
    lines
        .map(|line| kept(serde_json::from_str(line).expect("a line of the fixture")))
        .collect()
}

/// The harmonic mean of precision and recall over all pairs of failures.
fn pairwise_f1(all: &[Kept]) -> f64 {
    let (mut both, mut same_cause, mut same_cluster) = (0_u32, 0_u32, 0_u32);
    for (at, one) in all.iter().enumerate() {
        for other in &all[at + 1..] {
            let (cause, cluster) = (
                one.cause == other.cause,
                one.fingerprint == other.fingerprint,
            );
            both += u32::from(cause && cluster);
            same_cause += u32::from(cause);
            same_cluster += u32::from(cluster);
        }
    }
    2.0 * f64::from(both) / f64::from(same_cause + same_cluster)
}

/// Lists causes in several clusters and clusters with several causes.
fn mistakes(all: &[Kept]) -> Vec<String> {
    let mut mistakes = Vec::new();
    let mut by_cause: BTreeMap<&str, Vec<&Kept>> = BTreeMap::new();
    let mut by_cluster: BTreeMap<&Fingerprint, Vec<&Kept>> = BTreeMap::new();
    for one in all {
        by_cause.entry(&one.cause).or_default().push(one);
        by_cluster.entry(&one.fingerprint).or_default().push(one);
    }
    let shown = |one: &Kept| {
        format!(
            "{} {} {}: {} → {}",
            one.cause,
            one.variant,
            one.kind,
            one.line,
            template(&one.kind, &one.line)
        )
    };
    for group in by_cause.values() {
        if group
            .iter()
            .any(|one| one.fingerprint != group[0].fingerprint)
        {
            mistakes.push("split:".to_owned());
            mistakes.extend(group.iter().map(|one| shown(one)));
        }
    }
    for group in by_cluster.values() {
        if group.iter().any(|one| one.cause != group[0].cause) {
            mistakes.push("merged:".to_owned());
            mistakes.extend(group.iter().map(|one| shown(one)));
        }
    }
    mistakes
}

#[test]
fn real_outputs_of_one_cause_are_one_cluster() {
    let all = all();
    let mut causes: BTreeMap<&str, u32> = BTreeMap::new();
    for one in &all {
        *causes.entry(&one.cause).or_default() += 1;
    }
    assert!(causes.len() >= 40, "{}", causes.len());
    assert!(causes.values().all(|variants| *variants == 5), "{causes:?}");
    let f1 = pairwise_f1(&all);
    println!(
        "{} causes, {} outputs, pairwise F1 {f1:.3}",
        causes.len(),
        all.len()
    );
    assert!(f1 >= 0.95, "F1 {f1}\n{}", mistakes(&all).join("\n"));
}
