//! Divides lines into rows of the screen.

use regreen_model::visible_line;
use regreen_reporters::wrap;
use unicode_width::UnicodeWidthChar as _;

use crate::document::Anchor;

/// More characters of a line than anyone reads here.
const LINE_CHARS: usize = 4000;
/// A longer line is cut, so that the lines around it stay on the screen.
const MAX_ROWS: usize = 8;
/// More marks on one letter than any language has.
const MAX_MARKS: usize = 3;

/// Returns text from outside as one line that takes the columns that it seems to take: without
/// anything that controls a terminal, reverses the reading direction or joins characters, which
/// terminals do differently.
pub(crate) fn plain(text: &str) -> String {
    let mut marks = 0;
    let mut line = visible_line(text, LINE_CHARS);
    // Columns are made of spaces.
    let spaces = text.len() - text.trim_end_matches(' ').len();
    line.extend(std::iter::repeat_n(' ', spaces.min(LINE_CHARS)));
    line.retain(|c| {
        let is_mark = c.width().unwrap_or(0) == 0;
        marks = if is_mark { marks + 1 } else { 0 };
        !joins(c) && marks <= MAX_MARKS
    });
    line
}

/// Whether a character makes one of its neighbours, or chooses how they look.
fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0100}'..='\u{e01ef}')
}

/// Divides a line into rows of this width; without wrapping, into one.
pub(crate) fn rows(line: &str, width: usize, is_wrapped: bool) -> Vec<&str> {
    if !is_wrapped || width == 0 || line.len() <= width {
        return vec![line];
    }
    let (mut rows, mut begin, mut used) = (Vec::new(), 0, 0);
    for (at, c) in line.char_indices() {
        let columns = c.width().unwrap_or(0);
        if used + columns > width && at > begin {
            rows.extend(line.get(begin..at));
            (begin, used) = (at, 0);
        }
        used += columns;
    }
    rows.extend(line.get(begin..).filter(|rest| !rest.is_empty()));
    rows.truncate(MAX_ROWS);
    rows
}

/// Divides a text from outside into rows between its words, and inside of words that are too long.
pub(crate) fn paragraph(text: &str, width: usize) -> Vec<String> {
    let lines = wrap(&plain(text), Some(width)).into_iter();
    let rows = lines.flat_map(|line| {
        let rows = rows(&line, width, true).into_iter();
        rows.map(str::to_owned).collect::<Vec<_>>()
    });
    rows.take(MAX_ROWS).collect()
}

/// Returns the position of the first line to show, in lines of which the first has this number.
pub(crate) fn first_shown(
    lines: &[&str],
    first: usize,
    anchor: Anchor,
    (width, height): (usize, usize),
    is_wrapped: bool,
) -> usize {
    match anchor {
        Anchor::Line(line) => line
            .saturating_sub(first)
            .min(lines.len().saturating_sub(1)),
        Anchor::End => {
            let mut room = height;
            let fits = lines.iter().rev().take_while(|line| {
                let taken = rows(&plain(line), width, is_wrapped).len();
                let fits = taken <= room;
                room = room.saturating_sub(taken);
                fits
            });
            lines.len() - fits.count().max(1).min(lines.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regreen_reporters::text_width;

    use super::*;

    #[test]
    fn text_from_outside_takes_the_columns_that_it_seems_to_take() {
        assert_eq!(plain("\u{1b}[2Jred\u{1b}]0;title\u{7}\u{202e}x"), "redx");
        assert_eq!(plain("👩\u{200d}💻❤\u{fe0f}👍🏽"), "👩💻❤👍");
        assert_eq!(plain("e\u{301}"), "e\u{301}");
        assert_eq!(plain(" column  "), " column  ");
        assert_eq!(
            plain(&format!("e{}x", "\u{301}".repeat(50))),
            "e\u{301}\u{301}\u{301}x"
        );
    }

    #[test]
    fn the_end_fills_the_screen() {
        let lines = ["a", "b", "cccc", "d"];
        let shown = |height| first_shown(&lines, 1, Anchor::End, (2, height), true);
        assert_eq!([1, 2, 3, 4, 5, 9].map(shown), [3, 3, 2, 1, 0, 0]);
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_the_screen(text in any::<String>(), width in 2_usize..40) {
            let line = plain(&text);
            for row in rows(&line, width, true) {
                prop_assert!(text_width(row) <= width, "{row:?}");
            }
        }
    }
}
