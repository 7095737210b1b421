//! The output of pytest.

use crate::TestResults;
use crate::found::{Found, count_of};

/// Begins the part that names results. Before it stands what tests printed.
const SUMMARY: &str = "short test summary info";

pub(crate) fn read(lines: &[&str]) -> TestResults {
    let mut found = Found::default();
    let begin = lines
        .iter()
        .rposition(|line| line.contains(SUMMARY) && line.starts_with("=="));
    for line in &lines[..begin.unwrap_or(lines.len())] {
        // The coverage is printed before the summary.
        found.is_broken |= line.starts_with("FAIL Required test coverage")
            || line.starts_with("ERROR: Coverage failure")
            || line.starts_with("INTERNALERROR>");
        if let Some(name) = verbose_pass(line) {
            found.pass(name);
        }
    }
    for line in &lines[begin.unwrap_or(0)..] {
        read_summary(&mut found, line);
    }
    let failures = found.failures();
    found.results(failures)
}

/// Returns the test of a line such as `a.py::test_b PASSED   [ 20%]`.
fn verbose_pass(line: &str) -> Option<&str> {
    let (name, rest) = line.rsplit_once(" PASSED")?;
    let is_end = rest.trim().is_empty() || rest.trim_start().starts_with('[');
    (is_end && name.contains("::") && !name.starts_with('[')).then_some(name)
}

fn read_summary(found: &mut Found, line: &str) {
    if let Some(test) = line.strip_prefix("PASSED ") {
        found.pass(test);
    } else if let Some(test) = line.strip_prefix("FAILED ").or(line.strip_prefix("ERROR ")) {
        match name(test) {
            Some(name) => found.fail(name),
            None => found.is_broken = true,
        }
    } else if line.starts_with("!!!") || line.starts_with("ERROR:") || line.starts_with("FAIL ") {
        // Stopped early, or something other than a test has failed, such as the coverage.
        found.is_broken = true;
    } else if is_counts(line) {
        let errors = count_of(line, "error").or(count_of(line, "errors"));
        let failed = count_of(line, "failed");
        found.counted_failed = Some(errors.unwrap_or(0).saturating_add(failed.unwrap_or(0)));
        found.counted_passed = Some(count_of(line, "passed").unwrap_or(0));
    }
}

/// Whether this is the last line, such as `2 failed, 1 passed in 0.05s`.
fn is_counts(line: &str) -> bool {
    let line = line.trim_matches(['=', ' ']);
    let has_count = ["failed", "passed", "error", "errors"];
    line.contains(" in ")
        && line.starts_with(|c: char| c.is_ascii_digit())
        && has_count.iter().any(|word| count_of(line, word).is_some())
}

/// Returns the name before the message. Parameters may contain what stands between the two.
fn name(text: &str) -> Option<&str> {
    let mut ends = text
        .match_indices(" - ")
        .map(|(at, _)| at)
        .chain([text.len()]);
    let is_whole = |text: &str| text.matches('[').count() == text.matches(']').count();
    let end = ends
        .find(|end| is_whole(&text[..*end]))
        .unwrap_or(text.len());
    Some(&text[..end]).filter(|name| name.contains("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coverage_limit_that_is_not_reached_is_a_failure_of_its_own() {
        let summary = [
            "=========================== short test summary info ============================",
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "1 failed, 2 passed in 0.05s",
        ];
        assert!(read(&summary).is_complete);
        for coverage in [
            "FAIL Required test coverage of 90% not reached. Total coverage: 80.00%",
            "ERROR: Coverage failure: total of 80 is less than fail-under=90",
        ] {
            let before = [&[coverage], summary.as_slice()].concat();
            let after = [summary.as_slice(), &[coverage]].concat();
            for lines in [before, after] {
                let results = read(&lines);
                assert!(!results.is_complete, "{lines:?}");
                assert_eq!(results.failed.len(), 1, "{lines:?}");
            }
        }
    }
}
