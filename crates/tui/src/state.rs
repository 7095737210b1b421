//! Everything that decides what the screen shows.

use regreen_model::{FailureRecord, OutlineRow, TaskKey, Timestamp};
use regreen_overview::{
    AttemptRef, AttemptText, AttemptView, RunDetails, RunKey, RunSummary, TaskFilter, TaskView,
};

use crate::dialog::Dialog;
use crate::document::{Document, Tab};
use crate::event::{Effect, Size};
use crate::layout::Layout;
use crate::list::Selection;

/// A part of the screen that can be in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Panel {
    Runs,
    Tasks,
    Attempts,
    Text,
}

impl Panel {
    pub(crate) const ALL: [Self; 4] = [Self::Runs, Self::Tasks, Self::Attempts, Self::Text];

    /// Returns the panel this many places further on, if there is one.
    pub(crate) fn neighbour(self, by: isize) -> Option<Self> {
        let at = Self::ALL.iter().position(|panel| *panel == self)?;
        Self::ALL.get(at.checked_add_signed(by)?).copied()
    }
}

/// What an action came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) is_good: bool,
}

/// Everything that decides what the screen shows.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) size: Size,
    pub(crate) now: Timestamp,
    /// The only run to show; `None` for all of them.
    pub(crate) only: Option<RunKey>,
    /// All runs; `None` until they were read.
    pub(crate) runs: Option<Vec<RunSummary>>,
    /// The words that a run must have, in lower case.
    pub(crate) run_words: String,
    pub(crate) run_list: Selection,
    /// The run that is wanted.
    pub(crate) run_key: Option<RunKey>,
    /// The run, once it was read.
    pub(crate) run: Option<Box<RunDetails>>,
    pub(crate) filter: TaskFilter,
    /// The words that a task must have, in lower case.
    pub(crate) task_words: String,
    /// The positions of the rows that the filter keeps.
    pub(crate) kept: Vec<usize>,
    pub(crate) task_list: Selection,
    pub(crate) attempt_list: Selection,
    pub(crate) focus: Panel,
    /// The list whose selected row the text is about.
    pub(crate) subject: Panel,
    /// The first line of a text that was not read from a file.
    pub(crate) details_top: usize,
    pub(crate) document: Document,
    /// Whether the current attempt is selected whenever there is another one.
    pub(crate) is_following: bool,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) notice: Option<Notice>,
}

impl State {
    /// Returns the state at the start, and what to do first.
    pub(crate) fn new(size: Size, now: Timestamp, only: Option<RunKey>) -> (Self, Vec<Effect>) {
        let is_only = only.is_some();
        let focus = if is_only { Panel::Tasks } else { Panel::Runs };
        let state = Self {
            size,
            now,
            is_following: is_only,
            run_key: only.clone(),
            only,
            runs: None,
            run_words: String::new(),
            run_list: Selection::default(),
            run: None,
            filter: TaskFilter::All,
            task_words: String::new(),
            kept: Vec::new(),
            task_list: Selection::default(),
            attempt_list: Selection::default(),
            focus,
            // Of one run, the log of the current attempt says most.
            subject: if is_only { Panel::Attempts } else { focus },
            details_top: 0,
            document: Document::default(),
            dialog: None,
            notice: None,
        };
        (state, vec![Effect::ReadRuns])
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(self.size, self.focus)
    }

    /// Returns the runs that the words keep.
    pub(crate) fn kept_runs(&self) -> Vec<&RunSummary> {
        let runs = self.runs.iter().flatten();
        let kept = runs.filter(|run| {
            let name = || format!("{} {}", run.spec, run.workspace).to_lowercase();
            self.run_words.is_empty() || name().contains(&self.run_words)
        });
        kept.collect()
    }

    /// Returns the summary of the wanted run.
    pub(crate) fn summary(&self) -> Option<&RunSummary> {
        self.run.as_ref().map(|run| &run.summary)
    }

