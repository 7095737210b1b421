//! Choices that people make outside a run.

use regreen_engine::{Command, CommitResult, Input, Phase, Resumption};
use regreen_model::ChoiceKind::{Done, Retry, Skip};
use regreen_model::{
    AttemptReport, Claim, PlanChanges, PromptKind, TaskKey, Verdict, VerifyCommand,
};

use crate::script::{Run, choice, failed, picked, signalled, task};

fn passed_over(run: &Run) -> Vec<TaskKey> {
    match run.command() {
        Command::ReadPlan(query) => query.passed_over.iter().cloned().collect(),
        other => panic!("the plan is not read: {other:?}"),
    }
}

fn phase_of(run: &Run, id: &str) -> Phase {
    run.state.tasks[&task(id)].phase.clone()
}

/// A run in the middle of the first attempt at 1.1.
fn attempting() -> Run {
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    run
}

#[test]
fn a_skip_from_before_the_run_holds_in_it_until_a_later_choice_ends_it() {
    let run = Run::start(vec![choice(1, "1.1", Skip), choice(4, "1.2", Skip)]);
    assert_eq!(
        run.events(),
        ["run_started", "chosen", "chosen", "plan_asked"]
    );
    assert_eq!(passed_over(&run), [task("1.1"), task("1.2")]);
    for what in [Done, Retry] {
        let run = Run::start(vec![choice(1, "1.1", Skip), choice(2, "1.1", what)]);
        assert_eq!(passed_over(&run), []);
        assert_eq!(run.state.choices_seen, 2);
    }
}

#[test]
fn a_resumed_run_receives_new_choices_only() {
    let mut run = Run::start(vec![choice(3, "1.2", Skip)]);
    run.pick(picked("1.1", 0));
    let choices = vec![choice(3, "1.2", Skip), choice(5, "1.2", Retry)];
    run.resume(choices.clone());
    assert_eq!(run.events()[..2], ["run_resumed", "chosen"]);
    assert_eq!(run.state.skipped.len(), 0);
    run.resume(choices);
    assert!(!run.events().contains(&"chosen".to_owned()));
}

#[test]
fn a_task_that_is_left_alone_while_it_is_attempted_ends_with_that_attempt() {
    for what in [Skip, Done] {
        let mut run = attempting();
        run.resume(vec![choice(1, "1.1", what)]);
        assert_eq!(
            run.events(),
            ["run_resumed", "chosen", "attempt_ended", "plan_asked"]
        );
        assert_eq!(phase_of(&run, "1.1"), Phase::Closed);
        assert_eq!(run.state.skipped.contains(&task("1.1")), what == Skip);
        let result = run.state_file().results.get(&task("1.1").id).copied();
        assert_eq!(result, (what == Done).then_some(true));
    }
}

#[test]
fn a_task_tried_again_has_all_its_attempts_but_no_number_twice() {
    let mut run = attempting();
    for _ in 0..4 {
        run.attempt_ends(failed());
    }
    assert_eq!((run.attempt().attempt, run.attempt().iteration), (5, 5));
    run.resume(vec![choice(1, "1.1", Retry)]);
    assert_eq!(
        run.events(),
        ["run_resumed", "chosen", "attempt_ended", "plan_asked"]
    );
    run.pick(picked("1.1", 0));
    for number in 6..=10 {
        assert_eq!(run.attempt().attempt, number);
        assert_eq!(run.attempt().iteration, number - 5);
        run.attempt_ends(failed());
    }
    assert_eq!(run.events().last().map(String::as_str), Some("run_ended"));
}

#[test]
fn the_prompt_of_a_retried_task_names_its_failure_and_its_current_verify_counts() {
    let mut run = attempting();
    run.attempt_ends(failed());
    run.attempt_ends(signalled());
    run.stop();
    run.resume(vec![choice(1, "1.1", Skip), choice(2, "1.1", Retry)]);
    assert!(run.is_reading_the_plan());
    assert_eq!(phase_of(&run, "1.1"), Phase::Open);
    let mut edited = picked("1.1", 0);
    edited.verify = vec![VerifyCommand::always("make check")];
    run.pick(edited.clone());
    assert_eq!(run.attempt().task, edited);
    assert_eq!(run.attempt().attempt, 3);
    assert_eq!(run.attempt().prompt, PromptKind::Retry);
    let previous = run.attempt().previous.as_ref();
    assert_eq!(previous.map(|note| note.error.as_str()), Some("it broke"));
}

