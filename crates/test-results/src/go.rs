//! The output of `go test` and `go test -v`. With `-json`, it is the same text in other lines, which is
//! not read.

use std::collections::BTreeSet;

use crate::TestResults;
use crate::found::Found;

pub(crate) fn read(lines: &[&str]) -> TestResults {
    let mut found = Found::default();
    // A package is named after its tests.
    let (mut failed, mut passed) = (BTreeSet::new(), BTreeSet::new());
    let mut has_ended = false;
    for line in lines {
        let text = line.trim_start();
        if let Some(test) = result(text, "--- FAIL: ") {
            failed.insert(test.to_owned());
        } else if let Some(test) = result(text, "--- PASS: ") {
            passed.insert(test.to_owned());
        } else if line.starts_with("panic:")
            || line.contains("[build failed]")
            || line.contains("[setup failed]")
        {
            found.is_broken = true;
        } else if let Some(package) = package(line) {
            has_ended = true;
            // Something other than a test has failed.
            found.is_broken |= line.starts_with("FAIL") && failed.is_empty();
            for test in std::mem::take(&mut failed) {
                found.fail(&format!("{package} {test}"));
            }
            for test in std::mem::take(&mut passed) {
                found.pass(&format!("{package} {test}"));
            }
        }
    }
    found.is_broken |= !failed.is_empty();
    found.counted_failed = has_ended.then_some(found.failures());
    let failures = found.failures();
    found.results(failures)
}

fn result<'t>(text: &'t str, begin: &str) -> Option<&'t str> {
    text.strip_prefix(begin)?.split(' ').next()
}

/// Returns the package of `FAIL\texample.com/x\t0.003s`.
fn package(line: &str) -> Option<&str> {
    let mut parts = line.split('\t');
    let status = parts.next()?.trim_end();
    let package = parts.next()?;
    matches!(status, "FAIL" | "ok").then_some(package)
}
