//! The Test Anything Protocol, as `node --test` prints it: results indented below the test that they are
//! part of, which is announced by a comment.

use crate::TestResults;
use crate::found::Found;

/// The most levels of tests within tests.
const MAX_LEVELS: usize = 40;

pub(crate) fn read(lines: &[&str]) -> TestResults {
    let mut found = Found::default();
    let mut open: Vec<(usize, String)> = Vec::new();
    let (mut planned, mut ran) = (None, 0_u64);
    let (mut failed, mut is_told) = (0, false);
    for line in lines {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        if let Some(name) = text.strip_prefix("# Subtest: ") {
            open.retain(|(other, _)| *other < depth);
            if open.len() < MAX_LEVELS {
                open.push((depth, name.to_owned()));
            }
        } else if let Some(plan) = line.strip_prefix("1..") {
            planned = plan
                .split(' ')
                .next()
                .and_then(|count| count.parse::<u64>().ok());
        } else if line.starts_with("Bail out!") {
            found.is_broken = true;
        } else if let Some(count) = line
            .strip_prefix("# fail ")
            .or(line.strip_prefix("# cancelled "))
        {
            failed += count.parse::<u64>().unwrap_or(0);
            is_told = true;
        } else if let Some((is_ok, name)) = result(text) {
            ran += u64::from(depth == 0);
            open.retain(|(other, _)| *other < depth);
            let parts: Vec<&str> = open
                .iter()
                .map(|(_, name)| name.as_str())
                .chain([name])
                .collect();
            let name = parts.join(" › ");
            match is_ok {
                Some(true) => found.pass(&name),
                Some(false) => found.fail(&name),
                None => {}
            }
        }
    }
    // A test whose parts failed has failed as well, but isn't counted if it is only a group of them.
    let failures = found.failures();
    let is_counted = !is_told || failed <= failures;
    found.is_broken |= planned != Some(ran);
    found.counted_failed = is_counted.then_some(failures);
    found.results(failures)
}

/// Returns whether a test passed, and its name, of `not ok 2 - old`. Nothing is said about skipped tests, and
/// about those that may fail.
fn result(text: &str) -> Option<(Option<bool>, &str)> {
    let (is_ok, rest) = match text.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("ok ")?),
    };
    let (number, name) = rest.split_once(" - ")?;
    number.parse::<u64>().ok()?;
    let (name, directive) = name.split_once(" # ").unwrap_or((name, ""));
    let directive = directive.to_ascii_uppercase();
    let is_left_out = directive.starts_with("SKIP") || directive.starts_with("TODO");
    Some(((!is_left_out).then_some(is_ok), name.trim_end()))
}
