//! The half of the diagnosis that is fed while output streams by. Whatever the size of the output,
//! it keeps a window of some lines and a short list of findings.

use std::borrow::Cow;
use std::cell::{LazyCell, OnceCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};
use regreen_model::{Excerpt, FailureKind, Finding, Output, Source};

use crate::baseline::Baseline;
use crate::excerpt::{excerpt as lines_around, first_command, last_command, line_ends};
use crate::failure_words::says_failure;
use crate::line::{LastKind, LineKind, is_informative, message_of, without_cause_words};
use crate::line_checks::LineChecks;
use crate::line_prefix::without_prefix;
use crate::own_rules::OwnRules;
use crate::rules::RuleBook;
use crate::rules::captures::with_derived;
use crate::rules::rule::Role;
use crate::rules::rule::{MATCHED, Rule, SurroundingLines};
use crate::rules::template::fill;
use crate::steps::{Mark, RUNNING_TASK, STEP_TITLE, Steps};
use crate::tally::is_tally;
use crate::text::Stripper;

/// How much is collected before it is searched.
const BATCH: usize = 128 * 1024;
/// How much text around a line is kept so that rules can inspect its neighbours.
const MARGIN: usize = 4 * 1024;
/// How much of a longer line is read, around the match.
const MAX_LINE: usize = 4 * 1024;
const LINES_BEFORE: usize = 12;
const LINES_AFTER: usize = 6;
/// The maximum length of a line in a finding, and of its neighbours: findings are stored and must
/// stay small.
const MAX_TEXT: usize = 480;
const MAX_NEIGHBOUR: usize = 160;
const KEPT_BEFORE: usize = 2;
const KEPT_AFTER: usize = 2;
/// How much of a neighbouring line rules inspect.
const READ_NEIGHBOUR: usize = 400;
/// After this many matches, further matches of a sign add nothing.
const ENOUGH: u64 = 32;
/// How much of the beginning and of the end is kept.
const SAMPLE: usize = 4 * 1024;

/// Searches output for lines that show how a program fared.
#[derive(Debug)]
pub struct Scanner {
    book: &'static RuleBook,
    source: Source,
    stripper: Stripper,
    /// Bytes without colours; those before `done` have been searched.
    window: Vec<u8>,
    done: usize,
    /// The number of line endings before `done`.
    lines: u64,
    bytes: u64,
    head: Vec<u8>,
    found: Steps,
    /// Whether a test report is quoting the output of the tested program.
    is_aside: bool,
    command: EchoedCommand,
    /// The task that a tool last said it runs, with its line number.
    task: Option<(u64, String)>,
    checks: LineChecks,
    kinds: LastKind,
}

/// The last command that a shell or a task runner echoed.
#[derive(Debug, Default)]
struct EchoedCommand {
    /// The command with its line number.
    last: Option<(u64, String)>,
    /// How far the window has been searched, and the number of line endings before that.
    searched: usize,
    lines: u64,
}

impl EchoedCommand {
    /// Searches the window up to `end` for commands.
    fn search(&mut self, window: &[u8], end: usize) {
        if self.searched == 0 && self.lines == 0 {
            self.last = first_command(window).map(|text| (1, text));
        }
        // A command starts after a line ending, which may be the last byte that was searched.
        let from = self.searched.saturating_sub(1);
        if let Some((at, text)) = last_command(window, from..end.max(from)) {
            let number = self.lines + line_ends(window, self.searched..at.max(self.searched)) + 1;
            self.last = Some((number, text));
        }
        self.lines += line_ends(window, self.searched..end.max(self.searched));
        self.searched = end.max(self.searched);
    }
}

