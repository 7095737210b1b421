//! The content of the live view, as rows of text.

use std::collections::BTreeSet;
use std::ops::Range;

use regreen_model::{Budget, Dollars, Event, OutlineRow, Span, Spending, TaskKey, Timestamp};

use super::estimate::{Pace, finished};
use super::stage::Stage;
use crate::status_line::{Palette, Tone};
use crate::text::{about_left, fit, one_line, short_count, task_name, text_width};
use crate::totals::{Outline, RunTotals, Share};

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS: u64 = 100;
/// The most rows of the plan, however tall the terminal is.
const MAX_PLAN_ROWS: usize = 9;
/// Rows not used for the plan: the three around it, and some for the lines scrolling above.
const OTHER_ROWS: usize = 7;
/// Anything narrower is unreadable.
const MIN_COLUMNS: usize = 8;
/// Enough of the agent's words to fill a row.
const ACTIVITY_BYTES: usize = 1024;
const ACTIVITY_CHARS: usize = 300;
/// The state of the live view: a fold of events.
#[derive(Clone, Debug, Default)]
pub(super) struct Screen {
    outline: Outline,
    totals: RunTotals,
    /// Open tasks whose last attempt failed.
    failed: BTreeSet<TaskKey>,
    stage: Stage,
    stage_began: Timestamp,
    /// When this process started to work on the run, and how long it has waited since.
    run_began: Timestamp,
    waited_before_ms: u64,
    pace: Pace,
    activity: String,
}

/// The time and size of a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) columns: usize,
    pub(super) lines: usize,
    pub(super) now: Timestamp,
    pub(super) palette: Palette,
}

impl Screen {
    pub(super) fn outline(&mut self, rows: &[OutlineRow]) {
        self.outline.replace(rows);
    }