#[test]
fn a_task_that_passed_is_saved_completely_even_if_skipped() {
    for what in [Skip, Done] {
        let mut run = attempting();
        run.attempt_ends(signalled());
        run.verified(Verdict::Green);
        run.ticked();
        run.resume(vec![choice(1, "1.1", what)]);
        assert!(matches!(run.command(), Command::Commit(_)), "{what}");
        run.committed(CommitResult::Nothing);
        run.recorded();
        assert_eq!(phase_of(&run, "1.1"), Phase::Closed);
    }
}

#[test]
fn a_box_that_is_to_be_emptied_is_emptied_though_the_task_is_skipped() {
    let mut run = attempting();
    run.commit_is_refused();
    run.resume(vec![choice(1, "1.1", Skip)]);
    assert!(matches!(run.command(), Command::Tick { done: false, .. }));
    run.ticked();
    assert_eq!(run.events(), ["task_failed", "plan_asked"]);
    assert_eq!(passed_over(&run), [task("1.1")]);
}

#[test]
fn a_task_that_passed_is_retried_if_a_person_asks_before_it_is_saved() {
    let mut run = attempting();
    run.attempt_ends(signalled());
    run.verified(Verdict::Green);
    run.ticked();
    run.resume(vec![choice(1, "1.1", Retry)]);
    assert!(run.is_reading_the_plan());
    run.pick(picked("1.1", 0));
    assert_eq!(run.attempt().attempt, 2);
    assert_eq!(run.attempt().prompt, PromptKind::First);
}

#[test]
fn the_next_prompt_has_the_output_of_a_failed_hook() {
    let mut run = attempting();
    run.commit_is_refused();
    run.resume(vec![choice(1, "1.1", Retry)]);
    assert!(matches!(run.command(), Command::Tick { done: false, .. }));
    run.ticked();
    assert_eq!(run.events(), ["task_failed", "plan_asked"]);
    run.pick(picked("1.1", 0));
    let previous = run.attempt().previous.as_ref();
    assert_eq!(previous.map(|note| note.error.as_str()), Some("lint: no"));
    assert_eq!(run.attempt().iteration, 1);
}

#[test]
fn a_box_is_not_emptied_once_a_person_has_called_the_task_done() {
    let mut run = attempting();
    run.commit_is_refused();
    run.resume(vec![choice(1, "1.1", Done)]);
    assert!(run.is_reading_the_plan());

    let mut run = attempting();
    run.attempt_ends(signalled());
    run.verified(Verdict::Green);
    run.ticked();
    run.resume(vec![choice(1, "1.1", Done)]);
    run.committed(CommitResult::HookFailed {
        output: "lint: no".to_owned(),
    });
    assert_eq!(run.events(), ["commit_refused", "warned", "record_asked"]);
}

#[test]
fn rows_an_agent_ticked_are_judged_unless_a_person_has_decided() {
    let claim = |id| Claim {
        task: task(id),
        verify: vec![],
        is_red: false,
    };
    let report = AttemptReport {
        plan: PlanChanges {
            claims: vec![claim("1.2"), claim("1.3")],
            ..PlanChanges::default()
        },
        ..signalled()
    };
    for what in [Done, Retry] {
        let mut run = attempting();
        run.attempt_ends(report.clone());
        run.resume(vec![choice(1, "1.2", what), choice(2, "1.1", Skip)]);
        let Command::JudgeClaims { claims, .. } = run.command() else {
            panic!("{:?}", run.command())
        };
        assert_eq!(*claims, [claim("1.3")]);
        run.claims_judged(vec![task("1.3")]);
        assert_eq!(run.events(), ["claims_judged", "task_done", "plan_asked"]);
        assert_eq!(phase_of(&run, "1.1"), Phase::Closed);
    }
}

#[test]
fn journals_from_before_there_were_choices_can_still_be_read() {
    let resume: Result<Input, _> = serde_json::from_str(r#"{"input":"resume"}"#);
    assert_eq!(resume.ok(), Some(Input::Resume(Resumption::default())));
    let run = Run::start(vec![]);
    let mut config = serde_json::to_value(&run.state.config).unwrap_or_default();
    config["spec"] = "login".into();
    let start = serde_json::json!({"input": "start", "run": "r", "config": config});
    let start: Result<Input, _> = serde_json::from_value(start);
    assert!(
        matches!(&start, Ok(Input::Start { choices, .. }) if choices.is_empty()),
        "{start:?}"
    );
}
