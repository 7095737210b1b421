//! One row of the table.

use std::collections::BTreeMap;
use std::fmt;
use std::hint::black_box;
use std::time::Duration;

use regreen_documents::{InsertPosition, RowId, TaskFile};
use regreen_model::{FixOrigin, NewTask, TaskId};
use rustix::time::{ClockId, clock_gettime};

use crate::made_up_file::Style;

/// Enough for a stable median.
const RUNS: usize = 15;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    pub(crate) style: Style,
    pub(crate) tasks: usize,
    pub(crate) bytes: usize,
    pub(crate) read: Duration,
    /// Includes the guard, which parses the edited text again.
    pub(crate) tick: Duration,
    /// Making a fix task and inserting it, including the guard.
    pub(crate) fix: Duration,
}

impl Measurement {
    pub(crate) const HEADING: &str =
        "file          tasks      MB   read ms   tick ms   insert-fix ms   reading MB/s";

    /// Returns `None` if an edit is refused.
    pub(crate) fn of(style: Style, tasks: usize) -> Option<Self> {
        let text = style.file(tasks);
        let file = TaskFile::read(text.as_str());
        let id = TaskId::parse(&style.id(tasks / 2 + 1))?;
        let row = file.rows_with_id(&id).next()?;
        insert_fix(&file, row)?;
        Some(Self {
            style,
            tasks,
            bytes: text.len(),
            read: median(|| TaskFile::read(black_box(text.as_str()))),
            tick: median(|| toggle(black_box(&file), row)),
            fix: median(|| insert_fix(black_box(&file), row)),
        })
    }

    pub(crate) fn read_and_tick(&self) -> Duration {
        self.read + self.tick
    }
}

/// Returns the median time of some work in CPU time of this thread, so that other work on the
/// machine does not show.
pub(crate) fn median<T>(mut work: impl FnMut() -> T) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let started = thread_time();
            let made = black_box(work());
            let took = thread_time().saturating_sub(started);
            drop(made);
            took
        })
        .collect();
    times.sort();
    times.get(RUNS / 2).copied().unwrap_or_default()
}

fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Toggles the row's box.
fn toggle(file: &TaskFile, row: RowId) -> Option<TaskFile> {
    let change = file.set_box(row, !file.task(row)?.done);
    change.ok()?.edited()
}

fn insert_fix(file: &TaskFile, row: RowId) -> Option<TaskFile> {
    let task = file.task(row)?;
    let id = file.next_fix_id(row, &BTreeMap::new())?;
    let origin = FixOrigin {
        error: "Error: Cannot find module './router'".to_owned(),
        attempted_fix: "Checked the import path".to_owned(),
        scope: "handlers".to_owned(),
        error_type: "missing file".to_owned(),
        ..FixOrigin::default()
    };
    let fix = NewTask::fix(id, task.id.as_ref()?, &task, &origin);
    file.insert(&fix, InsertPosition::After(row)).ok()?.edited()
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[expect(
            clippy::cast_precision_loss,
            reason = "shown with two digits behind the point"
        )]
        let megabytes = self.bytes as f64 / 1e6;
        write!(
            f,
            "{:<11} {:>7} {megabytes:>7.2} {:>9.2} {:>9.2} {:>15.2} {:>14.0}",
            self.style,
            self.tasks,
            milliseconds(self.read),
            milliseconds(self.tick),
            milliseconds(self.fix),
            megabytes / self.read.as_secs_f64(),
        )
    }
}
