//! Breaks text into lines that fit a terminal. Commands, paths and URLs stay in one piece, so that
//! they can be copied.

use crate::text::text_width;

/// Breaks the text into lines of at most this many columns; `None` breaks nothing, as in a pipe or a
/// file. A line begins with the indent of the line that it continues. Text without spaces and code
/// spans are never broken: if one is too wide, its line is as well.
#[must_use]
pub fn wrap(text: &str, columns: Option<usize>) -> Vec<String> {
    let Some(columns) = columns else {
        return text.split('\n').map(str::to_owned).collect();
    };
    let lines = text.split('\n');
    lines.flat_map(|line| wrap_line(line, columns)).collect()
}

/// Breaks the text like [`wrap`], with all lines but the first one below the column `indent`.
#[must_use]
pub fn wrap_below(text: &str, columns: Option<usize>, indent: usize) -> String {
    let room = columns.map(|columns| columns.saturating_sub(indent));
    wrap(text, room).join(&format!("\n{:indent$}", ""))
}

fn wrap_line(line: &str, columns: usize) -> Vec<String> {
    if text_width(line) <= columns {
        return vec![line.to_owned()];
    }
    let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
    let mut lines = Vec::new();
    let mut current = String::new();
    for piece in pieces(line) {
        if current.is_empty() {
            current = format!("{indent}{piece}");
        } else if text_width(&current) + 1 + text_width(piece) > columns {
            lines.push(std::mem::replace(&mut current, format!("{indent}{piece}")));
        } else {
            current.push(' ');
            current.push_str(piece);
        }
    }
    lines.push(current);
    lines
}

/// Divides a line at the spaces that are not in code spans.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(found) = line[at..].find([' ', '`']) {
        let here = at + found;
        at = if line[here..].starts_with('`') {
            end_of_span(line, here)
        } else {
            pieces.push(&line[start..here]);
            start = here + 1;
            start
        };
    }
    pieces.push(&line[start..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Returns where the code span ends whose backtick is here: behind the next backtick, or behind
/// this one if there is none.
fn end_of_span(line: &str, open: usize) -> usize {
    let inside = open + 1;
    line[inside..]
        .find('`')
        .map_or(inside, |close| inside + close + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", Some(7)), ["one two", "three"]);
        assert_eq!(wrap("one  two\nthree", Some(7)), ["one two", "three"]);
        assert_eq!(wrap("a  b: ", Some(7)), ["a  b: "]);
        assert_eq!(wrap("", Some(5)), [""]);
    }

    #[test]
    fn commands_paths_and_urls_stay_in_one_piece() {
        assert_eq!(
            wrap("run (`git log -1 HEAD`), then `x", Some(12)),
            ["run", "(`git log -1 HEAD`),", "then `x"]
        );
        assert_eq!(
            wrap(
                "see specs/login/tasks.md:12 or https://a.example/b",
                Some(10)
            ),
            [
                "see",
                "specs/login/tasks.md:12",
                "or",
                "https://a.example/b"
            ]
        );
    }

    #[test]
    fn a_continued_line_keeps_its_indent() {
        assert_eq!(wrap("  - one two", Some(7)), ["  - one", "  two"]);
        assert_eq!(wrap_below("one two three", Some(9), 2), "one two\n  three");
    }

    #[test]
    fn nothing_is_broken_outside_a_terminal() {
        assert_eq!(wrap("one  two three", None), ["one  two three"]);
    }

    proptest! {
        #[test]
        fn a_line_is_too_wide_only_if_it_is_one_piece(text in "[a-c `\n]{0,60}", columns in 1_usize..20) {
            for line in wrap(&text, Some(columns)) {
                prop_assert!(text_width(&line) <= columns || pieces(&line).len() <= 1, "{line:?}");
            }
        }

        #[test]
        fn no_word_is_lost(text in any::<String>(), columns in 1_usize..40) {
            let words = |text: &str| text.split([' ', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&wrap(&text, Some(columns)).join("\n")), words(&text));
        }
    }
}
