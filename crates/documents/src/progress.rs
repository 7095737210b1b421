//! `.progress.md`: completed tasks and how they were healed, for people to read.
//!
//! regreen owns single lines of the file. Every other byte is the user's.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use regreen_model::{FailureKind, PlainLine, TaskId};

use crate::markdown::{Line, LineKind, eol_of, scan};

const COMPLETED: &[&str] = &["Completed Tasks", "Completed"];
const HISTORY: &[&str] = &["Fix Task History"];
const LEARNINGS: &[&str] = &["Learnings"];
/// Long enough for a title that people read.
const TITLE_CHARS: usize = 300;

/// The text of a progress file. Each edit returns the text with one line added or changed, and is
/// idempotent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgressFile {
    text: String,
}

impl ProgressFile {
    /// Wraps the text of a progress file.
    #[must_use]
    pub fn read(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the lines below `## Learnings`, oldest first.
    #[must_use]
    pub fn learnings(&self) -> Vec<&str> {
        let parsed = ParsedText::of(&self.text);
        let Some(section) = parsed.section(LEARNINGS) else {
            return Vec::new();
        };
        let lines = parsed.lines_of(&section).iter();
        let lines = lines.filter(|line| !line.is_blank());
        lines.map(|line| parsed.content(line)).collect()
    }

    /// Adds a completed task, with its commit if there is one.
    #[must_use]
    pub fn completed(&self, task: &TaskId, title: &str, commit: Option<&str>) -> Self {
        self.with_completed(&CompletedLine::new(task, title, commit))
    }

    fn with_completed(&self, CompletedLine(line): &CompletedLine) -> Self {
        let parsed = ParsedText::of(&self.text);
        match parsed.section(COMPLETED) {
            Some(section) if parsed.has_line(&section, line) => self.clone(),
            Some(section) => self.with_line_in(&parsed, &section, line),
            None => {
                let next = parsed
                    .heading(HISTORY)
                    .or_else(|| parsed.heading(LEARNINGS));
                self.with_section(&parsed, "## Completed Tasks", line, next)
            }
        }
    }

    /// Adds the completed tasks that are missing.
    #[must_use]
    pub fn all_completed<'r>(&self, tasks: impl IntoIterator<Item = &'r CompletedLine>) -> Self {
        let there: BTreeSet<&str> = self.text.lines().map(str::trim_end).collect();
        let tasks = tasks.into_iter();
        let missing = tasks.filter(|CompletedLine(line)| !there.contains(line.as_str()));
        missing.fold(self.clone(), |progress, line| progress.with_completed(line))
    }

    /// Removes the lines of a task that is open again.
    #[must_use]
    pub fn reopened(&self, task: &TaskId) -> Self {
        let start = format!("- [x] {task} ");
        let parsed = ParsedText::of(&self.text);
        let section = parsed.section(COMPLETED);
        let line = section.and_then(|section| parsed.line_starting(&section, &start));
        let Some(line) = line else {
            return self.clone();
        };
        let rest = self.text.get(line.end..).unwrap_or_default();
        let eol = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
        let eol = eol.min(eol_of(&self.text).len());
        self.spliced(line.start..line.end + eol, "").reopened(task)
    }

    /// Adds how a task was healed. There is one line per task, which is changed in place.
    #[must_use]
    pub fn fix_history(&self, history: &FixHistory) -> Self {
        let line = history.to_string();
        let parsed = ParsedText::of(&self.text);
        let Some(section) = parsed.section(HISTORY) else {
            let next = parsed.heading(LEARNINGS);
            return self.with_section(&parsed, "## Fix Task History", &line, next);
        };
        let start = FixHistory::line_start(&history.task);
        match parsed.line_starting(&section, &start) {
            Some(old) => self.spliced(old, &line),
            None => self.with_line_in(&parsed, &section, &line),
        }
    }

    /// Returns what an empty file says when a limit was reached: how the task failed last.
    #[must_use]
    pub fn or_failed(self, task: &TaskId, kind: Option<FailureKind>) -> Self {
        if !self.text.is_empty() {
            return self;
        }
        let kind = kind.map(|kind| format!(": {}", kind.words()));
        let kind = kind.unwrap_or_default();
        Self::read(format!("## Learnings\n- Task {task} failed{kind}\n"))
    }

    fn with_line_in(&self, parsed: &ParsedText<'_>, section: &Section, line: &str) -> Self {
        let last = parsed.lines.get(section.last_text);
        let end = last.map_or(self.text.len(), |last| last.end);
        self.spliced(end..end, &format!("{}{line}", eol_of(&self.text)))
    }

