//! Writes HTML. What is not a literal of this program is escaped, because it can only be passed as
//! text or as the value of an attribute.

use regreen_model::visible_line;

/// More of one text than a page needs.
const TEXT_CHARS: usize = 20_000;

/// The attributes of an element.
pub(crate) type Attributes<'a> = &'a [(&'static str, &'a str)];

/// A page, or a part of one.
#[derive(Debug, Default)]
pub(crate) struct Html(String);

impl Html {
    /// Adds an element with what is inside.
    pub(crate) fn el(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        inside: impl FnOnce(&mut Self),
    ) {
        self.void(tag, attributes);
        inside(self);
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
    }

    /// Adds an element with a text inside.
    pub(crate) fn say(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.el(tag, attributes, |h| h.text(text));
    }

    /// Adds an element that has no end.
    pub(crate) fn void(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            self.escape(value);
            self.0.push('"');
        }
        self.0.push('>');
    }

    /// Adds a link.
    pub(crate) fn link(&mut self, to: &str, text: &str) {
        self.say("a", &[("href", to)], text);
    }

    /// Adds a text that means nothing but itself, on one line.
    pub(crate) fn text(&mut self, text: &str) {
        self.escape(text);
    }

    /// Returns the page.
    pub(crate) fn into_page(self) -> String {
        format!("<!doctype html>\n{}\n", self.0)
    }

    fn escape(&mut self, text: &str) {
        for c in visible_line(text, TEXT_CHARS).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_and_no_attribute_becomes_a_part_of_the_page() {
        let hostile = "</p><script>x</script><img src=\"a\" onerror='b'>\u{202e}\u{1b}[2J";
        let mut html = Html::default();
        html.say("p", &[("title", hostile)], hostile);
        let page = html.into_page();
        for part in ["<script", "<img", "\"a\"", "'b'", "\u{202e}", "\u{1b}"] {
            assert!(!page.contains(part), "{part}: {page}");
        }
        assert_eq!(page.matches('"').count(), 2, "{page}");
    }
}
