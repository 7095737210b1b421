//! Sanitizes text from outside, and fits it to a width.

use regreen_model::{Span, TaskKey, is_format_control, visible_line};
use unicode_width::UnicodeWidthChar as _;

/// Names an attempt by the number of its log, with how many of the attempts that count are used.
pub(crate) fn attempt_words(attempt: u32, used: u32, limit: u32) -> String {
    if attempt == used {
        format!("attempt {used}/{limit}")
    } else {
        format!("attempt {attempt} · {used}/{limit} used")
    }
}

/// Enough of a title to recognize the task.
const TITLE_CHARS: usize = 200;
/// Enough of a reason to know what happened.
const REASON_CHARS: usize = 500;
const ELLIPSIS: char = '…';

/// Returns the text as one line without control characters, at most this long.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    let line = visible_line(text, max_chars);
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Returns a reason as one harmless line.
pub(crate) fn reason(text: &str) -> String {
    one_line(text, REASON_CHARS)
}

/// Returns `1.2 Parse the file`.
pub(crate) fn task_name(task: &TaskKey) -> String {
    let title = one_line(&task.title, TITLE_CHARS);
    format!("{} {title}", task.id).trim_end().to_owned()
}

/// Returns the text line by line, without anything that could control a terminal.
pub(crate) fn printable(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(printable_line).collect();
    lines.join("\n")
}

fn printable_line(line: &str) -> String {
    let is_harmless = |c: &char| !c.is_control() && !is_format_control(*c);
    let visible = line.chars().filter(is_harmless);
    // Some Unicode spaces are line separators.
    visible
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect()
}

/// Returns the width of the text on a terminal, in columns.
#[must_use]
pub fn text_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Cuts the text in the middle if it is wider than this: both ends of a command, a path or a
/// message matter more than what is between them.
#[must_use]
pub fn fit(text: &str, columns: usize) -> String {
    if text_width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let tail_room = room / 3;
    let head = take_columns(text.chars(), room - tail_room);
    let tail: Vec<char> = take_columns(text.chars().rev(), tail_room);
    let mut fitted: String = head.into_iter().collect::<String>().trim_end().to_owned();
    fitted.push(ELLIPSIS);
    let tail: String = tail.into_iter().rev().collect();
    fitted.push_str(tail.trim_start());
    fitted
}

fn take_columns(chars: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += char_width(*c);
            used <= columns
        })
        .collect()
}

/// Returns `950`, `12.3k` or `1.2M`.
#[must_use]
pub fn short_count(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
    .replace(".0", "")
}

/// Returns a duration with the precision of an estimate: `about 40s left`, `about 2h 03m left`.
#[must_use]
pub fn about_left(millis: u64) -> String {
    let time = match millis {
        0..60_000 => format!("{}s", (millis / 10_000 + 1) * 10),
        60_000..3_600_000 => format!("{}m", millis.div_ceil(60_000)),
        _ => Span::whole_seconds(millis).to_string(),
    };
    format!("about {time} left")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_line_has_no_control_characters_and_no_runs_of_spaces() {
        assert_eq!(one_line("abc", 3), "abc");
        assert_eq!(one_line("abcd", 3), "abc…");
        assert_eq!(one_line("\u{1b}[31ma\n  b\u{1b}[0m", 9), "a b");
        assert_eq!(one_line("", 3), "");
    }

    #[test]
    fn text_that_is_too_wide_is_cut_in_the_middle() {
        assert_eq!(fit("abcdefgh", 8), "abcdefgh");
        assert_eq!(fit("abcdefgh", 7), "abcd…gh");
        assert_eq!(fit("日本語日本語", 12), "日本語日本語");
        assert_eq!(fit("日本語日本語", 9), "日本語…語");
        assert_eq!(fit("日本語", 1), "…");
        assert_eq!(fit("日本語", 0), "");
    }

    #[test]
    fn counts_are_short() {
        let counts = [0, 999, 1_000, 12_345, 1_200_000, 20_000_000].map(short_count);
        assert_eq!(counts, ["0", "999", "1k", "12.3k", "1.2M", "20M"]);
    }

    proptest! {
        #[test]
        fn fitted_text_is_never_too_wide(text in any::<String>(), columns in 1_usize..40) {
            prop_assert!(text_width(&fit(&text, columns)) <= columns);
        }
    }
}
