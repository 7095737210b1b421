//! Expected values, stored results and limits that an attempt changed.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::assertions::is_assertion;
use crate::change::{Edited, Line};
use crate::roles::{Role, roles};
use crate::sign::{Sign, TamperSign};
use crate::test_functions::words;

static LITERAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|\b[Tt]rue\b|\b[Ff]alse\b|\bNone\b|\bnull\b|\bnil\b|-?\b\d[\d_]*(?:\.\d+)?\b"#).ok()
});

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d[\d_]*(?:\.\d+)?").ok());

/// Limits that a check fails below, and limits that it fails above.
static LOWER_LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)fail[-_]?under|threshold|\b(?:branches|functions|lines|statements|instructions)\b|min(?:imum)?[-_ ]?(?:coverage|score|msi|value|ratio|covered)?\b|\bminimum\b|\bcoverage\b|\btarget\s*:|covered[-_]?ratio|\bpercent|minscore|\blevel\s*:|mutation|\bbreak\b").ok()
});

static UPPER_LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)max[-_]?(?:warnings|complexity|fail\w*|line[-_]?length|errors|size|depth|statements|params|issues|same[-_]issues)|\bmax_\w*(?:bytes|kb|ms|seconds|time|duration|latency)|\btolerance|\bepsilon|\bdelta\b|\babs\s*=|\brel(?:_tol)?\s*=|\babs_tol|\bthreshold-warnings|\bbudget|\bmaxSize|\blimit\b|cognitive|cyclomatic|within|isCloseTo|EXPECT_NEAR|be_within").ok()
});

/// A comparison that a test makes with a number.
static LESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"toBeLessThan\w*\(|assertLess\w*\(|\bbe\s*<|[^<]<=?\s*\d|_L[TE]\(").ok()
});

static MORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"toBeGreaterThan\w*\(|assertGreater\w*\(|\bbe\s*>|[^>=-]>=?\s*\d|_G[TE]\(|toBeCloseTo\(|places\s*=|assertAlmostEqual\(").ok()
});

/// Finds expected values, stored results and limits that were moved towards green.
pub(crate) fn signs(file: &Edited<'_>, roles: &[Role], all: &[Edited<'_>]) -> Vec<TamperSign> {
    if file.is_new {
        return Vec::new();
    }
    let mut signs: Vec<TamperSign> = pairs(file)
        .filter(|(old, new)| is_moved_limit(old.text, new.text, roles))
        .map(|(_, new)| file.sign_at(Sign::ThresholdMoved, new))
        .collect();
    if roles.contains(&Role::Test) {
        signs.extend(changed_expectation(file, all));
    }
    if roles.contains(&Role::Snapshot) {
        signs.extend(rewritten_snapshot(file, all));
    }
    signs
}

/// Pairs lines with those that replace them.
fn pairs<'a>(file: &'a Edited<'_>) -> impl Iterator<Item = (Line<'a>, Line<'a>)> {
    let said = |lines: &'a [Line<'_>]| -> Vec<Line<'a>> {
        let lines = lines.iter().filter(|line| !line.text.trim().is_empty());
        lines.copied().collect()
    };
    let hunks = file.hunks.iter();
    let sides = hunks.map(move |hunk| (said(&hunk.removed), said(&hunk.added)));
    let even = sides.filter(|(removed, added)| removed.len() == added.len());
    even.flat_map(|(removed, added)| removed.into_iter().zip(added))
}

fn masked(pattern: &LazyLock<Option<Regex>>, text: &str) -> String {
    pattern.as_ref().map_or_else(String::new, |pattern| {
        pattern.replace_all(text.trim(), "_").into_owned()
    })
}

fn found<'a>(pattern: &'a LazyLock<Option<Regex>>, text: &'a str) -> Vec<&'a str> {
    let pattern = pattern.as_ref().into_iter();
    pattern
        .flat_map(|pattern| pattern.find_iter(text).map(|found| found.as_str()))
        .collect()
}

