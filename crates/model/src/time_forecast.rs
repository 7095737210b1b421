//! How long tasks take, as far as earlier runs show.

use serde::{Deserialize, Serialize};

use crate::{OutlineKind, OutlineRow, Span, TaskFeatures, TaskSize};

/// What earlier runs say about the times of a run's tasks. It is looked up when the run starts, and
/// stays the same until the run ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeForecast {
    /// The agent that it is made for.
    pub agent: String,
    /// How long groups of tasks took.
    pub groups: Vec<GroupTimes>,
    /// How long the checks of this workspace took when they last ran, by the hash of the Verify.
    pub checks: Vec<(u32, u64)>,
}

/// How long the tasks of a group took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupTimes {
    /// What the tasks have in common.
    pub group: TaskGroup,
    /// How many tasks there were.
    pub cases: u32,
    /// The time limit that 9 of 10 first attempts keep; `None` if too many of them were ended by
    /// their own limit to tell.
    pub limit: Option<SuggestedLimit>,
    /// How long a task took on average, with all attempts and checks.
    pub task_ms: u64,
}

/// A time limit that 9 of 10 attempts keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedLimit {
    /// The limit.
    pub ms: u64,
    /// The time that 9 of 10 keep is hardly shorter than this.
    pub at_least_ms: u64,
    /// It is hardly longer than this; `None` if too few attempts are known to tell.
    pub at_most_ms: Option<u64>,
}

/// What tasks have in common; a group says nothing about what is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskGroup {
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<TaskSize>,
    /// How long the check takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckTime>,
    /// The kind of files; empty for tasks that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_kind: Option<String>,
}

/// How long a task's check takes, as far as that is known before the task is attempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckTime {
    /// It has none.
    None,
    /// It never ran.
    Unknown,
    /// Less than 10 seconds.
    Quick,
    /// Less than two minutes.
    Slow,
    /// Longer.
    VerySlow,
}

impl CheckTime {
    /// Returns the class of a time.
    #[must_use]
    pub fn of(ms: u64) -> Self {
        match ms {
            0..10_000 => Self::Quick,
            10_000..120_000 => Self::Slow,
            _ => Self::VerySlow,
        }
    }

    fn words(self) -> Option<&'static str> {
        match self {
            Self::None => Some("without a Verify"),
            Self::Unknown => None,
            Self::Quick => Some("with a quick Verify"),
            Self::Slow => Some("with a slow Verify"),
            Self::VerySlow => Some("with a very slow Verify"),
        }
    }
}

impl GroupTimes {
    /// Tells the time limit and what it is based on: `9 of 10 attempts end within 14m (9m to 20m),
    /// from 43 small tasks of claude`.
    #[must_use]
    pub fn told(&self) -> Option<String> {
        let limit = self.limit?;
        let least = Span::from_millis(limit.at_least_ms);
        let range = match limit.at_most_ms {
            Some(most) => format!("{least} to {}", Span::from_millis(most)),
            None => format!("{least} or more"),
        };
        Some(format!(
            "9 of 10 attempts end within {} ({range}), from {} {}",
            Span::from_millis(limit.ms),
            self.cases,
            self.group.describe()
        ))
    }
}

impl TaskGroup {
    /// Returns the groups that a task belongs to, the most specific first. `features` is `None` for
    /// a task of which only the time is known.
    #[must_use]
    pub fn of(agent: &str, features: Option<(&TaskFeatures, CheckTime)>) -> Vec<Self> {
        let of_agent = Self {
            agent: Some(agent.to_owned()),
            ..Self::default()
        };
        let Some((features, check)) = features else {
            return vec![of_agent, Self::default()];
        };
        let size = Some(features.size());
        let sized = Self {
            size,
            ..of_agent.clone()
        };
        let checked = Self {
            check: Some(check),
            ..sized.clone()
        };
        let kind = features.file_kind.clone().unwrap_or_default();
        let of_kind = Self {
            file_kind: Some(kind),
            ..checked.clone()
        };
        let of_any_agent = Self {
            size,
            ..Self::default()
        };
        vec![
            of_kind,
            checked,
            sized,
            of_agent,
            of_any_agent,
            Self::default(),
        ]
    }

