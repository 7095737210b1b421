//! What a task's text shows before the task is attempted.

use serde::{Deserialize, Serialize};

/// What a task's text shows, as far as that may tell how the task will go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFeatures {
    /// How many words its text has.
    pub words: u32,
    /// How many files it names.
    pub files: u32,
    /// The most frequent ending of these files: `rs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_kind: Option<String>,
    /// The kind of work: its marker, or the first word of its title.
    #[serde(default)]
    pub work: String,
    /// A hash of its Verify commands, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<u32>,
    /// Whether it has words that refer to a conversation that the agent did not take part in.
    #[serde(default)]
    pub is_vague: bool,
}

/// How large a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskSize {
    /// A few words, and at most one file.
    Small,
    /// Anything in between.
    Medium,
    /// A page of text, or many files.
    Large,
}

impl TaskSize {
    /// Returns it as words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium-sized",
            Self::Large => "large",
        }
    }
}

impl TaskFeatures {
    /// Tasks with so many files or words are large.
    pub const MANY_FILES: u32 = 5;
    /// A page of text.
    pub const MANY_WORDS: u32 = 150;
    const FEW_WORDS: u32 = 40;

    /// Returns how large the task is.
    #[must_use]
    pub fn size(&self) -> TaskSize {
        if self.words >= Self::MANY_WORDS || self.files >= Self::MANY_FILES {
            TaskSize::Large
        } else if self.words >= Self::FEW_WORDS || self.files > 1 {
            TaskSize::Medium
        } else {
            TaskSize::Small
        }
    }

    /// Returns whether the task has a Verify.
    #[must_use]
    pub fn has_verify(&self) -> bool {
        self.verify.is_some()
    }
}
