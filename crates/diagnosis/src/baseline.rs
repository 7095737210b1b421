//! Lines that passing runs print, which therefore don't explain a failure.

use std::borrow::Cow;

use memchr::memchr;
use regreen_model::fnv1a;

use crate::line::message_of;
use crate::rank::diagnosis::essence;
use crate::scan::readable;
use crate::text::Stripper;

/// How many distinct lines are remembered: 32 MB of hashes.
const MAX_LINES: usize = 4_000_000;
/// How much of a line is compared.
const MAX_LINE: usize = 400;

/// The lines in logs of passing runs. Numbers, times, hashes and absolute paths in them don't
/// matter.
#[derive(Debug, Default)]
pub struct Baseline {
    stripper: Stripper,
    /// The last line, if it is incomplete.
    open: Vec<u8>,
    /// Hashes of lines, sorted and without duplicates up to `sorted`.
    lines: Vec<u64>,
    sorted: usize,
}

impl Baseline {
    /// Takes the next bytes of a passing run's log.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut text = std::mem::take(&mut self.open);
        self.stripper.strip(bytes, &mut text);
        let mut rest = &text[..];
        while let Some(end) = memchr(b'\n', rest) {
            self.add(&rest[..end]);
            rest = &rest[end + 1..];
        }
        self.open = rest[rest.len().saturating_sub(MAX_LINE * 4)..].to_vec();
    }

    /// Ends a log; another may follow.
    pub fn end_log(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.add(&open);
        self.stripper = Stripper::default();
        self.sort();
    }

    fn add(&mut self, line: &[u8]) {
        for part in line.split(|byte| *byte == b'\r') {
            if let Some(hash) = hash_of(&readable(part)) {
                self.lines.push(hash);
            }
        }
        // Sorting from time to time keeps duplicate lines from filling the memory.
        if self.lines.len() > 2 * self.sorted.max(64 * 1024) {
            self.sort();
        }
    }

    fn sort(&mut self) {
        self.lines.sort_unstable();
        self.lines.dedup();
        self.lines.truncate(MAX_LINES);
        self.sorted = self.lines.len();
    }

    /// Returns whether a passing run printed this line as well.
    #[must_use]
    pub fn knows(&self, line: &str) -> bool {
        hash_of(line).is_some_and(|hash| self.lines[..self.sorted].binary_search(&hash).is_ok())
    }
}

/// Returns a hash of the content of a line; `None` if it has none.
fn hash_of(line: &str) -> Option<u64> {
    let said = message_of(&line[..line.floor_char_boundary(MAX_LINE)]);
    (!said.is_empty()).then(|| fnv1a(essence(&without_paths(said)).as_bytes()))
}

/// Replaces absolute paths, which differ between machines. The name in a relative path stays,
/// because it matters which of the project's files a line is about.
fn without_paths(text: &str) -> Cow<'_, str> {
    if !text.contains('/') {
        return Cow::Borrowed(text);
    }
    let words = text.split_inclusive(|c: char| c.is_whitespace() || "\"'`(),:;=<>[]".contains(c));
    let kept = words.map(|word| if word.starts_with('/') { "# " } else { word });
    Cow::Owned(kept.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_whatever_its_numbers_and_folders() {
        let mut baseline = Baseline::default();
        baseline.feed(b"2026-01-02T03:04:05Z warning: src/x.c:3: ");
        baseline.feed(b"unused variable\nread 12 rows\n");
        baseline.end_log();
        assert!(baseline.knows("2026-11-16T10:11:12Z warning: lib/x.c:14: unused variable"));
        assert!(baseline.knows("read 9 rows"));
        baseline.feed(b"cannot read '/srv/a/one.db': no\ncannot read a/one.db\n");
        baseline.end_log();
        assert!(baseline.knows("cannot read '/opt/ann/two.db': no"));
        assert!(!baseline.knows("cannot read a/two.db"));
        assert!(!baseline.knows("read 9 tables"));
        assert!(!baseline.knows(""));
    }

    #[test]
    fn several_logs_add_up() {
        let mut baseline = Baseline::default();
        for log in ["one\nno end", "two\n"] {
            baseline.feed(log.as_bytes());
            baseline.end_log();
        }
        assert!(baseline.knows("one") && baseline.knows("no end") && baseline.knows("two"));
    }
}