    pub(super) fn recall(&mut self, event: &Event) {
        self.totals.apply(event);
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

    pub(super) fn event(&mut self, now: Timestamp, event: &Event) {
        if let Some(row) = finished(event, self.outline.rows()) {
            self.pace.finish(row, self.totals.config.times.as_deref());
        }
        self.recall(event);
        match event {
            Event::RunStarted { .. } | Event::RunResumed { .. } => {
                self.run_began = now;
                self.waited_before_ms = self.totals.waited_ms;
            }
            _ => {}
        }
        if let Some(stage) = Stage::begun_by(event, &self.totals) {
            self.stage = stage;
            self.stage_began = now;
            self.activity.clear();
        }
    }

    /// Keeps the agent's activity. It is sanitized when drawn, which happens less often.
    pub(super) fn activity(&mut self, line: &str) {
        self.activity.clear();
        let end = line.floor_char_boundary(ACTIVITY_BYTES);
        self.activity.push_str(&line[..end]);
    }

    /// Whether someone else is using the terminal.
    pub(super) fn is_suspended(&self) -> bool {
        self.stage == Stage::Asking
    }

    /// Whether the run is stopping.
    pub(super) fn is_stopping(&self) -> bool {
        self.stage == Stage::Stopping
    }

    /// Returns the rows to draw; none if the run is over or someone else is using the terminal.
    pub(super) fn rows(&self, frame: Frame) -> Vec<String> {
        let is_hidden = matches!(self.stage, Stage::Idle | Stage::Asking);
        if is_hidden || frame.columns < MIN_COLUMNS {
            return Vec::new();
        }
        let mut rows = self.plan_rows(frame);
        if !rows.is_empty() {
            rows.insert(0, String::new());
        }
        rows.push(self.stage_row(frame));
        rows.push(self.totals_row(frame));
        // A terminal that is too short gets the last rows, which change most.
        let first = rows
            .len()
            .saturating_sub(frame.lines.saturating_sub(1).max(1));
        rows.split_off(first)
    }

    fn plan_rows(&self, frame: Frame) -> Vec<String> {
        let rows = self.outline.rows();
        let room = frame.lines.saturating_sub(OTHER_ROWS).min(MAX_PLAN_ROWS);
        let shown = window(rows.len(), self.current_row(), room);
        if shown.is_empty() {
            return Vec::new();
        }
        let (above, rest) = rows.split_at(shown.start);
        let (within, below) = rest.split_at(shown.len());
        let mut drawn = Vec::from_iter(hidden_row(above, "above", frame));
        drawn.extend(within.iter().map(|row| self.plan_row(row, frame)));
        drawn.extend(hidden_row(below, "below", frame));
        drawn
    }

    /// Returns the row of the current task, or else of the first open one.
    fn current_row(&self) -> usize {
        let current = self.current().and_then(|task| self.outline.position(task));
        let first_open = || self.outline.rows().iter().position(|row| !row.done);
        current.or_else(first_open).unwrap_or(0)
    }

    fn current(&self) -> Option<&TaskKey> {
        match self.stage {
            Stage::Idle | Stage::ReadingPlan | Stage::Asking => None,
            _ => self.totals.picked.as_ref().map(|picked| &picked.task),
        }
    }

    fn plan_row(&self, row: &OutlineRow, frame: Frame) -> String {
        let indent = "  ".repeat(usize::from(row.depth));
        let is_current = self.current() == Some(&row.key);
        let (mark, mark_tone, tone) = if row.done {
            ('✔', Tone::Good, Some(Tone::Dim))
        } else if is_current {
            (spinner(frame.now), Tone::Action, Some(Tone::Strong))
        } else if self.failed.contains(&row.key) {
            ('✘', Tone::Bad, None)
        } else {
            ('○', Tone::Dim, None)
        };
        let is_optional = row.optional && !self.totals.config.include_optional;
        let optional = if is_optional { " (optional)" } else { "" };
        let name = format!("{}{optional}", task_name(&row.key));
        let name = fit(&name, frame.columns.saturating_sub(indent.len() + 4));
        let name = tone.map_or(name.clone(), |tone| frame.palette.paint(tone, &name));
        let mark = frame.palette.paint(mark_tone, &mark.to_string());
        format!("  {indent}{mark} {name}")
    }

    /// Returns the current stage, its duration, and the agent's activity.
    fn stage_row(&self, frame: Frame) -> String {
        let mark = frame
            .palette
            .paint(Tone::Action, &spinner(frame.now).to_string());
        let mut text = self.stage.describe(self.stage_began, frame.now);
        if let Some(task) = self.current() {
            text = format!("{} {text}", task.id);
        }
        let room = frame.columns.saturating_sub(2);
        let activity = one_line(&self.activity, ACTIVITY_CHARS);
        if !self.stage.has_activity() || activity.is_empty() {
            return format!("{mark} {}", fit(&text, room));
        }
        let activity_room = room.saturating_sub(text_width(&text) + 3);
        if activity_room < MIN_COLUMNS {
            return format!("{mark} {}", fit(&text, room));
        }
        format!("{mark} {text} · {}", fit(&activity, activity_room))
    }

    /// Returns the progress of the run and what it has used. If there is no room, the least
    /// important parts are dropped first.
    fn totals_row(&self, frame: Frame) -> String {
        let tasks = self.outline.originals(self.totals.config.include_optional);
        let elapsed_ms = frame.now.since(self.run_began);
        let mut parts = vec![format!("{}/{} done", tasks.done, tasks.total)];
        parts.push(Span::whole_seconds(elapsed_ms).to_string());
        parts.extend(self.estimate(tasks, elapsed_ms));
        parts.extend(spent(&self.totals.spent, &self.totals.config.budgets.run));
        let mut text = String::new();
        for part in parts {
            let more = match text.as_str() {
                "" => part,
                text => format!("{text} · {part}"),
            };
            if text_width(&more) > frame.columns.saturating_sub(2) {
                break;
            }
            text = more;
        }
        format!("  {}", frame.palette.paint(Tone::Dim, &text))
    }

    fn estimate(&self, tasks: Share, elapsed_ms: u64) -> Option<String> {
        let waited = self.totals.waited_ms.saturating_sub(self.waited_before_ms);
        let worked = elapsed_ms.saturating_sub(waited);
        let open = u64::try_from(tasks.open()).unwrap_or(0);
        let config = &self.totals.config;
        let left = self.pace.left_ms(self.outline.rows(), open, worked, config);
        left.map(about_left)
    }
}

/// Returns what was spent, with its budget, if any.
fn spent(spent: &Spending, budget: &Budget) -> Vec<String> {
    let mut parts = Vec::new();
    if spent.tokens() > 0 || budget.tokens.is_some() {
        let used = short_count(spent.tokens());
        parts.push(match budget.tokens {
            Some(limit) => format!("{used} of {} tokens", short_count(limit)),
            None => format!("{used} tokens"),
        });
    }
    let cost = spent.cost_micro_usd.or(budget.cost_micro_usd.map(|_| 0));
    if let Some(cost) = cost {
        let cost = Dollars::from_micro(cost);
        parts.push(match budget.cost_micro_usd {
            Some(limit) => format!("{cost} of {}", Dollars::from_micro(limit)),
            None => cost.to_string(),
        });
    }
    parts
}

fn spinner(now: Timestamp) -> char {
    let frames = SPINNER.len() as u64;
    let at = usize::try_from(now.as_millis() / FRAME_MS % frames).unwrap_or(0);
    SPINNER.get(at).copied().unwrap_or(' ')
}

/// Counts the hidden rows of the plan.
fn hidden_row(rows: &[OutlineRow], place: &str, frame: Frame) -> Option<String> {
    let share = Share::of(rows);
    let counts = match (share.done, share.open()) {
        (0, 0) => return None,
        (done, 0) => format!("{done} done"),
        (0, open) => format!("{open} open"),
        (done, open) => format!("{done} done, {open} open"),
    };
    let text = fit(
        &format!("⋮ {counts} {place}"),
        frame.columns.saturating_sub(2),
    );
    Some(format!("  {}", frame.palette.paint(Tone::Dim, &text)))
}

/// Returns which of `rows` rows to show in `room` lines, so that `current` is among them. The count
/// of hidden rows at either end takes a line.
fn window(rows: usize, current: usize, room: usize) -> Range<usize> {
    /// A row, and the counts above and below it.
    const MIN_ROOM: usize = 3;
    if rows <= room {
        return 0..rows;
    }
    if room < MIN_ROOM {
        return 0..0;
    }
    let inner = room - 2;
    // Show more of what is to come than of what is done.
    let start = current.min(rows - 1).saturating_sub(inner / 3);
    match start.min(rows - inner) {
        // If nothing is hidden there, the line of the count is free.
        0 | 1 => 0..room - 1,
        start if start + inner + 1 >= rows => rows - (room - 1)..rows,
        start => start..start + inner,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_window_moves_with_the_current_row() {
        assert_eq!(window(5, 0, 5), 0..5);
        assert_eq!(window(20, 0, 8), 0..7);
        assert_eq!(window(20, 2, 8), 0..7);
        assert_eq!(window(20, 9, 8), 7..13);
        assert_eq!(window(20, 19, 8), 13..20);
        assert_eq!(window(20, 9, 2), 0..0);
    }

    proptest! {
        #[test]
        fn the_window_fits_and_has_the_current_row(rows in 1_usize..60, current in 0_usize..60, room in 3_usize..40) {
            let current = current % rows;
            let shown = window(rows, current, room);
            let hidden = usize::from(shown.start > 0) + usize::from(shown.end < rows);
            prop_assert!(shown.len() + hidden <= room);
            prop_assert!(shown.end <= rows);
            prop_assert!(shown.contains(&current));
            prop_assert!(shown.len() + hidden == rows.min(room), "no line is left empty");
        }
    }
}
