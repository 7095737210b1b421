//! What an agent is told of the workspace, and of the work that is there already.

use std::path::Path;

use regreen_agents::{Completed, ProjectContext, missing_names};
use regreen_engine::AttemptOrder;
use regreen_model::{Failure, FailureNote, PromptKind, Survey};
use regreen_workspace::survey;

use crate::performer::Performer;

/// The workspace as somebody sees it who lacks something.
#[derive(Debug, Default)]
pub(crate) struct Around {
    root: String,
    survey: Survey,
}

impl Around {
    /// Nothing is looked up for an attempt that lacks nothing.
    pub(crate) fn of(performer: &Performer, order: &AttemptOrder) -> Self {
        match (&order.previous, order.prompt) {
            (Some(failure), PromptKind::Enriched) => {
                Self::looked_up(&performer.places.root, failure)
            }
            _ => Self::default(),
        }
    }

    /// With what a failure names.
    pub(crate) fn looked_up(root: &Path, failure: &FailureNote) -> Self {
        let found = failure.diagnosis.as_deref();
        let blocker = found.and_then(|found| found.blocked_on.as_deref());
        let names = missing_names(&format!("{}\n{}", blocker.unwrap_or(""), failure.error));
        Self {
            root: root.to_string_lossy().into_owned(),
            survey: survey(root, &names),
        }
    }

    pub(crate) fn surroundings(&self) -> ProjectContext<'_> {
        ProjectContext {
            root: &self.root,
            survey: &self.survey,
        }
    }
}

/// What an attempt had done when it ended.
pub(crate) fn completed(found: Option<&Failure>) -> Completed<'_> {
    found.map_or_else(Completed::default, |found| Completed {
        steps: &found.completed_steps,
        files: &found.files_modified,
        blocker: found.blocked_on.as_deref(),
    })
}
