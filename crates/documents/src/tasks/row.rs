//! One row of a task file: its box, its markers, id and title.

use std::ops::Range;

use regreen_model::{Marker, TaskId, TaskKind};

/// The index of a row in a [`TaskFile`](crate::TaskFile). It is valid only for the text it was read
/// from: in an edited text, rows have other indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId(pub(crate) usize);

#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Written in the file or, in a list without ids, from the position.
    pub(crate) id: Option<TaskId>,
    /// Whether the id comes from the row's position.
    pub(crate) numbered: bool,
    pub(crate) occurrence: u32,
    pub(crate) title: String,
    pub(crate) done: bool,
    pub(crate) optional: bool,
    pub(crate) kind: TaskKind,
    pub(crate) markers: Vec<Marker>,
    /// The index of the row's line.
    pub(crate) line: usize,
    /// The column of its list marker.
    pub(crate) indent: usize,
    /// The column that lines below must reach to belong to its list item.
    pub(crate) content_indent: usize,
    /// Byte offset of the box's `[`.
    pub(crate) box_at: usize,
    /// The lines of its block, starting with the row's own; trailing blank lines are excluded.
    pub(crate) block: Range<usize>,
    /// The row it is nested below.
    pub(crate) parent: Option<RowId>,
    /// The task it fixes.
    pub(crate) fix_of: Option<RowId>,
    pub(crate) depth: u32,
}

impl Row {
    /// Returns the id named by its `[FIX …]` marker, if it has one.
    pub(crate) fn fix_target(&self) -> Option<&TaskId> {
        self.markers.iter().find_map(Marker::fixes)
    }

    /// Returns whether the row is a task or a group, not a checklist item.
    pub(crate) fn is_task(&self) -> bool {
        self.kind != TaskKind::Checklist
    }
}

/// Blanks that may follow a box, including vertical tabs and form feeds.
const BLANKS: [char; 4] = [' ', '\t', '\u{b}', '\u{c}'];

/// The box at the start of a list item's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowBox {
    pub(crate) done: bool,
    /// `[ ]*`, also written `[ ]\*`: runs only on request.
    pub(crate) optional: bool,
    /// The number of bytes up to the row's text.
    pub(crate) length: usize,
}

impl RowBox {
    /// Parses the box at the start of `content`. A letter other than x is a marker, and `[x](…)` is
    /// a link.
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

/// Returns whether a list item starts with something that looks like a box.
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

/// The start of a row's text, parsed before the kind of file is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowHead {
    pub(crate) id: Option<TaskId>,
    pub(crate) markers: Vec<Marker>,
    pub(crate) title: String,
}

impl RowHead {
    pub(crate) fn parse(text: &str) -> Self {
        let mut markers = Vec::new();
        let text = take_markers(text, &mut markers);
        let (bold, inner) = match strip_bold(text) {
            Some(inner) => (true, take_markers(inner, &mut markers)),
            None => (false, text),
        };
        let Some((id, closed, rest)) = take_id(inner) else {
            return Self {
                id: None,
                markers,
                title: text.to_owned(),
            };
        };
        let rest = take_markers(rest, &mut markers);
        let title = if bold && !closed {
            without_first_bold(rest)
        } else {
            rest.to_owned()
        };
        Self {
            id: Some(id),
            markers,
            title,
        }
    }
}

fn strip_bold(text: &str) -> Option<&str> {
    text.strip_prefix("**").or_else(|| text.strip_prefix("__"))
}

/// Strips known markers; returns the rest without leading blanks.
fn take_markers<'t>(text: &'t str, markers: &mut Vec<Marker>) -> &'t str {
    let mut text = text.trim();
    while let Some((word, rest)) = text.strip_prefix('[').and_then(|t| t.split_once(']')) {
        let Some(marker) = Marker::parse(word) else {
            break;
        };
        markers.push(marker);
        text = rest.trim_start();
    }
    text
}

