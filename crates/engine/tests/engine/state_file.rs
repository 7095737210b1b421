//! The contents of the state file.

use regreen_engine::CommitResult;
use regreen_model::{ChoiceKind, PlanStatus, PromptKind, Verdict};

use crate::script::{Run, choice, failed, picked, signalled, task};

/// Finishes a task at the first attempt.
fn done(run: &mut Run, id: &str, index: u32) {
    run.pick(picked(id, index));
    run.attempt_ends(signalled());
    run.finish_task();
}

#[test]
fn the_attempt_that_is_being_made_counts() {
    let mut run = Run::start(vec![]);
    done(&mut run, "1.1", 0);
    run.pick(picked("1.2", 1));
    let file = run.state_file();
    assert_eq!((file.task_index, file.total_tasks), (1, 3));
    assert_eq!((file.task_iteration, file.global_iteration), (1, 2));
    run.attempt_ends(failed());
    let file = run.state_file();
    assert_eq!((file.task_iteration, file.global_iteration), (2, 3));
    assert_eq!(run.attempt().iteration, 2);
}

#[test]
fn a_reminder_is_part_of_the_attempt_before_it() {
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    let mut silent = signalled();
    silent.signalled = false;
    run.attempt_ends(silent);
    run.verified(Verdict::Green);
    assert_eq!(run.attempt().prompt, PromptKind::Reminder);
    assert_eq!((run.attempt().attempt, run.attempt().iteration), (2, 1));
    let file = run.state_file();
    assert_eq!((file.task_iteration, file.global_iteration), (1, 1));
}

#[test]
fn a_run_that_is_stopped_still_points_at_its_task() {
    let mut run = Run::start(vec![]);
    done(&mut run, "1.1", 0);
    run.pick(picked("1.2", 1));
    run.attempt_ends(failed());
    run.attempt_ends(signalled());
    run.stop();
    let file = run.state_file();
    assert_eq!((file.task_index, file.task_iteration), (1, 2));
    assert_eq!(file.global_iteration, 3);
}

#[test]
fn when_nothing_is_left_it_points_behind_the_last_task() {
    let mut run = Run::start(vec![]);
    done(&mut run, "1.3", 2);
    run.nothing_left(4, 0);
    let file = run.state_file();
    assert_eq!((file.task_index, file.total_tasks), (4, 4));
}

#[test]
fn when_something_was_left_out_it_points_at_that() {
    let mut run = Run::start(vec![]);
    done(&mut run, "1.3", 2);
    run.read(PlanStatus {
        total: 4,
        open_besides: 2,
        first_open: Some(1),
        ..PlanStatus::default()
    });
    let file = run.state_file();
    assert_eq!((file.task_index, file.total_tasks), (1, 4));
}

#[test]
fn the_limit_stays_as_it_was_asked_for() {
    let mut run = Run::start(vec![]);
    let mut long = picked("1.1", 0);
    long.total = 80;
    run.pick(long);
    assert_eq!(run.state.iteration_limit(), 160);
    assert_eq!(run.state_file().max_global_iterations, 100);
}

#[test]
fn results_are_those_of_now() {
    let mut run = Run::start(vec![]);
    done(&mut run, "1.1", 0);
    let result = |run: &Run, id: &str| run.state_file().results.get(&task(id).id).copied();
    assert_eq!(result(&run, "1.1"), Some(true));
    run.pick(picked("1.2", 1));
    run.attempt_ends(failed());
    assert_eq!(result(&run, "1.2"), Some(false));
    assert_eq!(result(&run, "1.1"), Some(true));
    run.attempt_ends(signalled());
    run.verified(Verdict::Green);
    run.ticked();
    run.committed(CommitResult::Nothing);
    run.recorded();
    assert_eq!(result(&run, "1.2"), Some(true));
    // A person unticked it.
    run.pick(picked("1.1", 0));
    assert_eq!(result(&run, "1.1"), None);
}

#[test]
fn a_choice_about_another_task_shows_at_once() {
    let mut run = Run::start(vec![]);
    done(&mut run, "1.1", 0);
    run.pick(picked("1.2", 1));
    run.resume(vec![choice(1, "1.1", ChoiceKind::Retry)]);
    assert_eq!(run.attempt().task.task, task("1.2"));
    assert!(run.state_file().results.is_empty());
}
