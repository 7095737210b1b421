//! The lines around a cause that belong to it, and the command above it.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem, memrchr};
use regreen_model::Excerpt;

use crate::scan::readable;

/// How many lines before and after the cause an excerpt has at most.
const BEFORE: usize = 3;
const AFTER: usize = 12;
/// An excerpt of this many lines after the cause ends at the next empty line.
const ENOUGH: usize = 2;
/// How long a line of an excerpt may be.
const MAX_LINE: usize = 300;
/// How long an echoed command may be.
const MAX_COMMAND: usize = 200;

/// Returns the lines of the window around a line that belong to it: its paragraph, and what follows
/// until a paragraph ends.
pub(crate) fn excerpt(window: &[u8], part: &Range<usize>, number: u64) -> Excerpt {
    let above = window[..part.start].strip_suffix(b"\n").unwrap_or_default();
    let mut lines: Vec<String> = above
        .rsplit(|byte| *byte == b'\n')
        .take(BEFORE)
        .take_while(|line| !is_blank(line) && !is_command(line))
        .map(shown)
        .collect();
    lines.reverse();
    let first_line = number.saturating_sub(lines.len() as u64);
    lines.push(shown(&window[part.clone()]));
    let below = window[part.end..].strip_prefix(b"\n").unwrap_or_default();
    let mut after: Vec<String> = Vec::new();
    for line in below.split(|byte| *byte == b'\n').take(AFTER) {
        if is_command(line) || (is_blank(line) && after.len() >= ENOUGH) {
            break;
        }
        after.push(shown(line));
    }
    while after.last().is_some_and(|line| line.trim().is_empty()) {
        after.pop();
    }
    let last_line = number + after.len() as u64;
    lines.extend(after);
    Excerpt {
        first_line,
        last_line,
        lines,
    }
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
    let end = memchr(b'\n', &window[at..]).map_or(window.len(), |n| at + n);
    let text = readable(&window[at + 2..end]).trim().to_owned();
    let end = text.floor_char_boundary(MAX_COMMAND);
    is_command(&window[at..end.max(1) + at]).then(|| (at, text[..end].to_owned()))
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
