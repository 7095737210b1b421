//! A rule is tried only on lines that hold one of its texts. If its pattern can match a line
//! without any of them, it is blind there, and nobody would notice.

use regreen_model::Source;

use crate::rule::Rule;
use crate::rule_book::RuleBook;

include!("pattern_texts.rs");

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
        .filter(|text| !is_seen(&as_text(text)) && !telling_runs(text, at_least).is_empty())
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
        telling_runs(&texts[0], 4)
    };
    assert_eq!(runs("error: [a-z]+ never arrived"), [" never arrived"]);
    assert!(runs("[a-z]+: error: [0-9]").is_empty());
}
