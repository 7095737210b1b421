//! The lines that belong to a cause, and the command above it.

use std::ops::Range;

use memchr::{memchr_iter, memrchr, memrchr3_iter};
use regreen_model::{Excerpt, Source};

use crate::line::message_of;
use crate::line_prefix::without_prefix;
use crate::rules::RuleBook;
use crate::scan::readable;

/// The maximum number of lines before and after the cause in an excerpt.
const BEFORE: usize = 6;
/// How many of the lines before the cause are shown; the others may name its place.
const SHOWN_BEFORE: usize = 3;
const AFTER: usize = 12;
/// This many lines after the cause belong to it even if a paragraph ends within them.
const ENOUGH: usize = 2;
/// How long a line of an excerpt may be.
const MAX_LINE: usize = 300;
/// How long an echoed command may be.
const MAX_COMMAND: usize = 200;

/// Returns the lines of the window around a line, up to the previous and next commands.
pub(crate) fn excerpt(window: &[u8], part: &Range<usize>, number: u64) -> Excerpt {
    let above = window[..part.start].strip_suffix(b"\n").unwrap_or_default();
    let above = above.rsplit(|byte| *byte == b'\n').take(BEFORE);
    let above = above.take_while(|line| !is_command(line));
    let mut lines: Vec<String> = above.map(shown).collect();
    lines.reverse();
    let first_line = number.saturating_sub(lines.len() as u64);
    lines.push(shown(&window[part.clone()]));
    let below = window[part.end..].strip_prefix(b"\n").unwrap_or_default();
    let below = below.split(|byte| *byte == b'\n').take(AFTER);
    let mut previous = &window[part.clone()];
    let below = below.take_while(|line| {
        let above = std::mem::replace(&mut previous, line);
        !is_command(line) || is_removed(above)
    });
    lines.extend(below.map(shown));
    Excerpt {
        last_line: (first_line + lines.len() as u64).saturating_sub(1),
        first_line,
        lines,
    }
}

/// Returns the lines of an excerpt that belong to its line `number`: its paragraph, and following
/// lines that are indented deeper. Marks of CI systems are left out.
pub(crate) fn belonging(excerpt: &Excerpt, number: u64) -> Excerpt {
    let at = usize::try_from(number.saturating_sub(excerpt.first_line)).unwrap_or_default();
    let lines: Vec<&str> = excerpt.lines.iter().map(String::as_str).collect();
    let Some(cause) = lines.get(at) else {
        return excerpt.clone();
    };
    let belongs = |line: &&&str| !line.trim().is_empty() && !is_mark(line);
    let above = lines[..at].iter().rev().take(SHOWN_BEFORE);
    let above = above.take_while(belongs);
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

/// Returns the last line in a part of the window that echoes a command: its offset, and the
/// command.
pub(crate) fn last_command(window: &[u8], part: Range<usize>) -> Option<(usize, String)> {
    let searched = &window[part.clone()];
    let last = memrchr3_iter(b'+', b'$', b'>', searched)
        .filter(|at| searched.get(at + 1) == Some(&b' '))
        .map(|at| part.start + at)
        .filter(|at| begins_line(window, *at))
        .find(|at| {
            if window[*at] == b'>' {
                is_npm_script(&line_above(window, *at))
            } else {
                is_command(&window[*at..]) && !is_in_diff(window, *at)
            }
        })?;
    command_in(&window[last..]).map(|text| (last, text))
}

/// Returns whether a line, or the part behind the timestamp that a CI system puts before it, begins
/// at `at`.
fn begins_line(window: &[u8], at: usize) -> bool {
    match window[..at] {
        [.., b'\n'] => true,
        [.., b'Z' | b'O' | b'E' | b']' | b'|' | b'0'..=b'9', b' '] => {
            let start = start_of_line(window, at);
            let line = readable(&window[start..at + 1]);
            without_prefix(&line).len() == 1
        }
        _ => false,
    }
}

fn start_of_line(window: &[u8], at: usize) -> usize {
    memrchr(b'\n', &window[..at]).map_or(0, |end| end + 1)
}

/// Returns what stands in the line above the one around `at`, without the prefixes of CI systems.
fn line_above(window: &[u8], at: usize) -> String {
    let above = &window[..start_of_line(window, at)];
    let above = above.strip_suffix(b"\n").unwrap_or_default();
    shown(&above[start_of_line(above, above.len())..])
}

/// Returns whether npm or pnpm name a script here, `> cart@1.0.0 test`; its command follows.
fn is_npm_script(line: &str) -> bool {
    let mut words = line.strip_prefix("> ").unwrap_or_default().split(' ');
    let package = words.next().and_then(|name| name.rsplit_once('@'));
    let is_package = package.is_some_and(|(name, version)| {
        !name.is_empty() && version.starts_with(|c: char| c.is_ascii_digit())
    });
    is_package && words.next().is_some()
}

/// Returns whether the line at `at` is beside a line that a diff removes, or marks.
fn is_in_diff(window: &[u8], at: usize) -> bool {
    let below = window[at..].split(|byte| *byte == b'\n').nth(1);
    is_removed(line_above(window, at).as_bytes()) || below.is_some_and(is_removed)
}

fn is_removed(line: &[u8]) -> bool {
    // `? ` marks characters in the diffs of Python.
    let marks: [&[u8]; 4] = [b"- ", b"-\t", b"@@", b"? "];
    marks.iter().any(|mark| line.starts_with(mark))
}

/// Returns the command that the first line of a text echoes.
pub(crate) fn first_command(text: &[u8]) -> Option<String> {
    is_command(text).then(|| command_in(text)).flatten()
}

/// Returns the command behind the mark of a line that echoes it.
fn command_in(text: &[u8]) -> Option<String> {
    let line = text.split(|byte| *byte == b'\n').next()?;
    let command = readable(line.get(2..)?).trim().to_owned();
    Some(command[..command.floor_char_boundary(MAX_COMMAND)].to_owned())
}

/// Returns the number of line endings in a part of the window.
pub(crate) fn line_ends(window: &[u8], part: Range<usize>) -> u64 {
    memchr_iter(b'\n', &window[part]).count() as u64
}

/// Returns whether a line echoes a command, as `set -x` and CI systems do. An indented line of a
/// diff doesn't count: a command follows the sign after exactly one space.
fn is_command(line: &[u8]) -> bool {
    let Some(rest) = line
        .strip_prefix(b"+ ")
        .or_else(|| line.strip_prefix(b"$ "))
    else {
        return false;
    };
    let is_legend =
        rest.starts_with(b"actual - expected") || rest.starts_with(b"expected - actual");
    let begins_command = match rest.first() {
        // `[ -f x ]` and `[[ … ]]` are commands, `[1, 2]` is a value.
        Some(b'[') => rest.starts_with(b"[ ") || rest.starts_with(b"[[ "),
        Some(byte) => byte.is_ascii_alphanumeric() || b"./_'\"(".contains(byte),
        None => false,
    };
    begins_command && !is_legend
}

fn shown(line: &[u8]) -> String {
    let last = memrchr(b'\r', line.trim_ascii_end()).map_or(line, |at| &line[at + 1..]);
    let text = readable(last);
    let text = without_prefix(&text).trim_end();
    text[..text.floor_char_boundary(MAX_LINE)].to_owned()
}