    /// Returns the selected row of the plan.
    pub(crate) fn row(&self) -> Option<&OutlineRow> {
        let at = self.kept.get(self.task_list.at)?;
        self.run.as_ref()?.rows.get(*at)
    }

    /// Returns what happened to the selected task, if anything did.
    pub(crate) fn task(&self) -> Option<&TaskView> {
        self.run.as_ref()?.view.task(&self.row()?.key)
    }

    /// Returns the attempts at the selected task, newest first.
    pub(crate) fn attempts(&self) -> Vec<&AttemptView> {
        let history = self.task().map(|task| task.history.as_slice());
        history.unwrap_or_default().iter().rev().collect()
    }

    pub(crate) fn attempt(&self) -> Option<&AttemptView> {
        self.attempts().get(self.attempt_list.at).copied()
    }

    pub(crate) fn attempt_ref(&self) -> Option<AttemptRef> {
        Some(AttemptRef {
            run: self.run.as_ref()?.summary.key.clone(),
            task: self.row()?.key.clone(),
            number: self.attempt()?.number,
        })
    }

    /// Returns the text that the failure of the selected attempt is blamed on.
    pub(crate) fn blamed(&self) -> Option<String> {
        let failure = self.attempt()?.failure.as_ref()?;
        Some(blamed_text(failure).to_owned())
    }

    /// Whether the selected attempt goes on.
    pub(crate) fn is_live(&self) -> bool {
        let (Some(run), Some(row)) = (self.run.as_ref(), self.row()) else {
            return false;
        };
        let is_current = run.summary.current.as_ref() == Some(&row.key);
        run.summary.is_active() && is_current && self.attempt_list.at == 0
    }

    /// Whether the screen shows how long something has gone on.
    pub(crate) fn shows_time(&self) -> bool {
        let runs = self.runs.iter().flatten();
        let is_active = runs.chain(self.summary()).any(RunSummary::is_active);
        is_active && self.run.is_some()
    }

    /// Returns the rows of the text panel.
    pub(crate) fn text_rows(&self) -> usize {
        usize::from(self.layout().text.height.saturating_sub(2)).max(1)
    }

    pub(crate) fn text_columns(&self) -> usize {
        usize::from(self.layout().text.width.saturating_sub(2)).max(1)
    }

    /// Whether the text panel shows a text of an attempt that is read from a file.
    pub(crate) fn shows_document(&self) -> bool {
        self.subject == Panel::Attempts && self.document.tab() != Tab::Evidence
    }

    /// Selects a task. If the filter hides it, all tasks are shown.
    pub(crate) fn select_task(&mut self, key: &TaskKey) {
        let Some(run) = &self.run else { return };
        let Some(wanted) = run.rows.iter().position(|row| row.key == *key) else {
            return;
        };
        if !self.kept.contains(&wanted) {
            self.filter = TaskFilter::All;
            self.task_words.clear();
            self.filter_tasks();
        }
        if let Some(at) = self.kept.iter().position(|kept| *kept == wanted)
            && self.task_list.at != at
        {
            self.task_list.at = at;
            self.attempt_list.at = 0;
        }
    }

    /// Applies the filter to the plan.
    pub(crate) fn filter_tasks(&mut self) {
        self.kept.clear();
        let Some(run) = &self.run else { return };
        let rows = run.rows.iter().enumerate();
        let kept = rows.filter(|(_, row)| self.filter.keeps(run, row, &self.task_words));
        self.kept.extend(kept.map(|(at, _)| at));
        self.task_list.clamp(self.kept.len());
    }
}

/// Returns the text that a failure is blamed on.
fn blamed_text(failure: &FailureRecord) -> &str {
    let found = failure.diagnosis.as_ref();
    let quoted = found.and_then(|found| found.blocked_on.as_deref());
    quoted.unwrap_or(&failure.error)
}

/// The texts that may have the blamed line, the likeliest first.
pub(crate) const BLAMED_IN: [AttemptText; 2] = [AttemptText::Verify, AttemptText::Log];
