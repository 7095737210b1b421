use regex::Regex;

/// Replacements for times, hashes and numbers that differ from run to run.
const PATTERNS: [(&str, &str); 19] = [
    (r"child-\d{8}-\d{6}(-\d+)?", "[CHILD]"),
    (r"\b\d{8}-\d{6}(-\d+)?\b", "[RUN]"),
    (r"\bcommit [0-9a-f]{7,40}\b", "commit [HASH]"),
    (r"(?m) - [0-9a-f]{7,40}$", " - [HASH]"),
    (r"\[ *(\d+[dhm])?(0\.)?\d+[smh]\]", "[TIME]"),
    (
        r"(?m)^( +(?:PASS|FIX) .*)(  | · )[0-9a-f]{7,12}$",
        "$1$2[HASH]",
    ),
    (
        r"\b(code \d+|signal \d+) after (\d+[dhm] )*(0\.)?\d+s\b",
        "$1 after [TIME]",
    ),
    (r"\bdone in (\d+[dhm] )*(0\.)?\d+[smh]\b", "done in [TIME]"),
    (r"\bprocess \d+\b", "process [PID]"),
    (r"\S*/bash: line", "bash: line"),
    (r"Duration: \d+\.\ds", "Duration: [TIME]"),
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d( UTC)?\b", "[MOMENT]"),
    (
        r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z?\b",
        "[MOMENT]",
    ),
    (r"(is at work|verifying) for \d+s\b", "$1 for [TIME]"),
    (r#""commit": "[0-9a-f]{7,40}""#, r#""commit": "[HASH]""#),
    (r#""process": \d+"#, r#""process": [PID]"#),
    (r"commits stay \([0-9a-f, ]+\)", "commits stay ([HASHES])"),
    (r#""time_ms": \d+"#, r#""time_ms": [TIME]"#),
    (r#""(duration|duration_ms)": [\d.]+"#, r#""$1": [TIME]"#),
];

/// Replacements of the same width as the text they replace, and one frame of the spinner.
const SCREEN_PATTERNS: [(&str, &str); 10] = [
    (r"\b\d{8}-\d{6}\b", "20260101-000000"),
    (r"\[[ \d.dhms]{6}\]", "[  0.0s]"),
    (
        r"(?m)^( +(?:PASS|FIX) .*)(  | · )[0-9a-f]{7}$",
        "${1}${2}abc1234",
    ),
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "2026-01-01 00:00:00"),
    (
        r"until (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC",
        "until 00:00:00 UTC",
    ),
    (r"\b(\d+m )?\d+s (of|left)\b", "0s $2"),
    (r"\((\d+[hm] )*\d+[sm]\)", "(0s)"),
    (r"\b\ds ago\b", "0s ago"),
    (
        r"(done in|done ·|stopping ·|Waits  1,) (\d+m )?\d+(\.\d)?s\b",
        "$1 0s",
    ),
    (r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠋"),
];

/// Replaces everything that differs from run to run with a name in brackets.
pub fn normalize(text: &str) -> String {
    replace_all(text, &PATTERNS)
}

/// Replaces everything that differs from run to run on a screen, without moving columns.
pub fn normalize_screen(text: &str) -> String {
    replace_all(text, &SCREEN_PATTERNS)
}

fn replace_all(text: &str, patterns: &[(&str, &str)]) -> String {
    patterns
        .iter()
        .fold(text.to_owned(), |text, (pattern, name)| {
            let pattern = Regex::new(pattern).unwrap();
            pattern.replace_all(&text, *name).into_owned()
        })
}
