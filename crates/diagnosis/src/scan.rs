//! The half of the diagnosis that is fed while output streams by. Whatever the size of the
//! output, it keeps a window of some lines and a short list of findings.

use memchr::{memchr, memchr_iter, memrchr};
use regreen_model::{Finding, Output, Source};

use crate::ansi::Stripper;
use crate::decoration::{message_of, without_cause_words};
use crate::derived::with_derived;
use crate::mood::Mood;
use crate::role::Role;
use crate::rule::{MATCHED, Neighbours, Rule};
use crate::rule_book::RuleBook;
use crate::shortlist::Shortlist;

/// How much is collected before it is searched.
const BATCH: usize = 128 * 1024;
/// How much around a line is kept so that its neighbours can be looked at.
const MARGIN: usize = 4 * 1024;
/// Of a longer line only so much around what was found is read.
const MAX_LINE: usize = 4 * 1024;
const LINES_BEFORE: usize = 12;
const LINES_AFTER: usize = 6;
/// A line in a finding is cut here, its neighbours there: findings are stored and must stay
/// small.
const MAX_TEXT: usize = 480;
const MAX_NEIGHBOUR: usize = 160;
const KEPT_BEFORE: usize = 2;
const KEPT_AFTER: usize = 2;
/// Neighbours are read so far when rules look at them.
const READ_NEIGHBOUR: usize = 400;
/// How much of the beginning and of the end is kept.
const SAMPLE: usize = 4 * 1024;

/// Searches output for lines that say how the run went.
#[derive(Debug)]
pub struct Scanner {
    book: &'static RuleBook,
    source: Source,
    stripper: Stripper,
    /// Bytes without colours; those before `done` are searched already.
    window: Vec<u8>,
    done: usize,
    /// Line ends before `done`.
    lines: u64,
    bytes: u64,
    head: Vec<u8>,
    found: Shortlist,
}

impl Scanner {
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self {
            book: RuleBook::ours(),
            source,
            stripper: Stripper::default(),
            window: Vec::new(),
            done: 0,
            lines: 0,
            bytes: 0,
            head: Vec::new(),
            found: Shortlist::default(),
        }
    }

    /// Takes the next bytes, in pieces of any size.
    pub fn feed(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(BATCH) {
            self.bytes += piece.len() as u64;
            self.stripper.strip(piece, &mut self.window);
            if self.window.len() - self.done >= BATCH + MARGIN {
                self.search(self.window.len() - MARGIN);
            }
        }
    }

    /// The end of the output, and what is kept of it.
    #[must_use]
    pub fn finish(mut self) -> Output {
        self.search(self.window.len());
        let is_open = self.window.last().is_some_and(|last| *last != b'\n');
        let is_whole = self.bytes <= SAMPLE as u64;
        let tail = self
            .window
            .len()
            .saturating_sub(if is_whole { 0 } else { SAMPLE });
        Output {
            bytes: self.bytes,
            lines: self.lines + u64::from(is_open),
            head: readable(&self.head),
            tail: readable(&self.window[tail..]),
            findings: self.found.into_findings(),
        }
    }

    /// Searches the window up to the last line end before `limit`.
    fn search(&mut self, limit: usize) {
        let is_end = limit == self.window.len();
        let end = match memrchr(b'\n', &self.window[self.done..limit]) {
            Some(last) if !is_end => self.done + last + 1,
            // One line fills the window: it is read in parts.
            _ => limit,
        };
        self.keep_head(end);
        let mut from = self.done;
        let mut counted = self.done;
        let mut line = self.lines + 1;
        let window = std::mem::take(&mut self.window);
        let prefilter = self.book.prefilter(self.source);
        while let Some(hit) = prefilter.and_then(|p| p.next_hit(&window[..end], from)) {
            let part = line_around(&window, hit - 1, from);
            line += memchr_iter(b'\n', &window[counted..part.start]).count() as u64;
            counted = part.start;
            self.read_line(&window, part.clone(), line);
            from = part.end.max(hit);
        }
        self.window = window;
        self.lines += memchr_iter(b'\n', &self.window[self.done..end]).count() as u64;
        self.done = end;
        self.forget();
    }

    fn keep_head(&mut self, end: usize) {
        let room = SAMPLE.saturating_sub(self.head.len());
        let more = room.min(end - self.done);
        self.head
            .extend_from_slice(&self.window[self.done..self.done + more]);
    }

    /// Drops what no line to come can want to look back at.
    fn forget(&mut self) {
        let keep_from = self.done.saturating_sub(MARGIN.max(SAMPLE));
        self.window.drain(..keep_from);
        self.done -= keep_from;
    }

    fn read_line(&mut self, window: &[u8], part: std::ops::Range<usize>, number: u64) {
        let line = readable(&window[part.clone()]);
        let mut around: Option<Neighbours> = None;
        for shown in line.split('\r').filter(|shown| !shown.trim().is_empty()) {
            let rules = self.matching(shown, || neighbours(window, part.clone()), &mut around);
            for (rule, captures) in rules {
                let around = around.get_or_insert_with(|| neighbours(window, part.clone()));
                let finding = Finding {
                    rule: rule.name.clone(),
                    line: number,
                    text: excerpt(shown.trim_end(), captures.get(MATCHED)),
                    before: last_said(&around.before),
                    after: first_said(&around.after),
                    captures: with_derived(captures),
                    count: 1,
                };
                self.found.add(rule, finding);
            }
        }
    }

    /// The rules that speak about a line; none if one says that it is harmless.
    fn matching(
        &self,
        line: &str,
        look: impl Fn() -> Neighbours,
        around: &mut Option<Neighbours>,
    ) -> Vec<(&'static Rule, std::collections::BTreeMap<String, String>)> {
        let body = without_cause_words(message_of(line));
        let is_passing = Mood::of(line) == Mood::Passing;
        let mut found = Vec::new();
        let prefilter = self.book.prefilter(self.source);
        for n in prefilter.map(|p| p.candidates(line)).unwrap_or_default() {
            let rule = &self.book.rules[n];
            if is_passing && rule.role().is_blame() {
                continue;
            }
            let near = if rule.looks_around() {
                around.get_or_insert_with(&look).clone()
            } else {
                Neighbours::default()
            };
            let Some(captures) = rule.captures(line.trim_end(), body, &near) else {
                continue;
            };
            if rule.role() == Role::Harmless {
                return Vec::new();
            }
            found.push((rule, captures));
        }
        found
    }
}

