//! The CI systems whose marks are known, for the page of failures.

use std::fmt::Write as _;

use crate::rules::RuleBook;
use crate::rules::rule::Role;

/// How the names of the rules of a system begin, and what it is called.
const SYSTEMS: [(&str, &str); 7] = [
    ("travis", "Travis CI"),
    ("github", "GitHub Actions"),
    ("gitlab", "GitLab CI"),
    ("circle", "CircleCI"),
    ("jenkins", "Jenkins pipelines"),
    ("azure", "Azure Pipelines"),
    ("buildkite", "Buildkite"),
];

/// What marks say, in the order of the columns.
const MARKS: [(Role, &str); 5] = [
    (Role::StepBegins, "a step begins"),
    (Role::SetupBegins, "the system's own work begins"),
    (Role::StepEnds, "a step ends"),
    (Role::StepPassed, "it passed"),
    (Role::StepFailed, "it failed"),
];

/// Returns the section of the page that lists the systems and their marks.
pub(crate) fn framings() -> String {
    let mut page =
        "\n## Framings\n\nThe logs of these systems are divided into steps, by lines that say:\n\n\
        | system | marks |\n|---|---|\n"
            .to_owned();
    for (prefix, system) in SYSTEMS {
        let marks: Vec<&str> = MARKS
            .into_iter()
            .filter(|(role, _)| has_mark(prefix, *role))
            .map(|(_, words)| words)
            .collect();
        let _ = writeln!(page, "| {system} | {} |", marks.join(", "));
    }
    page.push_str(
        "\nScripts that echo their commands (`set -x`, `$ command`) are read command by command.\n",
    );
    page
}

fn has_mark(prefix: &str, role: Role) -> bool {
    let is_own = |name: &str| {
        name.strip_prefix("framing/")
            .is_some_and(|name| name.starts_with(prefix))
    };
    let rules = RuleBook::ours().rules.iter();
    rules
        .filter(|rule| rule.role == role)
        .any(|rule| is_own(rule.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_framing_is_on_the_page() {
        for rule in RuleBook::ours().rules {
            if let Some(name) = rule.name.strip_prefix("framing/") {
                let is_listed = SYSTEMS.iter().any(|(prefix, _)| name.starts_with(prefix));
                assert!(is_listed, "{name}");
            }
        }
    }
}