impl Scanner {
    /// Creates a scanner for texts from this source.
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
            found: Steps::new(),
            is_aside: false,
            command: EchoedCommand::default(),
            task: None,
            checks: LineChecks::default(),
            kinds: LastKind::default(),
        }
    }

    /// Discounts lines that passing runs print as well.
    #[must_use]
    pub fn with_baseline(mut self, baseline: Arc<Baseline>) -> Self {
        self.checks.baseline = Some(baseline);
        self
    }

    /// Also looks for lines that the user's own rules match.
    #[must_use]
    pub fn with_own_rules(mut self, rules: Arc<OwnRules>) -> Self {
        self.checks.own_rules = Some(rules);
        self
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

    /// Ends the output and returns what is kept of it.
    #[must_use]
    pub fn finish(mut self) -> Output {
        self.search(self.window.len());
        self.command.search(&self.window, self.window.len());
        let is_open = self.window.last().is_some_and(|last| *last != b'\n');
        let is_whole = self.bytes <= SAMPLE as u64;
        let tail = self
            .window
            .len()
            .saturating_sub(if is_whole { 0 } else { SAMPLE });
        let lines = self.lines + u64::from(is_open);
        let (findings, failed) = self.found.into_findings();
        // The output of other steps isn't about the failed one.
        let is_near = |line: u64| {
            failed
                .as_ref()
                .is_none_or(|step| step.lines.contains(&line))
        };
        let (mut new_lines, mut own_findings) = (self.checks.new_lines, self.checks.own_findings);
        new_lines.retain(|(line, _)| is_near(*line));
        own_findings.retain(|finding| is_near(finding.line));
        let last_command_at = self.command.last.map(|(line, _)| line);
        let (tail, tail_ends_at, last_command_at) = match &failed {
            Some(step) => (&step.tail[..], *step.lines.end(), step.last_command_at),
            None => (&self.window[tail..], lines, last_command_at),
        };
        Output {
            bytes: self.bytes,
            lines,
            head: readable(&self.head).into_owned(),
            tail: readable(tail).into_owned(),
            tail_ends_at: Some(tail_ends_at),
            findings,
            has_failed_step: failed.is_some(),
            failed_step: failed.and_then(|step| step.title),
            last_command_at,
            new_lines,
            own_findings,
        }
    }

    /// Searches the window up to the last line ending before `limit`.
    fn search(&mut self, limit: usize) {
        let is_end = limit == self.window.len();
        let end = match memrchr(b'\n', &self.window[self.done..limit]) {
            Some(last) if !is_end => self.done + last + 1,
            // One line fills the window, so read it in parts.
            _ => limit,
        };
        self.keep_head(end);
        let mut from = self.done;
        let mut counted = self.done;
        let mut line = self.lines + 1;
        let window = std::mem::take(&mut self.window);
        let prefilter = self.book.prefilter(self.source);
        while let Some(hit) = prefilter.next_hit(&window[..end], from, |n| self.wants(n)) {
            let part = line_around(&window, hit - 1, from);
            line += memchr_iter(b'\n', &window[counted..part.start]).count() as u64;
            counted = part.start;
            self.read_line(&window, &part, line);
            from = part.end.max(hit);
            if from >= end {
                break;
            }
        }
        self.window = window;
        // Part of a very long line may already have been read beyond the end.
        let end = end.max(from);
        self.checks
            .read(&self.window, self.done..end, self.lines + 1);
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

    /// Drops text that no later line needs as context.
    fn forget(&mut self) {
        let keep_from = self.done.saturating_sub(MARGIN.max(SAMPLE));
        self.command.search(&self.window, self.done);
        self.window.drain(..keep_from);
        self.done -= keep_from;
        self.command.searched -= keep_from;
    }

    fn read_line(&mut self, window: &[u8], part: &Range<usize>, number: u64) {
        let bytes = &window[part.clone()];
        let mut candidates = self.book.prefilter(self.source).candidates(bytes);
        candidates.retain(|n| self.wants(*n));
        if candidates.is_empty() {
            return;
        }
        let line = readable(bytes);
        let around = OnceCell::new();
        let look = || around.get_or_init(|| neighbours(window, part));
        let nothing = SurroundingLines::default();
        let shown = line.split('\r').map(without_prefix);
        for shown in shown.filter(|shown| !shown.trim().is_empty()) {
            for (n, mut captures) in self.matching(shown, &candidates, look) {
                let rule = &self.book.rules[n];
                match rule.role {
                    Role::Aside => self.is_aside = true,
                    Role::Resume => self.is_aside = false,
                    role if self.is_aside && role.is_blame() => continue,
                    _ => {}
                }
                if matches!(rule.role, Role::Aside | Role::Resume) {
                    continue;
                }
                let names_command = rule.role.is_mark() || rule.role.names_task();
                if let Some(title) = rule.blocker.filter(|_| names_command) {
                    name_step(title, &mut captures, look());
                }
                if rule.role == Role::Runs {
                    let task = captures.remove(STEP_TITLE);
                    self.task = task.map(|task| (number, task));
                    continue;
                }
                if rule.role.is_mark() {
                    self.is_aside = false;
                    self.task = None;
                    self.command.search(window, part.start);
                    self.found.mark(&Mark {
                        role: rule.role,
                        captures: &captures,
                        line: number,
                        tail: last_bytes(&window[..part.start]),
                        last_command: self.command.last.as_ref(),
                    });
                    continue;
                }
                // The lines around a sign are never shown.
                let near = if rule.role.is_sign() {
                    &nothing
                } else {
                    look()
                };
                let is_blame = rule.role.is_blame();
                if is_blame {
                    self.command.search(window, part.start);
                }
                let command = self.command.last.as_ref().filter(|_| is_blame);
                let task = self.task.as_ref().filter(|task| Some(*task) > command);
                if let Some((_, task)) = task.filter(|_| is_blame) {
                    captures.insert(RUNNING_TASK.to_owned(), task.clone());
                }
                let finding = Finding {
                    rule: rule.name.to_owned(),
                    line: number,
                    text: excerpt(shown.trim_end(), captures.get(MATCHED)),
                    before: last_said(&near.before),
                    after: first_said(&near.after),
                    captures: with_derived(captures),
                    count: 1,
                    command: command.map(|(_, text)| text.clone()),
                    excerpt: if is_blame {
                        lines_around(window, part, number)
                    } else {
                        Excerpt::default()
                    },
                    is_known: is_blame && self.checks.knows(shown),
                };
                let finding = match rule.role {
                    Role::Wrapper if self.source == Source::Command => {
                        self.wrapped(rule, finding, near)
                    }
                    // A count of problems says no more than a wrapper does.
                    Role::Symptom if self.source == Source::Command && is_tally(shown) => {
                        self.wrapped(rule, finding, near)
                    }
                    _ => finding,
                };
                self.found.add(n, rule, finding, &self.kinds);
            }
        }
    }

    /// Returns the line above a wrapper that it probably refers to, or the wrapper itself if no
    /// line near it says more.
    fn wrapped(&self, rule: &Rule, wrapper: Finding, near: &SurroundingLines) -> Finding {
        // What stands above the last command that was echoed is the output of commands that passed.
        let command = self.command.last.as_ref();
        let command_at = command.and_then(|(line, _)| wrapper.line.checked_sub(*line));
        let above = || {
            let numbered = near.before.iter().rev().zip(1_u64..);
            let numbered = numbered.take_while(|(_, distance)| Some(*distance) != command_at);
            numbered
                .filter(|(line, _)| is_informative(line) && !self.is_wrapper(line))
                .filter(|(line, _)| LineKind::of(line) != LineKind::Passing)
        };
        let failing = above().find(|(line, _)| says_failure(line));
        // A count of failed tests says more than any line above it that isn't about a failure.
        let is_count = rule.kind == Some(FailureKind::TestFailure);
        let telling = failing.or_else(|| above().next().filter(|_| !is_count));
        let silent = || {
            let distance = command_at.filter(|distance| *distance <= near.before.len() as u64)?;
            Some((&command?.1, distance))
        };
        match telling.or_else(silent) {
            Some((line, distance)) => Finding {
                line: wrapper.line.saturating_sub(distance),
                text: line.trim().to_owned(),
                before: Vec::new(),
                excerpt: up_to_wrapper(&wrapper, near, distance),
                after: vec![wrapper.text],
                captures: wrapper
                    .captures
                    .into_iter()
                    .filter(|(name, _)| name == RUNNING_TASK)
                    .collect(),
                ..wrapper
            },
            None => wrapper,
        }
    }

    fn is_wrapper(&self, line: &str) -> bool {
        let candidates = self.book.prefilter(self.source).candidates(line.as_bytes());
        candidates.into_iter().any(|n| {
            let rule = &self.book.rules[n];
            let is_one = matches!(rule.role, Role::Wrapper | Role::Harmless) || rule.role.is_mark();
            let text = if rule.raw { line } else { message_of(line) };
            is_one && rule.matches(text)
        })
    }

    /// Returns whether further matches of a rule matter. Signs are counted up to a limit, and a
    /// cause that was found often enough adds nothing, unless the last match counts.
    fn wants(&self, n: usize) -> bool {
        let rule = &self.book.rules[n];
        let is_enough = if rule.role.is_counted() {
            self.found.current().count(n) >= ENOUGH
        } else {
            rule.role.is_blame() && !rule.last && self.found.current().is_settled(n, rule)
        };
        !is_enough
    }

    /// Returns the rules that match a line, by number, with their captures; empty if a rule calls
    /// the line harmless. Costly work is done only if a rule needs it.
    fn matching<'a>(
        &self,
        line: &str,
        candidates: &[usize],
        look: impl Fn() -> &'a SurroundingLines,
    ) -> Vec<(usize, BTreeMap<String, String>)> {
        let whole = line.trim_end();
        let body = LazyCell::new(|| without_cause_words(message_of(line)));
        let is_passing = LazyCell::new(|| self.kinds.of(line) == LineKind::Passing);
        let mut found = Vec::new();
        for &n in candidates {
            let rule = &self.book.rules[n];
            let text = if rule.raw { whole } else { *body };
            let speaks = rule.matches(text)
                && !(rule.role.is_blame() && *is_passing)
                && (!rule.looks_around() || rule.fits(look()));
            if !speaks {
                continue;
            }
            if rule.role == Role::Harmless {
                return Vec::new();
            }
            found.push((n, rule.captures(text)));
        }
        found
    }
}

