//! The Commit field of a task.

/// The message a task asks its commit to have; `None` where it wants no commit of its own.
#[must_use]
pub fn commit_message(field: &str) -> Option<String> {
    let line = field.lines().map(str::trim).find(|line| !line.is_empty())?;
    let message = without_condition(line).trim_matches('`').trim();
    (!says_none(message)).then(|| message.to_owned())
}

/// `None`, `None (nothing to commit)`, `N/A`, or nothing at all.
fn says_none(message: &str) -> bool {
    let first_word = message.split_whitespace().next().unwrap_or_default();
    let first_word = first_word.trim_end_matches(['.', ',', ':', ';']);
    first_word.is_empty() || ["none", "n/a"].contains(&first_word.to_ascii_lowercase().as_str())
}

/// `` `fix: x` (if there are changes) `` is the message `` `fix: x` ``.
fn without_condition(line: &str) -> &str {
    let Some((message, condition)) = line.rsplit_once('(') else {
        return line;
    };
    let condition = condition.trim_start().to_ascii_lowercase();
    let is_last = condition.trim_end_matches('.').ends_with(')');
    if is_last && (condition.starts_with("if ") || condition.starts_with("only if ")) {
        message.trim_end()
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_and_conditions_are_no_part_of_the_message() {
        for (field, message) in [
            ("feat(x): add y", Some("feat(x): add y")),
            ("feat: add y.", Some("feat: add y.")),
            ("`feat: add y`", Some("feat: add y")),
            ("`chore: lint` (if fixes were needed)", Some("chore: lint")),
            ("chore: lint (only if fixes needed).", Some("chore: lint")),
            ("fix: handle (a) and (b)", Some("fix: handle (a) and (b)")),
            ("\n`fix: below`", Some("fix: below")),
        ] {
            assert_eq!(commit_message(field).as_deref(), message, "{field}");
        }
    }

    #[test]
    fn none_means_no_commit() {
        for field in [
            "None",
            "none.",
            "None (if nothing changed)",
            "None - checks only",
            "N/A",
            "",
            "``",
        ] {
            assert_eq!(commit_message(field), None, "{field}");
        }
    }
}
