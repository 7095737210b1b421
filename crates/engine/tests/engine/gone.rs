//! What people do to the file or to the clock while something is owed.

use regreen_engine::{Command, FixBudget, Input, decide};
use regreen_model::{AttemptClass, AttemptReport, Event, RunConfig, TaskId, Timestamp};

use crate::script::{Run, failed, picked, task};

/// A run that heals, in which task 1.1 has failed.
fn with_a_failure() -> Run {
    let config = RunConfig {
        recovery: true,
        ..RunConfig::default()
    };
    let mut run = Run::start_with(config, vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(failed());
    assert!(matches!(run.command(), Command::ReadBudget { .. }));
    run
}

fn budget() -> FixBudget {
    let Some(next_id) = TaskId::parse("1.1.1") else {
        panic!("an id")
    };
    FixBudget {
        last_error: String::new(),
        depth: 0,
        fixes: 0,
        root_fixes: 0,
        root: task("1.1").id,
        fix_ids: vec![],
        next_id,
    }
}

#[test]
fn a_task_that_was_removed_before_its_fix_was_planned_is_left() {
    let mut run = with_a_failure();
    run.gone();
    assert_eq!(run.events(), ["task_gone", "plan_asked"]);
}

#[test]
fn a_task_that_was_removed_before_its_fix_was_inserted_is_left() {
    let mut run = with_a_failure();
    run.budget_is(budget());
    assert!(matches!(run.command(), Command::InsertFix(_)));
    run.gone();
    assert_eq!(run.events(), ["task_gone", "plan_asked"]);
    run.resume(vec![]);
    assert!(run.is_reading_the_plan());
}

#[test]
fn a_clock_that_is_set_back_makes_no_wait_shorter() {
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(AttemptReport {
        class: AttemptClass::Transient {
            why: "429".to_owned(),
            until: None,
        },
        ..AttemptReport::default()
    });
    let Command::Wait { until } = *run.command() else {
        panic!("no wait: {:?}", run.command())
    };
    let waited = Input::Waited { seq: run.seq() };
    let decision = decide(&run.state, Timestamp::from_millis(0), &waited);
    let planned = until.since(Timestamp::from_millis(1_000));
    let is_it = |event: &Event| match event {
        Event::WaitEnded { waited_ms, .. } => *waited_ms == planned,
        _ => false,
    };
    assert!(decision.events.iter().any(is_it), "{:?}", decision.events);
}