    /// Adds a section before a heading, or at the end of the file.
    fn with_section(
        &self,
        parsed: &ParsedText<'_>,
        heading: &str,
        line: &str,
        before: Option<usize>,
    ) -> Self {
        let eol = eol_of(&self.text);
        if let Some(next) = before.and_then(|before| parsed.lines.get(before)) {
            let section = format!("{heading}{eol}{line}{eol}{eol}");
            return self.spliced(next.start..next.start, &section);
        }
        let end = self.text.len();
        let ends_line = self.text.ends_with(['\n', '\r']);
        let ends_blank = parsed.lines.last().is_none_or(Line::is_blank);
        let section = match (ends_line || self.text.is_empty(), ends_blank) {
            (true, true) => format!("{heading}{eol}{line}{eol}"),
            (true, false) => format!("{eol}{heading}{eol}{line}{eol}"),
            // A file without a final line ending keeps having none.
            (false, _) => format!("{eol}{eol}{heading}{eol}{line}"),
        };
        self.spliced(end..end, &section)
    }

    fn spliced(&self, at: Range<usize>, with: &str) -> Self {
        let before = self.text.get(..at.start).unwrap_or_default();
        let after = self.text.get(at.end..).unwrap_or_default();
        Self::read([before, with, after].concat())
    }
}

/// The line of a completed task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedLine(String);

impl CompletedLine {
    /// Creates the line of a task with this title, and its commit if there is one.
    #[must_use]
    pub fn new(task: &TaskId, title: &str, commit: Option<&str>) -> Self {
        let title = PlainLine::flatten(title, TITLE_CHARS);
        let mut line = format!("- [x] {task} {title}").trim_end().to_owned();
        if let Some(commit) = commit {
            line.push_str(" - ");
            line.push_str(commit);
        }
        Self(line)
    }
}

/// A text with its lines.
struct ParsedText<'t> {
    text: &'t str,
    lines: Vec<Line>,
}

/// The lines from a heading to the next one of the same level.
struct Section {
    lines: Range<usize>,
    /// Its last non-blank line, which may be the heading.
    last_text: usize,
}

impl<'t> ParsedText<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            lines: scan(text).lines,
        }
    }

    fn content(&self, line: &Line) -> &'t str {
        self.text[line.first..line.end].trim_end()
    }

    /// Returns the line of the first second-level heading with one of these names, in order of
    /// preference.
    fn heading(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            self.lines.iter().position(|line| {
                line.kind == LineKind::Heading
                    && self
                        .content(line)
                        .strip_prefix("## ")
                        .is_some_and(|title| title.trim() == *name)
            })
        })
    }

    fn section(&self, names: &[&str]) -> Option<Section> {
        let heading = self.heading(names)?;
        let below = self.lines.get(heading + 1..)?;
        let ends = |line: &Line| line.kind == LineKind::Heading && level(self.content(line)) <= 2;
        let length = below.iter().position(ends).unwrap_or(below.len());
        let texts = below.iter().take(length).rposition(|line| !line.is_blank());
        Some(Section {
            lines: heading + 1..heading + 1 + length,
            last_text: texts.map_or(heading, |last| heading + 1 + last),
        })
    }

    fn lines_of(&self, section: &Section) -> &[Line] {
        self.lines.get(section.lines.clone()).unwrap_or_default()
    }

    fn has_line(&self, section: &Section, text: &str) -> bool {
        self.lines_of(section)
            .iter()
            .any(|line| self.content(line) == text)
    }

    /// Returns the bytes of the section's list item with this start.
    fn line_starting(&self, section: &Section, start: &str) -> Option<Range<usize>> {
        let is_it = |line: &&Line| line.item().is_some() && self.content(line).starts_with(start);
        let line = self.lines_of(section).iter().find(is_it)?;
        Some(line.first..line.end)
    }
}

/// Returns the level of a heading; an underlined one counts as the first level.
fn level(heading: &str) -> usize {
    heading.bytes().take_while(|b| *b == b'#').count()
}

/// How the healing of a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealingOutcome {
    /// The task passed.
    Pass,
    /// A limit was reached first.
    MaxLimit,
}

/// The fixes of a task, and how they ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixHistory {
    /// The task.
    pub task: TaskId,
    /// Its fixes.
    pub fixes: Vec<TaskId>,
    /// How healing ended.
    pub outcome: HealingOutcome,
}

impl FixHistory {
    /// Returns the beginning of every line about a task.
    fn line_start(task: &TaskId) -> String {
        format!("- Task {task}: ")
    }
}

impl fmt::Display for FixHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.fixes.len();
        let word = if count == 1 { "fix" } else { "fixes" };
        write!(
            f,
            "{}{count} {word} attempted (",
            Self::line_start(&self.task)
        )?;
        for (at, fix) in self.fixes.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{fix}")?;
        }
        f.write_str(match self.outcome {
            HealingOutcome::Pass => ") - Final: PASS",
            HealingOutcome::MaxLimit => ") - Final: FAIL (max limit)",
        })
    }
}

#[cfg(test)]
mod tests;
