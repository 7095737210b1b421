//! The final check: repeats the checks that passed during a run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use regreen_documents::TaskFile;
use regreen_engine::{
    FinalCheckOrder, READY_TIMEOUT_MS, ServiceOrder, ServicesOrder, TestReviewOrder,
};
use regreen_model::{
    Evidence, FailureRecord, RedTests, RepeatResult, RepeatVerdict, RepeatedCheck, Service,
    TaskKey, VerifyCommand,
};
use regreen_workspace::{AttemptName, RelPath};

use super::completion::unrecord;
use super::test_review::review_repeated;
use crate::clock::{self, millis};
use crate::observer::RunObserver;
use crate::performer::{PerformError, Performer};
use crate::verify::{Check, CheckResult};

/// Unticks tasks that no longer pass, and removes them from the completed tasks.
pub(crate) fn reopen(performer: &mut Performer, tasks: &[TaskKey]) -> Result<(), PerformError> {
    for task in tasks {
        for now in performer.plan.read()?.keys_to_reopen(task) {
            performer.set_box(&now, false)?;
            unrecord(performer, &now)?;
        }
    }
    Ok(())
}

/// The file name of the logs of repeated checks.
const STEM: &str = "final";
/// A check hangs if it takes more than this many times as long as when it passed.
const HANGS_AFTER: u32 = 5;
/// Faster checks count as taking this long, because a busy machine delays them.
const SHORTEST: Duration = Duration::from_secs(1);

/// Repeats the checks. If they change files while they run, earlier ones may no longer pass, so all
/// of them run once more.
pub(crate) fn final_check(
    performer: &mut Performer,
    order: &FinalCheckOrder,
    observer: &mut dyn RunObserver,
) -> Result<Vec<RepeatResult>, PerformError> {
    let deadline = Instant::now() + Duration::from_millis(order.limit_ms);
    // A service may change files when it ends. They count as they are then.
    end_services(performer, order, observer)?;
    let before = changed_files(performer, order);
    let is_unchanged = before.as_ref().is_some_and(BTreeSet::is_empty);
    let results = repeat_all(performer, order, deadline, is_unchanged, observer)?;
    if is_unchanged && order.checks.iter().all(|check| check.is_latest) {
        // Nothing needed to run.
        return Ok(results);
    }
    let is_red = |result: &RepeatResult| matches!(result.verdict, RepeatVerdict::Red { .. });
    if results.iter().any(is_red) {
        return Ok(results);
    }
    end_services(performer, order, observer)?;
    let Some(changed) = before.and_then(|before| changed_again(performer, order, &before)) else {
        return Ok(results);
    };
    let again = repeat_all(performer, order, deadline, false, observer)?;
    end_services(performer, order, observer)?;
    if changed_again(performer, order, &changed).is_some() {
        performer.notices.add(
            "the checks of finished tasks change files whenever they run; what passed last may have changed what passed before".to_owned(),
        );
    }
    Ok(again)
}

/// Returns the changed files if there are new ones among them.
fn changed_again(
    performer: &mut Performer,
    order: &FinalCheckOrder,
    before: &BTreeSet<RelPath>,
) -> Option<BTreeSet<RelPath>> {
    let now = changed_files(performer, order)?;
    (!now.is_subset(before)).then_some(now)
}

/// Repeats the checks in order, as long as there is time.
fn repeat_all(
    performer: &mut Performer,
    order: &FinalCheckOrder,
    deadline: Instant,
    is_unchanged: bool,
    observer: &mut dyn RunObserver,
) -> Result<Vec<RepeatResult>, PerformError> {
    let file = performer.plan.read()?;
    let mut results = Vec::new();
    // Different texts can resolve to the same command, such as the gate if a program is missing.
    // Under other services, the same command is another check.
    let mut known: Vec<(Vec<VerifyCommand>, Vec<Service>, RepeatVerdict)> = Vec::new();
    for repeated in &order.checks {
        let Some(repeated) = of_rows_in(&file, repeated) else {
            continue;
        };
        let check = check_of(performer, order, &repeated, deadline);
        let commands = performer.context.runnable(&check);
        let is_same = |seen: &[VerifyCommand], under: &[Service]| {
            seen == commands && under == repeated.services
        };
        let seen = known.iter().find(|(seen, under, _)| is_same(seen, under));
        let verdict = if repeated.is_latest && is_unchanged {
            RepeatVerdict::Passed
        } else if let Some((_, _, verdict)) = seen {
            verdict.clone()
        } else {
            keep_services(performer, order, &repeated, observer)?;
            let check = check_of(performer, order, &repeated, deadline);
            let (verdict, red) = repeat(performer, &check, repeated.last_ms, observer)?;
            let timeout_ms = millis(check.time_left());
            match red {
                Some(red) => excused(performer, order, &repeated, (red, timeout_ms), observer)?
                    .unwrap_or(verdict),
                None => verdict,
            }
        };
        known.push((commands, repeated.services.clone(), verdict.clone()));
        results.push(RepeatResult {
            check: repeated.shown(),
            tasks: repeated.tasks,
            verdict,
        });
    }
    Ok(results)
}

