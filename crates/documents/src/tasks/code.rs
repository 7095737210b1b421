//! Splits the text of a field into lines and code, and extracts the commands.

use std::ops::Range;

use super::row::RowBox;
use crate::markdown::{FenceMark, Line, LineKind, scan};

/// A part of a field, in text order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// Fenced code: the first word after the fence, in lower case, and the lines without their
    /// common indent.
    Code { language: String, code: String },
    /// A line outside of code and comments.
    Line {
        whole: &'t str,
        /// Without its list marker.
        content: &'t str,
    },
}

pub(crate) fn pieces(field: &str) -> Vec<Piece<'_>> {
    let lines = scan(field).lines;
    let mut pieces = Vec::new();
    let mut open: Option<(String, String)> = None;
    for (at, line) in lines.iter().enumerate() {
        let whole = &field[line.start..line.end];
        match &line.kind {
            LineKind::FenceOpen => open = Some(opened(&field[line.first..line.end])),
            LineKind::FenceBody => {
                if let Some((_, code)) = &mut open {
                    code.push_str(whole);
                    code.push('\n');
                }
            }
            LineKind::FenceClose => pieces.extend(open.take().map(closed)),
            LineKind::Comment => {}
            LineKind::Item(item) if opens_fence(lines.get(at + 1)) => {
                open = Some(opened(&field[item.content..line.end]));
            }
            kind => {
                let from = match kind {
                    LineKind::Item(item) => item.content,
                    _ => line.first,
                };
                let content = &field[from..line.end];
                pieces.push(Piece::Line { whole, content });
            }
        }
    }
    pieces
}

/// Returns whether the next line starts with code. Fenced code may start on the first line of a
/// list item.
fn opens_fence(next: Option<&Line>) -> bool {
    next.is_some_and(|next| matches!(next.kind, LineKind::FenceBody | LineKind::FenceClose))
}

fn opened(mark: &str) -> (String, String) {
    let info = FenceMark::opening(mark).map_or("", |(_, info)| info);
    let language = info.split_whitespace().next().unwrap_or_default();
    (language.to_ascii_lowercase(), String::new())
}

fn closed<'t>((language, code): (String, String)) -> Piece<'t> {
    Piece::Code {
        language,
        code: dedented(&code),
    }
}

/// Returns a script without the common indent of its lines.
fn dedented(script: &str) -> String {
    let lines = || script.lines().filter(|line| !line.trim().is_empty());
    let common = lines()
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min();
    let common = common.unwrap_or_default();
    let cut = |line: &str| line.get(common..).unwrap_or_default().to_owned();
    script
        .lines()
        .map(cut)
        .collect::<Vec<_>>()
        .join("\n")
        .trim_end()
        .to_owned()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The range, including the backticks.
    pub(crate) range: Range<usize>,
    pub(crate) code: String,
}

impl Span {
    /// Returns whether the span is all of `text`, except for a full stop.
    pub(crate) fn is_whole(&self, text: &str) -> bool {
        let after = text[self.range.end..].trim();
        text[..self.range.start].trim().is_empty() && (after.is_empty() || after == ".")
    }
}

/// Returns the code spans of a text: whatever is between two runs of equally many backticks.
pub(crate) fn spans(text: &str) -> Vec<Span> {
    let found = paired(text, &backtick_runs(text));
    let spans = found.into_iter().map(|(open, close)| Span {
        code: inside(&text[open.end..close.start]),
        range: open.start..close.end,
    });
    spans.collect()
}

