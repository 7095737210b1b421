//! All is green only when every required original is ticked, also those that an agent took out.

use std::collections::BTreeSet;

use regreen_documents::TaskFile;
use regreen_model::{Task, TaskKind};

use crate::sim::name::{name_of_task, names};
use crate::sim::world::Held;

#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Every task that was there since the run began, and was not removed by people.
    known: BTreeSet<String>,
}

impl Rows {
    pub(super) fn of(file: &TaskFile) -> Self {
        Self {
            known: names(file).collect(),
        }
    }

    pub(super) fn added(&mut self, file: &TaskFile) {
        self.known.extend(names(file));
    }

    pub(super) fn removed(&mut self, names: &[String]) {
        for name in names {
            self.known.remove(name);
        }
    }

    pub(super) fn all_required_are_ticked(&self, file: &TaskFile, with_optional: bool) -> Held {
        let tasks = file.tasks();
        let is_required = |task: &&Task| {
            !task.is_fix() && task.kind != TaskKind::Checklist && (with_optional || !task.optional)
        };
        if let Some(open) = tasks.iter().filter(is_required).find(|task| !task.done) {
            return Err(format!("all is green, and {} is open", open.title));
        }
        let there: BTreeSet<String> = tasks.iter().filter_map(name_of_task).collect();
        match self.known.difference(&there).next() {
            None => Ok(()),
            Some(gone) => Err(format!("all is green, and {gone} was taken out")),
        }
    }
}
