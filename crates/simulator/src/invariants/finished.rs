//! No finished task runs again unless a person reopened it, and no skipped task runs.

use std::collections::BTreeSet;

use regreen_documents::TaskFile;
use regreen_model::{ChoiceKind, Event, TaskKey};

use crate::world::Check;
use crate::world::name_of;

#[derive(Debug, Default)]
pub(super) struct Finished {
    /// The names of tasks that were done from the start or in a run.
    done: BTreeSet<String>,
    skipped: BTreeSet<TaskKey>,
}

impl Finished {
    pub(super) fn of(file: &TaskFile) -> Self {
        Self {
            done: ticked(file),
            ..Self::default()
        }
    }

    pub(super) fn hear(&mut self, event: &Event, file: &TaskFile) -> Check {
        match event {
            Event::AttemptStarted { task, .. } => return self.may_run(task),
            Event::TaskDone { task, .. } => self.finish(task, file),
            Event::FixesSuperseded { fixes, .. } => {
                for fix in fixes {
                    self.finish(fix, file);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Records a finished task. One that a person removed or reopened meanwhile doesn't count.
    fn finish(&mut self, task: &TaskKey, file: &TaskFile) {
        if file.resolve(task).is_some_and(|row| file.is_done(row)) {
            self.done.insert(name_of(task));
        }
    }

    fn may_run(&self, task: &TaskKey) -> Check {
        let name = name_of(task);
        if self.done.contains(&name) {
            return Err(format!("task {task} ({name}) ran again after it was done"));
        }
        if self.skipped.contains(task) {
            return Err(format!("task {task} ({name}) ran though it is skipped"));
        }
        Ok(())
    }

    pub(super) fn taken_back(&mut self, name: &str) {
        self.done.remove(name);
    }

    pub(super) fn chosen(&mut self, task: &TaskKey, what: ChoiceKind) {
        match what {
            ChoiceKind::Skip => drop(self.skipped.insert(task.clone())),
            ChoiceKind::Done => drop(self.skipped.remove(task)),
            ChoiceKind::Retry => drop(self.skipped.remove(task)),
        }
        self.reopened(&name_of(task), what);
    }

    pub(super) fn reopened(&mut self, name: &str, what: ChoiceKind) {
        if what == ChoiceKind::Retry {
            self.done.remove(name);
        }
    }

    /// Reopens rows that people untick.
    pub(super) fn people_edited(&mut self, before: &TaskFile, after: &TaskFile) {
        for name in ticked(before).difference(&ticked(after)) {
            self.done.remove(name);
        }
    }
}

fn ticked(file: &TaskFile) -> BTreeSet<String> {
    let done = file.rows().filter(|row| file.is_done(*row));
    let keys = done.filter_map(|row| file.key(row));
    keys.map(|key| name_of(&key)).collect()
}
