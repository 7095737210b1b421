//! Lines that only count what others say: "Found 2 warnings and 0 errors."

/// Words of which such a line may consist, besides numbers and units.
const WORDS: [&str; 76] = [
    "a",
    "accumulated",
    "all",
    "an",
    "and",
    "broken",
    "check",
    "checked",
    "checks",
    "checking",
    "completed",
    "complaints",
    "dependencies",
    "dependency",
    "detected",
    "directories",
    "done",
    "error",
    "errors",
    "examples",
    "fail",
    "failed",
    "failing",
    "failure",
    "failures",
    "fatal",
    "file",
    "files",
    "finished",
    "fixable",
    "found",
    "have",
    "hints",
    "identified",
    "ignored",
    "in",
    "infos",
    "informations",
    "is",
    "issue",
    "issues",
    "items",
    "kept",
    "linted",
    "links",
    "matches",
    "modules",
    "ms",
    "notes",
    "of",
    "on",
    "out",
    "passed",
    "problem",
    "problems",
    "rules",
    "s",
    "scanned",
    "scripts",
    "script",
    "seconds",
    "silenced",
    "steps",
    "suggestions",
    "system",
    "tasks",
    "tests",
    "the",
    "there",
    "threads",
    "total",
    "using",
    "validation",
    "violations",
    "warnings",
    "with",
];

/// Words for what is counted; a line without one counts nothing that went wrong.
const COUNTED: [&str; 23] = [
    "complaints",
    "error",
    "errors",
    "failed",
    "failing",
    "failure",
    "failures",
    "infos",
    "informations",
    "issue",
    "issues",
    "links",
    "notes",
    "problem",
    "problems",
    "script",
    "scripts",
    "suggestions",
    "tests",
    "violations",
    "warnings",
    "warning",
    "broken",
];

/// Returns whether a line consists of numbers and of words for what they count.
pub(crate) fn is_tally(line: &str) -> bool {
    if !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let (mut counts, mut numbers) = (false, 0);
    let words = line.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        let lower = word.to_ascii_lowercase();
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let is_known = || WORDS.contains(&&*lower) || COUNTED.contains(&&*lower) || is_time(&lower);
        if !is_number && !is_known() {
            return false;
        }
        numbers += usize::from(is_number);
        counts |= COUNTED.contains(&&*lower);
    }
    counts && numbers > 0
}

/// Returns whether a word is a number with a unit of time: `54ms`.
fn is_time(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < word.len() && ["s", "ms", "m", "min"].contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_only_counts_is_a_tally() {
        for line in [
            "0 warnings",
            "✖ 2 problems (2 errors, 0 warnings, 0 infos)",
            "Found 2 warnings and 0 errors.",
            "ERROR: Detected 1 broken links. Scanned 3 links in 0.368 seconds.",
            "❌ Validation failed with 5 errors and 3 warnings.",
            "System check identified 3 issues (0 silenced).",
            "❌ 1 script failed.",
            "Total errors found: 3",
        ] {
            assert!(is_tally(line), "{line}");
        }
    }

    #[test]
    fn a_line_that_names_what_is_wrong_is_none() {
        for line in [
            "",
            "12",
            "error: expected 3 arguments",
            "2 files use tabs",
            "error in line 3 of a.c",
            "All tests failed",
            "failed after 30s: no quorum",
        ] {
            assert!(!is_tally(line), "{line}");
        }
    }
}
