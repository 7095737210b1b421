use std::collections::BTreeSet;

use regreen_model::{Event, OutlineRow, Span, TaskKey, Timestamp};

use super::clip::clip;
use super::doing::Doing;
use super::window::window;
use crate::outline::{Outline, Share};
use crate::palette::{Palette, Tone};
use crate::shown::{named, shown};
use crate::tally::Tally;

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS: u64 = 100;
/// No more of the plan than this, however high the terminal is.
const MOST_ROWS: usize = 15;
/// Lines that are not for the plan: the two below it, and some for what scrolls above.
const OTHER_LINES: usize = 6;
/// Narrower than this there is nothing to be read.
const LEAST_COLUMNS: usize = 8;
/// Enough of what the agent says to fill a line.
const ACTIVITY_BYTES: usize = 1024;
const ACTIVITY_CHARS: usize = 200;

/// What the live view shows: a fold of events, and how it looks at a moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Scene {
    outline: Outline,
    tally: Tally,
    /// Open tasks whose last attempt failed.
    failed: BTreeSet<TaskKey>,
    doing: Doing,
    began: Timestamp,
    activity: String,
}

/// The moment and the place of a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) columns: usize,
    pub(super) lines: usize,
    /// Since the event with which something began.
    pub(super) elapsed_ms: u64,
    pub(super) palette: Palette,
}

type Piece = (Tone, String);

impl Scene {
    pub(super) fn outline(&mut self, rows: &[OutlineRow]) {
        self.outline.replace(rows);
    }

    pub(super) fn recall(&mut self, event: &Event) {
        self.tally.apply(event);
        self.outline.apply(event);
        match event {
            Event::TaskFailed { task, .. } => {
                self.failed.insert(task.clone());
            }
            Event::TaskDone { task, .. } => {
                self.failed.remove(task);
            }
            _ => {}
        }
    }

    /// Whether something new begins with the event.
    pub(super) fn event(&mut self, now: Timestamp, event: &Event) -> bool {
        self.recall(event);
        let Some(doing) = Doing::begun_by(event, &self.tally) else {
            return false;
        };
        self.doing = doing;
        self.began = now;
        self.activity.clear();
        true
    }

    /// Only kept: it is made harmless when it is drawn, which is not as often.
    pub(super) fn activity(&mut self, line: &str) {
        self.activity.clear();
        let end = line.floor_char_boundary(ACTIVITY_BYTES);
        self.activity.push_str(&line[..end]);
    }

    /// There is nothing to be drawn: it is over, or somebody else has the terminal.
    pub(super) fn is_hidden(&self) -> bool {
        matches!(self.doing, Doing::Nothing | Doing::Asking)
    }

    /// Somebody else has the terminal.
    pub(super) fn is_suspended(&self) -> bool {
        self.doing == Doing::Asking
    }

    pub(super) fn draw(&self, frame: Frame) -> Vec<String> {
        if self.is_hidden() || frame.columns < LEAST_COLUMNS {
            return Vec::new();
        }
        let mut pieces = self.tree(frame);
        pieces.push((Tone::Current, self.status(frame)));
        pieces.push((Tone::Faint, self.budget()));
        // Too low a terminal keeps the end, which changes.
        let first = pieces.len().saturating_sub(frame.lines);
        let pieces = pieces.iter().skip(first);
        pieces
            .map(|(tone, text)| frame.palette.paint(*tone, &clip(text, frame.columns)))
            .collect()
    }

    fn tree(&self, frame: Frame) -> Vec<Piece> {
        let rows = self.outline.rows();
        let room = frame.lines.saturating_sub(OTHER_LINES).min(MOST_ROWS);
        let shown = window(rows.len(), self.current_row(), room);
        if shown.is_empty() {
            return Vec::new();
        }
        let (above, rest) = rows.split_at(shown.start);
        let (within, below) = rest.split_at(shown.len());
        let mut pieces = Vec::from_iter(cut(above, "above"));
        pieces.extend(within.iter().map(|row| self.row(row, frame)));
        pieces.extend(cut(below, "below"));
        pieces
    }

    /// The row that is worked on, or else the first that is open.
    fn current_row(&self) -> usize {
        let current = self.current().and_then(|task| self.outline.position(task));
        let first_open = || self.outline.rows().iter().position(|row| !row.done);
        current.or_else(first_open).unwrap_or(0)
    }

    fn current(&self) -> Option<&TaskKey> {
        match self.doing {
            Doing::Nothing | Doing::Planning | Doing::Asking => None,
            _ => self.tally.picked.as_ref().map(|picked| &picked.task),
        }
    }

    fn row(&self, row: &OutlineRow, frame: Frame) -> Piece {
        let indent = "  ".repeat(usize::from(row.depth));
        let (tone, mark) = self.mark(row, frame);
        let addition = match row.optional && !self.tally.config.include_optional {
            true => " (optional)",
            false => "",
        };
        (
            tone,
            format!("{indent}{mark} {}{addition}", named(&row.key)),
        )
    }

    fn mark(&self, row: &OutlineRow, frame: Frame) -> (Tone, char) {
        if row.done {
            (Tone::Good, '✔')
        } else if self.current() == Some(&row.key) {
            (Tone::Current, spinner(frame.elapsed_ms))
        } else if self.failed.contains(&row.key) {
            (Tone::Bad, '✘')
        } else {
            (Tone::Plain, '○')
        }
    }

    fn status(&self, frame: Frame) -> String {
        let mut text = String::from(spinner(frame.elapsed_ms));
        if let Some(task) = self.current() {
            text.push_str(&format!(" {}", task.id));
        }
        let words = self.doing.words(self.began, frame.elapsed_ms);
        text.push_str(&format!(" {words}"));
        if self.doing.has_agent() && !self.activity.is_empty() {
            let activity = shown(&self.activity, ACTIVITY_CHARS);
            text.push_str(&format!(" · {activity}"));
        }
        text
    }

    fn budget(&self) -> String {
        let tally = &self.tally;
        let mut parts = Vec::new();
        if let Some(task) = self.current() {
            let (used, limit) = (tally.used_by(task), tally.limit_of_task());
            parts.push(format!("{used}/{limit} of the task"));
        }
        parts.push(format!(
            "{}/{} of the run",
            tally.used,
            tally.limit_of_run()
        ));
        let waited = Span::whole_seconds(tally.waited_ms);
        let may_wait = Span::whole_seconds(tally.config.max_wait_ms);
        format!(
            "attempts used: {} · waited {waited} of {may_wait}",
            parts.join(", ")
        )
    }
}

fn spinner(elapsed_ms: u64) -> char {
    let frames = SPINNER.len() as u64;
    let at = usize::try_from(elapsed_ms / FRAME_MS % frames).unwrap_or(0);
    SPINNER.get(at).copied().unwrap_or(' ')
}

/// What is not shown of the plan, counted.
fn cut(rows: &[OutlineRow], place: &str) -> Option<Piece> {
    let share = Share::of(rows);
    let counts = match (share.done, share.open()) {
        (0, 0) => return None,
        (done, 0) => format!("{done} done"),
        (0, open) => format!("{open} open"),
        (done, open) => format!("{done} done, {open} open"),
    };
    Some((Tone::Faint, format!("⋮ {counts} {place}")))
}
