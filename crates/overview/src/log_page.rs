//! A part of a log, with the line that a failure is blamed on.

use std::collections::VecDeque;
use std::io::{self, BufRead};

/// More of a line than anyone reads.
const LINE_BYTES: usize = 4000;

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its text, without the end of the line. It may contain anything.
    pub text: String,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageStart {
    /// Around the blamed line, or else at the end.
    Blamed,
    /// So that it ends with the last line.
    End,
    /// At this line.
    Line(usize),
}

/// A part of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPage {
    /// Its lines, in order.
    pub lines: Vec<LogLine>,
    /// How many lines the log has.
    pub total: usize,
    /// The number of the last line that contains the blamed text.
    pub blamed: Option<usize>,
}

impl LogPage {
    /// Reads a part of a log: at most so many lines. A third of the page precedes the blamed line.
    ///
    /// # Errors
    /// Returns an error if the log can't be read.
    pub fn read(
        log: &mut impl BufRead,
        blamed: Option<&str>,
        start: PageStart,
        size: usize,
    ) -> io::Result<Self> {
        let wanted = Wanted::new(blamed);
        let mut page = Self::default();
        let mut around = VecDeque::new();
        let mut last = VecDeque::new();
        let before = size / 3;
        while let Some(text) = read_line(log)? {
            page.total += 1;
            let number = page.total;
            let line = LogLine { number, text };
            last.push_back(line.clone());
            if last.len() > size {
                last.pop_front();
            }
            if wanted.is_in(&line.text) {
                page.blamed = Some(number);
                around = last.iter().rev().take(before + 1).rev().cloned().collect();
            } else if page.blamed.is_some() && around.len() < size {
                around.push_back(line.clone());
            }
            if let PageStart::Line(first) = start
                && number >= first
                && page.lines.len() < size
            {
                page.lines.push(line);
            }
        }
        match start {
            PageStart::Line(_) => {}
            PageStart::Blamed if page.blamed.is_some() => page.lines = around.into(),
            PageStart::Blamed | PageStart::End => page.lines = last.into(),
        }
        Ok(page)
    }
}

/// The text of a blamed line, as a log may have it.
struct Wanted {
    /// As it is, and as a string of JSON.
    forms: Vec<String>,
}

impl Wanted {
    fn new(blamed: Option<&str>) -> Self {
        let first = blamed.and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
        let plain = first.map(str::trim).filter(|text| text.len() > 1);
        let escaped = plain.and_then(|text| serde_json::to_string(text).ok());
        let inner = escaped.map(|text| text.trim_matches('"').to_owned());
        let plain = plain.map(str::to_owned);
        Self {
            forms: plain.into_iter().chain(inner).collect(),
        }
    }

    fn is_in(&self, line: &str) -> bool {
        self.forms.iter().any(|form| line.contains(form.as_str()))
    }
}

/// Reads a line, and keeps its beginning.
fn read_line(log: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut kept = Vec::new();
    let mut is_any = false;
    loop {
        let part = log.fill_buf()?;
        if part.is_empty() {
            break;
        }
        is_any = true;
        let end = part.iter().position(|&byte| byte == b'\n');
        let line = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
        let room = LINE_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(line.get(..room.min(line.len())).unwrap_or_default());
        let used = end.map_or(part.len(), |end| end + 1);
        log.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(is_any.then(|| String::from_utf8_lossy(&kept).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(log: &str, blamed: Option<&str>, start: PageStart, size: usize) -> (Vec<usize>, usize) {
        let page = LogPage::read(&mut log.as_bytes(), blamed, start, size).unwrap();
        let numbers = page.lines.iter().map(|line| line.number).collect();
        (numbers, page.blamed.unwrap_or(0))
    }

    #[test]
    fn a_page_is_around_the_last_blamed_line_at_the_end_or_where_it_is_asked_for() {
        let log = "a\nboom\nb\nc\nd\nboom x\ne\nf\ng\nh";
        let blamed = Some("boom");
        assert_eq!(
            page(log, blamed, PageStart::Blamed, 4),
            (vec![5, 6, 7, 8], 6)
        );
        assert_eq!(page(log, None, PageStart::Blamed, 3), (vec![8, 9, 10], 0));
        assert_eq!(page(log, blamed, PageStart::End, 2), (vec![9, 10], 6));
        assert_eq!(page(log, None, PageStart::Line(3), 2), (vec![3, 4], 0));
        assert_eq!(page("", blamed, PageStart::Blamed, 2), (vec![], 0));
    }

    #[test]
    fn a_blamed_line_is_found_inside_of_json() {
        let log = "{\"text\":\"E: \\\"x\\\" is missing\"}\nend\n";
        let blamed = Some("E: \"x\" is missing");
        assert_eq!(page(log, blamed, PageStart::Blamed, 9), (vec![1, 2], 1));
    }

    #[test]
    fn an_endless_line_needs_little_memory() {
        let log = format!("{}\nboom\n", "x".repeat(3_000_000));
        let page = LogPage::read(&mut log.as_bytes(), None, PageStart::End, 9).unwrap();
        assert_eq!(page.lines[0].text.len(), LINE_BYTES);
        assert_eq!(page.total, 2);
    }
}
