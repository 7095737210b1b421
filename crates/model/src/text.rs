use std::fmt;

use anstream::adapter::strip_str;
use serde::{Deserialize, Serialize};

use crate::Marker;

/// How many characters of an error go into a title.
pub const SUMMARY_CHARS: usize = 50;
/// How many characters of an error go anywhere else in a task file.
pub const ERROR_CHARS: usize = 500;

/// Text beyond this is ignored: the important part of an error doesn't come after 64 KiB of noise.
const MAX_LOOK: usize = 64 * 1024;

/// One harmless line made from untrusted text.
///
/// Agents and tools print anything: line breaks, task rows, colours, marks that reverse the reading
/// direction. A `PlainLine` has no control characters, no backticks, nothing that reads as a box or
/// a marker, and a limited length, so it can't become structure in a task file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlainLine(String);

impl PlainLine {
    /// Puts all of `text` on one line.
    #[must_use]
    pub fn flatten(text: &str, max_chars: usize) -> Self {
        let visible = strip_str(beginning(text))
            .flat_map(str::chars)
            .filter_map(harmless);
        let mut line = without_markers(visible);
        if let Some((cut, _)) = line.char_indices().nth(max_chars) {
            line.truncate(cut);
        }
        Self(line.trim().to_owned())
    }

    /// Returns the first line of `text` that is not empty.
    #[must_use]
    pub fn first_of(text: &str, max_chars: usize) -> Self {
        beginning(text)
            .split(['\n', '\r'])
            .map(|line| Self::flatten(line, max_chars))
            .find(|line| !line.is_empty())
            .unwrap_or_default()
    }

    /// Returns this line, or `fallback` if it is empty.
    #[must_use]
    pub fn or(self, fallback: &str) -> Self {
        if self.is_empty() {
            Self::flatten(fallback, ERROR_CHARS)
        } else {
            self
        }
    }

    /// Returns whether the line is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the line as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlainLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Makes one line of untrusted text safe to display: keeps its indent, and drops anything that
/// moves the cursor, sets a colour or reverses the reading direction. Longer lines are cut and end
/// with `…`.
#[must_use]
pub fn visible_line(text: &str, max_chars: usize) -> String {
    let chars = strip_str(beginning(text)).flat_map(str::chars);
    let mut line = String::new();
    for (at, c) in chars.flat_map(visible).enumerate() {
        if at == max_chars {
            line.push('…');
            break;
        }
        line.push(c);
    }
    line.truncate(line.trim_end().len());
    line
}

fn visible(c: char) -> std::iter::RepeatN<char> {
    match c {
        '\t' => std::iter::repeat_n(' ', 4),
        c if c.is_whitespace() => std::iter::repeat_n(' ', 1),
        c if c.is_control() || is_format_control(c) => std::iter::repeat_n(c, 0),
        c => std::iter::repeat_n(c, 1),
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LOOK)]
}

/// Returns the character as it may appear in a line, or `None` to drop it.
fn harmless(c: char) -> Option<char> {
    match c {
        '`' => None,
        // This includes line and paragraph separators.
        c if c.is_whitespace() => Some(' '),
        c if c.is_control() || is_format_control(c) => None,
        c => Some(c),
    }
}

/// Returns whether a character is invisible and changes how its neighbours are displayed.
#[must_use]
pub fn is_format_control(c: char) -> bool {
    matches!(
        c,
        '\u{061C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}'
    )
}

/// Collapses runs of spaces and drops bracketed boxes and markers, including markers that only
/// appear once an inner one has been dropped.
fn without_markers(chars: impl Iterator<Item = char>) -> String {
    let mut line = String::new();
    // The positions of open brackets, innermost last.
    let mut open: Vec<usize> = Vec::new();
    for c in chars {
        match c {
            ' ' if line.ends_with(' ') => continue,
            '[' => open.push(line.len()),
            ']' => {
                if let Some(at) = open.pop()
                    && is_marker(&line[at + 1..])
                {
                    line.truncate(at);
                    continue;
                }
            }
            _ => {}
        }
        line.push(c);
    }
    line
}

