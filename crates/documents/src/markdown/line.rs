//! Lines of a text, their kinds, and the marks that open and close fenced code.

use std::ops::Range;

/// One line: its position and kind.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Byte offset of the line in the text.
    pub(crate) start: usize,
    /// The end of its content, before the line ending.
    pub(crate) end: usize,
    /// The start of the next line.
    pub(crate) next: usize,
    /// Byte offset of the first character that isn't a space or tab; `end` if there is none.
    pub(crate) first: usize,
    /// The column of `first`, with tab stops every four columns.
    pub(crate) indent: usize,
    pub(crate) kind: LineKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Blank,
    Text,
    Item(Item),
    Heading,
    ThematicBreak,
    FenceOpen,
    FenceBody,
    FenceClose,
    Comment,
    IndentedCode,
}

/// The first line of a list item. If several items start on one line (`- - x`), this is the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The column of the list marker.
    pub(crate) indent: usize,
    /// The list marker itself: `-`, `*`, `+`, `12.` or `3)`.
    pub(crate) marker: Range<usize>,
    /// The start of the item's content; the end of the line if it has none.
    pub(crate) content: usize,
    /// The column that lines below must reach to belong to the item.
    pub(crate) content_indent: usize,
}

impl Line {
    pub(crate) fn is_blank(&self) -> bool {
        self.kind == LineKind::Blank
    }

    pub(crate) fn item(&self) -> Option<&Item> {
        match &self.kind {
            LineKind::Item(item) => Some(item),
            _ => None,
        }
    }
}

/// Splits a text into lines. As in CommonMark, they end with `\n`, `\r\n` or a lone `\r`.
pub(crate) fn split(text: &str) -> Vec<Line> {
    let bytes = text.as_bytes();
    let mut lines = Vec::with_capacity(text.len() / 40 + 1);
    // A byte order mark isn't content.
    let mut start = if text.starts_with('\u{FEFF}') { 3 } else { 0 };
    while start < bytes.len() {
        let rest = bytes.get(start..).unwrap_or_default();
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let ending = match (rest.get(length), rest.get(length + 1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            (Some(_), _) => 1,
            (None, _) => 0,
        };
        lines.push(measured(bytes, start, start + length, ending));
        start += length + ending;
    }
    lines
}

fn measured(bytes: &[u8], start: usize, end: usize, ending: usize) -> Line {
    let (first, indent) = skip_blank(bytes, start, end, 0);
    let kind = if first == end {
        LineKind::Blank
    } else {
        LineKind::Text
    };
    Line {
        start,
        end,
        next: end + ending,
        first,
        indent,
        kind,
    }
}

/// Skips spaces and tabs from `at`, which is in `column`, and returns the new position.
pub(crate) fn skip_blank(
    bytes: &[u8],
    mut at: usize,
    end: usize,
    mut column: usize,
) -> (usize, usize) {
    while at < end {
        column = match bytes.get(at) {
            Some(b' ') => column + 1,
            Some(b'\t') => column / 4 * 4 + 4,
            _ => break,
        };
        at += 1;
    }
    (at, column)
}

/// Returns the line ending that a text uses, judged by its first line.
pub(crate) fn eol_of(text: &str) -> &'static str {
    match memchr::memchr2(b'\n', b'\r', text.as_bytes()) {
        Some(at) if text[at..].starts_with("\r\n") => "\r\n",
        Some(at) if text[at..].starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// A run of backticks or tildes that opens or closes fenced code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FenceMark {
    pub(crate) symbol: u8,
    pub(crate) length: usize,
}

impl FenceMark {
    /// Parses the mark that opens fenced code at the start of `content`; also returns the rest.
    pub(crate) fn opening(content: &str) -> Option<(Self, &str)> {
        let (mark, rest) = Self::run(content)?;
        // An info string with a backtick makes it an inline code span.
        let is_span = mark.symbol == b'`' && rest.contains('`');
        (!is_span).then(|| (mark, rest.trim()))
    }

    /// Returns whether `content` closes the code that this mark opened.
    pub(crate) fn is_closed_by(self, content: &str) -> bool {
        Self::run(content).is_some_and(|(mark, rest)| {
            mark.symbol == self.symbol
                && mark.length >= self.length
                && rest.trim_matches([' ', '\t']).is_empty()
        })
    }

    fn run(content: &str) -> Option<(Self, &str)> {
        let symbol = *content.as_bytes().first()?;
        if !matches!(symbol, b'`' | b'~') {
            return None;
        }
        let length = content.bytes().take_while(|b| *b == symbol).count();
        (length >= 3).then(|| (Self { symbol, length }, &content[length..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Vec<(&str, usize)> {
        split(text)
            .iter()
            .map(|l| (&text[l.first..l.end], l.indent))
            .collect()
    }

    #[test]
    fn lines_end_as_in_commonmark() {
        assert_eq!(
            contents("a\nb\r\nc\rd\u{2028}e"),
            [("a", 0), ("b", 0), ("c", 0), ("d\u{2028}e", 0)]
        );
        assert!(contents("").is_empty());
        assert_eq!(contents("\u{FEFF}# x\n").len(), 1);
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(
            contents("\ta\n  \tb\n \t c"),
            [("a", 4), ("b", 4), ("c", 5)]
        );
    }

    #[test]
    fn every_byte_belongs_to_one_line() {
        let text = "a\r\n\r\n\r b";
        let lines = split(text);
        assert!(lines.windows(2).all(|w| w[0].next == w[1].start));
        assert_eq!(lines.last().map(|l| l.next), Some(text.len()));
    }

    #[test]
    fn the_first_line_names_the_outcome() {
        assert_eq!(eol_of("a\r\nb\n"), "\r\n");
        assert_eq!(eol_of("a\rb"), "\r");
        assert_eq!(eol_of("a\nb\r\n"), "\n");
        assert_eq!(eol_of("no ending"), "\n");
    }

    #[test]
    fn fences_open_and_close_as_in_commonmark() {
        let (mark, info) = FenceMark::opening("````sh title").unwrap();
        assert_eq!(info, "sh title");
        assert!(mark.is_closed_by("`````  "));
        for open in ["```", "~~~~", "````sh", "`` ` ``"] {
            assert!(!mark.is_closed_by(open), "{open}");
        }
        assert!(FenceMark::opening("``` a`b").is_none());
        assert!(FenceMark::opening("~~~ a`b").is_some());
        assert!(FenceMark::opening("``").is_none());
    }
}
