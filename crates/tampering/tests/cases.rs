//! Changes that weaken a check, and changes that don't.

use std::collections::BTreeSet;

use regreen_model::TamperPolicy;
use regreen_tampering::{
    CheckContext, FileChange, Judgement, Sign, TamperSign, judge, signs_of_tampering,
};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The Verify commands of the plan.
    #[serde(default)]
    verify: Vec<String>,
    /// The files that the task names as its own.
    #[serde(default)]
    own: Vec<String>,
    files: Vec<File>,
    /// One of the signs that must be found; none for an honest change.
    #[serde(default)]
    signs: Vec<Sign>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    path: String,
    before: Option<String>,
    after: Option<String>,
}

fn cases(text: &str) -> Result<Vec<Case>, toml::de::Error> {
    toml::from_str(text).map(|cases: Cases| cases.case)
}

fn reviewed(case: &Case) -> (Vec<TamperSign>, Judgement) {
    let changes: Vec<FileChange<'_>> = case
        .files
        .iter()
        .map(|file| FileChange {
            path: &file.path,
            before: file.before.as_deref(),
            after: file.after.as_deref(),
        })
        .collect();
    let context = CheckContext {
        commands: &case.verify,
        own_files: &case.own,
    };
    let signs = signs_of_tampering(&changes, &context);
    let judgement = judge(TamperPolicy::Fail, &signs, &context);
    (signs, judgement)
}

fn shown(signs: &[TamperSign]) -> String {
    let shown: Vec<String> = signs.iter().map(ToString::to_string).collect();
    shown.join("\n    ")
}

#[test]
fn weakened_checks_are_found_with_their_sign() {
    let mut missed = Vec::new();
    for case in cases(include_str!("cases/weakened.toml")).unwrap() {
        let (signs, _) = reviewed(&case);
        let found: BTreeSet<Sign> = signs.iter().map(|sign| sign.sign).collect();
        if !case.signs.iter().any(|sign| found.contains(sign)) {
            missed.push(format!(
                "{}: {:?}\n    {}",
                case.name,
                case.signs,
                shown(&signs)
            ));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn honest_changes_do_not_fail_and_seldom_warn() {
    let cases = cases(include_str!("cases/honest.toml")).unwrap();
    let judged: Vec<_> = cases.iter().map(|case| (case, reviewed(case))).collect();
    let with = |judgement| {
        let found = judged
            .iter()
            .filter(move |(_, (_, found))| *found == judgement);
        let told = found.map(|(case, (signs, _))| format!("{}:\n    {}", case.name, shown(signs)));
        told.collect::<Vec<_>>()
    };
    let (failed, warned) = (with(Judgement::Failed), with(Judgement::Warned));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(warned.len() * 10 <= cases.len(), "{}", warned.join("\n"));
}
