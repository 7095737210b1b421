//! The box of a row: `[ ]`, `[x]`, and what stands directly behind it.

/// What may follow a box on its line: line tabulation and form feed are blanks as well.
const BLANKS: [char; 4] = [' ', '\t', '\u{b}', '\u{c}'];

/// A box as it stands at the start of a list item's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowBox {
    pub(crate) done: bool,
    /// `[ ]*`, also written `[ ]\*`: skipped unless asked for.
    pub(crate) optional: bool,
    /// Bytes up to the row's text.
    pub(crate) length: usize,
}

impl RowBox {
    /// Reads the box that `content` starts with. A letter other than x is a marker, and
    /// `[x](…)` is a link.
    pub(crate) fn parse(content: &str) -> Option<Self> {
        let (mark, rest) = match content.as_bytes() {
            [b'[', mark @ (b' ' | b'x' | b'X' | b'-' | b'~'), b']', ..] => (*mark, &content[3..]),
            _ => return None,
        };
        let star = ["*", "\\*"].iter().find(|star| rest.starts_with(**star));
        let star = star.map_or(0, |star| star.len());
        let text = &rest[star..];
        let ends_here = text.is_empty() || text.starts_with(BLANKS);
        ends_here.then(|| Self {
            done: matches!(mark, b'x' | b'X'),
            optional: star > 0,
            length: 3 + star,
        })
    }
}

/// Whether a list item starts with something that was probably meant as a box.
pub(crate) fn looks_like_box(content: &str) -> bool {
    let Some((inside, rest)) = content
        .strip_prefix('[')
        .and_then(|text| text.split_once(']'))
    else {
        return false;
    };
    if rest.starts_with(['(', '[', ':']) {
        return false; // A link.
    }
    let mark = inside.trim();
    let is_word = mark.chars().all(char::is_alphanumeric) && !matches!(mark, "" | "x" | "X");
    mark.chars().count() <= 1 && !is_word && !has_box(content)
}

pub(crate) fn has_box(content: &str) -> bool {
    RowBox::parse(content).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_marks_make_a_box_and_only_x_is_done() {
        for (content, done) in [
            ("[ ] a", false),
            ("[x] a", true),
            ("[X] a", true),
            ("[-] a", false),
            ("[~] a", false),
            ("[ ]", false),
            ("[x]\u{c}a", true),
        ] {
            assert_eq!(
                RowBox::parse(content).map(|b| b.done),
                Some(done),
                "{content}"
            );
        }
    }

    #[test]
    fn a_star_makes_it_optional() {
        assert!(RowBox::parse("[ ]* 2.1 Tests").is_some_and(|b| b.optional));
        assert!(RowBox::parse("[x]\\* 2.1 Tests").is_some_and(|b| b.optional));
    }

    #[test]
    fn boxes_that_were_meant_are_told_from_markers_and_links() {
        for content in [
            "[] a",
            "[ ]a",
            "[x ] a",
            "[✓] a",
            "[>] a",
            "[\u{3000}] a",
            "[  ] a",
        ] {
            assert!(looks_like_box(content), "{content}");
        }
        for content in [
            "[ ] a",
            "[P] a",
            "[x](link)",
            "[1]",
            "[US1] a",
            "[ref]: x",
            "text",
            "[x",
        ] {
            assert!(!looks_like_box(content), "{content}");
        }
    }

    #[test]
    fn markers_links_and_words_are_no_boxes() {
        for content in [
            "[P] a",
            "[] a",
            "[x](link)",
            "[ ]a",
            "[ ]**b**",
            "[  ] a",
            "[x",
            "x",
            "",
        ] {
            assert_eq!(RowBox::parse(content), None, "{content}");
        }
    }
}
