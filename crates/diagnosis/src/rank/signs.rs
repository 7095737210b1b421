use regreen_model::Finding;

use crate::role::Role;
use crate::rule::MATCHED;
use crate::rule_book::RuleBook;

/// What an output shows besides what may be blamed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signs {
    pub(crate) tests_passed: u64,
    /// Steps that are said to be done.
    pub(crate) steps: u64,
    /// Units that were compiled or begun.
    pub(crate) units: u64,
    /// The last line that says that it went well.
    pub(crate) success: Option<u64>,
    pub(crate) nothing_done: bool,
}

impl Signs {
    pub(crate) fn of(findings: &[Finding]) -> Self {
        let mut signs = Self::default();
        let mut counts = TestCounts::default();
        for finding in findings {
            let Some(rule) = RuleBook::ours().rule(&finding.rule) else {
                continue;
            };
            match rule.role {
                Role::Passed => counts.add(finding),
                Role::Step => signs.steps = signs.steps.max(finding.count),
                Role::Unit => signs.units = signs.units.max(finding.count),
                Role::Success => signs.success = signs.success.max(Some(finding.line)),
                Role::Nothing => signs.nothing_done = true,
                Role::Cause
                | Role::Symptom
                | Role::Frame
                | Role::Aside
                | Role::Resume
                | Role::Harmless => {}
            }
        }
        signs.tests_passed = counts.passed();
        signs
    }
}

/// Tests as the tools count them: some say how many passed, some how many ran and failed.
#[derive(Clone, Copy, Debug, Default)]
struct TestCounts {
    passed: u64,
    ran: u64,
    not_passed: u64,
    marks: u64,
}

impl TestCounts {
    fn add(&mut self, finding: &Finding) {
        let number = |name: &str| {
            finding
                .captures
                .get(name)
                .and_then(|n| n.parse::<u64>().ok())
        };
        self.passed = self.passed.max(number("passed").unwrap_or(0));
        self.ran = self.ran.max(number("ran").unwrap_or(0));
        let not_passed = ["failed", "errors", "skipped"]
            .into_iter()
            .filter_map(number)
            .sum();
        self.not_passed = self.not_passed.max(not_passed);
        let has_number = finding.captures.keys().any(|name| name != MATCHED);
        if !has_number {
            self.marks += 1;
        }
    }

    fn passed(self) -> u64 {
        let rest = self.ran.saturating_sub(self.not_passed.max(1));
        self.passed.max(rest).max(self.marks)
    }
}
