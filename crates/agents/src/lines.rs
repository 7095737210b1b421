/// Cuts a stream into lines, however it arrives. A line longer than anybody reads comes in
/// pieces.
#[derive(Debug, Default)]
pub struct Lines {
    held: Vec<u8>,
}

/// As long as a line may get before it is cut.
const MAX_LINE: usize = 1024 * 1024;

impl Lines {
    pub fn feed(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = rest.split_at(end);
            if self.held.is_empty() {
                line(without_return(head));
            } else {
                self.held.extend_from_slice(head);
                line(without_return(&self.held));
                self.held.clear();
            }
            rest = tail.get(1..).unwrap_or_default();
        }
        self.held.extend_from_slice(rest);
        if self.held.len() > MAX_LINE {
            line(&self.held);
            self.held.clear();
        }
    }

    /// The last line may have no ending.
    pub fn finish(&mut self, mut line: impl FnMut(&[u8])) {
        if !self.held.is_empty() {
            line(without_return(&self.held));
            self.held.clear();
        }
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        for chunk in chunks {
            lines.feed(chunk, |line| found.push(line.to_vec()));
        }
        lines.finish(|line| found.push(line.to_vec()));
        found
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_they_arrive(text in "[ab\r\n]{0,40}", at in 0..40_usize) {
            let at = at.min(text.len());
            let (head, tail) = text.as_bytes().split_at(at);
            prop_assert_eq!(lines(&[head, tail]), lines(&[text.as_bytes()]));
        }
    }

    #[test]
    fn a_line_without_end_is_not_held_for_ever() {
        let piece = vec![b'x'; MAX_LINE + 1];
        let mut lines = Lines::default();
        let mut seen = 0;
        for _ in 0..4 {
            lines.feed(&piece, |line| seen += line.len());
        }
        assert_eq!(seen, 4 * piece.len());
    }
}
