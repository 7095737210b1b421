//! The output of Python's unittest.

use crate::TestResults;
use crate::found::Found;

/// What fails for all tests of a class or module: which of them would have failed isn't known.
const FIXTURES: [&str; 4] = [
    "setUpClass",
    "tearDownClass",
    "setUpModule",
    "tearDownModule",
];

pub(crate) fn read(lines: &[&str]) -> TestResults {
    let mut found = Found::default();
    let mut ran = None;
    let mut last = "";
    for line in lines {
        if let Some(test) = line.strip_prefix("FAIL: ").or(line.strip_prefix("ERROR: ")) {
            if last.starts_with("======") {
                fail(&mut found, test);
            }
        } else if let Some(test) = line.strip_suffix(" ... ok") {
            if let Some(name) = name(test) {
                found.pass(&name);
            }
        } else if let Some(rest) = line.strip_prefix("Ran ") {
            ran = rest
                .split(' ')
                .next()
                .and_then(|count| count.parse::<u64>().ok());
        } else if let Some(counts) = line.strip_prefix("FAILED (") {
            found.counted_failed =
                Some(count(counts, "failures").saturating_add(count(counts, "errors")));
            found.is_broken |= counts.contains("unexpected");
        } else if *line == "OK" || line.starts_with("OK (") {
            found.counted_failed = Some(0);
        }
        last = line;
    }
    let failures = found.failures();
    let different = found.different();
    // Skipped tests are counted as well; they only make the number of passed tests too high.
    found.counted_passed = ran.map(|ran| ran.saturating_sub(different));
    found.results(failures)
}

fn fail(found: &mut Found, test: &str) {
    let is_fixture = FIXTURES.iter().any(|name| test.starts_with(name));
    match name(test) {
        Some(name) if !is_fixture && !name.contains("_FailedTest") => found.fail(&name),
        _ => found.is_broken = true,
    }
}

/// Returns the whole name of `test_a (module.Class.test_a) (i=1)`; older versions name only the class.
fn name(text: &str) -> Option<String> {
    let (test, rest) = text.trim_start().split_once(" (")?;
    let (path, _) = rest.split_once(')')?;
    let is_word = |text: &str| {
        text.chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '.')
    };
    if !is_word(test) || !is_word(path) {
        return None;
    }
    Some(match path.rsplit('.').next() == Some(test) {
        true => path.to_owned(),
        false => format!("{path}.{test}"),
    })
}

fn count(text: &str, word: &str) -> u64 {
    let after = text.split_once(&format!("{word}=")).map(|(_, after)| after);
    let digits = after.map(|after| after.split(|c: char| !c.is_ascii_digit()).next());
    digits
        .flatten()
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}
