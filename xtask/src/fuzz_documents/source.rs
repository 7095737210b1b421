//! A document as lines, and shrinking a failing one.

const BYTE_ORDER_MARK: &str = "\u{FEFF}";

/// Lines with their endings. Edits keep the number of lines, so a line keeps its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// A byte order mark, which is not content.
    mark: &'static str,
    lines: Vec<SourceLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SourceLine {
    content: String,
    ending: &'static str,
}

impl Source {
    /// Splits lines as CommonMark does: at `\n`, `\r\n` or a lone `\r`.
    pub(super) fn of(text: &str) -> Self {
        let mut lines = Vec::new();
        let bare = text.strip_prefix(BYTE_ORDER_MARK);
        let mark = if bare.is_some() { BYTE_ORDER_MARK } else { "" };
        let mut rest = bare.unwrap_or(text);
        while !rest.is_empty() {
            let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let (content, after) = rest.split_at(end);
            let ending = ["\r\n", "\n", "\r"]
                .into_iter()
                .find(|ending| after.starts_with(ending))
                .unwrap_or_default();
            rest = &after[ending.len()..];
            let content = content.to_owned();
            lines.push(SourceLine { content, ending });
        }
        Self { mark, lines }
    }

    pub(super) fn text(&self) -> String {
        let lines = self.lines.iter();
        let pieces = lines.flat_map(|line| [line.content.as_str(), line.ending]);
        std::iter::once(self.mark).chain(pieces).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the content of a line (1-based), without its ending.
    pub(super) fn line(&self, number: usize) -> &str {
        let line = number.checked_sub(1).and_then(|at| self.lines.get(at));
        line.map_or("", |line| &line.content)
    }

    /// Returns the number (1-based) of the line with this byte.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        let mut start = self.mark.len();
        for (at, line) in self.lines.iter().enumerate() {
            start += line.content.len() + line.ending.len();
            if offset < start {
                return at + 1;
            }
        }
        self.lines.len()
    }

    /// Returns the text with one line (1-based) replaced.
    pub(super) fn with_line(&self, number: usize, content: impl Into<String>) -> Self {
        let mut changed = self.clone();
        let line = number.checked_sub(1);
        if let Some(line) = line.and_then(|at| changed.lines.get_mut(at)) {
            line.content = content.into();
        }
        changed
    }

    /// Returns the text without some lines (0-based).
    pub(super) fn without(&self, lines: std::ops::Range<usize>) -> Self {
        let mut fewer = self.clone();
        fewer.lines.drain(lines);
        fewer
    }
}

/// Returns the column where a line's content starts, with tab stops every four columns, and its
/// byte offset.
pub(super) fn indent(line: &str) -> (usize, usize) {
    let mut column = 0;
    for (at, b) in line.bytes().enumerate() {
        column = match b {
            b' ' => column + 1,
            b'\t' => column / 4 * 4 + 4,
            _ => return (column, at),
        };
    }
    (column, line.len())
}

/// Removes lines, then characters, until nothing more can go.
pub(super) fn shrink(text: &str, holds: impl Fn(&str) -> bool) -> String {
    let mut small = text.to_owned();
    loop {
        let before = small.len();
        small = fewer_lines(&small, &holds);
        small = fewer_chars(small, &holds);
        if small.len() == before {
            return small;
        }
    }
}

fn fewer_lines(text: &str, holds: impl Fn(&str) -> bool) -> String {
    let mut source = Source::of(text);
    let mut chunk = source.len().max(1);
    while chunk > 0 {
        let mut at = 0;
        while at < source.len() {
            let end = (at + chunk).min(source.len());
            let fewer = source.without(at..end);
            if holds(&fewer.text()) {
                source = fewer;
            } else {
                at += chunk;
            }
        }
        chunk /= 2;
    }
    source.text()
}

fn fewer_chars(mut text: String, holds: impl Fn(&str) -> bool) -> String {
    let mut at = text.len();
    while let Some((start, _)) = text[..at].char_indices().next_back() {
        at = start;
        let mut shorter = text.clone();
        shorter.remove(at);
        if holds(&shorter) {
            text = shorter;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_number_and_byte_and_nothing_is_lost() {
        let text = "\u{FEFF}a\r\nbc\rd\n\ne";
        let source = Source::of(text);
        assert_eq!(source.text(), text);
        assert_eq!(
            (source.len(), source.line(2), source.line(9)),
            (5, "bc", "")
        );
        let numbers: Vec<usize> = [0, 5, 6, 9, 11, 12].map(|at| source.line_at(at)).to_vec();
        assert_eq!(numbers, [1, 1, 2, 3, 4, 5]);
        assert_eq!(
            source.with_line(3, "x").without(0..1).text(),
            "\u{FEFF}bc\rx\n\ne"
        );
    }

    #[test]
    fn what_does_not_matter_goes() {
        let text = "one\ntwo\r\nthree x\nfour";
        assert_eq!(shrink(text, |text| text.contains('x')), "x");
        assert_eq!(
            shrink(text, |text| text == "one\ntwo\r\nthree x\nfour"),
            text
        );
    }
}
