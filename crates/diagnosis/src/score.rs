use regreen_model::Finding;

use crate::decoration::{message_of, without_cause_words};
use crate::mood::Mood;
use crate::rule::Rule;

/// What it is worth that a line is called the cause of another.
const NAMED_CAUSE: i32 = 10;

/// How much a line proves: what its rule says, less what its mood takes away, more if it is
/// said to be the cause.
pub(crate) fn score(rule: &Rule, finding: &Finding) -> i32 {
    let discount = if rule.steady {
        0
    } else {
        Mood::of(&finding.text).discount()
    };
    let bonus = if is_named_cause(finding) {
        NAMED_CAUSE
    } else {
        0
    };
    i32::from(rule.weight) - discount + bonus
}

/// `Caused by: …`, or a line below one that only says so.
fn is_named_cause(finding: &Finding) -> bool {
    let message = message_of(&finding.text);
    let says_so = without_cause_words(message).len() < message.len();
    let below = finding.before.last();
    says_so || below.is_some_and(|line| line.trim().eq_ignore_ascii_case("caused by:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule_book::RuleBook;

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
