//! The marks that open and close fenced code.

/// A run of backticks or tildes that opens or closes fenced code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FenceMark {
    pub(crate) symbol: u8,
    pub(crate) length: usize,
}

impl FenceMark {
    /// Reads the mark that opens fenced code at the start of `content`, and what follows it.
    pub(crate) fn opening(content: &str) -> Option<(Self, &str)> {
        let (mark, rest) = Self::run(content)?;
        // An info string with a backtick makes it an inline code span.
        let is_span = mark.symbol == b'`' && rest.contains('`');
        (!is_span).then(|| (mark, rest.trim()))
    }

    /// Whether `content` is a line that closes code opened by this mark.
    pub(crate) fn is_closed_by(self, content: &str) -> bool {
        Self::run(content).is_some_and(|(mark, rest)| {
            mark.symbol == self.symbol
                && mark.length >= self.length
                && rest.trim_matches([' ', '\t']).is_empty()
        })
    }

    fn run(content: &str) -> Option<(Self, &str)> {
        let symbol = *content.as_bytes().first()?;
        if !matches!(symbol, b'`' | b'~') {
            return None;
        }
        let length = content.bytes().take_while(|b| *b == symbol).count();
        (length >= 3).then(|| (Self { symbol, length }, &content[length..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_open_and_close_as_in_commonmark() {
        let (mark, info) = FenceMark::opening("````sh title").unwrap();
        assert_eq!(info, "sh title");
        assert!(mark.is_closed_by("`````  "));
        for open in ["```", "~~~~", "````sh", "`` ` ``"] {
            assert!(!mark.is_closed_by(open), "{open}");
        }
        assert!(FenceMark::opening("``` a`b").is_none());
        assert!(FenceMark::opening("~~~ a`b").is_some());
        assert!(FenceMark::opening("``").is_none());
    }
}
