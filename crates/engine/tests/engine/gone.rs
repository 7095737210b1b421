//! What people do to the file or the clock while a command is pending.

use regreen_engine::{Command, Input, Resumption, decide};
use regreen_model::{
    AttemptClass, AttemptReport, ChoiceKind, Claim, Event, FixBudget, PickedTask, PlanChanges,
    RunConfig, TaskId, TaskKey, Timestamp, Verdict,
};

use crate::script::{Run, choice, failed, picked, signalled, task};

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
        open_fixes: Vec::new(),
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

/// A task in a list without ids, by its position.
fn numbered(position: &str) -> PickedTask {
    let key = TaskKey {
        title: "Write the page".to_owned(),
        ..task(position)
    };
    PickedTask {
        root: key.clone(),
        task: key,
        has_fixes: true,
        ..picked(position, 0)
    }
}

#[test]
fn a_task_that_failed_under_another_number_is_not_done_by_its_verify_alone() {
    let mut run = Run::start_with(
        RunConfig {
            recovery: true,
            ..RunConfig::default()
        },
        vec![],
    );
    let red = || Verdict::Red {
        error: "exit 1".to_owned(),
    };
    run.pick(numbered("2"));
    run.attempt_ends(signalled());
    run.verified(red());
    run.verified(red());
    run.budget_is(budget());
    run.tell(&Input::Inserted { seq: run.seq() });
    // Someone adds a row above; the agent fails; the row is removed again.
    run.pick(numbered("3"));
    run.attempt_ends(failed());
    run.budget_is(budget());
    run.tell(&Input::Inserted { seq: run.seq() });
    run.pick(numbered("2"));
    assert_eq!(run.attempt().task.task, numbered("2").task);
}

/// The agent ticked another row and its attempt was cut off; then a person made this choice about
/// its task.
fn resumed_with_a_claim(what: ChoiceKind) -> Run {
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    let claim = Claim {
        task: task("1.2"),
        verify: vec![],
        is_red: false,
    };
    let left = AttemptReport {
        class: AttemptClass::Interrupted,
        plan: PlanChanges {
            claims: vec![claim],
            ..PlanChanges::default()
        },
        ..AttemptReport::default()
    };
    run.tell(&Input::Resume(Resumption {
        choices: vec![choice(1, "1.1", what)],
        interrupted: Some(Box::new(left)),
        ..Resumption::default()
    }));
    run
}

#[test]
fn claims_are_judged_before_a_persons_choice_takes_effect() {
    for what in ChoiceKind::ALL {
        let mut run = resumed_with_a_claim(what);
        let Command::JudgeClaims { claims, .. } = run.command() else {
            panic!("{what}: {:?}", run.command())
        };
        assert_eq!(claims.len(), 1, "{what}");
        run.claims_judged(vec![]);
        assert!(run.is_reading_the_plan(), "{what}: {:?}", run.events());
    }
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
    let waited = Input::Waited {
        seq: run.seq(),
        asleep_ms: 0,
    };
    let decision = decide(&run.state, Timestamp::from_millis(0), &waited);
    let planned = until.since(Timestamp::from_millis(1_000));
    let is_it = |event: &Event| match event {
        Event::WaitEnded { waited_ms, .. } => *waited_ms == planned,
        _ => false,
    };
    assert!(decision.events.iter().any(is_it), "{:?}", decision.events);
}

fn removed_again(id: &str) -> PlanChanges {
    PlanChanges {
        skipped: vec![task(id)],
        ..PlanChanges::default()
    }
}

fn lost_tasks_asked_for(run: &Run) -> Vec<TaskKey> {
    match run.command() {
        Command::ReadPlan(query) => query.lost.iter().cloned().collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_that_a_check_removed_before_a_crash_are_missed_when_the_plan_is_read_next() {
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(signalled());
    run.tell(&Input::Resume(Resumption {
        choices: vec![choice(1, "1.1", ChoiceKind::Done)],
        reviewed: Some(Box::new(removed_again("1.2"))),
        ..Resumption::default()
    }));
    assert_eq!(lost_tasks_asked_for(&run), [task("1.2")]);
}

#[test]
fn only_a_skip_settles_a_row_that_agents_removed() {
    for what in ChoiceKind::ALL {
        let mut run = Run::start(vec![]);
        run.pick(picked("1.1", 0));
        run.attempt_ends(AttemptReport {
            plan: removed_again("1.2"),
            ..signalled()
        });
        run.resume(vec![
            choice(1, "1.1", ChoiceKind::Done),
            choice(2, "1.2", what),
        ]);
        let is_lost = lost_tasks_asked_for(&run) == [task("1.2")];
        assert_eq!(is_lost, what != ChoiceKind::Skip, "{what}");
    }
}