    /// Describes its tasks: `small tasks of claude about .rs files with a quick Verify`.
    #[must_use]
    pub fn describe(&self) -> String {
        let size = self.size.map(TaskSize::words);
        let agent = self.agent.as_deref().map(|agent| format!("of {agent}"));
        let kind = self.file_kind.as_deref().map(|kind| match kind {
            "" => "that name no files".to_owned(),
            kind => format!("about .{kind} files"),
        });
        let check = self.check.and_then(CheckTime::words);
        let words = [
            size.map(str::to_owned),
            Some("tasks".to_owned()),
            agent,
            kind,
            check.map(str::to_owned),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

impl TimeForecast {
    /// Returns the times of the most specific group of a task of which enough is known.
    #[must_use]
    pub fn of(&self, features: &TaskFeatures) -> Option<&GroupTimes> {
        let check = self.check_time(features);
        let groups = TaskGroup::of(&self.agent, Some((features, check)));
        let mut known = groups
            .iter()
            .filter_map(|group| self.groups.iter().find(|times| times.group == *group));
        known.next()
    }

    /// Returns how long the open originals among these rows should take; `None` if that is not known.
    #[must_use]
    pub fn time_left<'r>(
        &self,
        rows: impl IntoIterator<Item = &'r OutlineRow>,
        include_optional: bool,
    ) -> Option<u64> {
        let is_left = |row: &&OutlineRow| {
            row.kind == OutlineKind::Task && !row.done && (include_optional || !row.optional)
        };
        let left = rows.into_iter().filter(is_left);
        left.map(|row| Some(self.of(&row.features)?.task_ms)).sum()
    }

    fn check_time(&self, features: &TaskFeatures) -> CheckTime {
        let Some(verify) = features.verify else {
            return CheckTime::None;
        };
        let known = self.checks.iter().find(|(hash, _)| *hash == verify);
        known.map_or(CheckTime::Unknown, |(_, ms)| CheckTime::of(*ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(words: u32) -> TaskFeatures {
        TaskFeatures {
            words,
            files: 1,
            file_kind: Some("rs".to_owned()),
            work: "add".to_owned(),
            verify: Some(7),
            is_vague: false,
        }
    }

    fn times(group: TaskGroup, task_ms: u64) -> GroupTimes {
        GroupTimes {
            group,
            cases: 20,
            limit: None,
            task_ms,
        }
    }

    #[test]
    fn a_task_takes_the_times_of_its_most_specific_group_that_is_known() {
        let small = TaskGroup::of("claude", Some((&features(10), CheckTime::Quick)));
        let forecast = TimeForecast {
            agent: "claude".to_owned(),
            groups: vec![times(small[1].clone(), 1), times(TaskGroup::default(), 2)],
            checks: vec![(7, 3_000)],
        };
        let found = |words| forecast.of(&features(words)).map(|times| times.task_ms);
        assert_eq!(found(10), Some(1));
        assert_eq!(
            found(1_000),
            Some(2),
            "a large task falls back to all tasks"
        );
        assert_eq!(TimeForecast::default().of(&features(10)), None);
    }

    #[test]
    fn a_group_says_in_words_what_its_tasks_have_in_common() {
        let groups = TaskGroup::of("claude", Some((&features(10), CheckTime::Quick)));
        let words: Vec<String> = groups.iter().map(TaskGroup::describe).collect();
        assert_eq!(
            words,
            [
                "small tasks of claude about .rs files with a quick Verify",
                "small tasks of claude with a quick Verify",
                "small tasks of claude",
                "tasks of claude",
                "small tasks",
                "tasks",
            ]
        );
    }
}
