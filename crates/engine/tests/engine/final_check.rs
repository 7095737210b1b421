//! Work that passed must still pass at the end, or the run doesn't end green.

use regreen_engine::{Command, CommitResult, FinalCheckOrder, Input};
use regreen_model::{
    AttemptReport, Claim, FailureRecord, FinalCheckPolicy, NotRepeatedReason, PickedTask,
    PlanChanges, PromptKind, RepeatResult, RepeatVerdict, RunConfig, RunOutcome, TaskKey, Verdict,
    VerifyCommand,
};

use crate::script::{Run, picked, signalled, task};

fn verified_by(id: &str, index: u32, command: &str) -> PickedTask {
    PickedTask {
        verify: vec![VerifyCommand::always(command)],
        ..picked(id, index)
    }
}

fn finish(run: &mut Run, task: PickedTask, took_ms: u64) {
    finish_with(run, task, took_ms, CommitResult::Nothing);
}

fn finish_with(run: &mut Run, task: PickedTask, took_ms: u64, commit: CommitResult) {
    run.pick(task);
    run.attempt_ends(signalled());
    let seq = run.seq();
    run.tell(&Input::Verified {
        tests: None,
        seq,
        verdict: Verdict::Green,
        diagnosis: None,
        took_ms,
    });
    run.ticked();
    run.committed(commit);
    run.recorded();
}

/// A run with tasks 1.1 to 1.3 done and nothing left in the plan.
fn done_with(config: RunConfig) -> Run {
    let mut run = Run::start_with(config, vec![]);
    finish(&mut run, verified_by("1.1", 0, "make a"), 900);
    finish(&mut run, verified_by("1.2", 1, "make b"), 20);
    finish(&mut run, verified_by("1.3", 2, "make a"), 800);
    run.nothing_left(3, 0);
    run
}

fn with_recovery() -> RunConfig {
    RunConfig {
        recovery: true,
        ..RunConfig::default()
    }
}

fn order(run: &Run) -> &FinalCheckOrder {
    match run.command() {
        Command::FinalCheck(order) => order,
        other => panic!("no final check was asked for: {other:?}"),
    }
}

fn ids(tasks: &[TaskKey]) -> Vec<&str> {
    tasks.iter().map(|task| task.id.as_str()).collect()
}

/// Answers each check, by its first command.
fn checked(run: &mut Run, verdict: impl Fn(&str) -> RepeatVerdict) {
    let results = order(run).checks.iter().map(|check| RepeatResult {
        tasks: check.tasks.clone(),
        check: check.shown(),
        verdict: verdict(&check.shown()),
    });
    let (seq, results) = (run.seq(), results.collect());
    run.tell(&Input::FinallyChecked {
        seq,
        results,
        took_ms: 5,
    });
}

fn red(error: &str) -> RepeatVerdict {
    RepeatVerdict::Red {
        failure: Box::new(FailureRecord::new(error)),
    }
}

fn all_but(broken: &'static str) -> impl Fn(&str) -> RepeatVerdict {
    move |check| {
        if check == broken {
            red("exit code 1")
        } else {
            RepeatVerdict::Passed
        }
    }
}

fn reopened(run: &mut Run) {
    let seq = run.seq();
    run.tell(&Input::Reopened { seq });
}

#[test]
fn each_check_runs_once_more_and_the_quickest_runs_first() {
    let mut run = done_with(RunConfig::default());
    let checks: Vec<(String, Vec<&str>, u64)> = order(&run)
        .checks
        .iter()
        .map(|check| (check.shown(), ids(&check.tasks), check.last_ms))
        .collect();
    assert_eq!(
        checks,
        [
            ("make b".to_owned(), vec!["1.2"], 20),
            ("make a".to_owned(), vec!["1.1", "1.3"], 900),
        ]
    );
    assert_eq!(order(&run).limit_ms, 30 * 60 * 1000);
    checked(&mut run, |_| RepeatVerdict::Passed);
    assert_eq!(run.state.outcome, None);
    run.nothing_left(3, 0);
    assert_eq!(run.state.outcome, Some(RunOutcome::AllGreen));
}

