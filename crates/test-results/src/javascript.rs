//! The output of Jest, Vitest and Mocha.

use crate::TestResults;
use crate::found::{Found, count_of};

/// The most levels of groups around a test.
const MAX_LEVELS: usize = 40;

pub(crate) fn read_jest(lines: &[&str]) -> TestResults {
    let mut found = Found::default();
    let mut file = "";
    let mut groups = Groups::default();
    for line in lines {
        if let Some(path) = line.strip_prefix("FAIL ").or(line.strip_prefix("PASS ")) {
            file = path.split(" (").next().unwrap_or(path).trim();
            groups = Groups::default();
        } else if let Some(name) = line.strip_prefix("  ● ") {
            groups.end();
            match name.contains(" › ") || !name.starts_with("Test suite failed") {
                // What code printed stands under such a line as well.
                true if name == "Console" => {}
                true => found.fail(&format!("{file} › {name}")),
                false => found.is_broken = true,
            }
        } else if let Some(counts) = line.strip_prefix("Tests:") {
            found.counted_failed = Some(count_of(counts, "failed").unwrap_or(0));
            found.counted_passed = Some(count_of(counts, "passed").unwrap_or(0));
        } else if let Some(counts) = line.strip_prefix("Test Suites:") {
            // `1 of 3 total`: it was stopped.
            found.is_broken |= counts.contains(" of ");
        } else if let Some(name) = groups.passed(line, &["✓ "], &["✕ ", "○ ", "✎ "]) {
            found.pass(&format!("{file} › {name}"));
        }
    }
    // Failures are named again at the end if there are many.
    let different = found.different();
    found.results(different)
}

pub(crate) fn read_vitest(lines: &[&str]) -> TestResults {
    let mut found = Found::default();
    for line in lines {
        if let Some(test) = line.strip_prefix(" FAIL  ") {
            match test.contains(" > ") {
                true => found.fail(&without_project(test)),
                false => found.is_broken = true,
            }
        } else if let Some(test) = line.strip_prefix(" ✓ ").filter(|test| test.contains(" > ")) {
            found.pass(&without_project(without_time(test)));
        } else if let Some(counts) = line.strip_prefix("      Tests  ") {
            found.counted_failed = Some(count_of(counts, "failed").unwrap_or(0));
            found.counted_passed = Some(count_of(counts, "passed").unwrap_or(0));
        } else if line.contains("Unhandled Errors") || line.trim_start().starts_with("Errors  ") {
            found.is_broken = true;
        }
    }
    let different = found.different();
    found.results(different)
}

/// Removes the project before the file: `|web| a.test.js > adds`.
fn without_project(test: &str) -> String {
    let rest = test
        .strip_prefix('|')
        .and_then(|rest| rest.split_once("| "));
    rest.map_or(test, |(_, rest)| rest).trim_end().to_owned()
}

/// Removes the time after a test: ` 12ms`, ` (12 ms)`.
fn without_time(test: &str) -> &str {
    let test = test.trim_end();
    let is_time = |word: &str| {
        let word = word.trim_matches(['(', ')', ' ']);
        let digits = word.trim_end_matches("ms").trim_end_matches('s').trim_end();
        digits.len() < word.len() && digits.parse::<f64>().is_ok()
    };
    if let Some((name, time)) = test.rsplit_once(" (")
        && is_time(time)
    {
        return name;
    }
    match test.rsplit_once(' ') {
        Some((name, time)) if is_time(time) => name,
        _ => test,
    }
}

pub(crate) fn read_mocha(lines: &[&str]) -> TestResults {
    let mut found = Found::default();
    let begin = lines
        .iter()
        .rposition(|line| mocha_count(line, "passing").is_some());
    let (before, after) = lines.split_at(begin.unwrap_or(0));
    let mut groups = Groups::default();
    for line in before {
        if let Some(name) = groups.passed(line, &["✔ ", "✓ "], &["- "]) {
            found.pass(&format!("mocha › {name}"));
        }
    }
    let mut open: Option<Vec<String>> = None;
    for line in after {
        if let Some(count) = mocha_count(line, "failing") {
            found.counted_failed = Some(count);
        } else if let Some(count) = mocha_count(line, "passing") {
            found.counted_passed = Some(count);
            found.counted_failed = Some(0);
        } else {
            open = mocha_failure(&mut found, open, line);
        }
    }
    let failures = found.failures();
    found.results(failures)
}

fn mocha_count(line: &str, word: &str) -> Option<u64> {
    let text = line.strip_prefix("  ")?;
    let (count, rest) = text.split_once(' ')?;
    rest.starts_with(word).then(|| count.parse().ok())?
}

/// Reads a line of `  1) math` `       deep` `         roots:`, one part of the name per line.
fn mocha_failure(found: &mut Found, open: Option<Vec<String>>, line: &str) -> Option<Vec<String>> {
    let text = line.trim();
    let mut parts = match (open, numbered(line)) {
        (_, Some(first)) => vec![first.to_owned()],
        (Some(parts), None) if !text.is_empty() && parts.len() < MAX_LEVELS => {
            [parts, vec![text.to_owned()]].concat()
        }
        _ => return None,
    };
    let last = parts.last_mut()?;
    let Some(whole) = last.strip_suffix(':') else {
        return Some(parts);
    };
    *last = whole.to_owned();
    // `"before each" hook for "adds"`: what else would have failed isn't known.
    found.is_broken |= parts
        .iter()
        .any(|part| part.starts_with('"') && part.contains("\" hook"));
    found.fail(&format!("mocha › {}", parts.join(" › ")));
    None
}

fn numbered(line: &str) -> Option<&str> {
    let text = line.strip_prefix("  ")?;
    let (number, rest) = text.split_once(") ")?;
    number.trim().parse::<u64>().ok().map(|_| rest.trim())
}

/// The groups around the tests of a list, by how far they are indented.
#[derive(Debug, Default)]
struct Groups {
    open: Vec<(usize, String)>,
    has_ended: bool,
}

impl Groups {
    fn end(&mut self) {
        self.has_ended = true;
    }

    /// Reads a line of the list. Returns the whole name of a test that passed.
    fn passed(&mut self, line: &str, good: &[&str], others: &[&str]) -> Option<String> {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        if self.has_ended || text.is_empty() || depth == 0 {
            return None;
        }
        self.open.retain(|(other, _)| *other < depth);
        let is_other = others.iter().any(|mark| text.starts_with(mark))
            || numbered(&format!("  {text}")).is_some();
        if is_other {
            return None;
        }
        let Some(test) = good.iter().find_map(|mark| text.strip_prefix(mark)) else {
            if self.open.len() < MAX_LEVELS {
                self.open.push((depth, text.to_owned()));
            }
            return None;
        };
        let groups = self.open.iter().map(|(_, name)| name.as_str());
        let parts: Vec<&str> = groups.chain([without_time(test)]).collect();
        Some(parts.join(" › "))
    }
}
