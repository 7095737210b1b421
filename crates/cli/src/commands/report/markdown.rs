//! A report as Markdown, for a pull request or a chat.

use std::fmt::Write as _;

use regreen_model::{Span, visible_line};

use super::sections::{Page, Row};

const LINE_CHARS: usize = 10_000;

pub(super) fn page(page: &Page) -> String {
    let mut text = format!(
        "# {}\n\n{}\n",
        escaped(&page.title),
        escaped(&page.facts.join(" · "))
    );
    for section in &page.sections {
        let _ = write!(text, "\n## {}\n\n", section.title);
        for row in &section.rows {
            add(&mut text, row);
        }
    }
    text
}

fn add(text: &mut String, row: &Row) {
    let mut facts: Vec<String> = Vec::new();
    facts.extend(
        row.time_ms
            .map(|millis| Span::from_millis(millis).to_string()),
    );
    facts.extend(Some(row.trailing.clone()).filter(|trailing| !trailing.is_empty()));
    let facts = match facts.join(" · ") {
        facts if facts.is_empty() => facts,
        facts => format!(" ({})", escaped(&facts)),
    };
    let _ = writeln!(text, "- {}{facts}", escaped(&row.name));
    for note in &row.notes {
        let _ = writeln!(text, "  - {}", escaped(note));
    }
}

/// Makes a text of others mean nothing but itself: no heading, link, image, mention or HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in visible_line(text, LINE_CHARS).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // Services turn names and addresses into links, escaped or not.
            '@' => safe.push_str("&#64;"),
            ':' => safe.push_str("&#58;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '!' | '|'
            | '~' => {
                safe.push('\\');
                safe.push(c);
            }
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_others_stays_text() {
        let hostile = "# [x](https://a.b) ![i](c) <script> **b** @team\n\n- [ ] row";
        assert_eq!(
            escaped(hostile).replace('\\', "\u{b7}"),
            visible_line(
                "·# ·[x·]·(https&#58;//a.b·) ·!·[i·]·(c·) &lt;script&gt; ·*·*b·*·* &#64;team  - ·[ ·] row",
                LINE_CHARS
            )
        );
    }
}