/// Strips an id: returns the id, whether it ends bold text, and the rest.
fn take_id(text: &str) -> Option<(TaskId, bool, &str)> {
    let is_id_char = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let end = text.find(|c| !is_id_char(c)).unwrap_or(text.len());
    let token = text[..end].trim_end_matches(['.', '-']);
    let id = TaskId::parse(token)?;
    let tail = &text[token.len()..];
    let stop = tail.find(|c| !matches!(c, '.' | ':' | ')' | '*' | '_' | '：' | '、' | '．'));
    let (stops, rest) = tail.split_at(stop.unwrap_or(tail.len()));
    let ends_token = rest.is_empty()
        || rest.starts_with(char::is_whitespace)
        || stops.ends_with(['：', '、', '．']);
    let closed = stops.contains("**") || stops.contains("__");
    ends_token.then(|| (id, closed, strip_dash(rest.trim_start())))
}

/// Strips a dash: `T012 — Title` and `T012 - Title` have the same title.
fn strip_dash(text: &str) -> &str {
    ["- ", "– ", "— ", ": "]
        .iter()
        .find_map(|dash| text.strip_prefix(dash))
        .unwrap_or(text)
        .trim_start()
}

fn without_first_bold(text: &str) -> String {
    match text.find("**").or_else(|| text.find("__")) {
        Some(at) => format!("{}{}", &text[..at], &text[at + 2..])
            .trim()
            .to_owned(),
        None => text.to_owned(),
    }
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
    fn malformed_boxes_are_distinguished_from_markers_and_links() {
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
    fn markers_links_and_words_are_not_boxes() {
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

    #[track_caller]
    fn check(text: &str, id: &str, markers: &[&str], title: &str) {
        let head = RowHead::parse(text);
        assert_eq!(head.id.as_ref().map_or("", TaskId::as_str), id, "{text}");
        let words: Vec<String> = head.markers.iter().map(ToString::to_string).collect();
        assert_eq!(words, markers, "{text}");
        assert_eq!(head.title, title, "{text}");
    }

    #[test]
    fn an_id_comes_first_plain_or_bold_or_after_markers() {
        check("1.3 Add parser", "1.3", &[], "Add parser");
        check("1. Set up", "1", &[], "Set up");
        check("1.3: Add parser", "1.3", &[], "Add parser");
        check(
            "T012 [P] [US1] Create model",
            "T012",
            &["P", "US1"],
            "Create model",
        );
        check("[P] T012 Create model", "T012", &["P"], "Create model");
        check("**T012** [P] Create model", "T012", &["P"], "Create model");
        check("**T012**: Create model", "T012", &[], "Create model");
        check("**1.1 Create model** now", "1.1", &[], "Create model now");
        check("**[VERIFY] V4 Run all**", "V4", &["VERIFY"], "Run all");
        check(
            "1.3.1 [FIX 1.3] Fix: boom",
            "1.3.1",
            &["FIX 1.3"],
            "Fix: boom",
        );
        check("T028 — dropped", "T028", &[], "dropped");
        check("1.1：创建", "1.1", &[], "创建");
        check("VF", "VF", &[], "");
    }

    #[test]
    fn words_are_titles() {
        check("Add parser", "", &[], "Add parser");
        check("**TEST: it works**", "", &[], "**TEST: it works**");
        check("100% coverage", "", &[], "100% coverage");
        check("1.3's parser", "", &[], "1.3's parser");
        check("[POC] 1.1 Try", "", &[], "[POC] 1.1 Try");
        check("src/a.rs works", "", &[], "src/a.rs works");
        check("", "", &[], "");
    }

    #[test]
    fn unknown_markers_after_the_id_stay_text() {
        check("1.1 [POC] [P] Try", "1.1", &[], "[POC] [P] Try");
        check("1.1 [FIX] Update test", "1.1", &["FIX"], "Update test");
    }
}
