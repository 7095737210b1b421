//! The shape of a line by itself: heading, thematic break, list marker, row.

use super::line::{FenceMark, LineKind};
use crate::tasks::has_box;

/// Four columns more than the container's indent: code, or text that continues.
pub(super) const CODE_INDENT: usize = 4;

/// Returns the kind of a heading or thematic break, which is a line of its own.
pub(super) fn leaf_kind(content: &str) -> Option<LineKind> {
    if is_heading(content) {
        Some(LineKind::Heading)
    } else if is_thematic_break(content) {
        Some(LineKind::ThematicBreak)
    } else {
        None
    }
}

fn is_blank(content: &str) -> bool {
    content.bytes().all(|b| matches!(b, b' ' | b'\t'))
}

fn is_heading(content: &str) -> bool {
    let hashes = content.bytes().take_while(|b| *b == b'#').count();
    let next = content.as_bytes().get(hashes);
    (1..=6).contains(&hashes) && matches!(next, None | Some(b' ' | b'\t'))
}

fn is_thematic_break(content: &str) -> bool {
    let Some(symbol @ (b'-' | b'*' | b'_')) = content.bytes().next() else {
        return false;
    };
    let mut count = 0;
    for b in content.bytes() {
        match b {
            b' ' | b'\t' => {}
            b if b == symbol => count += 1,
            _ => return false,
        }
    }
    count >= 3
}

/// Returns whether a quoted line leaves a paragraph open; `goes_on` says whether the previous one
/// did.
pub(super) fn leaves_text_open(quote: &str, goes_on: bool) -> bool {
    let mut content = quote;
    while let Some(behind) = behind_quote_or_item(content) {
        let inner = behind.trim_start_matches([' ', '\t']);
        let is_code = behind.len() - inner.len() > CODE_INDENT && !goes_on;
        if is_code {
            return false;
        }
        content = inner;
    }
    let is_block = leaf_kind(content).is_some()
        || FenceMark::opening(content).is_some()
        || content.starts_with("<!--")
        || goes_on && is_underline(content);
    !content.is_empty() && !is_block
}

fn behind_quote_or_item(content: &str) -> Option<&str> {
    if is_thematic_break(content) {
        return None;
    }
    let item = || marker_length(content).map(|length| &content[length..]);
    content.strip_prefix('>').or_else(item)
}

/// Returns whether this is `===` or `---`, as below a paragraph.
pub(super) fn is_underline(content: &str) -> bool {
    let line = content.trim_end_matches([' ', '\t']);
    !line.is_empty() && (line.bytes().all(|b| b == b'=') || line.bytes().all(|b| b == b'-'))
}

/// Returns the length of the list marker at the start of `content`.
pub(super) fn marker_length(content: &str) -> Option<usize> {
    let bytes = content.as_bytes();
    let length = match bytes.first()? {
        b'-' | b'*' | b'+' => 1,
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            let is_ordered = digits <= 9 && matches!(bytes.get(digits), Some(b'.' | b')'));
            is_ordered.then_some(digits + 1)?
        }
        _ => return None,
    };
    matches!(bytes.get(length), None | Some(b' ' | b'\t')).then_some(length)
}

/// Returns whether a list may start in the middle of a paragraph. An empty item may not, nor may a
/// number other than 1, which is more often a year or a quantity.
pub(super) fn may_interrupt(content: &str, marker: usize) -> bool {
    let (marker, rest) = content.split_at(marker);
    let starts_at_one = marker.trim_end_matches(['.', ')']).trim_start_matches('0') == "1";
    let is_bullet = !marker.starts_with(|c: char| c.is_ascii_digit());
    !is_blank(rest) && (is_bullet || starts_at_one)
}

pub(super) fn is_row(content: &str) -> bool {
    marker_length(content)
        .is_some_and(|length| has_box(content[length..].trim_start_matches([' ', '\t'])))
}
