use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use regreen_model::Finding;

use crate::line::{LastKind, LineKind, announces_retry, message_of, without_cause_words};
use crate::rank::is_code;
use crate::rules::rule::Role;
use crate::rules::rule::Rule;

/// How many findings are kept, whatever the size of the output.
pub(crate) const MAX_FINDINGS: usize = 64;
/// How many of a rule's first findings are kept, besides the last.
const FIRST_PER_RULE: usize = 2;

/// How many findings of one rule are enough.
const SETTLED: u64 = 32;

/// The findings worth keeping: a few per rule, with the strongest rules first if there are too
/// many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shortlist {
    /// By the rule's number. There are hundreds of rules, and a text matches a few.
    by_rule: BTreeMap<usize, Kept>,
}

#[derive(Clone, Debug)]
struct Kept {
    is_blame: bool,
    count: u64,
    first: Vec<Finding>,
    last: Option<Finding>,
    /// The line with the highest score, because the rule's first one may be a decoy.
    best: Option<(i32, Finding)>,
}

impl Shortlist {
    /// Returns how many findings of a rule there were.
    pub(crate) fn count(&self, n: usize) -> u64 {
        self.by_rule.get(&n).map_or(0, |kept| kept.count)
    }

    /// Returns whether further findings of a rule add nothing: there are many, and one of them has
    /// the rule's full score.
    pub(crate) fn is_settled(&self, n: usize, rule: &Rule) -> bool {
        self.by_rule.get(&n).is_some_and(|kept| {
            let is_full = |(worth, _): &(i32, Finding)| *worth >= i32::from(rule.weight);
            kept.count >= SETTLED && kept.best.as_ref().is_some_and(is_full)
        })
    }

    pub(crate) fn add(&mut self, n: usize, rule: &Rule, finding: Finding, kinds: &LastKind) {
        let kept = self.by_rule.entry(n).or_insert_with(|| Kept {
            is_blame: rule.role.is_blame() || rule.role == Role::Frame,
            count: 0,
            first: Vec::new(),
            last: None,
            best: None,
        });
        kept.count += 1;
        let worth = if kept.is_blame {
            score(rule, &finding, kinds)
        } else {
            i32::from(rule.weight)
        };
        if kept.best.as_ref().is_none_or(|(best, _)| worth > *best) {
            kept.best = Some((worth, finding.clone()));
        }
        if kept.first.len() < FIRST_PER_RULE {
            kept.first.push(finding);
        } else {
            kept.last = Some(finding);
        }
    }

    /// Adds the findings of a later part of the output.
    pub(crate) fn absorb(&mut self, later: Self) {
        for (rule, more) in later.by_rule {
            match self.by_rule.entry(rule) {
                Entry::Vacant(free) => {
                    free.insert(more);
                }
                Entry::Occupied(mut own) => own.get_mut().absorb(more),
            }
        }
    }

    /// Returns the findings in line order.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let mut ranked: Vec<(bool, i32, Finding)> = Vec::new();
        for kept in self.by_rule.into_values() {
            let worth = kept.best.as_ref().map_or(0, |(worth, _)| *worth);
            let best = kept.best.map(|(_, finding)| finding);
            let mut of_rule: Vec<Finding> = kept
                .first
                .into_iter()
                .chain(best)
                .chain(kept.last)
                .collect();
            of_rule.sort_by_key(|finding| finding.line);
            of_rule.dedup_by_key(|finding| finding.line);
            for mut finding in of_rule {
                finding.count = kept.count;
                ranked.push((kept.is_blame, worth, finding));
            }
        }
        // A third is reserved for signs of how it went, which are never the cause.
        let (mut blame, mut signs): (Vec<_>, Vec<_>) =
            ranked.into_iter().partition(|(is_blame, ..)| *is_blame);
        blame.sort_by_key(|(_, worth, finding)| (-worth, finding.line));
        blame.truncate(MAX_FINDINGS * 2 / 3);
        signs.sort_by_key(|(_, worth, finding)| (-worth, finding.line));
        signs.truncate(MAX_FINDINGS - blame.len());
        let mut findings: Vec<Finding> = blame
            .into_iter()
            .chain(signs)
            .map(|(.., finding)| finding)
            .collect();
        findings.sort_by(|a, b| (a.line, &a.rule).cmp(&(b.line, &b.rule)));
        findings
    }
}

impl Kept {
    fn absorb(&mut self, later: Self) {
        self.count += later.count;
        if let Some((worth, finding)) = later.best
            && self.best.as_ref().is_none_or(|(best, _)| worth > *best)
        {
            self.best = Some((worth, finding));
        }
        for finding in later.first.into_iter().chain(later.last) {
            if self.first.len() < FIRST_PER_RULE {
                self.first.push(finding);
            } else {
                self.last = Some(finding);
            }
        }
    }
}

/// How much less a line proves if passing runs print it as well.
const KNOWN: i32 = 100;
/// How much more a line scores if it is called the cause of another.
const NAMED_CAUSE: i32 = 10;

/// Returns how much a line proves: the weight of its rule, less the discount for its kind of line,
/// more if it is called the cause.
pub(crate) fn score(rule: &Rule, finding: &Finding, kinds: &LastKind) -> i32 {
    // Programs retry what they need, not what they check.
    let is_retried = || {
        let next = finding.after.first();
        !rule.kind.is_some_and(is_code) && next.is_some_and(|line| announces_retry(line))
    };
    let discount = if rule.steady {
        0
    } else {
        let of_line = kinds.of(&finding.text).discount();
        let retried = LineKind::Retried.discount();
        if of_line < retried && is_retried() {
            retried
        } else {
            of_line
        }
    };
    let bonus = if is_named_cause(finding) {
        NAMED_CAUSE
    } else {
        0
    };
    let known = if finding.is_known { KNOWN } else { 0 };
    i32::from(rule.weight) - discount - known + bonus
}

/// Returns whether the line is `Caused by: …`, or follows a line that only says so.
fn is_named_cause(finding: &Finding) -> bool {
    let message = message_of(&finding.text);
    let says_so = without_cause_words(message).len() < message.len();
    let below = finding.before.last();
    says_so || below.is_some_and(|line| line.trim().eq_ignore_ascii_case("caused by:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::RuleBook;

    fn worth(text: &str, before: &[&str]) -> i32 {
        let rule = RuleBook::ours().rule("system/no-such-file").unwrap();
        let finding = Finding {
            text: text.to_owned(),
            before: before.iter().map(|line| (*line).to_owned()).collect(),
            ..Finding::default()
        };
        score(rule, &finding, &LastKind::default())
    }

    #[test]
    fn a_line_that_is_called_the_cause_proves_more() {
        let plain = worth("x: No such file or directory", &[]);
        assert!(worth("Caused by: x: No such file or directory", &[]) > plain);
        assert!(
            worth(
                "    No such file or directory (os error 2)",
                &["Caused by:"]
            ) > plain
        );
    }

    #[test]
    fn an_error_that_is_tried_again_proves_less() {
        let rule = RuleBook::ours().rule("network/dns").unwrap();
        let worth = |after: &str| {
            let finding = Finding {
                text: "curl: (6) Could not resolve host: files.test".to_owned(),
                after: vec![after.to_owned()],
                ..Finding::default()
            };
            score(rule, &finding, &LastKind::default())
        };
        assert!(worth("attempt 1 failed, retrying in 2 s") < worth("giving up"));
    }

    #[test]
    fn a_warning_proves_less() {
        let plain = worth("x: No such file or directory", &[]);
        assert!(worth("warning: x: No such file or directory", &[]) < plain);
    }
}
