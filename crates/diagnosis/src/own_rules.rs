//! Rules of the user's own and of a workspace. They name and explain a cause that ours don't know;
//! they decide neither whether something failed, nor its kind, nor what regreen does about it.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use regreen_model::{Failure, Finding, Output};
use serde::Deserialize;
use thiserror::Error;

use crate::cause_origin::CauseOrigin;
use crate::line::message_of;
use crate::rank::diagnosis::{fingerprint, shortened};
use crate::rules::rule::SurroundingLines;
use crate::rules::template::fill;

/// A file may not be longer than this, and have no more rules.
pub const MAX_RULE_FILE: u64 = 64 * 1024;
const MAX_RULES: usize = 100;
/// How large a compiled pattern may become.
const MAX_PATTERN: usize = 1 << 20;
/// The weight of a rule whose file names none.
const WEIGHT: u8 = 60;
const MAX_WEIGHT: u8 = 100;

/// Fields of our own rules that decide what regreen does.
const RESERVED: [&str; 9] = [
    "kind", "role", "repair", "retry", "provider", "proves", "absorbs", "last", "steady",
];

/// The rules of one or several files.
#[derive(Clone, Debug, Default)]
pub struct OwnRules {
    rules: Vec<OwnRule>,
}

/// A rule that names a cause.
#[derive(Clone, Debug)]
pub struct OwnRule {
    /// `workspace/name` or `user/name`.
    pub name: String,
    /// In lower case.
    needs: Vec<String>,
    raw: bool,
    pattern: Regex,
    unless: Option<Regex>,
    before: Option<Regex>,
    after: Option<Regex>,
    not_near: Option<Regex>,
    /// From which certainty of ours on ours wins.
    pub weight: u8,
    blocker: Option<String>,
    /// What the line means, for people.
    pub explain: Option<String>,
    suggest: Vec<String>,
    matching: Vec<String>,
    ignore: Vec<String>,
}

/// Why a file of rules cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OwnRulesError {
    /// It is not TOML, or not in the format of rules.
    #[error("{why}")]
    Format {
        /// As the parser puts it.
        why: String,
    },
    /// A rule has a field that only regreen's own rules may have.
    #[error(
        "rule `{rule}`: `{field}` is reserved for regreen's own rules; yours may name and explain a cause"
    )]
    Reserved {
        /// Its name.
        rule: String,
        /// The field.
        field: &'static str,
    },
    /// A rule is incomplete or has a pattern that cannot be used.
    #[error("rule `{rule}`: {why}")]
    Rule {
        /// Its name.
        rule: String,
        /// What is wrong.
        why: String,
    },
    /// The file has too many rules.
    #[error("more than {MAX_RULES} rules")]
    TooMany,
}

/// An example that a rule gets wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongExample {
    /// The name of the rule.
    pub rule: String,
    /// The example.
    pub text: String,
    /// Whether the rule should match it.
    pub should_match: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    weight: Option<u8>,
    rule: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
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

impl OwnRules {
    /// Reads the rules of a file. Their names begin with its `owner`.
    ///
    /// # Errors
    /// If the text is not in the format of rules, or a rule may not be used.
    pub fn parse(owner: &str, text: &str) -> Result<Self, OwnRulesError> {
        let table: toml::Table = toml::from_str(text).map_err(|error| format_error(&error))?;
        reserved(&table)?;
        let file: FileText = toml::from_str(text).map_err(|error| format_error(&error))?;
        if file.rule.len() > MAX_RULES {
            return Err(OwnRulesError::TooMany);
        }
        let weight = file.weight.unwrap_or(WEIGHT);
        let rules = file
            .rule
            .into_iter()
            .map(|rule| rule.compiled(owner, weight));
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
        })
    }

    /// Adds the rules of another file.
    pub fn extend(&mut self, more: Self) {
        self.rules.extend(more.rules);
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the rules in the order of their files.
    pub fn iter(&self) -> impl Iterator<Item = &OwnRule> {
        self.rules.iter()
    }

    /// Tries every rule on its own examples, and returns those that it gets wrong.
    #[must_use]
    pub fn wrong_examples(&self) -> Vec<WrongExample> {
        self.rules
            .iter()
            .flat_map(OwnRule::wrong_examples)
            .collect()
    }

    /// Returns the findings in a line.
    pub(crate) fn findings(
        &self,
        line: &str,
        number: u64,
        look: impl Fn() -> SurroundingLines,
    ) -> Vec<Finding> {
        let lower = line.to_ascii_lowercase();
        let can_match = |rule: &&OwnRule| rule.needs.iter().any(|need| lower.contains(need));
        let found = self
            .rules
            .iter()
            .filter(can_match)
            .filter(|rule| rule.matches(line, &look));
        found.map(|rule| rule.finding(line, number)).collect()
    }

    /// Names the cause of a failure by the strongest rule that found something, if it says more than
    /// ours. Returns the name of the rule. Kind, category, retry, repair and origin stay.
    pub fn name_cause(&self, failure: &mut Failure, output: &Output) -> Option<&str> {
        let found = output.own_findings.iter().filter_map(|finding| {
            let rule = self.rules.iter().find(|rule| rule.name == finding.rule)?;
            Some((rule, finding))
        });
        let (rule, finding) =
            found.max_by_key(|(rule, finding)| (rule.weight, std::cmp::Reverse(finding.line)))?;
        let is_same_line = failure.line.is_some_and(|line| line as u64 == finding.line);
        let is_unexplained = CauseOrigin::of(failure) == CauseOrigin::Exit;
        let is_stronger = rule.weight >= failure.confidence.as_percent();
        if !(is_same_line || is_unexplained || is_stronger) {
            return None;
        }
        rule.name_cause(failure, finding);
        Some(&rule.name)
    }
}