fn is_match(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

fn is_moved_limit(old: &str, new: &str, roles: &[Role]) -> bool {
    let is_configured = [Role::Settings, Role::Ci, Role::Setup, Role::Script]
        .iter()
        .any(|role| roles.contains(role));
    let is_asserted =
        roles.contains(&Role::Test) && (is_assertion(new) || is_match(&UPPER_LIMIT, new));
    if !(is_configured || is_asserted) || masked(&NUMBER, old) != masked(&NUMBER, new) {
        return false;
    }
    let values = |text| -> Vec<f64> {
        let numbers = found(&NUMBER, text);
        numbers
            .iter()
            .filter_map(|number| number.replace('_', "").parse().ok())
            .collect()
    };
    let changed = values(old).into_iter().zip(values(new));
    let Some((old, now)) = changed
        .into_iter()
        .find(|(old, now)| (old - now).abs() > f64::EPSILON)
    else {
        return false;
    };
    let is_upper = is_match(&UPPER_LIMIT, new) || (is_asserted && is_match(&LESS, new));
    let is_lower = !is_upper
        && ((is_configured && is_match(&LOWER_LIMIT, new))
            || (is_asserted && is_match(&MORE, new)));
    (is_upper && now > old) || (is_lower && now < old)
}

/// Finds an assertion of which only the expected value changed, to one that no changed code has.
fn changed_expectation(file: &Edited<'_>, all: &[Edited<'_>]) -> Option<TamperSign> {
    let code = added_code(all);
    let is_changed = |old: &str, new: &str| {
        let is_expectation = is_assertion(old) && is_assertion(new);
        is_expectation && old.trim() != new.trim() && masked(&LITERAL, old) == masked(&LITERAL, new)
    };
    let follows = |old: &str, new: &str| {
        let before: BTreeSet<&str> = found(&LITERAL, old).into_iter().collect();
        let values = found(&LITERAL, new);
        let changed = values.iter().filter(|value| !before.contains(*value));
        changed.into_iter().any(|value| {
            let inner = value.trim_matches(['"', '\'', '`']);
            code.iter()
                .any(|line| line.contains(inner) || shares_a_word(inner, line))
        })
    };
    let changed = pairs(file).filter(|(old, new)| is_changed(old.text, new.text));
    let (_, line) = changed
        .into_iter()
        .find(|(old, new)| !follows(old.text, new.text))?;
    Some(file.sign_at(Sign::ExpectationChanged, line))
}

/// Whether a line of code has a word of the text that is long enough to be no accident.
fn shares_a_word(text: &str, line: &str) -> bool {
    let long: BTreeSet<&str> = words(line).filter(|word| word.len() > 3).collect();
    words(text).any(|word| long.contains(word))
}

fn rewritten_snapshot(file: &Edited<'_>, all: &[Edited<'_>]) -> Option<TamperSign> {
    let old: BTreeSet<&str> = file.removed().flat_map(|line| words(line.text)).collect();
    if old.is_empty() {
        return None;
    }
    let code: BTreeSet<&str> = added_code(all).into_iter().flat_map(words).collect();
    let mut new = file.added().flat_map(|line| words(line.text));
    let follows = new.any(|word| word.len() > 1 && !old.contains(word) && code.contains(word));
    if follows {
        return None;
    }
    match file.added().next() {
        Some(line) => Some(file.sign_at(Sign::SnapshotRewritten, line)),
        None => Some(file.sign_of_loss(Sign::SnapshotRewritten, "its lines are gone")),
    }
}

/// Returns the lines that were added to code that is no test.
fn added_code<'a>(all: &'a [Edited<'_>]) -> Vec<&'a str> {
    let is_code = |file: &&Edited<'_>| {
        let roles = roles(file);
        roles.contains(&Role::Source)
    };
    let lines = all.iter().filter(is_code).flat_map(Edited::added);
    lines
        .map(|line| line.text)
        .filter(|text| !is_assertion(text))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_patterns_compile() {
        for pattern in [&LITERAL, &NUMBER, &LOWER_LIMIT, &UPPER_LIMIT, &LESS, &MORE] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn a_limit_is_moved_only_towards_green() {
        let settings = [Role::Settings];
        assert!(is_moved_limit(
            "fail_under = 90",
            "fail_under = 60",
            &settings
        ));
        assert!(!is_moved_limit(
            "fail_under = 60",
            "fail_under = 90",
            &settings
        ));
        assert!(is_moved_limit(
            "max-warnings: 0",
            "max-warnings: 50",
            &settings
        ));
        assert!(!is_moved_limit(
            "version = \"1.2\"",
            "version = \"1.1\"",
            &settings
        ));
        let test = [Role::Test];
        assert!(is_moved_limit(
            "  expect(ms).toBeLessThan(100)",
            "  expect(ms).toBeLessThan(10000)",
            &test
        ));
        assert!(!is_moved_limit(
            "  expect(ms).toBeLessThan(100)",
            "  expect(ms).toBeLessThan(50)",
            &test
        ));
    }
}
