//! What people decide at other terminals while the run is at work.

use regreen_engine::{Command, Input};
use regreen_model::ChoiceKind::{Retry, Skip};
use regreen_model::{AgentIdentity, PersonAnswer, PersonChoice, RunConfig, RunOutcome};

use crate::script::{Run, choice, failed, picked, signalled, task};

fn keeps_going() -> RunConfig {
    RunConfig {
        agent: AgentIdentity::new("shell", None),
        recovery: true,
        keep_going: true,
        ..RunConfig::default()
    }
}

/// A run that has set 1.1 aside and works on 1.2.
fn parked_with(config: RunConfig) -> Run {
    let mut run = Run::start_with(config, vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(failed());
    run.pick(picked("1.2", 1));
    run
}

fn parked() -> Run {
    parked_with(keeps_going())
}

fn decide(run: &mut Run, choices: Vec<PersonChoice>, answered: &[&str]) {
    let answered = answered.iter().map(|id| task(id)).collect();
    run.tell(&Input::Decided { choices, answered });
}

/// The tasks that the pending command doesn't pick.
fn passed_over(run: &Run) -> Vec<String> {
    match run.command() {
        Command::ReadPlan(query) => {
            let passed_over = query.passed_over.iter();
            passed_over.map(|task| task.id.to_string()).collect()
        }
        other => panic!("the plan is not read: {other:?}"),
    }
}

#[test]
fn an_answered_task_is_asked_about_when_it_is_next_and_no_longer_set_aside() {
    let mut run = parked();
    decide(&mut run, vec![], &["1.1"]);
    // The task in progress goes on.
    assert_eq!(run.events(), ["answer_given"]);
    assert_eq!(run.commands().count(), 0);
    run.attempt_ends(signalled());
    run.finish_task();
    assert_eq!(passed_over(&run), [""; 0]);
    run.pick(picked("1.1", 0));
    assert_eq!(run.events(), ["task_picked", "person_asked"]);
    assert!(matches!(run.command(), Command::AskPerson(_)));
    let answer = Input::PersonAnswered {
        seq: run.seq(),
        answer: PersonAnswer::Edit,
        choice: Some(choice(1, "1.1", Retry)),
    };
    run.tell(&answer);
    run.pick(picked("1.1", 0));
    assert_eq!(run.attempt().task.task, task("1.1"));
}

#[test]
fn an_answer_that_is_for_another_question_sets_the_task_aside_again() {
    let mut run = parked();
    decide(&mut run, vec![], &["1.1"]);
    run.attempt_ends(signalled());
    run.finish_task();
    run.pick(picked("1.1", 0));
    run.tell(&Input::PersonAnswered {
        seq: run.seq(),
        answer: PersonAnswer::Stop,
        choice: None,
    });
    assert_eq!(
        run.events(),
        ["person_answered", "task_parked", "plan_asked"]
    );
    assert_eq!(passed_over(&run), ["1.1"]);
    assert_eq!(run.state.outcome, None);
}

#[test]
fn a_plan_that_is_to_be_read_is_read_with_the_answered_task() {
    let mut run = parked();
    run.attempt_ends(signalled());
    run.finish_task();
    let late = run.seq();
    assert_eq!(passed_over(&run), ["1.1"]);
    decide(&mut run, vec![], &["1.1"]);
    assert_eq!(run.events(), ["answer_given", "plan_asked"]);
    assert_eq!(passed_over(&run), [""; 0]);
    assert!(!run.state.awaits(late));
}

#[test]
fn a_skipped_task_is_left_before_its_next_attempt_begins() {
    let mut run = parked();
    let attempts = run.state.iterations;
    decide(&mut run, vec![choice(1, "1.2", Skip)], &[]);
    assert_eq!(run.events(), ["chosen", "attempt_ended", "plan_asked"]);
    assert_eq!(passed_over(&run), ["1.1", "1.2"]);
    assert_eq!(run.state.iterations, attempts);
}

#[test]
fn a_choice_makes_the_pending_check_of_its_task_moot() {
    let mut run = parked();
    run.attempt_ends(signalled());
    let verify = run.seq();
    decide(&mut run, vec![choice(1, "1.2", Skip)], &[]);
    assert_eq!(run.events(), ["chosen", "plan_asked"]);
    assert!(!run.state.awaits(verify));
}

#[test]
fn a_choice_about_another_task_lets_the_pending_command_go_on() {
    let mut run = parked();
    run.attempt_ends(signalled());
    let verify = run.seq();
    decide(&mut run, vec![choice(1, "1.1", Retry)], &[]);
    assert_eq!(run.events(), ["chosen"]);
    assert!(run.state.awaits(verify));
    run.finish_task();
    assert_eq!(passed_over(&run), [""; 0]);
}

#[test]
fn a_decision_counts_once() {
    let mut run = parked();
    for events in [vec!["chosen", "attempt_ended", "plan_asked"], vec![]] {
        decide(&mut run, vec![choice(1, "1.2", Skip)], &[]);
        assert_eq!(run.events(), events);
    }
    decide(&mut run, vec![], &["1.2"]);
    assert_eq!(run.events(), [""; 0]);
}

fn waits_a_second() -> Run {
    let mut run = parked_with(RunConfig {
        answer_wait_ms: Some(1_000),
        ..keeps_going()
    });
    run.attempt_ends(signalled());
    run.finish_task();
    run.nothing_left(3, 1);
    run
}

#[test]
fn a_run_with_only_questions_left_waits_for_an_answer() {
    let mut run = waits_a_second();
    assert_eq!(run.events(), ["answers_awaited"]);
    assert_eq!(run.last_event("answers_awaited")["tasks"][0]["id"], "1.1");
    assert!(matches!(run.command(), Command::AwaitAnswers { .. }));
    let seq = run.seq();
    decide(&mut run, vec![], &["1.1"]);
    assert!(run.is_reading_the_plan());
    run.tell(&Input::Awaited { seq });
    assert_eq!(run.events(), [""; 0]);
}

#[test]
fn it_waits_only_so_long_however_often_it_looks_at_the_plan() {
    let mut run = waits_a_second();
    for (now, outcome) in [(1_500, None), (1_900, None), (2_000, Some(()))] {
        let seq = run.seq();
        run.tell_at(now, &Input::Awaited { seq });
        let plan = regreen_model::PlanStatus {
            total: 3,
            open: 1,
            ..regreen_model::PlanStatus::default()
        };
        let seq = run.seq();
        run.tell_at(now, &Input::PlanRead { seq, plan });
        let ended = run.state.outcome.as_ref();
        let needs_person = |outcome: &RunOutcome| {
            assert!(matches!(outcome, RunOutcome::NeedsPerson { .. }));
        };
        assert_eq!(ended.map(needs_person), outcome, "at {now}");
    }
}

#[test]
fn a_run_that_is_resumed_waits_anew() {
    let mut run = waits_a_second();
    run.resume(vec![]);
    run.pick(picked("1.1", 0));
    assert_eq!(
        run.events(),
        ["task_picked", "person_asked", "task_parked", "plan_asked"]
    );
    run.nothing_left(3, 1);
    assert_eq!(run.events(), ["answers_awaited"]);
}
