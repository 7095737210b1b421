//! Code spans in a line of text.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// With its backticks.
    pub(crate) range: Range<usize>,
    pub(crate) code: String,
}

impl Span {
    /// Whether nothing but the span stands in `text`, a full stop aside.
    pub(crate) fn is_whole(&self, text: &str) -> bool {
        let after = text[self.range.end..].trim();
        text[..self.range.start].trim().is_empty() && (after.is_empty() || after == ".")
    }
}

/// The code spans of a text: what stands between two runs of equally many backticks.
pub(crate) fn spans(text: &str) -> Vec<Span> {
    let runs = backtick_runs(text);
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(open) = runs.get(at) {
        let close = runs
            .iter()
            .skip(at + 1)
            .position(|run| run.len() == open.len());
        let Some(close) = close.map(|offset| at + 1 + offset) else {
            at += 1;
            continue;
        };
        if let Some(end) = runs.get(close) {
            let code = inside(&text[open.end..end.start]);
            if !code.is_empty() {
                spans.push(Span {
                    range: open.start..end.end,
                    code,
                });
            }
        }
        at = close + 1;
    }
    spans
}

fn backtick_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// A span over several lines is one line of code.
fn inside(code: &str) -> String {
    code.replace(['\n', '\r'], " ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let codes: Vec<String> = spans(text).into_iter().map(|span| span.code).collect();
        assert_eq!(codes, expected, "{text}");
    }

    #[test]
    fn spans_end_with_as_many_backticks_as_they_start() {
        check("run `make` then `make test`", &["make", "make test"]);
        check("``echo `date` ``", &["echo `date`"]);
        check("`a\nb`", &["a b"]);
        check("an `open span", &[]);
        check("`` ` `` `x`", &["`", "x"]);
        check("``", &[]);
    }
}
