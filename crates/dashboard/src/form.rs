//! What forms and addresses say.

use std::collections::BTreeMap;

use regreen_model::{ChoiceKind, TaskKey};
use regreen_overview::{Action, AnswerChoice};

/// Names with their values.
#[derive(Debug, Default)]
pub(crate) struct Fields(BTreeMap<String, String>);

impl Fields {
    /// Reads a form or a query. Of several values of one name, the last counts.
    pub(crate) fn read(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// Returns a value; nothing if it is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.get(name).parse().ok()
    }

    /// Returns what a person wants; `task` finds the task that the form names.
    pub(crate) fn action(&self, task: impl Fn(&str, u32) -> Option<TaskKey>) -> Option<Action> {
        let task = || task(self.get("task"), self.get("occurrence").parse().ok()?);
        Some(match self.get("action") {
            "stop" => Action::Stop,
            "stop-after-task" => Action::StopAfterTask,
            "answer" => Action::Answer {
                task: task()?,
                choice: AnswerChoice::from_name(self.get("choice"))?,
                text: self.get("text").to_owned(),
            },
            other => Action::Choose {
                what: ChoiceKind::from_name(other)?,
                task: task()?,
            },
        })
    }
}