/// Names a step using a template, which may refer to the line below its mark.
fn name_step(title: &str, captures: &mut BTreeMap<String, String>, near: &SurroundingLines) {
    let next = near.after.first().cloned().unwrap_or_default();
    captures.insert("next".to_owned(), next);
    if let Some(title) = fill(title, captures) {
        captures.insert(STEP_TITLE.to_owned(), title);
    }
}

/// Returns the lines from the one that a wrapper refers to up to the wrapper.
fn up_to_wrapper(wrapper: &Finding, near: &SurroundingLines, distance: u64) -> Excerpt {
    let from = near.before.len() - usize::try_from(distance).unwrap_or_default();
    let lines = near.before[from..].iter().chain([&wrapper.text]);
    Excerpt {
        first_line: wrapper.line.saturating_sub(distance),
        last_line: wrapper.line,
        lines: lines.cloned().collect(),
    }
}

/// Returns the part of an output's end that is kept.
fn last_bytes(text: &[u8]) -> &[u8] {
    &text[text.len().saturating_sub(SAMPLE)..]
}

/// Scans a complete text.
#[must_use]
pub fn scan(bytes: &[u8], source: Source) -> Output {
    let mut scanner = Scanner::new(source);
    scanner.feed(bytes);
    scanner.finish()
}

