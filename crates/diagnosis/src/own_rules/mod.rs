//! The user's own rules and those of a workspace. They name and explain a cause that ours don't
//! know; they never decide whether something failed, its kind, or what regreen does about it.

mod rule;

use regreen_model::{Failure, Finding, Output};
use serde::Deserialize;
use thiserror::Error;

use crate::cause_origin::CauseOrigin;
use crate::rules::rule::SurroundingLines;

pub use rule::OwnRule;
use rule::RuleText;

/// The maximum size of a file, and the maximum number of rules in it.
pub const MAX_RULE_FILE: u64 = 64 * 1024;
const MAX_RULES: usize = 100;
/// The default weight of a rule.
const WEIGHT: u8 = 60;

/// Fields of our own rules that decide what regreen does.
const RESERVED: [&str; 9] = [
    "kind", "role", "repair", "retry", "provider", "proves", "absorbs", "last", "steady",
];

/// The rules from one or more files.
#[derive(Clone, Debug, Default)]
pub struct OwnRules {
    rules: Vec<OwnRule>,
}

/// Why a rule file can't be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OwnRulesError {
    /// It isn't TOML, or not in the format of rules.
    #[error("{why}")]
    Format {
        /// The parser's message.
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
    /// A rule is incomplete or has an unusable pattern.
    #[error("rule `{rule}`: {why}")]
    Rule {
        /// Its name.
        rule: String,
        /// The problem.
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

impl OwnRules {
    /// Parses the rules in a file. Their names start with its `owner`.
    ///
    /// # Errors
    /// Returns an error if the text isn't in the format of rules, or a rule may not be used.
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

    /// Returns whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the rules in file order.
    pub fn iter(&self) -> impl Iterator<Item = &OwnRule> {
        self.rules.iter()
    }

    /// Tries every rule on its own examples, and returns those it gets wrong.
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

    /// Names the cause of a failure with the strongest rule that found something, if it says more
    /// than ours. Returns the name of the rule. Kind, category, retry, repair and origin stay.
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

fn format_error(error: &toml::de::Error) -> OwnRulesError {
    OwnRulesError::Format {
        why: error.to_string().trim_end().to_owned(),
    }
}

/// Refuses fields with which a rule would decide what regreen does.
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
mod tests;