/// Returns the runs of backticks that open and close a span with something in it.
fn paired(text: &str, runs: &[Range<usize>]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut pairs = Vec::new();
    let mut at = 0;
    while let Some(open) = runs.get(at) {
        let mut later = runs.iter().zip(0..).skip(at + 1);
        let Some((close, number)) = later.find(|(run, _)| run.len() == open.len()) else {
            at += 1;
            continue;
        };
        if !text[open.end..close.start].trim().is_empty() {
            pairs.push((open.clone(), close.clone()));
        }
        at = number + 1;
    }
    pairs
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

/// Returns the number of backticks that open a code span which the text doesn't close.
pub(crate) fn open_span(text: &str) -> Option<usize> {
    let runs = backtick_runs(text);
    let pairs = paired(text, &runs);
    let from = pairs.last().map_or(0, |(_, close)| close.end);
    let open = runs.iter().find(|run| run.start >= from);
    open.map(ExactSizeIterator::len)
}

/// Returns whether a text has a run of that many backticks.
pub(crate) fn has_backticks(text: &str, count: usize) -> bool {
    backtick_runs(text).iter().any(|run| run.len() == count)
}

/// Joins a span over several lines into one line of code, unless the line break is in a quoted
/// string or follows a backslash.
fn inside(code: &str) -> String {
    let mut quote = None;
    let mut joined = String::new();
    for (at, line) in code.lines().enumerate() {
        let is_continued = joined.ends_with('\\');
        if at > 0 {
            joined.push(if quote.is_some() || is_continued {
                '\n'
            } else {
                ' '
            });
        }
        joined.push_str(line);
        quote = quote_after(line, quote);
    }
    joined.trim().to_owned()
}

/// Returns the quote that is open after a line of shell text.
fn quote_after(line: &str, mut quote: Option<char>) -> Option<char> {
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => drop(chars.next()),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    quote
}

/// Returns the commands of a Do field, in order: shell code blocks, and steps that consist of one
/// code span. Other text is for people and agents.
#[must_use]
pub fn shell_steps(field: &str) -> Vec<String> {
    pieces(field)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Code { language, code } => is_shell(&language).then_some(code),
            Piece::Line { content, .. } => only_span(content),
        })
        .filter(|step| !step.trim().is_empty())
        .collect()
}

/// Returns whether this is the language of a shell. A block without a language may be the contents
/// of a file or the output of a program.
fn is_shell(language: &str) -> bool {
    ["sh", "bash", "shell"].contains(&language)
}

fn only_span(content: &str) -> Option<String> {
    let from = RowBox::parse(content).map_or(0, |row_box| row_box.length);
    let text = content.get(from..)?;
    let [span] = <[_; 1]>::try_from(spans(text)).ok()?;
    span.is_whole(text).then_some(span.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_spans(text: &str, expected: &[&str]) {
        let codes: Vec<String> = spans(text).into_iter().map(|span| span.code).collect();
        assert_eq!(codes, expected, "{text}");
    }

    #[test]
    fn spans_end_with_as_many_backticks_as_they_start() {
        check_spans("run `make` then `make test`", &["make", "make test"]);
        check_spans("``echo `date` ``", &["echo `date`"]);
        check_spans("`a\nb`", &["a b"]);
        check_spans("`a\r\nb`", &["a b"]);
        check_spans("an `open span", &[]);
        check_spans("`` ` `` `x`", &["`", "x"]);
        check_spans("``", &[]);
    }

    #[test]
    fn lines_of_a_quoted_text_and_continued_lines_stay_lines() {
        check_spans("`py -c \"\nx\ny\" z\nw`", &["py -c \"\nx\ny\" z w"]);
        check_spans("`a '\nb\"\n'\nc`", &["a '\nb\"\n' c"]);
        check_spans("`a \\\n  b`", &["a \\\n  b"]);
        check_spans("`a \\\"\nb`", &["a \\\" b"]);
    }

    #[track_caller]
    fn check(field: &str, expected: &[&str]) {
        assert_eq!(shell_steps(field), expected, "{field}");
    }

    #[test]
    fn blocks_and_steps_that_are_one_span_run_in_order() {
        check(
            "`make`\n1. `make test`.\n2. Look at `out.txt`\n```sh\n  a\n    b\n```\n- [ ] `c`\n* ``echo `date` ``",
            &["make", "make test", "a\n  b", "c", "echo `date`"],
        );
        check(
            "Build it:\n```bash\nmake\n\n# all\nmake all\n```",
            &["make\n\n# all\nmake all"],
        );
        check("1. ```sh\n   make\n   ```\n2. `x`", &["make", "x"]);
        check("```sh\r\nmake\r\n```\r\n`x`\r\n", &["make", "x"]);
    }

    #[test]
    fn words_and_other_code_are_not_steps() {
        check("", &[]);
        check("Run `make`", &[]);
        check("`make` and `make test`", &[]);
        check("`make` builds it", &[]);
        check("```\nmake\n```\n```python\nx\n```\n~~~json\n{}\n~~~", &[]);
        check("<!--\n`make`\n-->", &[]);
        check("```sh\n\n```\n``", &[]);
        check("```sh\nnever closed", &[]);
    }
}
