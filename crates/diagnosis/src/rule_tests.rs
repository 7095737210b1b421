//! Every rule is tried on the texts it is written with.

use std::collections::BTreeSet;

use regreen_model::Source;

use crate::role::Role;
use crate::rule::Rule;
use crate::rule_book::{FAMILIES, RuleBook};
use crate::scan::scan;

fn book() -> RuleBook {
    RuleBook::read(FAMILIES).unwrap()
}

/// Whether the rule has something to say about the text, whatever other rules say.
fn speaks(rule: &Rule, text: &str) -> bool {
    let source = rule.source.unwrap_or(Source::Command);
    crate::scan::matches_of(rule, text.as_bytes(), source) > 0
}

#[test]
fn every_rule_file_can_be_read_and_every_pattern_compiles() {
    let broken: Vec<String> = book()
        .rules
        .iter()
        .flat_map(Rule::broken_patterns)
        .collect();
    assert_eq!(broken, [""; 0]);
}

#[test]
fn every_rule_has_texts_it_matches_and_texts_it_ignores() {
    for rule in &book().rules {
        assert!(
            !rule.text.matching.is_empty(),
            "{} matches nothing",
            rule.name
        );
        assert!(
            !rule.text.ignore.is_empty(),
            "{} ignores nothing",
            rule.name
        );
    }
}

#[test]
fn every_rule_matches_what_it_says_it_matches() {
    let mut wrong = Vec::new();
    for rule in &book().rules {
        let missed = rule.text.matching.iter().filter(|text| !speaks(rule, text));
        wrong.extend(missed.map(|text| format!("{} misses: {text}", rule.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_rule_matches_what_it_says_it_ignores() {
    let mut wrong = Vec::new();
    for rule in &book().rules {
        let found = rule.text.ignore.iter().filter(|text| speaks(rule, text));
        wrong.extend(found.map(|text| format!("{} matches: {text}", rule.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_unique_and_what_is_blamed_has_a_kind() {
    let mut names = BTreeSet::new();
    for rule in &book().rules {
        assert!(names.insert(rule.name.clone()), "{} twice", rule.name);
        let needs_kind = rule.role().is_blame() || rule.role() == Role::Frame;
        assert_eq!(rule.text.kind.is_some(), needs_kind, "{}", rule.name);
        let is_short = |need: &String| need.len() < 2 && need != "?";
        assert!(!rule.text.needs.iter().any(is_short), "{}", rule.name);
    }
}

#[test]
fn the_finding_of_a_rule_names_the_rule() {
    let output = scan(
        b"bash: line 1: frobnicate: command not found\n",
        Source::Command,
    );
    assert!(
        output
            .findings
            .iter()
            .any(|f| f.rule == "shell/command-not-found" && f.line == 1)
    );
}
