//! The built-in rules, made from `rules/*.toml`.

mod ascii_classes;
pub(crate) mod captures;
pub(crate) mod lazy_regex;
mod prefilter;
pub(crate) mod rule;
pub(crate) mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use regreen_model::{FailureKind, RetryMode, Source};

use crate::cause_origin::CauseOrigin;
use lazy_regex::LazyRegex;
use prefilter::Prefilter;
#[cfg(test)]
use rule::Examples;
use rule::{Role, Rule};
use template::RepairTemplate;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// All rules, and how to find those that can match a line.
#[derive(Debug)]
pub(crate) struct RuleBook {
    pub(crate) rules: &'static [Rule],
    by_name: BTreeMap<&'static str, &'static Rule>,
    /// Separate for agents and commands, because prose is full of words that would slow down the
    /// search in logs.
    agent: OnceLock<Prefilter>,
    command: OnceLock<Prefilter>,
}

static BOOK: LazyLock<RuleBook> = LazyLock::new(|| RuleBook {
    rules: &RULES,
    by_name: RULES.iter().map(|rule| (rule.name, rule)).collect(),
    agent: OnceLock::new(),
    command: OnceLock::new(),
});

/// A built-in rule, for lists.
#[derive(Clone, Copy, Debug)]
pub struct RuleSummary {
    /// `family/name`.
    pub name: &'static str,
    /// The kind of failure it recognizes; `None` for lines that show how a run went.
    pub kind: Option<FailureKind>,
    /// How certain it is that a matching line is the cause, up to 100.
    pub weight: u8,
}

/// Returns the built-in rules.
pub fn built_in_rules() -> impl Iterator<Item = RuleSummary> {
    let rules = RuleBook::ours().rules.iter();
    rules.map(|rule| RuleSummary {
        name: rule.name,
        kind: rule.kind,
        weight: rule.weight,
    })
}

impl RuleBook {
    /// Returns the built-in rules.
    pub(crate) fn ours() -> &'static Self {
        &BOOK
    }

    pub(crate) fn rule(&self, name: &str) -> Option<&'static Rule> {
        self.by_name.get(name).copied()
    }

    /// Returns the prefilter for lines that rules for this source can match.
    pub(crate) fn prefilter(&self, source: Source) -> &Prefilter {
        let cell = match source {
            Source::Agent => &self.agent,
            Source::Command => &self.command,
        };
        cell.get_or_init(|| Prefilter::new(self.rules, source))
    }
}
