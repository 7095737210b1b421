//! One line of the fix history.

use std::fmt;

use regreen_model::TaskId;

/// How healing a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Pass,
    /// A limit was reached first.
    MaxLimit,
}

/// The fixes a task has had, and what came of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixHistory {
    pub task: TaskId,
    pub fixes: Vec<TaskId>,
    pub outcome: Outcome,
}

impl FixHistory {
    /// What every line about a task starts with.
    pub(super) fn line_start(task: &TaskId) -> String {
        format!("- Task {task}: ")
    }
}

impl fmt::Display for FixHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.fixes.len();
        let word = if count == 1 { "fix" } else { "fixes" };
        write!(
            f,
            "{}{count} {word} attempted (",
            Self::line_start(&self.task)
        )?;
        for (at, fix) in self.fixes.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{fix}")?;
        }
        f.write_str(match self.outcome {
            Outcome::Pass => ") - Final: PASS",
            Outcome::MaxLimit => ") - Final: FAIL (max limit)",
        })
    }
}