impl RuleText {
    fn compiled(self, owner: &str, weight: u8) -> Result<OwnRule, OwnRulesError> {
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

    fn matches(&self, line: &str, look: &impl Fn() -> SurroundingLines) -> bool {
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

    fn finding(&self, line: &str, number: u64) -> Finding {
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

    fn name_cause(&self, failure: &mut Failure, finding: &Finding) {
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

    fn wrong_examples(&self) -> Vec<WrongExample> {
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

fn format_error(error: &toml::de::Error) -> OwnRulesError {
    OwnRulesError::Format {
        why: error.to_string().trim_end().to_owned(),
    }
}

/// Refuses fields by which a rule would decide what regreen does.
fn reserved(table: &toml::Table) -> Result<(), OwnRulesError> {
    let rules = table.get("rule").and_then(toml::Value::as_array);
    for rule in rules
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_table)
    {
        if let Some(field) = RESERVED.into_iter().find(|field| rule.contains_key(*field)) {
            let name = rule.get("name").and_then(toml::Value::as_str);
            return Err(OwnRulesError::Reserved {
                rule: name.unwrap_or_default().to_owned(),
                field,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use regreen_model::{Ending, Source};

    use super::*;
    use crate::{Explanation, Scanner, evidence_of};

    const RULES: &str = r#"
        [[rule]]
        name = "quota"
        needs = ["quota"]
        pattern = '^quota of (?P<team>\w+) is used up'
        blocker = "{team} has no quota left"
        explain = "The build farm gives {team} no more machines today"
        suggest = ["Ask for more quota in #build-farm"]
        weight = 90
        match = ["quota of web is used up"]
        ignore = ["quota: 3"]
    "#;

    fn explained(rules: &str, log: &str, exit_code: i32) -> Explanation {
        let own = std::sync::Arc::new(OwnRules::parse("workspace", rules).unwrap());
        let mut scanner = Scanner::new(Source::Command).with_own_rules(own.clone());
        scanner.feed(log.as_bytes());
        let ending = Ending {
            exit_code: Some(exit_code),
            ..Ending::default()
        };
        let evidence = evidence_of(scanner.finish(), Source::Command, None, ending);
        Explanation::with_own_rules(&evidence, &own)
    }

    #[test]
    fn an_own_rule_names_and_explains_and_decides_nothing_else() {
        let log = "quota of web is used up\nerror[E0425]: cannot find value `x` in this scope\n";
        let named = explained(RULES, log, 101);
        let plain = explained("rule = []", log, 101);
        assert_eq!(named.named_by(), Some("workspace/quota"));
        let (named, plain) = (named.failure.unwrap(), plain.failure.unwrap());
        assert_eq!(named.blocked_on.as_deref(), Some("web has no quota left"));
        assert_eq!(
            named.message,
            "The build farm gives web no more machines today"
        );
        assert_eq!(
            named.suggested_actions[0],
            "Ask for more quota in #build-farm"
        );
        assert_eq!(named.kind, plain.kind);
        assert_eq!(named.category, plain.category);
        assert_eq!(named.retry_mode, plain.retry_mode);
        assert_eq!(named.repair, plain.repair);
        assert_eq!(named.rule, plain.rule);
    }

    #[test]
    fn an_own_rule_never_makes_a_failure() {
        let explanation = explained(RULES, "quota of web is used up\n", 0);
        assert_eq!(explanation.failure, None);
    }

    #[test]
    fn fields_that_decide_are_refused() {
        for field in ["kind = \"disk_full\"", "retry = \"as_is\"", "proves = true"] {
            let text = format!("{RULES}\n{field}");
            let error = OwnRules::parse("workspace", &text).unwrap_err();
            assert!(matches!(error, OwnRulesError::Reserved { .. }), "{error}");
        }
        let repair = format!("{RULES}\nrepair = {{ action = \"npm_install\" }}");
        assert!(OwnRules::parse("workspace", &repair).is_err());
    }

    #[test]
    fn examples_that_are_wrong_are_told() {
        let rules = OwnRules::parse("user", RULES).unwrap();
        assert_eq!(rules.wrong_examples(), []);
        let wrong = RULES.replace("\"quota: 3\"", "\"quota of app is used up\"");
        let wrong = OwnRules::parse("user", &wrong).unwrap().wrong_examples();
        assert_eq!(wrong.len(), 1);
        assert!(!wrong[0].should_match);
    }

    #[test]
    fn incomplete_and_oversized_rules_are_refused() {
        for (from, to) in [
            ("needs = [\"quota\"]", "needs = []"),
            ("ignore = [\"quota: 3\"]", "ignore = []"),
            ("(?P<team>\\w+)", "(?P<team>\\w+"),
            ("(?P<team>\\w+)", "(?P<team>(?:\\w{1000}){1000})"),
        ] {
            let text = RULES.replace(from, to);
            assert!(OwnRules::parse("user", &text).is_err(), "{to}");
        }
    }
}