#[test]
fn only_what_passed_after_the_last_attempt_may_be_taken_as_it_was() {
    let run = done_with(RunConfig::default());
    let order = order(&run);
    let latest: Vec<bool> = order.checks.iter().map(|check| check.is_latest).collect();
    assert_eq!(latest, [false, true]);
    assert_eq!(order.last_attempt, Some((task("1.3"), 1)));
}

#[test]
fn without_recovery_a_task_that_no_longer_passes_is_open_and_the_run_has_failed() {
    let mut run = done_with(RunConfig::default());
    checked(&mut run, all_but("make b"));
    assert_eq!(
        run.command(),
        &Command::Reopen {
            tasks: vec![task("1.2")]
        }
    );
    reopened(&mut run);
    let message =
        "ERROR: Task 1.2 passed, but no longer does: exit code 1 (ran since: 1.3)".to_owned();
    assert_eq!(run.state.outcome, Some(RunOutcome::Regressed { message }));
    assert_eq!(run.state_file().results.get(&task("1.2").id), Some(&false));
}

/// A run that ended its tasks 1.1 and 1.2, and in which 1.3 was skipped.
fn with_a_skip(config: RunConfig) -> Run {
    let skip = crate::script::choice(1, "1.3", regreen_model::ChoiceKind::Skip);
    let mut run = Run::start_with(config, vec![skip]);
    finish(&mut run, verified_by("1.1", 0, "make a"), 900);
    finish(&mut run, verified_by("1.2", 1, "make b"), 20);
    run.nothing_left(3, 1);
    run
}

#[test]
fn a_skip_does_not_spare_the_others_the_final_check() {
    let mut run = with_a_skip(RunConfig::default());
    checked(&mut run, all_but("make a"));
    reopened(&mut run);
    let message =
        "ERROR: Task 1.1 passed, but no longer does: exit code 1 (ran since: 1.2)".to_owned();
    assert_eq!(run.state.outcome, Some(RunOutcome::Regressed { message }));
}

#[test]
fn a_run_with_a_skip_ends_as_such_if_all_the_others_still_pass() {
    let mut run = with_a_skip(RunConfig::default());
    assert_eq!(order(&run).checks.len(), 2);
    checked(&mut run, |_| RepeatVerdict::Passed);
    run.nothing_left(3, 1);
    assert_eq!(run.state.outcome, Some(RunOutcome::Skipped));
}

#[test]
fn with_recovery_a_task_that_no_longer_passes_gets_a_fix_and_everything_is_checked_again() {
    let mut run = done_with(with_recovery());
    checked(&mut run, all_but("make b"));
    reopened(&mut run);
    assert!(run.is_reading_the_plan());
    run.pick(verified_by("1.2", 1, "make b"));
    // Nothing has changed since, so its failure is known.
    assert_eq!(run.command(), &Command::ReadBudget { task: task("1.2") });
    assert_eq!(run.state.tasks[&task("1.2")].iterations, 1);
}

#[test]
fn a_second_task_that_no_longer_passes_is_verified_first_because_a_fix_may_have_helped_both() {
    let mut run = done_with(with_recovery());
    checked(&mut run, |_| red("exit code 1"));
    reopened(&mut run);
    let fix = PickedTask {
        task: task("1.1.1"),
        root: task("1.1"),
        ..picked("1.1.1", 0)
    };
    run.pick(fix);
    run.attempt_ends(signalled());
    run.finish_task();
    run.pick(verified_by("1.2", 1, "make b"));
    assert!(matches!(run.command(), Command::Verify { .. }));
    run.finish_task();
    assert!(run.is_reading_the_plan());
}

