//! The outcomes of runs, and what counts against them.

use regreen_engine::Command;
use regreen_model::{
    AttemptClass, AttemptReport, Ending, FailureRecord, Limits, Mark, PickedTask, PlanChanges,
    PlanStatus, PromptKind, RunConfig, RunOutcome, Verdict,
};

use crate::script::{Run, failed, picked, signalled, task};

fn outcome(run: &Run) -> &RunOutcome {
    let Some(outcome) = &run.state.outcome else {
        panic!("the run has not ended: {:?}", run.state)
    };
    outcome
}

#[test]
fn the_requested_tasks_may_be_done_while_others_are_open() {
    let mut run = Run::start(vec![]);
    run.read(PlanStatus {
        total: 3,
        open_besides: 2,
        ..PlanStatus::default()
    });
    assert_eq!(outcome(&run), &RunOutcome::OnlyDone);
}

#[test]
fn a_plan_without_any_task_is_never_green() {
    let mut run = Run::start(vec![]);
    run.read(PlanStatus {
        is_empty: true,
        ..PlanStatus::default()
    });
    assert!(matches!(outcome(&run), RunOutcome::NeedsPerson { .. }));
}

/// A run in which the agent removed task 1.3 twice while it worked on 1.1.
fn with_a_row_removed_twice() -> Run {
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    let removed = |plan| AttemptReport { plan, ..failed() };
    run.attempt_ends(removed(PlanChanges {
        put_back: vec![task("1.3")],
        ..PlanChanges::default()
    }));
    run.attempt_ends(AttemptReport {
        plan: PlanChanges {
            skipped: vec![task("1.3")],
            ..PlanChanges::default()
        },
        ..signalled()
    });
    run.finish_task();
    run
}

#[test]
fn a_row_that_an_agent_removed_is_not_done_by_that_under_another_number_either() {
    let mut run = Run::start(vec![]);
    run.pick(picked("1", 0));
    run.attempt_ends(AttemptReport {
        plan: PlanChanges {
            put_back: vec![task("3")],
            ..PlanChanges::default()
        },
        ..failed()
    });
    // A person removed the first row.
    run.attempt_ends(AttemptReport {
        plan: PlanChanges {
            skipped: vec![task("2")],
            ..PlanChanges::default()
        },
        ..signalled()
    });
    run.finish_task();
    run.read(PlanStatus {
        total: 1,
        missing: vec![task("2")],
        ..PlanStatus::default()
    });
    assert_eq!(outcome(&run), &RunOutcome::Skipped);
}

#[test]
fn a_row_that_an_agent_removed_is_not_done_by_that() {
    let mut run = with_a_row_removed_twice();
    run.read(PlanStatus {
        total: 2,
        missing: vec![task("1.3")],
        ..PlanStatus::default()
    });
    assert_eq!(outcome(&run), &RunOutcome::Skipped);
    // Someone put it back into the file and ticked it.
    let mut run = with_a_row_removed_twice();
    run.nothing_left(3, 0);
    assert_eq!(outcome(&run), &RunOutcome::AllGreen);
}

#[test]
fn a_row_that_a_person_skips_and_removes_is_no_longer_missed() {
    let skip = crate::script::choice(1, "1.3", regreen_model::ChoiceKind::Skip);
    let mut run = Run::start(vec![skip]);
    run.read(PlanStatus {
        total: 2,
        missing: vec![task("1.3")],
        ..PlanStatus::default()
    });
    assert_eq!(outcome(&run), &RunOutcome::AllGreen);
}

/// A run in its only allowed attempt.
fn last_attempt() -> Run {
    let config = RunConfig {
        limits: Limits {
            global_iterations: 1,
            ..Limits::default()
        },
        ..RunConfig::default()
    };
    let mut run = Run::start_with(config, vec![]);
    run.pick(picked("1.1", 0));
    run
}

