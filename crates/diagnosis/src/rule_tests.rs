//! Every rule is tried on the texts it is written with.

use std::collections::BTreeSet;

use regreen_model::Source;

use crate::role::Role;
use crate::rule::Rule;
use crate::rule_book::RuleBook;
use crate::scan::scan;

fn book() -> &'static RuleBook {
    RuleBook::ours()
}

/// Whether the rule has something to say about the text, whatever other rules say.
fn speaks(rule: &Rule, text: &str) -> bool {
    let source = rule.source.unwrap_or(Source::Command);
    crate::scan::matches_of(rule, text, source) > 0
}

#[test]
fn every_pattern_compiles() {
    let broken: Vec<String> = book()
        .rules
        .iter()
        .flat_map(Rule::broken_patterns)
        .collect();
    assert_eq!(broken, [""; 0]);
}

#[test]
fn every_rule_matches_what_it_says_it_matches() {
    let mut wrong = Vec::new();
    for rule in book().rules {
        let missed = rule
            .examples
            .matching
            .iter()
            .filter(|text| !speaks(rule, text));
        wrong.extend(missed.map(|text| format!("{} misses: {text}", rule.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_rule_matches_what_it_says_it_ignores() {
    let mut wrong = Vec::new();
    for rule in book().rules {
        let found = rule
            .examples
            .ignore
            .iter()
            .filter(|text| speaks(rule, text));
        wrong.extend(found.map(|text| format!("{} matches: {text}", rule.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn it_does_not_matter_which_engine_reads_an_example() {
    for rule in book().rules {
        let texts = rule.examples.matching.iter().chain(rule.examples.ignore);
        for line in texts.flat_map(|text| text.lines()) {
            assert!(rule.pattern.agrees_on(line), "{}: {line}", rule.name);
        }
    }
}

#[test]
fn names_are_unique_and_what_is_blamed_has_a_kind() {
    let mut names = BTreeSet::new();
    for rule in book().rules {
        assert!(names.insert(rule.name), "{} twice", rule.name);
        let needs_kind = rule.role.is_blame() || rule.role == Role::Frame;
        assert_eq!(rule.kind.is_some(), needs_kind, "{}", rule.name);
        let is_prose = rule.source == Some(Source::Agent);
        let is_short = |(need, _): &(&str, usize)| need.len() < 4 && !is_prose;
        assert!(!rule.needs.iter().any(is_short), "{}", rule.name);
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
