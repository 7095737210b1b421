//! The clauses of a text about a result.

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clause<'t> {
    pub(super) text: &'t str,
    /// Whether it is in parentheses after something else.
    pub(super) is_remark: bool,
}

const SEPARATORS: &[&str] = &[
    "; ", ". ", ", ", " and ", " AND ", " but ", " — ", " – ", " -- ", " - ", " && ",
];

/// Splits a text outside of quotes, code and parentheses.
pub(super) fn clauses(text: &str) -> Vec<Clause<'_>> {
    let mut clauses = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            break;
        };
        if let Some(length) = enclosed(rest, first) {
            if first == '(' {
                push(&mut clauses, &text[start..at], false);
                push(&mut clauses, &text[at + 1..at + length - 1], true);
                start = at + length;
            }
            at += length;
        } else if let Some(separator) = SEPARATORS.iter().find(|sign| rest.starts_with(**sign)) {
            push(&mut clauses, &text[start..at], false);
            // The blank may belong to the next separator: ", and ".
            at += separator.len() - 1;
            start = at;
        } else {
            at += first.len_utf8();
        }
    }
    push(&mut clauses, &text[start..], false);
    clauses
}

/// Returns the length of quoted, backticked or parenthesized text, including its delimiters.
fn enclosed(rest: &str, first: char) -> Option<usize> {
    let last = match first {
        '(' => ')',
        '"' | '`' => first,
        '“' => '”',
        _ => return None,
    };
    let inside = &rest[first.len_utf8()..];
    let length = inside.find(last)?;
    Some(first.len_utf8() + length + last.len_utf8())
}

fn push<'t>(clauses: &mut Vec<Clause<'t>>, text: &'t str, is_remark: bool) {
    let text = text
        .trim()
        .trim_matches([';', ',', '.', ':', '—', '–'])
        .trim();
    let text = text.strip_prefix("and ").unwrap_or(text).trim();
    if !text.is_empty() && text != "and" {
        clauses.push(Clause { text, is_remark });
    }
}
