//! One rule: how it reads lines, and what it says about a cause.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use regreen_model::{Failure, Finding};
use serde::Deserialize;

use super::{OwnRulesError, WrongExample};
use crate::line::message_of;
use crate::rank::diagnosis::{fingerprint, shortened};
use crate::rules::rule::SurroundingLines;
use crate::rules::template::fill;

/// The maximum size of a compiled pattern.
const MAX_PATTERN: usize = 1 << 20;
const MAX_WEIGHT: u8 = 100;

/// A rule that names a cause.
#[derive(Clone, Debug)]
pub struct OwnRule {
    /// `workspace/name` or `user/name`.
    pub name: String,
    /// In lower case.
    pub(super) needs: Vec<String>,
    raw: bool,
    pattern: Regex,
    unless: Option<Regex>,
    before: Option<Regex>,
    after: Option<Regex>,
    not_near: Option<Regex>,
    /// Its weight. Our own diagnosis wins if its confidence is higher.
    pub weight: u8,
    blocker: Option<String>,
    /// The meaning of the line, for people.
    pub explain: Option<String>,
    suggest: Vec<String>,
    matching: Vec<String>,
    ignore: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleText {
    name: String,
    needs: Vec<String>,
    pattern: String,
    #[serde(default)]
    raw: bool,
    unless: Option<String>,
    before: Option<String>,
    after: Option<String>,
    not_near: Option<String>,
    weight: Option<u8>,
    blocker: Option<String>,
    explain: Option<String>,
    #[serde(default)]
    suggest: Vec<String>,
    #[serde(rename = "match")]
    matching: Vec<String>,
    ignore: Vec<String>,
}

impl RuleText {
    pub(super) fn compiled(self, owner: &str, weight: u8) -> Result<OwnRule, OwnRulesError> {
        let fail = |why: String| OwnRulesError::Rule {
            rule: self.name.clone(),
            why,
        };
        if self.needs.iter().all(|need| need.trim().is_empty()) {
            return Err(fail(
                "`needs` must list a text that every matching line contains".to_owned(),
            ));
        }
        if self.matching.is_empty() || self.ignore.is_empty() {
            return Err(fail("`match` and `ignore` need an example each".to_owned()));
        }
        let compiled = |pattern: &str, is_multiline: bool| {
            let mut builder = RegexBuilder::new(pattern);
            let built = builder
                .size_limit(MAX_PATTERN)
                .multi_line(is_multiline)
                .build();
            built.map_err(|error| fail(error.to_string()))
        };
        let near = |pattern: &Option<String>| {
            let pattern = pattern.as_deref().map(|pattern| compiled(pattern, true));
            pattern.transpose()
        };
        Ok(OwnRule {
            name: format!("{owner}/{}", self.name),
            pattern: compiled(&self.pattern, false)?,
            unless: near(&self.unless)?,
            before: near(&self.before)?,
            after: near(&self.after)?,
            not_near: near(&self.not_near)?,
            needs: self
                .needs
                .iter()
                .map(|need| need.to_ascii_lowercase())
                .collect(),
            raw: self.raw,
            weight: self.weight.unwrap_or(weight).min(MAX_WEIGHT),
            blocker: self.blocker,
            explain: self.explain,
            suggest: self.suggest,
            matching: self.matching,
            ignore: self.ignore,
        })
    }
}

impl OwnRule {
    fn text<'t>(&self, line: &'t str) -> &'t str {
        if self.raw {
            line.trim_end()
        } else {
            message_of(line)
        }
    }

    pub(super) fn matches(&self, line: &str, look: &impl Fn() -> SurroundingLines) -> bool {
        let text = self.text(line);
        let is_excluded = || self.unless.as_ref().is_some_and(|no| no.is_match(text));
        self.pattern.is_match(text) && !is_excluded() && self.fits(look)
    }

    fn fits(&self, look: &impl Fn() -> SurroundingLines) -> bool {
        if self.before.is_none() && self.after.is_none() && self.not_near.is_none() {
            return true;
        }
        let around = look();
        let (before, after) = (around.before.join("\n"), around.after.join("\n"));
        let says =
            |regex: &Option<Regex>, text: &str| regex.as_ref().is_none_or(|r| r.is_match(text));
        let is_near = |no: &Regex| no.is_match(&before) || no.is_match(&after);
        says(&self.before, &before)
            && says(&self.after, &after)
            && !self.not_near.as_ref().is_some_and(is_near)
    }

    pub(super) fn finding(&self, line: &str, number: u64) -> Finding {
        let text = self.text(line);
        let mut captures = BTreeMap::new();
        if let Some(found) = self.pattern.captures(text) {
            let names = self.pattern.capture_names().flatten();
            let named = names.filter_map(|name| Some((name, found.name(name)?.as_str())));
            captures.extend(named.map(|(name, value)| (name.to_owned(), shortened(value))));
        }
        captures.insert("line".to_owned(), shortened(text));
        Finding {
            rule: self.name.clone(),
            line: number,
            text: shortened(line),
            captures,
            count: 1,
            ..Finding::default()
        }
    }

    pub(super) fn name_cause(&self, failure: &mut Failure, finding: &Finding) {
        let values = &finding.captures;
        let filled = |template: &str| fill(template, values).map(|text| shortened(&text));
        let blocker = filled(self.blocker.as_deref().unwrap_or("{line}"));
        let blocker = blocker.unwrap_or_else(|| shortened(message_of(&finding.text)));
        failure.message = self
            .explain
            .as_deref()
            .and_then(filled)
            .unwrap_or_else(|| blocker.clone());
        failure.fingerprint = fingerprint(failure.kind, &blocker);
        failure.blocked_on = Some(blocker);
        failure.line = usize::try_from(finding.line).ok();
        let own: Vec<String> = self
            .suggest
            .iter()
            .filter_map(|text| filled(text))
            .collect();
        failure.suggested_actions.splice(0..0, own);
    }

    pub(super) fn wrong_examples(&self) -> Vec<WrongExample> {
        let expected = self.matching.iter().map(|text| (text, true));
        let all = expected.chain(self.ignore.iter().map(|text| (text, false)));
        all.filter(|(text, should_match)| self.matches_in(text) != *should_match)
            .map(|(text, should_match)| WrongExample {
                rule: self.name.clone(),
                text: text.clone(),
                should_match,
            })
            .collect()
    }

    /// Returns whether a line of the text matches.
    fn matches_in(&self, text: &str) -> bool {
        let lines: Vec<&str> = text.lines().collect();
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        (0..lines.len()).any(|at| {
            let lower = lines[at].to_ascii_lowercase();
            let has_need = self.needs.iter().any(|need| lower.contains(need));
            has_need
                && self.matches(lines[at], &|| SurroundingLines {
                    before: owned(&lines[..at]),
                    after: owned(&lines[at + 1..]),
                })
        })
    }
}
