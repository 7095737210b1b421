//! What earlier failures show is asked for once, and decides about repairs and what people are told.

use regreen_engine::{AttemptOrder, Command, Input};
use regreen_model::{Advice, Experience, Inspection, PickedTask, PlannedRepair, RunConfig};

use crate::repairing::{fails_with, healing, install, no_fixes_yet};
use crate::script::{Run, failed, picked, task};

fn recalling() -> RunConfig {
    RunConfig {
        recall: true,
        ..healing()
    }
}

fn yaml() -> PlannedRepair {
    install("PyYAML")
}

fn helped() -> Experience {
    let advice = Advice {
        response: yaml().action.response(),
        helped: 2,
        tried: 2,
        workspaces: 2,
        ..Advice::default()
    };
    Experience {
        advice: vec![advice],
        ..Experience::default()
    }
}

fn useless() -> Experience {
    Experience {
        failures: 7,
        workspaces: 3,
        useless: vec![yaml().action.response()],
        nothing_helped: true,
        ..Experience::default()
    }
}

/// A run whose task has failed for lack of a package.
fn failed_once(config: RunConfig) -> Run {
    let mut run = Run::start_with(config, vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(fails_with(
        "missing_python_module",
        "tool_error",
        "after_repair",
    ));
    run
}

fn recalled(run: &mut Run, experience: Option<Experience>) {
    let (seq, experience) = (run.seq(), experience.map(Box::new));
    run.tell(&Input::Recalled { seq, experience });
}

fn allow_the_repair(run: &mut Run) {
    let (seq, inspection) = (run.seq(), Inspection::Allowed(yaml()));
    run.tell(&Input::RepairInspected { seq, inspection });
}

fn is_planned_as_repair(run: &Run) -> bool {
    !run.last_event("budget_asked")["repair"].is_null()
}

fn advice(order: &AttemptOrder) -> usize {
    let known = order.experience.as_ref();
    known.map_or(0, |known| known.advice.len())
}

#[test]
fn a_failure_is_looked_up_once_and_again_only_after_an_interruption() {
    let mut run = failed_once(recalling());
    assert!(matches!(run.command(), Command::Recall(order) if order.task == task("1.1")));
    run.resume(vec![]);
    assert!(matches!(run.command(), Command::Recall(_)));
    recalled(&mut run, Some(helped()));
    assert!(matches!(run.command(), Command::InspectRepair(_)));
    run.resume(vec![]);
    assert!(matches!(run.command(), Command::InspectRepair(_)));
}

#[test]
fn nothing_is_looked_up_if_recall_is_off_or_the_run_is_older() {
    let off = RunConfig {
        recall: false,
        ..recalling()
    };
    assert!(matches!(
        failed_once(off).command(),
        Command::InspectRepair(_)
    ));
}

#[test]
fn advice_reaches_the_retry_prompt_and_is_forgotten_with_the_next_failure() {
    let config = RunConfig {
        recovery: false,
        ..recalling()
    };
    let mut run = failed_once(config);
    recalled(&mut run, Some(helped()));
    assert_eq!(advice(run.attempt()), 1);
    run.attempt_ends(failed());
    recalled(&mut run, None);
    assert_eq!(advice(run.attempt()), 0);
}

#[test]
fn advice_reaches_the_prompt_of_the_fix() {
    let mut run = failed_once(recalling());
    recalled(&mut run, Some(helped()));
    let (seq, inspection) = (run.seq(), Inspection::Nothing);
    run.tell(&Input::RepairInspected { seq, inspection });
    run.budget_is(no_fixes_yet());
    let seq = run.seq();
    run.tell(&Input::Inserted { seq });
    run.pick(PickedTask {
        root: task("1.1"),
        ..picked("1.1.1", 1)
    });
    assert_eq!(advice(run.attempt()), 1);
}

#[test]
fn a_repair_is_made_unless_it_never_helped() {
    for (experience, is_made) in [
        (None, true),
        (Some(helped()), true),
        (Some(useless()), false),
    ] {
        let mut run = failed_once(recalling());
        recalled(&mut run, experience);
        allow_the_repair(&mut run);
        assert!(matches!(run.command(), Command::ReadBudget { .. }));
        assert_eq!(is_planned_as_repair(&run), is_made);
    }
}

#[test]
fn a_person_is_told_that_nothing_helped() {
    let mut run = Run::start_with(recalling(), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(fails_with(
        "contradictory_requirements",
        "invalid_task",
        "after_human",
    ));
    recalled(&mut run, Some(useless()));
    let why = run.last_event("person_asked")["why"].clone();
    assert_eq!(
        why,
        "it cannot be done as written; this has failed 7 times in 3 repositories, and nothing helped"
    );
}

#[test]
fn the_fix_budget_comes_with_what_was_recalled() {
    let run = failed_once(recalling());
    let seq = run.seq();
    let experience = None;
    let answer = Input::Recalled { seq, experience };
    assert_eq!(run.state.may_get_fix(&answer), Some(&task("1.1")));
    let mut run = Run::start_with(recalling(), vec![]);
    run.pick(picked("1.1", 0));
    let (seq, report) = (run.seq(), Box::new(failed()));
    assert_eq!(
        run.state.may_get_fix(&Input::AttemptEnded { seq, report }),
        None
    );
}