fn is_marker(inside: &str) -> bool {
    // Longer than any id: ordinary text.
    const LONGEST_MARKER: usize = 80;
    inside.len() <= LONGEST_MARKER && is_short_marker(inside)
}

fn is_short_marker(inside: &str) -> bool {
    matches!(inside, "" | " " | "x" | "X" | "-" | "~") || Marker::parse(inside.trim()).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(PlainLine::flatten(text, ERROR_CHARS).as_str(), expected);
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        check(
            "File not found: src/parser.ts",
            "File not found: src/parser.ts",
        );
        check(
            "error[E0425]: cannot find value `x` in a[0] | b",
            "error[E0425]: cannot find value x in a[0] | b",
        );
    }

    #[test]
    fn a_task_row_in_an_error_is_just_words() {
        check(
            "boom\n- [ ] 9.9 Delete all\r\n  - **Verify**: `true`",
            "boom - 9.9 Delete all - **Verify**: true",
        );
        check("[x] done [P] [FIX 1.3] [US1]", "done");
        check("[[x]x] [F[ ]IX 1.3] [`x`] [  ]", "");
    }

    #[test]
    fn nothing_invisible_survives() {
        check(
            "\u{1b}[31mred\u{1b}[0m \0\u{7}bell\u{202e}txet\u{2066}\u{85}end",
            "red belltxet end",
        );
        check("a\u{2028}b\u{2029}c\td", "a b c d");
    }

    #[test]
    fn the_limit_counts_characters_not_bytes() {
        assert_eq!(PlainLine::flatten("äöü€😀x", 5).as_str(), "äöü€😀");
    }

    #[test]
    fn a_summary_is_the_first_line_that_is_not_empty() {
        assert_eq!(
            PlainLine::first_of("\n \r\n[x]\nFirst\nSecond", 50).as_str(),
            "First"
        );
        assert!(PlainLine::first_of("", 50).is_empty());
    }

    #[test]
    fn ten_megabytes_of_anything_are_cut_quickly() {
        for unit in [
            "a",
            "[",
            "]",
            "[US1,US1,",
            "[]",
            "[x]",
            "\n",
            " ",
            "\u{1b}[",
            "`",
            "\u{202e}",
        ] {
            let text = unit.repeat(10_000_000 / unit.len());
            assert!(
                PlainLine::flatten(&text, ERROR_CHARS)
                    .as_str()
                    .chars()
                    .count()
                    <= ERROR_CHARS
            );
            assert!(
                PlainLine::first_of(&text, SUMMARY_CHARS)
                    .as_str()
                    .chars()
                    .count()
                    <= SUMMARY_CHARS
            );
        }
    }

    #[test]
    fn a_displayed_line_keeps_everything_visible() {
        let line = "\t[x] `a`\u{1b}[31m  b\u{1b}[0m\u{7}\u{202e}\r\n";
        assert_eq!(visible_line(line, 80), "    [x] `a`  b");
        assert_eq!(visible_line("abcd", 4), "abcd");
        assert_eq!(visible_line("abcde", 4), "abcd…");
    }

    proptest! {
        #[test]
        fn nothing_in_a_displayed_line_controls_a_terminal(text in any::<String>(), max in 0_usize..80) {
            let line = visible_line(&text, max);
            prop_assert!(line.chars().count() <= max + 1);
            prop_assert!(!line.contains(|c: char| c.is_control() || is_format_control(c)));
        }

        #[test]
        fn the_result_is_one_harmless_line_and_stays_what_it_is(text in any::<String>(), max in 0_usize..80) {
            let line = PlainLine::flatten(&text, max);
            prop_assert!(line.as_str().chars().count() <= max);
            let breaks_out = |c: char| c == '`' || c.is_control();
            prop_assert!(!line.as_str().contains(breaks_out));
            prop_assert_eq!(PlainLine::flatten(line.as_str(), max), line);
        }

        #[test]
        fn no_mix_of_brackets_leaves_a_box(text in "[\\[\\] xXP~\\-]{0,40}") {
            let line = PlainLine::flatten(&text, 100);
            for bad in ["[ ]", "[x]", "[X]", "[-]", "[~]", "[P]"] {
                prop_assert!(!line.as_str().contains(bad), "{bad} in {line}");
            }
        }
    }
}