/// Ends all services. Those that a check needs are started again for it.
fn end_services(
    performer: &mut Performer,
    order: &FinalCheckOrder,
    observer: &mut dyn RunObserver,
) -> Result<(), PerformError> {
    let none = ServicesOrder {
        services: Vec::new(),
        ready_timeout_ms: READY_TIMEOUT_MS,
        environment: order.environment.clone(),
    };
    performer.keep_services(&none, observer)
}

/// Runs exactly the services that were running when the check passed.
fn keep_services(
    performer: &mut Performer,
    order: &FinalCheckOrder,
    repeated: &RepeatedCheck,
    observer: &mut dyn RunObserver,
) -> Result<(), PerformError> {
    let services = repeated.services.iter().map(|service| ServiceOrder {
        service: service.clone(),
        may_start: true,
        fresh: false,
        withheld: false,
    });
    let services = ServicesOrder {
        services: services.collect(),
        ready_timeout_ms: READY_TIMEOUT_MS,
        environment: order.environment.clone(),
    };
    performer.keep_services(&services, observer)
}

/// Returns the files that have changed since the last attempt, if known. If there are none, checks
/// that have passed since still pass: commits and the progress file change nothing that is checked.
fn changed_files(performer: &mut Performer, order: &FinalCheckOrder) -> Option<BTreeSet<RelPath>> {
    let (task, attempt) = order.last_attempt.as_ref()?;
    let name = AttemptName::new(&performer.run, task, *attempt);
    let spec_files = performer.paths.spec_files();
    let mut changed = performer.tree.changed_since(&name, clock::now())?;
    changed.retain(|path| !spec_files.contains(&Some(path.clone())));
    Some(changed)
}

/// Returns the check for those of its tasks that are still in the file.
fn of_rows_in(file: &TaskFile, check: &RepeatedCheck) -> Option<RepeatedCheck> {
    let mut check = check.clone();
    check
        .tasks
        .retain(|task| !file.keys_to_reopen(task).is_empty());
    (!check.tasks.is_empty()).then_some(check)
}

fn check_of<'c>(
    performer: &Performer,
    order: &'c FinalCheckOrder,
    repeated: &'c RepeatedCheck,
    deadline: Instant,
) -> Check<'c> {
    let task = repeated.tasks.first();
    let folder = match task {
        Some(task) => performer.paths.task_folder(&performer.run, task),
        None => performer.paths.scratch(),
    };
    Check {
        purpose: "final:verify".to_owned(),
        folder,
        stem: STEM.to_owned(),
        commands: &repeated.commands,
        gate: repeated.gate.as_deref(),
        timeout_ms: order.timeout_ms,
        deadline: Some(deadline),
        environment: &order.environment,
    }
}

/// Looks at the tests that failed: known failures and flaky tests excuse a check that nothing else fails.
fn excused(
    performer: &mut Performer,
    order: &FinalCheckOrder,
    repeated: &RepeatedCheck,
    (red, timeout_ms): (RedTests, u64),
    observer: &mut dyn RunObserver,
) -> Result<Option<RepeatVerdict>, PerformError> {
    let Some(task) = repeated.tasks.first() else {
        return Ok(None);
    };
    let known = repeated.known_failures.union(&order.accepted_tests);
    let review = TestReviewOrder {
        task: task.clone(),
        attempt: 0,
        commands: repeated.commands.clone(),
        gate: repeated.gate.clone(),
        timeout_ms,
        environment: order.environment.clone(),
        red,
        red_at_first: None,
        accepted: known.cloned().collect(),
        quarantined: order.quarantined_tests.clone(),
        failure: FailureRecord::default(),
    };
    let review = review_repeated(performer, &review, observer)?;
    let verdict = match review.accepted.is_empty() {
        true => RepeatVerdict::Flaky,
        false => RepeatVerdict::KnownFailures,
    };
    Ok(review.excuses().then_some(verdict))
}

