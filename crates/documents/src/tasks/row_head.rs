//! The text of a row: markers, id, title.

use regreen_model::{Marker, TaskId};

/// What a row's text says before it is known what kind of file it stands in.
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

/// Takes known markers off the front; gives the rest without leading blanks and separators.
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

/// Takes an id off the front: the id, whether bold text ends with it, and the rest.
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

/// `T012 — Title` and `T012 - Title` have the same title.
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

    #[track_caller]
    fn check(text: &str, id: &str, markers: &[&str], title: &str) {
        let head = RowHead::parse(text);
        assert_eq!(head.id.as_ref().map_or("", TaskId::as_str), id, "{text}");
        let words: Vec<String> = head.markers.iter().map(ToString::to_string).collect();
        assert_eq!(words, markers, "{text}");
        assert_eq!(head.title, title, "{text}");
    }

    #[test]
    fn ids_stand_first_plain_or_bold_or_behind_markers() {
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
    fn unknown_markers_behind_the_id_stay_text() {
        check("1.1 [POC] [P] Try", "1.1", &[], "[POC] [P] Try");
        check("1.1 [FIX] Update test", "1.1", &["FIX"], "Update test");
    }
}
