/// The beginning and the end of an output of any size, for people and for judging it.
#[derive(Debug)]
pub(crate) struct Excerpt {
    head: Vec<u8>,
    tail: Vec<u8>,
    room: usize,
    cut: bool,
}

impl Excerpt {
    /// Keeps so many bytes of the beginning and as many of the end.
    pub(crate) fn new(room: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: Vec::new(),
            room,
            cut: false,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let taken = bytes.len().min(self.room - self.head.len());
        let (head, rest) = bytes.split_at(taken);
        self.head.extend_from_slice(head);
        let start = rest.len().saturating_sub(self.room);
        self.cut |= start > 0;
        self.tail
            .extend_from_slice(rest.get(start..).unwrap_or_default());
        // Cut seldom: each cut moves all that stays.
        if self.tail.len() > 2 * self.room {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let surplus = self.tail.len().saturating_sub(self.room);
        self.cut |= surplus > 0;
        self.tail.drain(..surplus);
    }

    /// All of it, or its beginning and its end.
    pub(crate) fn text(&mut self) -> String {
        self.trim();
        let gap: &[u8] = if self.cut { b"\n[...]\n" } else { b"" };
        let all = [&self.head, gap, &self.tail].concat();
        String::from_utf8_lossy(&all).into_owned()
    }

    /// The last lines of it, at most so many bytes.
    pub(crate) fn end(&mut self, bytes: usize) -> String {
        let text = self.text();
        let text = text.trim_end();
        let from = text.ceil_char_boundary(text.len().saturating_sub(bytes));
        let end = text.get(from..).unwrap_or_default();
        match end.split_once('\n') {
            Some((_, lines)) if from > 0 => lines.to_owned(),
            _ => end.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_kept_whole_and_long_output_at_both_ends() {
        let mut short = Excerpt::new(4);
        short.push(b"abc");
        short.push(b"defg");
        assert_eq!(short.text(), "abcdefg");
        let mut long = Excerpt::new(4);
        for n in 0..100 {
            long.push(format!("{n:02}").as_bytes());
        }
        assert_eq!(long.text(), "0001\n[...]\n9899");
    }

    #[test]
    fn the_end_begins_with_a_whole_line() {
        let mut excerpt = Excerpt::new(100);
        excerpt.push(b"first line\nsecond\nthird\n");
        assert_eq!(excerpt.end(8), "third");
        assert_eq!(excerpt.end(100), "first line\nsecond\nthird");
    }
}
