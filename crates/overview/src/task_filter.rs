//! Which rows of a plan are shown, the same in every face.

use regreen_model::{OutlineRow, TaskKey, named_enum};

use crate::machine::RunDetails;

named_enum! {
    /// The rows of a plan that are shown.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum TaskFilter {
        /// All of them.
        #[default]
        All = "all",
        /// Those that aren't ticked.
        Open = "open",
        /// Those that have failed, even if they passed later.
        Failed = "failed",
        /// Those that fixes made pass.
        Healed = "healed",
        /// Those that are ticked.
        Done = "done",
        /// Those with remarks.
        Marked = "marked",
    }
}

impl TaskFilter {
    /// Whether a row is shown. Its name must contain the words, which are in lower case.
    #[must_use]
    pub fn keeps(self, run: &RunDetails, row: &OutlineRow, words: &str) -> bool {
        let task = || run.view.task(&row.key);
        let is_shown = match self {
            Self::All => true,
            Self::Open => !row.done,
            Self::Failed => task().is_some_and(|task| task.failure.is_some()),
            Self::Healed => task().is_some_and(|task| task.done && !task.fixes.is_empty()),
            Self::Done => row.done,
            Self::Marked => task().is_some_and(|task| !task.marks.is_empty()),
        };
        is_shown && (words.is_empty() || name(&row.key).to_lowercase().contains(words))
    }

    /// Returns what it is called for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Open => "Open",
            Self::Failed => "Failed",
            Self::Healed => "Healed",
            Self::Done => "Done",
            Self::Marked => "With remarks",
        }
    }
}

fn name(key: &TaskKey) -> String {
    format!("{} {}", key.id, key.title)
}
