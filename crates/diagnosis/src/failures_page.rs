use std::fmt::Write as _;

use regreen_model::{FailureCategory, FailureKind, RetryMode};

use crate::rule_book::RuleBook;
use crate::suggestions::suggestions_for;

const INTRODUCTION: &str = "\
# Failures

Every failed attempt gets one of five categories and one kind. This page is generated from the
same tables that the program uses.
";

/// The page of the user guide that lists kinds, what they mean and what is done about each.
#[must_use]
pub fn failures_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for category in FailureCategory::ALL {
        let _ = write!(page, "\n## {category}\n\n{}\n\n", about(category));
        page.push_str(
            "| kind | what it means | again? | what helps | rules |\n|---|---|---|---|---|\n",
        );
        let kinds = FailureKind::ALL
            .into_iter()
            .filter(|kind| kind.category() == category);
        for kind in kinds {
            page.push_str(&row(kind));
        }
    }
    page
}

fn row(kind: FailureKind) -> String {
    let helps = suggestions_for(kind, None).join("; ");
    let rules = RuleBook::ours()
        .rules
        .iter()
        .filter(|rule| rule.kind == Some(kind))
        .count();
    let again = again(kind.retry_mode());
    format!(
        "| `{kind}` | {} | {again} | {helps} | {rules} |\n",
        kind.meaning()
    )
}

fn about(category: FailureCategory) -> &'static str {
    match category {
        FailureCategory::Timeout => {
            "A time limit ended it. With any sign of progress it is tried again with more time."
        }
        FailureCategory::MissingContext => "Something only the requester knows was not said.",
        FailureCategory::ToolError => "A tool, the environment or the code stood in the way.",
        FailureCategory::InvalidTask => {
            "Nobody could do it as it was asked, or the agent will not."
        }
        FailureCategory::Partial => "Part of the work is done, then something blocked the rest.",
    }
}

fn again(mode: RetryMode) -> &'static str {
    match mode {
        RetryMode::AsIs => "yes, as it is",
        RetryMode::AfterRepair => "yes, after a repair of the environment",
        RetryMode::AfterFix => "yes, after a fix of the code",
        RetryMode::AfterHuman => "only after a person has acted",
        RetryMode::Never => "no",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_row() {
        let page = failures_page();
        for kind in FailureKind::ALL {
            assert!(page.contains(&format!("| `{kind}` |")), "{kind}");
        }
    }
}
