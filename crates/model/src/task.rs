use serde::{Deserialize, Serialize};

use crate::{Fields, Marker, TaskId, TaskKey, TaskKind};

/// One row of a task file with its block, as far as it was understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// `None` for checklist items: nothing can be said about them by name.
    pub id: Option<TaskId>,
    /// 0 for the first row with this id.
    pub occurrence: u32,
    /// 1-based, of the row itself.
    pub line: usize,
    pub title: String,
    pub done: bool,
    pub kind: TaskKind,
    /// Asked to be skipped unless told otherwise; true of a group's rows if it is of the group.
    pub optional: bool,
    pub markers: Vec<Marker>,
    /// The task this one repairs, if it is a fix.
    pub fix_of: Option<TaskKey>,
    /// 0 for an original, 1 for its fix, 2 for the fix of a fix.
    pub depth: u32,
    pub fields: Fields,
}

impl Task {
    #[must_use]
    pub fn key(&self) -> Option<TaskKey> {
        Some(TaskKey {
            id: self.id.clone()?,
            occurrence: self.occurrence,
            title: self.title.clone(),
        })
    }

    #[must_use]
    pub fn is_fix(&self) -> bool {
        self.fix_of.is_some()
    }

    #[must_use]
    pub fn is_verify(&self) -> bool {
        self.markers.iter().any(|m| matches!(m, Marker::Verify(_)))
    }
}