#[test]
fn a_task_that_passes_again_is_committed_as_another_commit() {
    let mut run = done_with(with_recovery());
    checked(&mut run, |_| red("exit code 1"));
    reopened(&mut run);
    run.pick(PickedTask {
        task: task("1.1.1"),
        root: task("1.1"),
        ..picked("1.1.1", 0)
    });
    run.attempt_ends(signalled());
    run.finish_task();
    run.pick(verified_by("1.2", 1, "make b"));
    run.verified(Verdict::Green);
    run.ticked();
    let Command::Commit(commit) = run.command() else {
        panic!("no commit was asked for: {:?}", run.command())
    };
    // Three tasks and a fix were committed before.
    assert_eq!((commit.attempts, commit.number), (1, 4));
}

#[test]
fn with_a_warning_the_run_ends_green() {
    let mut run = done_with(RunConfig {
        final_check: FinalCheckPolicy::Warn,
        ..RunConfig::default()
    });
    checked(&mut run, all_but("make b"));
    assert_eq!(run.events(), ["final_check_ended", "warned", "plan_asked"]);
    run.nothing_left(3, 0);
    assert_eq!(run.state.outcome, Some(RunOutcome::AllGreen));
}

#[test]
fn switched_off_nothing_is_repeated() {
    let run = done_with(RunConfig {
        final_check: FinalCheckPolicy::Off,
        ..RunConfig::default()
    });
    assert_eq!(run.state.outcome, Some(RunOutcome::AllGreen));
}