/// Scans a text that is already there.
#[must_use]
pub fn scan(bytes: &[u8], source: Source) -> Output {
    let mut scanner = Scanner::new(source);
    scanner.feed(bytes);
    scanner.finish()
}

/// The line that holds the byte at `at`; of a very long line a part of it, from `floor` on.
fn line_around(window: &[u8], at: usize, floor: usize) -> std::ops::Range<usize> {
    let lowest = at.saturating_sub(MAX_LINE / 4);
    let start = memrchr(b'\n', &window[lowest..at]).map_or(lowest, |n| lowest + n + 1);
    let start = if start == lowest {
        start.max(floor.min(at))
    } else {
        start
    };
    let highest = (at + MAX_LINE).min(window.len());
    let end = memchr(b'\n', &window[at..highest]).map_or(highest, |n| at + n);
    start..end
}

/// The lines before and after a part of the window.
fn neighbours(window: &[u8], part: std::ops::Range<usize>) -> Neighbours {
    let before = &window[part.start.saturating_sub(MARGIN)..part.start];
    let after = &window[part.end..(part.end + MARGIN).min(window.len())];
    let mut before: Vec<String> = before
        .rsplit(|byte| *byte == b'\n')
        .skip(1)
        .take(LINES_BEFORE)
        .map(|line| cut(readable(line).trim_end(), READ_NEIGHBOUR).to_owned())
        .collect();
    before.reverse();
    let after = after
        .split(|byte| *byte == b'\n')
        .skip(1)
        .take(LINES_AFTER)
        .map(|line| cut(readable(line).trim_end(), READ_NEIGHBOUR).to_owned())
        .collect();
    Neighbours { before, after }
}

/// As text, without characters that show nothing.
fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let is_shown = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    text.chars().filter(|c| is_shown(*c)).collect()
}

/// Of a long line the part that holds what matched.
fn excerpt(line: &str, matched: Option<&String>) -> String {
    let at = matched.and_then(|matched| Some(line.find(matched.as_str())? + matched.len()));
    let start = match at {
        Some(end) if end > MAX_TEXT => end.saturating_sub(MAX_TEXT / 2),
        _ => 0,
    };
    cut(&line[line.ceil_char_boundary(start)..], MAX_TEXT).to_owned()
}

fn first_said(lines: &[String]) -> Vec<String> {
    let said = lines.iter().filter(|line| !line.trim().is_empty());
    said.take(KEPT_AFTER)
        .map(|line| cut(line, MAX_NEIGHBOUR).to_owned())
        .collect()
}

fn last_said(lines: &[String]) -> Vec<String> {
    let mut last: Vec<String> = {
        let said = lines.iter().rev().filter(|line| !line.trim().is_empty());
        said.take(KEPT_BEFORE)
            .map(|line| cut(line, MAX_NEIGHBOUR).to_owned())
            .collect()
    };
    last.reverse();
    last
}

fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// How often one rule alone speaks about a text.
#[cfg(test)]
pub(crate) fn matches_of(rule: &Rule, bytes: &[u8], source: Source) -> usize {
    let mut clean = Vec::new();
    Stripper::default().strip(bytes, &mut clean);
    let mut start = 0;
    let mut count = 0;
    for line in clean.split_inclusive(|byte| *byte == b'\n') {
        let end = start + line.len() - usize::from(line.ends_with(b"\n"));
        let text = readable(&clean[start..end]);
        let needs = rule.text.needs.iter().map(|need| need.to_lowercase());
        let can_match = needs
            .into_iter()
            .any(|need| text.to_lowercase().contains(&need));
        let is_blame_of_passing = Mood::of(&text) == Mood::Passing && rule.role().is_blame();
        let body = without_cause_words(message_of(&text));
        let around = neighbours(&clean, start..end);
        let speaks = rule.captures(text.trim_end(), body, &around).is_some();
        count += usize::from(can_match && !is_blame_of_passing && rule.reads(source) && speaks);
        start += line.len();
    }
    count
}