#[test]
fn an_agent_that_changed_nothing_in_the_last_attempt_is_not_asked_again() {
    let mut run = last_attempt();
    run.attempt_ends(AttemptReport {
        files_changed: 0,
        ..signalled()
    });
    run.verified(Verdict::Unverified);
    assert!(
        run.state.tasks[&task("1.1")]
            .marks
            .contains(&Mark::NothingChanged)
    );
    assert_eq!(run.state.outcome, None);
}

#[test]
fn an_agent_that_changed_nothing_is_told_so_once_and_then_believed() {
    let nothing = || AttemptReport {
        files_changed: 0,
        ..signalled()
    };
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(nothing());
    run.verified(Verdict::Unverified);
    assert_eq!(run.attempt().prompt, PromptKind::NoOp);
    run.attempt_ends(nothing());
    run.verified(Verdict::Unverified);
    assert!(matches!(run.command(), Command::Tick { .. }));
    let marks = &run.state.tasks[&task("1.1")].marks;
    assert!(marks.contains(&Mark::NothingChanged));
}

#[test]
fn work_of_an_attempt_that_was_cut_short_is_not_called_nothing() {
    let timed_out = Ending {
        timed_out: true,
        ..Ending::default()
    };
    for cut_short in [
        AttemptReport {
            class: AttemptClass::Interrupted,
            ..AttemptReport::default()
        },
        AttemptReport {
            ending: timed_out,
            ..AttemptReport::default()
        },
    ] {
        let mut run = Run::start(vec![]);
        run.pick(picked("1.1", 0));
        run.attempt_ends(AttemptReport {
            files_changed: 1,
            ..cut_short
        });
        assert_eq!(run.attempt().attempt, 2);
        run.attempt_ends(AttemptReport {
            files_changed: 0,
            ..signalled()
        });
        run.verified(Verdict::Unverified);
        assert!(matches!(run.command(), Command::Tick { .. }));
        let marks = &run.state.tasks[&task("1.1")].marks;
        assert!(!marks.contains(&Mark::NothingChanged));
    }
}

#[test]
fn the_last_attempt_of_a_run_may_still_be_reminded() {
    let mut run = last_attempt();
    run.attempt_ends(AttemptReport {
        signalled: false,
        ..signalled()
    });
    run.verified(Verdict::Green);
    assert_eq!(run.attempt().prompt, PromptKind::Reminder);
}

#[test]
fn a_task_that_an_earlier_run_gave_up_begins_with_how_it_failed() {
    let before = FailureRecord {
        error: "it broke".to_owned(),
        attempted_fix: "hope".to_owned(),
        last_words: "I hoped for the best".to_owned(),
        diagnosis: None,
    };
    let mut run = Run::start(vec![]);
    run.pick(PickedTask {
        failed_before: Some(before.clone()),
        ..picked("1.1", 0)
    });
    let order = run.attempt();
    assert_eq!((order.prompt, order.iteration), (PromptKind::Retry, 1));
    assert_eq!(order.previous.as_ref(), Some(&before));
    assert_eq!(order.failed_attempt, None);
    run.attempt_ends(failed());
    assert_eq!(run.attempt().failed_attempt, Some(1));
}

#[test]
fn a_group_without_a_verify_is_what_its_rows_are() {
    let mut run = Run::start(vec![]);
    run.pick(PickedTask {
        is_group: true,
        ..picked("1", 0)
    });
    run.verified(Verdict::Unverified);
    let marks = |run: &Run| {
        run.state.tasks[&task("1")]
            .marks
            .contains(&Mark::Unverified)
    };
    assert!(!marks(&run));
}

#[test]
fn a_group_whose_verify_is_red_says_so() {
    let mut run = Run::start(vec![]);
    run.pick(PickedTask {
        is_group: true,
        ..picked("1", 0)
    });
    let red = || Verdict::Red {
        error: "no".to_owned(),
    };
    run.verified(red());
    run.verified(red());
    let message = "ERROR: Verify of group 1 failed after its tasks were done".to_owned();
    assert_eq!(outcome(&run), &RunOutcome::Limit { message });
}
