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

/// Replaces what differs from run to run by a name in brackets.
pub fn normalize(text: &str) -> String {
    PATTERNS
        .into_iter()
        .fold(text.to_owned(), |text, (pattern, name)| {
            let pattern = Regex::new(pattern).unwrap();
            pattern.replace_all(&text, name).into_owned()
        })
}
