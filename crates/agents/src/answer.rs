use std::collections::VecDeque;

use crate::tail::Tail;

/// Of a longer answer the end is kept: what matters is said last.
const MAX_ANSWER: usize = 64 * 1024;
/// Of what stands before that end, the lines without which it would be misread.
const MAX_KEPT: usize = 64 * 1024;
/// A failure block is its head and the lines below it.
const BLOCK_LINES: u32 = 8;
/// Opens a block of code that no answer closes: what follows claims nothing.
const DOUBT: &[u8] = b"~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ text that could not be kept";

/// An answer of any length: its end, and from before it whatever tells how the end is to be
/// read. A claim in a block of code stays in it, and a failure that was admitted stays
/// admitted, however much was printed in between.
#[derive(Debug)]
pub(crate) struct Answer {
    tail: Tail,
    kept: VecDeque<Kept>,
    kept_bytes: usize,
    /// Something that should have been kept was not.
    in_doubt: bool,
    bytes: u64,
    lines_of_block: u32,
}

#[derive(Debug)]
struct Kept {
    at: u64,
    line: Vec<u8>,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            tail: Tail::new(MAX_ANSWER),
            kept: VecDeque::new(),
            kept_bytes: 0,
            in_doubt: false,
            bytes: 0,
            lines_of_block: 0,
        }
    }
}

impl Answer {
    pub(crate) fn push_line(&mut self, line: &[u8]) {
        if self.matters(line) {
            self.keep(line);
        }
        self.tail.push_line(line);
        self.bytes += line.len() as u64 + 1;
    }

    fn matters(&mut self, line: &[u8]) -> bool {
        if contains(line, b"FAILED") {
            self.lines_of_block = BLOCK_LINES;
        }
        let is_of_block = self.lines_of_block > 0;
        self.lines_of_block = self.lines_of_block.saturating_sub(1);
        is_of_block || is_fence(line) || admits(line)
    }

    fn keep(&mut self, line: &[u8]) {
        let end = line.len().min(MAX_KEPT / 16);
        let line = line.get(..end).unwrap_or_default().to_vec();
        self.kept_bytes += line.len() + 1;
        let at = self.bytes;
        self.kept.push_back(Kept { at, line });
        while self.kept_bytes > MAX_KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.kept_bytes -= oldest.line.len() + 1;
            self.in_doubt |= !admits(&oldest.line) || is_fence(&oldest.line);
        }
    }

    pub(crate) fn text(&mut self) -> String {
        let end = self.tail.text();
        let starts_at = self.bytes.saturating_sub(end.len() as u64);
        let mut text = String::new();
        if starts_at > 0 && self.in_doubt {
            text.push_str(&String::from_utf8_lossy(DOUBT));
            text.push('\n');
        }
        for kept in self.kept.iter().filter(|kept| kept.at < starts_at) {
            text.push_str(&String::from_utf8_lossy(&kept.line));
            text.push('\n');
        }
        text + &end
    }
}

fn is_fence(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"```") || line.starts_with(b"~~~")
}

/// Whether the line may admit that something was not done.
fn admits(line: &[u8]) -> bool {
    let line = line.to_ascii_lowercase();
    let says = |word: &[u8]| contains(&line, word);
    let fails = says(b"complete") && (says(b"can") || says(b"could"));
    fails || says(b"manual") || says(b"human") || says(b"automated")
}

fn contains(line: &[u8], word: &[u8]) -> bool {
    line.windows(word.len()).any(|window| window == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[&str]) -> String {
        let mut answer = Answer::default();
        for line in lines {
            answer.push_line(line.as_bytes());
        }
        answer.text()
    }

    fn long(before: &[&str], after: &[&str]) -> String {
        let noise = "just some output of a program".to_owned();
        let noise = vec![noise.as_str(); 10_000];
        text(&[before, &noise, after].concat())
    }

    #[test]
    fn a_short_answer_is_kept_as_it_is() {
        assert_eq!(text(&["```", "a", "```", "b"]), "```\na\n```\nb\n");
    }

    #[test]
    fn a_block_of_code_that_is_opened_long_before_the_end_is_still_open() {
        let text = long(&["```"], &["TASK_COMPLETE"]);
        assert!(text.starts_with("```\njust some"), "{}", &text[..40]);
        assert!(text.ends_with("TASK_COMPLETE\n"));
        assert!(text.len() < 2 * MAX_ANSWER);
    }

    #[test]
    fn what_was_admitted_long_before_the_end_is_still_admitted() {
        let text = long(
            &[
                "Task 1.1: x FAILED",
                "- Error: no",
                "this requires manual steps",
            ],
            &["TASK_COMPLETE"],
        );
        assert!(
            text.starts_with("Task 1.1: x FAILED\n- Error: no\nthis requires manual steps\n"),
            "{}",
            &text[..80]
        );
    }

    #[test]
    fn where_too_much_would_have_to_be_kept_nothing_is_claimed() {
        let fences = vec!["``` some code"; 10_000];
        let text = text(&[&fences[..], &["TASK_COMPLETE"]].concat());
        assert!(text.starts_with("~~~~"), "{}", &text[..20]);
    }
}
