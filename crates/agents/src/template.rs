use thiserror::Error;

/// A text with named places, `{{like_this}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    #[error("line {line}: nothing is known that could stand at {{{{{slot}}}}}; known are {known}")]
    UnknownSlot {
        slot: String,
        /// 1-based.
        line: usize,
        known: String,
    },
}

impl Template {
    /// Reads a template that may use the slots `known`. Braces that name no slot are text.
    ///
    /// # Errors
    /// If it uses another one.
    pub fn parse(text: &str, known: &[&str]) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut from = 0;
        while let Some((open, name)) = next_slot(text, from) {
            if !known.contains(&name) {
                return Err(TemplateError::UnknownSlot {
                    slot: name.to_owned(),
                    line: text[..open].lines().count().max(1),
                    known: known.join(", "),
                });
            }
            pieces.push(Piece::Text(text[from..open].to_owned()));
            pieces.push(Piece::Slot(name.to_owned()));
            from = open + name.len() + 4;
        }
        pieces.push(Piece::Text(text[from..].to_owned()));
        Ok(Self { pieces })
    }

    /// The text with its places filled. What is filled in is not looked at again, so nobody
    /// can smuggle a slot in.
    #[must_use]
    pub fn fill(&self, values: &[(&str, String)]) -> String {
        let value = |name: &str| values.iter().find(|(slot, _)| *slot == name);
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Slot(name) => value(name).map_or("", |(_, value)| value.as_str()),
            })
            .collect()
    }

    #[cfg(test)]
    pub(crate) fn slots(&self) -> Vec<&str> {
        self.pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Slot(name) => Some(name.as_str()),
                Piece::Text(_) => None,
            })
            .collect()
    }
}

/// Where the next slot opens, and its name.
fn next_slot(text: &str, from: usize) -> Option<(usize, &str)> {
    let mut at = from;
    loop {
        let open = at + text.get(at..)?.find("{{")?;
        let inside = &text[open + 2..];
        let end = inside.find(|c: char| !c.is_ascii_lowercase() && c != '_')?;
        if end > 0 && inside[end..].starts_with("}}") {
            return Some((open, &inside[..end]));
        }
        at = open + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once_and_in_order() {
        let template = Template::parse("{{a}} and {{b}}, {{a}}{{{b}}}", &["a", "b"]).unwrap();
        let values = [("a", "{{b}}".to_owned()), ("b", "2".to_owned())];
        assert_eq!(template.fill(&values), "{{b}} and 2, {{b}}{2}");
        assert_eq!(template.slots(), ["a", "b", "a", "b"]);
    }

    #[test]
    fn braces_that_name_nothing_are_text() {
        for text in ["", "{{", "{{}}", "{{ a }}", "{{A}}", "{a}", "{{a", "{{a}"] {
            let template = Template::parse(text, &["a"]).unwrap();
            assert_eq!(template.fill(&[("a", "x".to_owned())]), text);
        }
    }

    #[test]
    fn an_unknown_place_is_an_error_that_says_where() {
        let error = Template::parse("one\n{{a}}\n {{nope}}", &["a", "b"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3: nothing is known that could stand at {{nope}}; known are a, b"
        );
    }
}
