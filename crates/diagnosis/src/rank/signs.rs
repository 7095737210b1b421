use std::sync::LazyLock;

use regex::Regex;
use regreen_model::{Evidence, FailureCategory, FailureKind, Finding};

use super::cause::{Candidate, WEAK};
use super::diagnosis::Diagnosis;
use super::exit::last_informative_line;
use crate::rules::RuleBook;
use crate::rules::rule::MATCHED;
use crate::rules::rule::Role;

/// The signs in an output other than possible causes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signs {
    pub(crate) tests_passed: u64,
    /// The number of steps reported as done.
    pub(crate) steps: u64,
    /// The number of units whose compilation started.
    pub(crate) units: u64,
    /// The last line that reports success.
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
                | Role::Wrapper
                | Role::Frame
                | Role::Began
                | Role::Aside
                | Role::Resume
                | Role::StepBegins
                | Role::SetupBegins
                | Role::StepEnds
                | Role::StepPassed
                | Role::StepFailed
                | Role::Runs
                | Role::Ran
                | Role::Harmless => {}
            }
        }
        signs.tests_passed = counts.passed();
        signs
    }
}

/// Test counts as reported by tools: some print how many passed, others how many ran and failed.
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

/// The minimum score that proves a failure if the exit code is missing or 0.
const SURE: i32 = 50;

pub(crate) fn has_failed(evidence: &Evidence, candidates: &[Candidate<'_>], signs: &Signs) -> bool {
    let ending = evidence.ending;
    match (ending.exit_code, ending.signal) {
        (_, Some(_)) => true,
        (Some(0), None) => !ends_well(evidence) && candidates.iter().any(|c| is_proof(c, signs)),
        (Some(code), None) => !is_answer(code, evidence, candidates),
        (None, None) => {
            let is_marked = evidence.output.has_failed_step;
            is_marked || candidates.iter().any(|c| is_sign(c, signs)) || ends_badly(evidence)
        }
    }
}

/// Returns whether the output ends with a success.
fn ends_well(evidence: &Evidence) -> bool {
    let last = evidence
        .output
        .end()
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty());
    last.is_some_and(|last| {
        matches!(
            last.to_ascii_lowercase().as_str(),
            "ok" | "pass" | "passed" | "success"
        )
    })
}

/// Matches words that report a failure in a line that no rule is sure of.
static COMPLAINT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:fail(?:ed|s|ure|ures|ing)?|errors?|fatal|crash(?:ed|es)?|abort(?:ed|ing)?|could not|couldn't|cannot|can't|unable to|panicked)\b|\bexit(?:ed)?(?: with)?(?: (?:code|status))?:? [1-9]\d*\b",
    )
    .ok()
});
/// Matches exceptions to `COMPLAINT`.
static NO_COMPLAINT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:0|no|zero|without|any) (?:\w+ )?(?:errors?|fail(?:ed|ures?|ing)?)\b|\b(?:errors?|fail(?:ed|ures?))\s*[:=]\s*0\b|^\W*warn|\b(?:fixed|ignored|handled|expected)\b",
    )
    .ok()
});

/// Returns whether the last line of the output complains. This counts only if the exit code is
/// unknown, because exit code 0 would refute it.
fn ends_badly(evidence: &Evidence) -> bool {
    let matches = |regex: &LazyLock<Option<Regex>>, line: &str| {
        regex.as_ref().is_some_and(|regex| regex.is_match(line))
    };
    let last = last_informative_line(evidence);
    last.is_some_and(|(_, line)| matches(&COMPLAINT, line) && !matches(&NO_COMPLAINT, line))
}

/// Returns whether a line proves a failure that the exit code hides. A later success refutes it.
fn is_proof(candidate: &Candidate<'_>, signs: &Signs) -> bool {
    candidate.rule.proves && is_sign(candidate, signs)
}

fn is_sign(candidate: &Candidate<'_>, signs: &Signs) -> bool {
    let went_well_later = signs
        .success
        .is_some_and(|line| line > candidate.finding.line);
    candidate.rule.role != Role::Frame && candidate.score >= SURE && !went_well_later
}

/// Returns whether the output is an answer: `grep -c` prints a count and exits with 1 for none.
fn is_answer(code: i32, evidence: &Evidence, candidates: &[Candidate<'_>]) -> bool {
    let text = evidence.output.head.trim();
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    code == 1 && is_number && candidates.iter().all(|c| c.score < WEAK)
}

/// Returns whether the code itself failed, so that whatever passed or compiled before is finished
/// work. A problem of the environment remains one, whatever worked before.
pub(crate) fn is_code(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::CompileError
            | FailureKind::TypeCheckError
            | FailureKind::LinkError
            | FailureKind::LintError
            | FailureKind::TestFailure
            | FailureKind::TestCollectionError
    )
}

/// The failed unit is counted among those that started.
const FAILED_UNIT: u64 = 1;

pub(crate) fn with_finished_work(mut diagnosis: Diagnosis, signs: &Signs) -> Diagnosis {
    let is_tested = matches!(diagnosis.kind, FailureKind::TestFailure) && signs.tests_passed > 0;
    let is_compiled = is_code(diagnosis.kind) && signs.units > FAILED_UNIT;
    if diagnosis.category() == FailureCategory::ToolError
        && (is_tested || is_compiled || signs.steps > 0)
    {
        diagnosis.category = Some(FailureCategory::Partial);
    }
    diagnosis
}
