//! What regreen repairs itself, and what it only repeats.

use regreen_engine::{AutomaticFix, Command, Input, RepairOrder, TaskState};
use regreen_model::{
    AttemptReport, FailureRecord, FixBudget, Inspection, PickedTask, PlannedRepair, RepairAction,
    RepairResult, RunConfig, TaskId,
};

use crate::script::{Run, diagnosed, failed, picked, signalled, task};

pub(crate) fn healing() -> RunConfig {
    RunConfig {
        agent: "command:x".to_owned().into(),
        recovery: true,
        ..RunConfig::default()
    }
}

pub(crate) fn fails_with(kind: &str, category: &str, retry_mode: &str) -> AttemptReport {
    AttemptReport {
        failure: FailureRecord {
            diagnosis: Some(Box::new(diagnosed(kind, category, retry_mode))),
            ..FailureRecord::new("it broke")
        },
        ..failed()
    }
}

pub(crate) fn install(package: &str) -> PlannedRepair {
    PlannedRepair {
        does: format!("pip install {package}"),
        action: RepairAction::PipInstall {
            args: vec![package.to_owned()],
        },
    }
}

fn first_fix() -> TaskId {
    task("1.1").id.child(1)
}

pub(crate) fn no_fixes_yet() -> FixBudget {
    FixBudget {
        last_error: String::new(),
        open_fixes: vec![],
        depth: 0,
        fixes: 0,
        root_fixes: 0,
        root: task("1.1").id,
        fix_ids: vec![],
        next_id: first_fix(),
    }
}

/// The second of two tasks with the id 1.1.
fn second() -> PickedTask {
    let mut second = picked("1.1", 1);
    second.task.occurrence = 1;
    second.root = second.task.clone();
    second
}

/// A run in which the second 1.1 lacks a package, and its fix is next.
fn with_an_automatic_fix() -> Run {
    let mut run = Run::start_with(healing(), vec![]);
    run.pick(second());
    run.attempt_ends(fails_with(
        "missing_python_module",
        "tool_error",
        "after_repair",
    ));
    let inspection = Inspection::Allowed(install("flask"));
    let seq = run.seq();
    run.tell(&Input::RepairInspected { seq, inspection });
    run.budget_is(no_fixes_yet());
    let seq = run.seq();
    run.tell(&Input::Inserted { seq });
    // The first 1.1 waits for a fix with the same id, as after rows were moved.
    let first = TaskState {
        automatic_fix: Some(AutomaticFix {
            fix: Some(first_fix()),
            repair: install("django"),
            agreed: true,
        }),
        ..TaskState::new(picked("1.1", 0))
    };
    run.state.tasks.insert(first.key().clone(), first);
    run.pick(PickedTask {
        root: second().task,
        ..picked("1.1.1", 2)
    });
    run
}

fn order(run: &Run) -> &RepairOrder {
    match run.command() {
        Command::Repair(order) => order,
        other => panic!("no repair was asked for: {other:?}"),
    }
}

#[test]
fn an_automatic_fix_does_what_was_planned_for_the_task_that_it_fixes() {
    let run = with_an_automatic_fix();
    let order = order(&run);
    assert_eq!(order.repair, install("flask"));
    assert_eq!(order.target.task, second().task);
    assert_eq!(
        (order.attempt, order.agreed, order.again),
        (1, false, false)
    );
}

#[test]
fn a_repair_is_the_end_of_the_plan_for_it_and_of_no_other() {
    let mut run = with_an_automatic_fix();
    let environment = vec![("PATH".to_owned(), "/venv".to_owned())];
    let result = RepairResult::Done {
        did: "pip install flask".to_owned(),
        environment: environment.clone(),
    };
    let seq = run.seq();
    run.tell(&Input::RepairEnded { seq, result });
    assert!(matches!(run.command(), Command::Tick { done: true, .. }));
    assert_eq!(run.state.environment, environment);
    let (first, second) = (
        &run.state.tasks[&task("1.1")],
        &run.state.tasks[&second().task],
    );
    assert_eq!(second.automatic_fix, None);
    assert_eq!(second.repaired, [install("flask").action]);
    assert!(first.automatic_fix.is_some());
    assert_eq!(first.repaired, []);
}

#[test]
fn the_delay_before_a_repeat_is_not_taken_from_the_waiting_budget() {
    let mut run = Run::start_with(healing(), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(fails_with("connection_refused", "tool_error", "as_is"));
    assert!(matches!(run.command(), Command::Wait { .. }));
    let seq = run.seq();
    run.tell(&Input::Waited { seq, asleep_ms: 0 });
    assert_eq!(run.attempt().attempt, 2);
    assert_eq!((run.state.waited_ms, run.state.spent.time_ms), (0, 2_000));
}

#[test]
fn the_fix_budget_comes_with_the_answers_after_which_a_fix_may_follow() {
    let silent = AttemptReport {
        signalled: false,
        ..signalled()
    };
    let contradicting = AttemptReport {
        contradiction: Some("needs human".to_owned()),
        ..signalled()
    };
    let reports = [
        (signalled(), false),
        (silent, true),
        (failed(), true),
        (contradicting, true),
    ];
    for (report, may_fail) in reports {
        for recovery in [true, false] {
            let config = RunConfig {
                recovery,
                ..healing()
            };
            let mut run = Run::start_with(config, vec![]);
            run.pick(picked("1.1", 0));
            let answer = Input::AttemptEnded {
                seq: run.seq(),
                report: Box::new(report.clone()),
            };
            let expected = (may_fail && recovery).then(|| task("1.1"));
            assert_eq!(run.state.may_get_fix(&answer), expected.as_ref());
        }
    }
}
