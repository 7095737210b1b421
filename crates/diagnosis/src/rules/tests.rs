//! Every rule is tried on the texts it is written with.

use std::collections::BTreeSet;

use regreen_model::Source;

use crate::rules::RuleBook;
use crate::rules::rule::Role;
use crate::rules::rule::Rule;
use crate::scan::scan;

include!("pattern_texts.rs");

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

// A rule is tried only on lines that hold one of its texts. If its pattern can match a line
// without any of them, it is blind there without any sign of it.

/// What the pattern matches and the search for its texts passes over.
fn unseen(rule: &Rule) -> Vec<String> {
    let Ok(hir) = regex_syntax::parse(&rule.pattern.as_syntax()) else {
        return Vec::new();
    };
    let is_prose = rule.source == Some(Source::Agent);
    let at_least = if is_prose { 2 } else { 4 };
    let is_seen = |text: &str| rule.needs.iter().any(|(need, _)| text.contains(need));
    let texts = shortest_texts(&hir).into_iter();
    texts
        .filter(|text| !is_seen(&as_text(text)) && !distinctive_runs(text, at_least).is_empty())
        .map(|text| as_text(&text))
        .collect()
}

#[test]
fn no_rule_is_blind_to_what_its_pattern_matches() {
    let blind: Vec<String> = RuleBook::ours()
        .rules
        .iter()
        .flat_map(|rule| {
            unseen(rule)
                .into_iter()
                .map(|text| format!("{}: {text:?}", rule.name))
        })
        .collect();
    assert!(
        blind.is_empty(),
        "{} texts\n{}",
        blind.len(),
        blind.join("\n")
    );
}

#[test]
fn every_branch_gives_a_text() {
    let texts = |pattern: &str| -> Vec<String> {
        let texts = shortest_texts(&regex_syntax::parse(pattern).unwrap());
        texts.iter().map(|text| as_text(text)).collect()
    };
    assert_eq!(texts("^(?:ab|cd)?e+"), ["e", "abe", "cde"]);
    assert_eq!(texts("(?:a1|b2) (?:c3|d4|e5)"), ["a1 c3", "b2 d4", "a1 e5"]);
    assert_eq!(texts("(?i)Kit[0-9]"), ["kit7"]);
}

#[test]
fn every_match_has_one_of_the_texts_that_cover_a_pattern() {
    let covered = |pattern: &str| {
        let worth = |text: &str| (text.len() >= 3).then_some(0);
        cover(&regex_syntax::parse(pattern).unwrap(), &worth)
    };
    let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
    assert_eq!(
        covered("(?:is|are) (?:needed|wanted) (?:by|of)"),
        texts(&["needed", "wanted"])
    );
    assert_eq!(covered("(?i)Kit \\d+ (?:lost)?"), texts(&["kit "]));
    assert_eq!(covered("(?:lost|a)"), None);
    assert_eq!(covered("(?:lost)*"), None);
}

#[test]
fn lines_are_found_by_what_is_fixed_in_them_and_rare() {
    let runs = |pattern: &str| {
        let texts = shortest_texts(&regex_syntax::parse(pattern).unwrap());
        distinctive_runs(&texts[0], 4)
    };
    assert_eq!(runs("error: [a-z]+ never arrived"), [" never arrived"]);
    assert!(runs("[a-z]+: error: [0-9]").is_empty());
}
