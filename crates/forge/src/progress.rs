//! What has to survive a crash while waiting. The rest is asked again.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::check::CommitId;

/// One way for one check to fail.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckKey(String);

impl CheckKey {
    /// Names the failure of a check by the fingerprint of its cause.
    #[must_use]
    pub fn new(check: &str, fingerprint: &str) -> Self {
        Self(format!("{fingerprint} {check}"))
    }

    /// Whether it is about this check.
    fn is_of(&self, check: &str) -> bool {
        self.0
            .split_once(' ')
            .is_some_and(|(_, name)| name == check)
    }
}

/// A fix task that has not been pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingFix {
    /// The task.
    pub task: TaskId,
    /// The commit that failed.
    pub commit: CommitId,
}

/// How far a pull request is on its way to green. Stored before every action that must not happen
/// twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CiProgress {
    /// The branch it is about; another branch begins afresh.
    pub branch: String,
    /// The pull request.
    #[serde(default)]
    pub pull_request: Option<u64>,
    /// The commit whose checks count: the last one that regreen pushed or found.
    #[serde(default)]
    pub commit: Option<CommitId>,
    /// When the checks last changed.
    #[serde(default)]
    pub changed: Timestamp,
    /// What they were then.
    #[serde(default)]
    pub digest: u64,
    /// How many fixes were pushed.
    #[serde(default)]
    pub cycles: u32,
    /// How often each check ran again for this commit.
    #[serde(default)]
    pub reruns: BTreeMap<String, u32>,
    /// The attempt of each workflow run that was asked to run again.
    #[serde(default)]
    pub reran: BTreeMap<u64, u64>,
    /// How the checks failed that run again.
    #[serde(default)]
    pub failed_before_rerun: BTreeSet<CheckKey>,
    /// Failures that were gone when the check ran again.
    #[serde(default)]
    pub flaky: BTreeSet<CheckKey>,
    /// How many fixes each failure got.
    #[serde(default)]
    pub fixes: BTreeMap<CheckKey, u32>,
    /// The fix that is being made.
    #[serde(default)]
    pub fix: Option<PendingFix>,
}

impl CiProgress {
    /// Waits for the checks of a commit from now on.
    pub fn wait_for(&mut self, commit: CommitId, now: Timestamp) {
        if self.commit.as_ref() == Some(&commit) {
            return;
        }
        self.commit = Some(commit);
        self.reruns.clear();
        self.reran.clear();
        self.failed_before_rerun.clear();
        self.digest = 0;
        self.changed = now;
    }

    /// Forgets how often what was done: a person has seen the result, and wants more.
    pub fn begin_counting(&mut self) {
        self.cycles = 0;
        self.fixes.clear();
        self.reruns.clear();
        self.reran.clear();
    }

    /// Takes note of what the checks say now.
    ///
    /// Returns whether that is news.
    pub fn notice(&mut self, digest: u64, now: Timestamp) -> bool {
        let is_news = self.digest != digest;
        if is_news {
            self.digest = digest;
            self.changed = now;
        }
        is_news
    }

    /// Counts a rerun, before it is asked for.
    pub fn count_rerun(&mut self, check: &str, failure: Option<CheckKey>, now: Timestamp) {
        *self.reruns.entry(check.to_owned()).or_default() += 1;
        self.failed_before_rerun.extend(failure);
        // The old result stays visible until the new run is listed.
        self.changed = now;
    }

    /// Whether a workflow run was asked to run again, and its new attempt is not listed yet.
    #[must_use]
    pub fn awaits_rerun(&self, run: u64, attempt: u64) -> bool {
        self.reran.get(&run).is_some_and(|old| attempt <= *old)
    }

    /// Remembers the failures that were gone when their checks ran again for the same commit.
    ///
    /// Returns the checks.
    pub fn note_passed<'n>(&mut self, passed: impl IntoIterator<Item = &'n String>) -> Vec<String> {
        let mut flickered = Vec::new();
        for name in passed {
            let gone: Vec<CheckKey> = self
                .failed_before_rerun
                .iter()
                .filter(|key| key.is_of(name))
                .cloned()
                .collect();
            if !gone.is_empty() {
                flickered.push(name.clone());
            }
            for key in gone {
                self.failed_before_rerun.remove(&key);
                self.flaky.insert(key);
            }
        }
        flickered
    }

    /// Begins a fix, before its task is written.
    pub fn begin_fix(&mut self, fix: PendingFix, failures: impl IntoIterator<Item = CheckKey>) {
        for key in failures {
            *self.fixes.entry(key).or_default() += 1;
        }
        self.cycles += 1;
        self.fix = Some(fix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(digit: char) -> CommitId {
        CommitId::parse(&digit.to_string().repeat(40)).unwrap()
    }

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_new_commit_gets_its_own_reruns_and_the_same_one_does_not() {
        let mut progress = CiProgress::default();
        progress.wait_for(commit('a'), at(1));
        progress.count_rerun("test", None, at(2));
        progress.wait_for(commit('a'), at(3));
        assert_eq!(progress.reruns["test"], 1);
        progress.wait_for(commit('b'), at(4));
        assert!(progress.reruns.is_empty());
        assert_eq!(progress.changed, at(4));
    }

    #[test]
    fn a_failure_that_was_gone_the_second_time_is_known_from_then_on() {
        let mut progress = CiProgress::default();
        progress.wait_for(commit('a'), at(1));
        let key = CheckKey::new("test", "f1");
        progress.count_rerun("test", Some(key.clone()), at(2));
        assert_eq!(progress.note_passed(&["lint".to_owned()]), [""; 0]);
        assert_eq!(progress.note_passed(&["test".to_owned()]), ["test"]);
        progress.wait_for(commit('b'), at(3));
        assert!(progress.flaky.contains(&key));
    }

    #[test]
    fn what_is_stored_is_read_again_and_older_files_too() {
        let mut progress = CiProgress {
            branch: "feature".into(),
            ..CiProgress::default()
        };
        progress.wait_for(commit('a'), at(1));
        let key = CheckKey::new("unit tests (3.12)", "f1");
        let fix = PendingFix {
            task: TaskId::parse("1.2").unwrap(),
            commit: commit('a'),
        };
        progress.begin_fix(fix, [key]);
        let text = serde_json::to_string(&progress).unwrap();
        assert_eq!(serde_json::from_str::<CiProgress>(&text).unwrap(), progress);
        let old: CiProgress = serde_json::from_str(r#"{"branch":"feature"}"#).unwrap();
        assert_eq!(old.cycles, 0);
    }

    #[test]
    fn a_wait_lasts_as_long_as_nothing_changes() {
        let mut progress = CiProgress::default();
        assert!(progress.notice(1, at(5)));
        assert!(!progress.notice(1, at(9)));
        assert_eq!(progress.changed, at(5));
    }
}