/// Returns the line that contains the byte at `at`; for a very long line, a part of it from `floor`
/// on.
fn line_around(window: &[u8], at: usize, floor: usize) -> Range<usize> {
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

/// Returns the lines before and after a part of the window.
pub(crate) fn neighbours(window: &[u8], part: &Range<usize>) -> SurroundingLines {
    let before = &window[part.start.saturating_sub(MARGIN)..part.start];
    let after = &window[part.end..(part.end + MARGIN).min(window.len())];
    let mut before: Vec<String> = before
        .rsplit(|byte| *byte == b'\n')
        .skip(1)
        .take(LINES_BEFORE)
        .map(neighbour)
        .collect();
    before.reverse();
    let after = after
        .split(|byte| *byte == b'\n')
        .skip(1)
        .take(LINES_AFTER)
        .map(neighbour)
        .collect();
    SurroundingLines { before, after }
}

fn neighbour(line: &[u8]) -> String {
    let text = readable(line);
    cut(without_prefix(&text).trim_end(), READ_NEIGHBOUR).to_owned()
}

/// Decodes text without invisible characters.
pub(crate) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    let is_hidden = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    if text.contains(is_hidden) {
        Cow::Owned(text.chars().filter(|c| !is_hidden(*c)).collect())
    } else {
        text
    }
}

/// Shortens a long line to the part that contains the match.
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

/// Returns how often one rule alone matches a text.
#[cfg(test)]
pub(crate) fn matches_of(rule: &Rule, text: &str, source: Source) -> usize {
    let mut clean = Vec::new();
    Stripper::default().strip(text.as_bytes(), &mut clean);
    let mut start = 0;
    let mut count = 0;
    for line in clean.split_inclusive(|byte| *byte == b'\n') {
        let end = start + line.len() - usize::from(line.ends_with(b"\n"));
        let text = readable(&clean[start..end]);
        let can_match = rule
            .needs
            .iter()
            .any(|(need, _)| text.to_ascii_lowercase().contains(need));
        let is_blame_of_passing = LineKind::of(&text) == LineKind::Passing && rule.role.is_blame();
        let message = if rule.raw {
            text.trim_end()
        } else {
            without_cause_words(message_of(&text))
        };
        let speaks = rule.matches(message) && rule.fits(&neighbours(&clean, &(start..end)));
        count += usize::from(can_match && !is_blame_of_passing && rule.reads(source) && speaks);
        start += line.len();
    }
    count
}
