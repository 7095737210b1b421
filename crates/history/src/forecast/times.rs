//! How long tasks of the same group took, and the time limit that most of their attempts keep.

use std::collections::{BTreeMap, VecDeque};

use regreen_model::{CheckTime, GroupTimes, SuggestedLimit, TaskFeatures, TaskGroup, TimeForecast};

use super::TaskCase;
use crate::FirstAttempt;

/// The part of attempts that keep the limit.
const LEVEL: f64 = 0.9;
/// How sure the interval around the limit is on either side.
const SURE: f64 = 0.95;
/// Fewer cases say nothing.
const MIN_CASES: usize = 20;
/// Only so many recent cases of a group count, since agents and projects change.
const MAX_CASES: usize = 100;
/// The largest table that a run carries with it.
const MAX_GROUPS: usize = 40;
const MAX_CHECKS: usize = 50;

/// The times of all groups of tasks.
#[derive(Debug, Default)]
pub(super) struct TaskTimes {
    groups: BTreeMap<TaskGroup, Window>,
    /// How long a check took when it last ran, by its workspace and hash, with when that was.
    checks: BTreeMap<(String, u32), (i64, u64)>,
}

/// The most recent cases of a group, oldest first.
#[derive(Debug, Default)]
struct Window {
    /// The times of attempts; `None` if a time limit ended one.
    attempts: VecDeque<Option<u64>>,
    /// The times of whole tasks.
    tasks: VecDeque<u64>,
}

impl TaskTimes {
    pub(super) fn learn(&mut self, case: &TaskCase) {
        for group in self.groups_of(case) {
            self.groups.entry(group).or_default().add(case);
        }
        let verify = case.features.as_ref().and_then(|features| features.verify);
        if let (Some(hash), Some(ms)) = (verify, case.verify_ms) {
            let check = (case.identity.workspace.clone(), hash);
            self.checks.insert(check, (case.ended_ms, ms));
        }
    }

    fn groups_of(&self, case: &TaskCase) -> Vec<TaskGroup> {
        let features = case.features.as_ref();
        let features = features.map(|features| {
            let check = self.check_time(&case.identity.workspace, features);
            (features, check)
        });
        TaskGroup::of(&case.agent, features)
    }

    fn check_time(&self, workspace: &str, features: &TaskFeatures) -> CheckTime {
        let Some(hash) = features.verify else {
            return CheckTime::None;
        };
        let known = self.checks.get(&(workspace.to_owned(), hash));
        known.map_or(CheckTime::Unknown, |(_, ms)| CheckTime::of(*ms))
    }

    /// Returns the limit that would have been suggested for a task.
    pub(super) fn limit(&self, case: &TaskCase) -> Option<u64> {
        let groups = self.groups_of(case);
        let mut known = groups.iter().filter_map(|group| self.groups.get(group));
        known.find(|window| window.says_enough())?.limit_ms()
    }

    /// Returns all groups of which enough is known, for an agent in a workspace.
    pub(super) fn table(&self, agent: &str, workspace: &str) -> TimeForecast {
        let is_wanted = |group: &TaskGroup| {
            let of = group.agent.as_deref();
            of.is_none_or(|of| of == agent)
        };
        let mut groups: Vec<GroupTimes> = self
            .groups
            .iter()
            .filter(|(group, window)| is_wanted(group) && window.says_enough())
            .map(|(group, window)| window.times(group))
            .collect();
        // If there are too many, those that apply to more tasks stay.
        groups.sort_by_key(|times| std::cmp::Reverse(times.cases));
        groups.truncate(MAX_GROUPS);
        let here = self.checks.iter();
        let here = here.filter(|((of, _), _)| of == workspace);
        let mut checks: Vec<(i64, (u32, u64))> = here
            .map(|((_, hash), (at, ms))| (*at, (*hash, *ms)))
            .collect();
        checks.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        checks.truncate(MAX_CHECKS);
        TimeForecast {
            agent: agent.to_owned(),
            groups,
            checks: checks.into_iter().map(|(_, check)| check).collect(),
        }
    }
}

impl Window {
    fn add(&mut self, case: &TaskCase) {
        if let Some(first) = case.first_attempt {
            push(&mut self.attempts, ended_by_itself(first));
        }
        push(&mut self.tasks, case.time_ms);
    }

    fn says_enough(&self) -> bool {
        self.attempts.len() >= MIN_CASES
    }

    fn times(&self, group: &TaskGroup) -> GroupTimes {
        let count = self.tasks.len().max(1) as u64;
        GroupTimes {
            group: group.clone(),
            cases: u32::try_from(self.attempts.len()).unwrap_or(u32::MAX),
            limit: self.limit(),
            task_ms: self.tasks.iter().sum::<u64>() / count,
        }
    }

    /// Returns the time that the next attempt keeps with a probability of at least 0.9, whatever the
    /// distribution of times is: the next of n + 1 exchangeable times is as likely to be in any
    /// place, so it is among the k smallest with the probability k / (n + 1).
    fn limit(&self) -> Option<SuggestedLimit> {
        let sorted = self.sorted();
        let at = |place: usize| *sorted.get(place.checked_sub(1)?)?;
        let (least, most) = interval(sorted.len());
        Some(SuggestedLimit {
            ms: at(place(sorted.len()))?,
            at_least_ms: at(least).unwrap_or(0),
            at_most_ms: most.and_then(at),
        })
    }

