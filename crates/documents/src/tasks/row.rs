//! One row of a task file, as the rest of the crate works with it.

use std::ops::Range;

use regreen_model::{Marker, TaskId, TaskKind};

/// Which row of a [`TaskFile`](crate::TaskFile) is meant. Good for the text it was read
/// from only: an edited text has other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId(pub(crate) usize);

#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Given in the file or, in a list without ids, by position.
    pub(crate) id: Option<TaskId>,
    /// The id comes from the row's position.
    pub(crate) numbered: bool,
    pub(crate) occurrence: u32,
    pub(crate) title: String,
    pub(crate) done: bool,
    pub(crate) optional: bool,
    pub(crate) kind: TaskKind,
    pub(crate) markers: Vec<Marker>,
    /// The index of the row's line.
    pub(crate) line: usize,
    /// The column of its list marker.
    pub(crate) indent: usize,
    /// The column that lines below must reach to belong to its list item.
    pub(crate) content_indent: usize,
    /// Byte offset of the box's `[`.
    pub(crate) box_at: usize,
    /// The lines of its block, the row's own first, trailing blank ones not included.
    pub(crate) block: Range<usize>,
    /// The row it is nested below.
    pub(crate) parent: Option<RowId>,
    /// The task that it fixes.
    pub(crate) fix_of: Option<RowId>,
    pub(crate) depth: u32,
}

impl Row {
    /// The id that its `[FIX …]` marker names, if it has one.
    pub(crate) fn fix_target(&self) -> Option<&TaskId> {
        self.markers.iter().find_map(Marker::fixes)
    }

    /// A row that can be run: a task or a group, not a checklist item.
    pub(crate) fn is_task(&self) -> bool {
        self.kind != TaskKind::Checklist
    }
}
