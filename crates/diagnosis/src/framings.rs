//! The CI systems whose marks are known, for the page of failures.

use std::fmt::Write as _;

use crate::rules::RuleBook;
use crate::rules::rule::Role;

/// The prefix of each system's rule names, and the system's name.
const SYSTEMS: [(&str, &str); 20] = [
    ("travis", "Travis CI"),
    ("github", "GitHub Actions"),
    ("gitlab", "GitLab CI"),
    ("circle", "CircleCI"),
    ("jenkins", "Jenkins pipelines"),
    ("azure", "Azure Pipelines"),
    ("buildkite", "Buildkite"),
    ("docker", "docker build"),
    ("tox", "tox"),
    ("gradle", "Gradle"),
    ("maven", "Maven"),
    ("sbt", "sbt"),
    ("make", "make"),
    ("npm", "npm"),
    ("nox", "nox"),
    ("nx", "Nx"),
    ("task", "Task"),
    ("pre-commit", "pre-commit"),
    ("ansible", "Ansible"),
    ("cargo", "cargo test"),
];

/// The meanings of marks, in column order.
const MARKS: [(Role, &str); 7] = [
    (Role::StepBegins, "a step begins"),
    (Role::SetupBegins, "the system's own work begins"),
    (Role::StepEnds, "a step ends"),
    (Role::StepPassed, "it passed"),
    (Role::StepFailed, "it failed"),
    (Role::Runs, "the task that begins"),
    (Role::Ran, "the task that failed"),
];

/// Returns the section of the page that lists the systems and their marks.
pub(crate) fn framings() -> String {
    let mut page =
        "\n## Framings\n\nThe logs of these systems are divided into steps, by lines that say how far they are. Tools that run \
        others name the task inside a step:\n\n\
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
        "\nScripts that echo their commands (`set -x`, `$ command`) are read command by command, and so are npm and \
        pnpm scripts.\n\n\
        Timestamps of GitHub Actions, Azure Pipelines, GitLab CI and Jenkins are not part of a line, nor are the \
        names that `gh`, docker build, docker compose, pnpm and turbo put before it.\n",
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
