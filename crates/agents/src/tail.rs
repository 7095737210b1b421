/// The last lines of a text of any length.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    limit: usize,
    /// What is kept starts in the middle of a line.
    starts_inside: bool,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            starts_inside: false,
        }
    }

    pub(crate) fn push_line(&mut self, line: &[u8]) {
        let from = line.len().saturating_sub(self.limit);
        self.bytes
            .extend_from_slice(line.get(from..).unwrap_or_default());
        self.bytes.push(b'\n');
        // Cut seldom: each cut moves all that stays.
        if self.bytes.len() > 2 * self.limit {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let from = self.bytes.len().saturating_sub(self.limit);
        if let Some(before) = from.checked_sub(1) {
            self.starts_inside = self.bytes.get(before) != Some(&b'\n');
        }
        self.bytes.drain(..from);
    }

    /// What is kept, from the beginning of a line where there is one.
    pub(crate) fn text(&mut self) -> String {
        self.cut();
        let first_end = self.bytes.iter().position(|byte| *byte == b'\n');
        let from = match first_end {
            Some(end) if self.starts_inside && end + 1 < self.bytes.len() => end + 1,
            _ => 0,
        };
        String::from_utf8_lossy(self.bytes.get(from..).unwrap_or_default()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tail(limit: usize, lines: &[&str]) -> String {
        let mut tail = Tail::new(limit);
        for line in lines {
            tail.push_line(line.as_bytes());
        }
        tail.text()
    }

    #[test]
    fn short_text_is_kept_whole_and_long_text_from_the_start_of_a_line() {
        assert_eq!(tail(20, &["one", "", "two"]), "one\n\ntwo\n");
        assert_eq!(tail(9, &["first", "second", "x"]), "second\nx\n");
        assert_eq!(tail(4, &["abcdefgh"]), "fgh\n");
        assert_eq!(tail(8, &[]), "");
    }

    proptest! {
        #[test]
        fn it_is_the_end_of_the_text_and_no_longer_than_allowed(
            lines in prop::collection::vec("[a-zä]{0,12}", 0..30),
            limit in 1_usize..60,
        ) {
            let whole: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let kept = tail(limit, &lines.iter().map(String::as_str).collect::<Vec<_>>());
            let readable = kept.trim_start_matches(char::REPLACEMENT_CHARACTER);
            prop_assert!(whole.ends_with(readable), "{kept:?} of {whole:?}");
            prop_assert!(readable.len() <= limit);
            prop_assert!(whole.len() > limit || kept == whole);
        }
    }
}
