//! The output of `cargo test` and `cargo nextest run`.

use crate::TestResults;
use crate::found::{Found, count_of};

pub(crate) fn read_libtest(lines: &[&str]) -> TestResults {
    let mut found = Found::default();
    let mut reading = Libtest::default();
    for line in lines {
        reading.read(&mut found, line);
    }
    found.is_broken |=
        reading.announced != reading.counted || (reading.stopped && !reading.went_on);
    found.counted_failed = (reading.results > 0).then_some(reading.failed);
    found.counted_passed = Some(reading.passed);
    let failures = found.failures();
    found.results(failures)
}

#[derive(Default)]
struct Libtest {
    /// The binary whose tests run.
    binary: String,
    /// Whether lines are results. Afterwards they are what tests printed.
    is_running: bool,
    announced: u64,
    counted: u64,
    passed: u64,
    failed: u64,
    results: u64,
    /// Whether cargo ended after a binary whose tests failed.
    stopped: bool,
    /// Whether cargo says that it went on.
    went_on: bool,
}

impl Libtest {
    fn read(&mut self, found: &mut Found, line: &str) {
        let text = line.trim_start();
        if let Some(binary) = binary(line) {
            self.binary = binary;
        } else if let Some(count) = line.strip_prefix("running ") {
            let count = count
                .split(' ')
                .next()
                .and_then(|count| count.parse::<u64>().ok());
            self.announced = self.announced.saturating_add(count.unwrap_or(0));
            self.is_running = true;
        } else if line == "failures:" {
            self.is_running = false;
        } else if let Some(test) = line.strip_prefix("test ").filter(|_| self.is_running) {
            self.test(found, test);
        } else if let Some(counts) = line.strip_prefix("test result: ") {
            self.count(counts);
        } else if text.starts_with("error: could not compile") || text.starts_with("error[E") {
            found.is_broken = true;
        } else if text.starts_with("error: ") && text.contains("failed, to rerun pass") {
            self.stopped = true;
        } else if text.starts_with("error: ")
            && (text.ends_with("target failed:") || text.ends_with("targets failed:"))
        {
            self.went_on = true;
        }
    }

    fn test(&mut self, found: &mut Found, test: &str) {
        let Some((name, result)) = test.rsplit_once(" ... ") else {
            return;
        };
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        let name = format!("{} {name}", self.binary);
        match result {
            "ok" => found.pass(&name),
            "FAILED" => found.fail(&name),
            _ => {}
        }
    }

    fn count(&mut self, counts: &str) {
        let of = |word| count_of(counts, word).unwrap_or(0);
        self.is_running = false;
        self.results += 1;
        self.passed = self.passed.saturating_add(of("passed"));
        self.failed = self.failed.saturating_add(of("failed"));
        let all = of("passed")
            .saturating_add(of("failed"))
            .saturating_add(of("ignored"));
        self.counted = self.counted.saturating_add(all);
    }
}

/// Returns the name of the binary in `     Running tests/it.rs (target/debug/deps/it-5fd6806f2f7eaca8)`.
fn binary(line: &str) -> Option<String> {
    if let Some(package) = line.strip_prefix("   Doc-tests ") {
        return Some(format!("{package}(doc)"));
    }
    let path = line.strip_prefix("     Running ")?.strip_suffix(')')?;
    let file = path.rsplit(['/', '(']).next()?;
    let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
    Some(name.to_owned())
}

/// How nextest calls a test that did not pass.
const RED: [&str; 4] = ["FAIL", "TIMEOUT", "ABORT", "LEAK-FAIL"];

pub(crate) fn read_nextest(lines: &[&str]) -> TestResults {
    let mut found = Found::default();
    for line in lines {
        let text = line.trim_start();
        if let Some((status, name)) = nextest_result(text) {
            match status {
                "PASS" | "LEAK" => found.pass(name),
                status if RED.contains(&status) || status.starts_with("SIG") => found.fail(name),
                _ => {}
            }
        } else if text.starts_with("Summary [") {
            read_nextest_counts(&mut found, text);
        } else if text.starts_with("error: could not compile") || text.starts_with("Canceling") {
            found.is_broken = true;
        }
    }
    // Each failure is named a second time at the end.
    let different = found.different();
    found.results(different)
}

fn read_nextest_counts(found: &mut Found, text: &str) {
    let counts = text.split_once(']').map_or("", |(_, counts)| counts);
    let ran = counts.trim_start().split(' ').next().unwrap_or_default();
    // `3/4 tests run`: it was stopped.
    found.is_broken |= ran.contains('/');
    let of = |word| count_of(counts, word).unwrap_or(0);
    let timed_out = if counts.contains("timed out") {
        of("timed")
    } else {
        0
    };
    found.counted_failed = Some(of("failed").saturating_add(timed_out));
    found.counted_passed = Some(of("passed"));
}

/// Returns the status and the test of `FAIL [   0.004s] (3/10) web::it tests::a`.
fn nextest_result(text: &str) -> Option<(&str, &str)> {
    let (status, rest) = text.split_once(" [")?;
    let (time, rest) = rest.split_once("] ")?;
    let status = status.rsplit(' ').next()?;
    let is_time = time
        .trim_start_matches(['>', ' '])
        .trim_end_matches('s')
        .parse::<f64>()
        .is_ok();
    let rest = rest.trim_start();
    let name = match rest.strip_prefix('(') {
        Some(after) => after.split_once(')')?.1.trim_start(),
        None => rest,
    };
    (is_time && status.chars().all(|c| c.is_ascii_uppercase() || c == '-'))
        .then_some((status, name))
}