    /// Returns the limit without the interval, which takes longer.
    fn limit_ms(&self) -> Option<u64> {
        let sorted = self.sorted();
        *sorted.get(place(sorted.len()).checked_sub(1)?)?
    }

    fn sorted(&self) -> Vec<Option<u64>> {
        let mut sorted: Vec<Option<u64>> = self.attempts.iter().copied().collect();
        // An attempt that was ended would have taken longer than any other, for all we know.
        sorted.sort_unstable_by_key(|time| time.unwrap_or(u64::MAX));
        sorted
    }
}

/// Returns which of so many sorted times is the limit, counted from 1.
fn place(count: usize) -> usize {
    (LEVEL * (count as f64 + 1.0)).ceil() as usize
}

fn ended_by_itself(attempt: FirstAttempt) -> Option<u64> {
    (!attempt.timed_out).then_some(attempt.time_ms)
}

fn push<T>(window: &mut VecDeque<T>, value: T) {
    if window.len() == MAX_CASES {
        window.pop_front();
    }
    window.push_back(value);
}

/// Returns between which places of n sorted times the true 90 % time is, on each side with a
/// probability of 95 %, whatever the distribution is: how many of n times are below it is
/// binomial. `None` if it may be above all of them.
fn interval(count: usize) -> (usize, Option<usize>) {
    let mut below = 0.0;
    let (mut least, mut most) = (0, None);
    let mut mass = (1.0 - LEVEL).powi(i32::try_from(count).unwrap_or(i32::MAX));
    for place in 0..=count {
        // `below` is the probability that fewer than `place` times are below.
        if below <= 1.0 - SURE {
            least = place;
        }
        below += mass;
        if below >= SURE && most.is_none() && place < count {
            most = Some(place + 1);
        }
        let odds = (count - place) as f64 / (place as f64 + 1.0);
        mass *= odds * LEVEL / (1.0 - LEVEL);
    }
    (least, most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::case;
    use super::*;

    fn window(times: &[Option<u64>]) -> Window {
        Window {
            attempts: times.iter().copied().collect(),
            tasks: VecDeque::from([1]),
        }
    }

    #[test]
    fn nine_of_ten_keep_the_limit() {
        let times: Vec<Option<u64>> = (1..=99).map(Some).collect();
        let limit = window(&times).limit().unwrap();
        assert_eq!(
            (limit.ms, limit.at_least_ms, limit.at_most_ms),
            (90, 84, Some(95))
        );
        let few: Vec<Option<u64>> = (1..=20).map(Some).collect();
        let limit = window(&few).limit().unwrap();
        assert_eq!((limit.ms, limit.at_most_ms), (19, None));
    }

    #[test]
    fn nothing_is_suggested_if_too_many_attempts_were_ended_by_their_limit() {
        let times = |ended: usize| {
            let ended = std::iter::repeat_n(None, ended);
            let times: Vec<Option<u64>> = (1..=20).map(Some).chain(ended).collect();
            window(&times).limit().map(|limit| limit.ms)
        };
        assert_eq!(times(1), Some(20));
        assert_eq!(times(2), None);
    }

    #[test]
    fn few_cases_fall_back_to_a_broader_group_and_then_to_nothing() {
        let mut times = TaskTimes::default();
        let mut other = case(100, false);
        other.features.as_mut().unwrap().words = 1_000;
        for n in 0..19 {
            times.learn(&case(n, false));
        }
        assert_eq!(times.limit(&other), None);
        times.learn(&case(20, false));
        assert_eq!(times.limit(&other), Some(60_000));
        let table = times.table("claude", "/srv/shop");
        let found = table.of(other.features.as_ref().unwrap()).unwrap();
        assert_eq!(found.group.describe(), "tasks of claude");
        let same = table.of(case(1, false).features.as_ref().unwrap()).unwrap();
        assert_eq!(
            same.group.describe(),
            "small tasks of claude about .rs files without a Verify"
        );
    }

    #[test]
    fn a_task_is_grouped_by_the_time_that_its_check_took_before() {
        let mut times = TaskTimes::default();
        let mut slow = case(0, false);
        slow.features.as_mut().unwrap().verify = Some(7);
        let features = slow.features.clone().unwrap();
        let time = |times: &TaskTimes, place| times.check_time(place, &features);
        assert_eq!(time(&times, "/srv/shop"), CheckTime::Unknown);
        slow.verify_ms = Some(60_000);
        times.learn(&slow);
        assert_eq!(time(&times, "/srv/shop"), CheckTime::Slow);
        assert_eq!(time(&times, "/srv/other"), CheckTime::Unknown);
        let table = times.table("claude", "/srv/shop");
        assert_eq!(table.checks, [(7, 60_000)]);
    }

    proptest! {
        #[test]
        fn the_limit_is_inside_its_interval(times in prop::collection::vec(0_u64..1_000_000, 20..100)) {
            let times: Vec<Option<u64>> = times.into_iter().map(Some).collect();
            let limit = window(&times).limit().unwrap();
            prop_assert!(limit.at_least_ms <= limit.ms);
            prop_assert!(limit.at_most_ms.is_none_or(|most| limit.ms <= most));
        }
    }
}
