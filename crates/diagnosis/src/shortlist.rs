use regreen_model::Finding;

use crate::line::LineKind;
use crate::line::{message_of, without_cause_words};
use crate::rules::rule::Role;
use crate::rules::rule::Rule;

/// No more findings than this are kept, whatever the size of the output.
pub(crate) const MAX_FINDINGS: usize = 64;
/// One rule keeps its first findings, and its last.
const FIRST_PER_RULE: usize = 2;

/// How many findings of one rule are enough.
const SETTLED: u64 = 32;

/// The findings worth keeping: a few per rule, the strongest rules first when there are
/// too many.
#[derive(Clone, Debug)]
pub(crate) struct Shortlist {
    /// By the rule's number.
    by_rule: Vec<Option<Kept>>,
}

#[derive(Clone, Debug)]
struct Kept {
    is_blame: bool,
    count: u64,
    first: Vec<Finding>,
    last: Option<Finding>,
    /// The line with the highest score: the first one of its rule may be a decoy.
    best: Option<(i32, Finding)>,
}

impl Shortlist {
    pub(crate) fn new(rules: usize) -> Self {
        Self {
            by_rule: (0..rules).map(|_| None).collect(),
        }
    }

    /// Returns how many findings of a rule there were.
    pub(crate) fn count(&self, n: usize) -> u64 {
        self.by_rule
            .get(n)
            .and_then(Option::as_ref)
            .map_or(0, |kept| kept.count)
    }

    /// Returns whether further findings of a rule add nothing: there are many, and one of them has
    /// the rule's full score.
    pub(crate) fn is_settled(&self, n: usize, rule: &Rule) -> bool {
        let kept = self.by_rule.get(n).and_then(Option::as_ref);
        kept.is_some_and(|kept| {
            let is_full = |(worth, _): &(i32, Finding)| *worth >= i32::from(rule.weight);
            kept.count >= SETTLED && kept.best.as_ref().is_some_and(is_full)
        })
    }

    pub(crate) fn add(&mut self, n: usize, rule: &Rule, finding: Finding) {
        let Some(place) = self.by_rule.get_mut(n) else {
            return;
        };
        let kept = place.get_or_insert_with(|| Kept {
            is_blame: rule.role.is_blame() || rule.role == Role::Frame,
            count: 0,
            first: Vec::new(),
            last: None,
            best: None,
        });
        kept.count += 1;
        let worth = if kept.is_blame {
            score(rule, &finding)
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
        for (own, more) in self.by_rule.iter_mut().zip(later.by_rule) {
            match (own.as_mut(), more) {
                (_, None) => {}
                (None, more) => *own = more,
                (Some(own), Some(more)) => own.absorb(more),
            }
        }
    }

    /// Returns the findings in the order of their lines.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let mut ranked: Vec<(bool, i32, Finding)> = Vec::new();
        for kept in self.by_rule.into_iter().flatten() {
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

/// How much less a line proves that green runs print as well.
const KNOWN: i32 = 100;
/// How much more a line scores that is called the cause of another.
const NAMED_CAUSE: i32 = 10;

/// Returns how much a line proves: the score of its rule, less the discount for its kind of line,
/// more if it is called the cause.
pub(crate) fn score(rule: &Rule, finding: &Finding) -> i32 {
    let discount = if rule.steady {
        0
    } else {
        LineKind::of(&finding.text).discount()
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
        score(rule, &finding)
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
    fn a_warning_proves_less() {
        let plain = worth("x: No such file or directory", &[]);
        assert!(worth("warning: x: No such file or directory", &[]) < plain);
    }
}
