//! A report as one HTML file that loads nothing and runs nothing.

use std::fmt::Write as _;

use regreen_model::{Span, visible_line};
use regreen_reporters::Tone;

use super::sections::{Page, Row, Section};

const LINE_CHARS: usize = 10_000;
const STYLE: &str = include_str!("report.css");
/// The browser applies this style sheet and nothing else.
const STYLE_HASH: &str = "QaMYpZ0DvtHOJaT5Wbk5QOM4Zz6DKe+v19vCaexPREg=";

pub(super) fn page(page: &Page) -> String {
    let title = escaped(&page.title);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p class=\"facts\">{}</p>\n",
        facts(page)
    );
    for section in &page.sections {
        add_section(&mut html, section);
    }
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

fn facts(page: &Page) -> String {
    let mut facts = page.facts.iter();
    let state = facts.next().map(|state| escaped(state)).unwrap_or_default();
    let rest: Vec<String> = facts.map(|fact| escaped(fact)).collect();
    let tone = class(page.tone);
    format!(
        "<strong class=\"{tone}\">{state}</strong> · {}",
        rest.join(" · ")
    )
}

fn add_section(html: &mut String, section: &Section) {
    let (tone, title) = (class(section.tone), section.title);
    let _ = write!(
        html,
        "<section>\n<h2 class=\"{tone}\">{title}</h2>\n<ul class=\"rows\">\n"
    );
    for row in &section.rows {
        add_row(html, row);
    }
    html.push_str("</ul>\n</section>\n");
}

fn add_row(html: &mut String, row: &Row) {
    let time = row
        .time_ms
        .map(|millis| Span::from_millis(millis).to_string());
    let side: Vec<String> = time
        .into_iter()
        .chain(Some(escaped(&row.trailing)).filter(|text| !text.is_empty()))
        .collect();
    let _ = write!(
        html,
        "<li><div class=\"head\"><span>{}</span><span class=\"side\">{}</span></div>",
        escaped(&row.name),
        side.join(" · ")
    );
    if !row.notes.is_empty() {
        html.push_str("<ul class=\"notes\">");
        for note in &row.notes {
            let _ = write!(html, "<li>{}</li>", escaped(note));
        }
        html.push_str("</ul>");
    }
    html.push_str("</li>\n");
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good | Tone::Added => "good",
        Tone::Bad | Tone::Removed => "bad",
        Tone::Warning => "warning",
        Tone::Action => "action",
        Tone::Question => "question",
        Tone::Strong | Tone::Dim => "plain",
    }
}

/// Makes a text of others mean nothing but itself.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in visible_line(text, LINE_CHARS).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Encodes bytes as the policy of a page wants them.
    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let word = chunk
                .iter()
                .fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
            let word = word << (8 * (3 - chunk.len()));
            for at in 0..4 {
                let digit = usize::try_from(word >> (18 - 6 * at) & 63).unwrap();
                let is_digit = at as usize <= chunk.len();
                text.push(if is_digit {
                    char::from(DIGITS[digit])
                } else {
                    '='
                });
            }
        }
        text
    }

    #[test]
    fn the_policy_of_the_page_allows_its_own_style_sheet() {
        assert_eq!(base64(&Sha256::digest(STYLE)), STYLE_HASH);
    }

    #[test]
    fn a_text_of_others_cannot_become_a_part_of_the_page() {
        let hostile = "</li><script>x</script><img src=\"a\" onerror='b'>&amp;\u{202e}";
        let row = Row {
            name: hostile.to_owned(),
            trailing: hostile.to_owned(),
            notes: vec![hostile.to_owned()],
            ..Row::default()
        };
        let page = page(&Page {
            title: hostile.to_owned(),
            facts: vec![hostile.to_owned()],
            tone: Tone::Good,
            sections: vec![Section {
                label: "PASS",
                title: "Done",
                tone: Tone::Good,
                rows: vec![row],
            }],
        });
        for part in ["<script", "<img", "\"a\"", "'b'", "\u{202e}"] {
            assert!(!page.contains(part), "{part}: {page}");
        }
    }
}