/// Repeats a check, and runs it once more if it fails, because it may be flaky. Also returns the tests that
/// failed, if the check names them.
fn repeat(
    performer: &Performer,
    check: &Check<'_>,
    last_ms: u64,
    observer: &mut dyn RunObserver,
) -> Result<(RepeatVerdict, Option<RedTests>), PerformError> {
    if check.time_left() < Duration::from_millis(last_ms.max(1)) {
        return Ok((RepeatVerdict::OutOfTime, None));
    }
    let watch = performer.context.processes.asleep.stopwatch();
    let first = match performer.context.verify(check, observer)? {
        CheckResult::Passed => return Ok((RepeatVerdict::Passed, None)),
        CheckResult::Unverified => return Ok((without_program(), None)),
        CheckResult::RanNoTest { command } => return Ok((without_test(&command), None)),
        // A check that had no time to finish proves nothing.
        CheckResult::Failed { evidence, .. }
            if is_cut(check, &evidence) && !has_hung(watch.elapsed(), last_ms) =>
        {
            return Ok((RepeatVerdict::OutOfTime, None));
        }
        CheckResult::Failed { failure, .. } => failure,
    };
    let mut tests = None;
    let verdict = match performer.context.verify(check, observer)? {
        CheckResult::Passed => RepeatVerdict::Flaky,
        CheckResult::Unverified => without_program(),
        CheckResult::RanNoTest { command } => without_test(&command),
        // It failed, and nothing shows that it is flaky.
        CheckResult::Failed { evidence, .. } if is_cut(check, &evidence) => red(first),
        CheckResult::Failed {
            failure,
            tests: red_tests,
            ..
        } => {
            tests = red_tests.map(|tests| *tests);
            red(failure)
        }
    };
    Ok((verdict, tests))
}

/// Whether the check was cut off by the end of the final check.
fn is_cut(check: &Check<'_>, evidence: &Evidence) -> bool {
    evidence.ending.timed_out && check.time_left() < Duration::from_millis(1)
}

/// Whether a check that was cut off had so much longer than when it passed that it must hang.
fn has_hung(had: Duration, last_ms: u64) -> bool {
    had >= Duration::from_millis(last_ms).max(SHORTEST) * HANGS_AFTER
}

fn without_test(command: &str) -> RepeatVerdict {
    red(FailureRecord::new(format!(
        "Verify failed: `{command}` runs no test now"
    )))
}

fn without_program() -> RepeatVerdict {
    red(FailureRecord::new(
        "Verify failed: the program of its command is missing now",
    ))
}

fn red(failure: FailureRecord) -> RepeatVerdict {
    RepeatVerdict::Red {
        failure: Box::new(failure),
    }
}

#[cfg(test)]
mod tests {
    use regreen_model::{TaskId, TaskKey};

    use super::*;

    fn task(id: &str, title: &str) -> TaskKey {
        TaskKey {
            id: TaskId::parse(id).unwrap(),
            occurrence: 0,
            title: title.to_owned(),
        }
    }

    #[test]
    fn a_check_is_repeated_for_the_tasks_that_are_still_in_the_file() {
        let file = TaskFile::read("- [x] 1.1 One\n- [x] 1.2 Two\n".to_owned());
        let check = |tasks: Vec<TaskKey>| RepeatedCheck {
            tasks,
            commands: Vec::new(),
            gate: None,
            last_ms: 0,
            is_latest: false,
            services: Vec::new(),
            known_failures: BTreeSet::new(),
        };
        let kept = of_rows_in(
            &file,
            &check(vec![task("1.1", "One"), task("3.1", "Three")]),
        );
        assert_eq!(
            kept.map(|check| check.tasks),
            Some(vec![task("1.1", "One")])
        );
        assert_eq!(of_rows_in(&file, &check(vec![task("3.1", "Three")])), None);
    }

    #[test]
    fn a_check_hangs_if_it_takes_several_times_as_long_as_before() {
        let has_hung = |had_s, last_ms| has_hung(Duration::from_secs(had_s), last_ms);
        assert!(!has_hung(30, 10_000));
        assert!(has_hung(50, 10_000));
        // A quick check may be delayed.
        assert!(!has_hung(4, 3));
        assert!(has_hung(5, 3));
    }
}
