//! Rules about single added lines, read from `rules/lines.toml`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::change::Edited;
use crate::roles::Role;
use crate::sign::{Sign, TamperSign};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    rule: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    sign: Sign,
    #[serde(rename = "in")]
    roles: Vec<Role>,
    files: Vec<String>,
    added: String,
    /// Lines that the rule finds, and lines that it ignores: tests.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are tests"))]
    found: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are tests"))]
    ignored: Vec<String>,
}

static RULES: LazyLock<Vec<(Rule, Regex)>> = LazyLock::new(|| {
    let rules: Option<Rules> = toml::from_str(include_str!("../rules/lines.toml")).ok();
    let rules = rules.map(|rules| rules.rule).unwrap_or_default();
    let compiled = |rule: Rule| Some((Regex::new(&rule.added).ok()?, rule));
    let compiled = rules.into_iter().filter_map(compiled);
    compiled.map(|(pattern, rule)| (rule, pattern)).collect()
});

impl Rule {
    fn reads(&self, roles: &[Role], extension: &str) -> bool {
        self.roles.iter().any(|role| roles.contains(role))
            && (self.files.is_empty() || self.files.iter().any(|file| file == extension))
    }
}

/// Finds added lines that a rule names. A line that was only moved was there before.
pub(crate) fn signs(file: &Edited<'_>, roles: &[Role]) -> Vec<TamperSign> {
    // A new file of tests can't weaken any that was there.
    if file.is_new && roles.contains(&Role::Test) {
        return Vec::new();
    }
    let before: BTreeSet<&str> = file.removed().map(|line| line.text.trim()).collect();
    let rules: Vec<_> = RULES
        .iter()
        .filter(|(rule, _)| rule.reads(roles, file.extension()))
        .collect();
    let mut signs = Vec::new();
    for line in file.added() {
        if before.contains(line.text.trim()) {
            continue;
        }
        let found = rules
            .iter()
            .filter(|(_, pattern)| pattern.is_match(line.text));
        let is_older = |pattern: &Regex| {
            // The line that it replaces did the same.
            let replaced = file
                .hunks
                .iter()
                .find(|hunk| hunk.added.iter().any(|added| added.number == line.number));
            replaced.is_some_and(|hunk| hunk.removed.iter().any(|old| pattern.is_match(old.text)))
        };
        let found = found.filter(|(rule, pattern)| {
            let is_harmless = rule.sign == Sign::ExitSwallowed && cleans_up(line.text);
            !is_harmless && !is_older(pattern)
        });
        signs.extend(found.map(|(rule, _)| file.sign_at(rule.sign, line)));
    }
    signs
}

/// Commands that clean up or look something up, whose failure says nothing about the code.
static CLEAN_UP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s-])(?:rm|rmdir|mkdir|kill|pkill|killall|umount|docker\s+(?:rm|stop|kill|network|volume|compose\s+down)|git\s+(?:branch|tag|remote|worktree|stash)|dropdb|createdb|command\s+-v|which|type|userdel|systemctl|fuser)\b").ok()
});

fn cleans_up(line: &str) -> bool {
    CLEAN_UP
        .as_ref()
        .is_some_and(|clean_up| clean_up.is_match(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_can_be_read() {
        let rules: Rules = toml::from_str(include_str!("../rules/lines.toml")).unwrap();
        for rule in &rules.rule {
            assert!(
                Regex::new(&rule.added).is_ok(),
                "{:?}",
                Regex::new(&rule.added)
            );
        }
        assert_eq!(RULES.len(), rules.rule.len());
    }

    #[test]
    fn every_rule_finds_its_lines_and_ignores_the_others() {
        for (rule, pattern) in RULES.iter() {
            for line in &rule.found {
                assert!(pattern.is_match(line), "{:?} misses {line}", rule.sign);
            }
            for line in &rule.ignored {
                assert!(!pattern.is_match(line), "{:?} finds {line}", rule.sign);
            }
            assert!(!rule.found.is_empty() && !rule.ignored.is_empty());
        }
    }
}