#[test]
fn checks_of_red_rows_and_of_git_history_are_left_out_and_named() {
    let mut run = Run::start(vec![]);
    let red = PickedTask {
        is_red: true,
        ..verified_by("1.1", 0, "! make test")
    };
    finish(&mut run, red, 0);
    let mut mixed = verified_by("1.2", 1, "git log -1 | grep feat");
    mixed.verify.push(VerifyCommand::always("make b"));
    finish(&mut run, mixed, 0);
    run.nothing_left(2, 0);
    let checks = &order(&run).checks;
    assert_eq!(checks.len(), 1);
    assert_eq!(checks[0].shown(), "make b");
    checked(&mut run, |_| RepeatVerdict::OutOfTime);
    let event = run.last_event("final_check_ended");
    let left_out: Vec<(&str, &str)> = event["not_repeated"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| {
            (
                one["task"]["id"].as_str().unwrap_or_default(),
                one["why"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        left_out,
        [
            ("1.1", NotRepeatedReason::Red.name()),
            ("1.2", NotRepeatedReason::GitHistory.name()),
            ("1.2", NotRepeatedReason::NoTime.name()),
        ]
    );
}

#[test]
fn a_final_check_that_was_interrupted_is_made_again() {
    let mut run = done_with(RunConfig::default());
    run.stop();
    run.resume(vec![]);
    assert!(run.is_reading_the_plan());
    run.nothing_left(3, 0);
    assert_eq!(order(&run).checks.len(), 2);
    // People may have changed something in the meantime.
    assert!(!order(&run).checks.iter().any(|check| check.is_latest));
}

#[test]
fn boxes_that_were_about_to_be_emptied_are_emptied_when_the_run_is_resumed() {
    let mut run = done_with(with_recovery());
    checked(&mut run, all_but("make b"));
    run.resume(vec![]);
    assert!(matches!(run.command(), Command::Reopen { .. }));
    reopened(&mut run);
    run.pick(verified_by("1.2", 1, "make b"));
    assert!(matches!(run.command(), Command::Verify { .. }));
}

#[test]
fn a_task_that_an_agent_ticked_on_the_side_is_checked_too_and_tried_with_its_failure() {
    let mut run = Run::start_with(with_recovery(), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(AttemptReport {
        plan: PlanChanges {
            claims: vec![Claim {
                task: task("1.2"),
                verify: vec![VerifyCommand::always("make b")],
                is_red: false,
            }],
            ..PlanChanges::default()
        },
        ..signalled()
    });
    run.claims_judged(vec![task("1.2")]);
    run.verified(Verdict::Unverified);
    run.ticked();
    run.committed(CommitResult::Nothing);
    run.recorded();
    run.nothing_left(2, 0);
    checked(&mut run, |_| red("exit code 1"));
    reopened(&mut run);
    run.pick(verified_by("1.2", 1, "make b"));
    let attempt = run.attempt();
    assert_eq!(attempt.prompt, PromptKind::Retry);
    let previous = attempt
        .previous
        .as_ref()
        .map(|record| record.error.as_str());
    assert_eq!(previous, Some("exit code 1"));
}

#[test]
fn tasks_that_nothing_verified_leave_nothing_to_repeat() {
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(signalled());
    run.verified(Verdict::Unverified);
    run.ticked();
    run.committed(CommitResult::Nothing);
    run.recorded();
    run.nothing_left(1, 0);
    assert_eq!(run.state.outcome, Some(RunOutcome::AllGreen));
}

/// The checks that a run is about to repeat, with their tasks.
fn repeated(run: &Run) -> Vec<(String, Vec<&str>)> {
    let checks = order(run).checks.iter();
    checks
        .map(|check| (check.shown(), ids(&check.tasks)))
        .collect()
}

#[test]
fn checks_of_earlier_runs_are_repeated_until_all_tasks_are_done() {
    let mut run = done_with(RunConfig::default());
    checked(&mut run, all_but("make b"));
    reopened(&mut run);
    let mut second = run.next_run();
    finish(&mut second, verified_by("1.2", 1, "make b"), 20);
    second.nothing_left(3, 0);
    assert_eq!(
        repeated(&second),
        [
            ("make b".to_owned(), vec!["1.2"]),
            ("make a".to_owned(), vec!["1.1", "1.3"]),
        ]
    );
    // 1.2 broke them: they are open again, so a third run has only 1.2 to repeat besides.
    checked(&mut second, all_but("make a"));
    reopened(&mut second);
    let message = "ERROR: Task 1.1 passed, but no longer does: exit code 1 (ran since: 1.2)\n\
         ERROR: Task 1.3 passed, but no longer does: exit code 1 (ran since: 1.2)";
    let outcome = RunOutcome::Regressed {
        message: message.to_owned(),
    };
    assert_eq!(second.state.outcome, Some(outcome));
    let mut third = second.next_run();
    finish(&mut third, verified_by("1.1", 0, "make a"), 900);
    finish(&mut third, verified_by("1.3", 2, "make a"), 900);
    third.nothing_left(3, 0);
    assert_eq!(repeated(&third).len(), 2);
    checked(&mut third, |_| RepeatVerdict::Passed);
    third.nothing_left(3, 0);
    assert_eq!(third.state.outcome, Some(RunOutcome::AllGreen));
    // From then on it counts as finished work.
    let mut fourth = third.next_run();
    fourth.nothing_left(3, 0);
    assert_eq!(fourth.state.outcome, Some(RunOutcome::AllGreen));
}

#[test]
fn checks_of_earlier_runs_always_run_again() {
    let mut run = done_with(RunConfig::default());
    checked(&mut run, all_but("make b"));
    reopened(&mut run);
    let mut second = run.next_run();
    // A person has ticked 1.2.
    second.nothing_left(3, 0);
    assert_eq!(
        repeated(&second),
        [("make a".to_owned(), vec!["1.1", "1.3"])]
    );
    assert!(!order(&second).checks.iter().any(|check| check.is_latest));
}

/// The tasks that the next run must check again after a green one.
fn left_for_next_run(config: RunConfig, verdict: impl Fn(&str) -> RepeatVerdict) -> Vec<String> {
    let mut run = done_with(config);
    if run.state.outcome.is_none() {
        checked(&mut run, verdict);
        run.nothing_left(3, 0);
    }
    assert_eq!(run.state.outcome, Some(RunOutcome::AllGreen));
    let left = run.state.checks_for_next_run();
    left.iter().map(|check| check.task.id.to_string()).collect()
}

fn final_check(policy: FinalCheckPolicy) -> RunConfig {
    RunConfig {
        final_check: policy,
        ..RunConfig::default()
    }
}

#[test]
fn a_green_run_leaves_what_it_did_not_see_pass_to_the_next_one() {
    let passed = |_: &str| RepeatVerdict::Passed;
    let fail = || final_check(FinalCheckPolicy::Fail);
    assert!(left_for_next_run(fail(), passed).is_empty());
    let no_time = |check: &str| match check {
        "make a" => RepeatVerdict::OutOfTime,
        _ => RepeatVerdict::Passed,
    };
    assert_eq!(left_for_next_run(fail(), no_time), ["1.1", "1.3"]);
    let warned = final_check(FinalCheckPolicy::Warn);
    assert_eq!(left_for_next_run(warned, all_but("make b")), ["1.2"]);
    let off = final_check(FinalCheckPolicy::Off);
    assert_eq!(left_for_next_run(off, passed), ["1.1", "1.2", "1.3"]);
}

#[test]
fn what_passed_by_a_gate_is_repeated_by_it_also_in_a_run_without_one() {
    let mut run = Run::start_with(
        RunConfig {
            gate: Some("make check".to_owned()),
            final_check: FinalCheckPolicy::Off,
            ..RunConfig::default()
        },
        vec![],
    );
    finish(&mut run, picked("1.1", 0), 10);
    run.nothing_left(1, 0);
    let mut second = Run::start_with(RunConfig::default(), vec![]);
    second.state.earlier_checks = run.state.checks_for_next_run();
    second.nothing_left(1, 0);
    assert_eq!(repeated(&second), [("make check".to_owned(), vec!["1.1"])]);
}

/// Someone has removed its row meanwhile.
#[test]
fn a_check_without_a_result_is_named_as_not_repeated() {
    let mut run = done_with(RunConfig::default());
    let results = order(&run).checks.iter().map(|check| RepeatResult {
        tasks: check
            .tasks
            .iter()
            .filter(|task| task.id.as_str() != "1.1")
            .cloned()
            .collect(),
        check: check.shown(),
        verdict: RepeatVerdict::Passed,
    });
    let (seq, results) = (run.seq(), results.collect());
    run.tell(&Input::FinallyChecked {
        seq,
        results,
        took_ms: 5,
    });
    let event = run.last_event("final_check_ended");
    let left_out = &event["not_repeated"];
    assert_eq!(left_out[0]["task"]["id"], "1.1");
    assert_eq!(left_out[0]["why"], NotRepeatedReason::NotInPlan.name());
    assert_eq!(left_out[1], serde_json::Value::Null);
}

#[test]
fn what_changes_with_the_closing_commit_is_checked_again() {
    let green = |changed| {
        let mut run = Run::start(vec![]);
        let commit = CommitResult::Done {
            hash: "abc1234".to_owned(),
            warnings: vec![],
        };
        finish_with(&mut run, verified_by("1.1", 0, "make a"), 9, commit);
        run.nothing_left(1, 0);
        checked(&mut run, |_| RepeatVerdict::Passed);
        run.nothing_left(1, 0);
        assert!(matches!(run.command(), Command::CloseCommit { .. }));
        let (seq, result) = (run.seq(), CommitResult::Nothing);
        run.tell(&Input::ClosingCommitted {
            seq,
            result,
            changed,
        });
        run.nothing_left(1, 0);
        run
    };
    assert_eq!(green(false).state.outcome, Some(RunOutcome::AllGreen));
    let mut run = green(true);
    assert_eq!(order(&run).checks.len(), 1);
    checked(&mut run, |_| RepeatVerdict::Passed);
    run.nothing_left(1, 0);
    assert_eq!(
        run.state.outcome,
        Some(RunOutcome::AllGreen),
        "one commit is enough"
    );
}
