//! The lines around a cause that belong to it, and the command above it.

use std::ops::Range;

use memchr::{memchr_iter, memmem, memrchr};
use regreen_model::{Excerpt, Source};

use crate::line::message_of;
use crate::rules::RuleBook;
use crate::rules::lazy_regex::LazyRegex;
use crate::scan::readable;

/// How many lines before and after the cause an excerpt has at most.
const BEFORE: usize = 3;
const AFTER: usize = 12;
/// So many lines after the cause belong to it even if a paragraph ends among them.
const ENOUGH: usize = 2;
/// How long a line of an excerpt may be.
const MAX_LINE: usize = 300;
/// How long an echoed command may be.
const MAX_COMMAND: usize = 200;

/// Returns the lines of the window around a line, up to the commands before and after it.
pub(crate) fn excerpt(window: &[u8], part: &Range<usize>, number: u64) -> Excerpt {
    let above = window[..part.start].strip_suffix(b"\n").unwrap_or_default();
    let above = above.rsplit(|byte| *byte == b'\n').take(BEFORE);
    let above = above.take_while(|line| !is_blank(line) && !is_command(line));
    let mut lines: Vec<String> = above.map(shown).collect();
    lines.reverse();
    let first_line = number.saturating_sub(lines.len() as u64);
    lines.push(shown(&window[part.clone()]));
    let below = window[part.end..].strip_prefix(b"\n").unwrap_or_default();
    let below = below.split(|byte| *byte == b'\n').take(AFTER);
    lines.extend(below.take_while(|line| !is_command(line)).map(shown));
    Excerpt {
        last_line: (first_line + lines.len() as u64).saturating_sub(1),
        first_line,
        lines,
    }
}

/// Returns the lines of an excerpt that belong to its line `number`: its paragraph, and what follows
/// as long as it is indented deeper. Marks of a CI system and time stamps are left out.
pub(crate) fn belonging(excerpt: &Excerpt, number: u64) -> Excerpt {
    let at = usize::try_from(number.saturating_sub(excerpt.first_line)).unwrap_or_default();
    let lines: Vec<&str> = excerpt
        .lines
        .iter()
        .map(|line| without_time(line))
        .collect();
    let Some(cause) = lines.get(at) else {
        return excerpt.clone();
    };
    let above = lines[..at].iter().rev().take_while(|line| !is_mark(line));
    let first = at - above.count();
    let indent = indent_of(cause);
    let mut last = at;
    for (n, line) in lines.iter().enumerate().skip(at + 1) {
        let is_further = n - at > ENOUGH && lines[n - 1].trim().is_empty();
        if is_mark(line) || (is_further && indent_of(line) <= indent) {
            break;
        }
        if !line.trim().is_empty() {
            last = n;
        }
    }
    Excerpt {
        first_line: excerpt.first_line + first as u64,
        last_line: excerpt.first_line + last as u64,
        lines: lines[first..=last]
            .iter()
            .map(|line| (*line).to_owned())
            .collect(),
    }
}

/// Matches the time stamp that a CI system puts before each line, and what `gh` puts before that.
static TIME: LazyRegex =
    LazyRegex::new(r"^(?:[^\t]{1,120}\t[^\t]{1,120}\t)?\u{FEFF}?\d{4}-\d\d-\d\dT[\d:.]+Z ?");

fn without_time(line: &str) -> &str {
    TIME.end_of_match(line).map_or(line, |end| &line[end..])
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns whether a line divides the log into steps.
fn is_mark(line: &str) -> bool {
    let book = RuleBook::ours();
    let candidates = book.prefilter(Source::Command).candidates(line.as_bytes());
    candidates.into_iter().any(|n| {
        let rule = &book.rules[n];
        let text = if rule.raw { line } else { message_of(line) };
        rule.role.is_mark() && rule.matches(text)
    })
}

/// Returns the last line in a part of the window that echoes a command: its offset, and the command.
pub(crate) fn last_command(window: &[u8], part: Range<usize>) -> Option<(usize, String)> {
    let searched = &window[part.clone()];
    let starts = [&b"\n+ "[..], b"\n$ "];
    let last = starts
        .iter()
        .filter_map(|start| memmem::rfind(searched, start))
        .max()?;
    let at = part.start + last + 1;
    first_command(&window[at..]).map(|text| (at, text))
}

/// Returns the command that the first line of a text echoes.
pub(crate) fn first_command(text: &[u8]) -> Option<String> {
    let line = text.split(|byte| *byte == b'\n').next()?;
    let command = readable(line.get(2..).filter(|_| is_command(line))?)
        .trim()
        .to_owned();
    Some(command[..command.floor_char_boundary(MAX_COMMAND)].to_owned())
}

/// Returns the number of line ends in a part of the window.
pub(crate) fn line_ends(window: &[u8], part: Range<usize>) -> u64 {
    memchr_iter(b'\n', &window[part]).count() as u64
}

/// Returns whether a line echoes a command, as `set -x` and CI systems do. A line of a diff doesn't:
/// nothing is a program.
fn is_command(line: &[u8]) -> bool {
    let Some(rest) = line
        .strip_prefix(b"+ ")
        .or_else(|| line.strip_prefix(b"$ "))
    else {
        return false;
    };
    rest.first()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"./_'\"[(".contains(byte))
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

fn shown(line: &[u8]) -> String {
    let last = memrchr(b'\r', line.trim_ascii_end()).map_or(line, |at| &line[at + 1..]);
    let text = readable(last);
    let text = text.trim_end();
    text[..text.floor_char_boundary(MAX_LINE)].to_owned()
}
