//! Questions that only a person can decide, and what follows from the answers.

use regreen_engine::{Command, Input, Phase, Question, Resumption};
use regreen_model::ChoiceKind::{Done, Retry, Skip};
use regreen_model::{
    AgentIdentity, AnswerKind, AttemptClass, AttemptReport, Ending, FailureRecord, FixBudget,
    PersonAnswer, PickedTask, PromptKind, RunConfig, RunOutcome, Verdict, VerifyCommand,
};

use crate::script::{Run, choice, diagnosed, failed, picked, signalled, task};

const WHY: &str = "the shell agent runs commands and cannot fix them";

fn shell() -> RunConfig {
    RunConfig {
        agent: AgentIdentity::new("shell", None),
        recovery: true,
        asks: true,
        ..RunConfig::default()
    }
}

/// An agent that makes no progress within its time limit and cannot split the task.
fn stuck(run: &mut Run) {
    let ending = Ending {
        timed_out: true,
        ..Ending::default()
    };
    for _ in 0..2 {
        run.attempt_ends(AttemptReport {
            ending,
            failure: FailureRecord::new("no time"),
            ..AttemptReport::default()
        });
    }
}

fn asked_with(config: RunConfig) -> Run {
    let mut run = Run::start_with(config, vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(failed());
    run
}

/// A run that asks about task 1.1.
fn asked() -> Run {
    asked_with(shell())
}

/// The same, with an agent that reads prompts.
fn asked_about_time() -> Run {
    let config = RunConfig {
        agent: "command:x".to_owned().into(),
        ..shell()
    };
    let mut run = Run::start_with(config, vec![]);
    run.pick(picked("1.1", 0));
    stuck(&mut run);
    run
}

fn question(run: &Run) -> &Question {
    match run.command() {
        Command::AskPerson(question) => question,
        other => panic!("no question is asked: {other:?}"),
    }
}

fn answer(run: &mut Run, answer: PersonAnswer) {
    answer_about(run, "1.1", answer);
}

fn answer_about(run: &mut Run, id: &str, answer: PersonAnswer) {
    let what = answer.choice();
    let choice = what.map(|what| choice(run.state.choices_seen + 1, id, what));
    let seq = run.state.tasks[&task(id)].phase.seq().unwrap_or(0);
    run.tell(&Input::PersonAnswered {
        seq,
        answer,
        choice,
    });
}

fn outcome(run: &Run) -> Option<&RunOutcome> {
    run.state.outcome.as_ref()
}

fn is_open_question(run: &Run) -> bool {
    matches!(run.state.tasks[&task("1.1")].phase, Phase::Asking { .. })
}

#[test]
fn the_question_says_what_failed_and_what_a_person_can_do() {
    let run = asked();
    assert_eq!(run.events()[1..], ["task_failed", "person_asked"]);
    let question = question(&run);
    assert_eq!((&question.task, question.why.as_str()), (&task("1.1"), WHY));
    let error = question.failure.as_ref().map(|note| note.error.as_str());
    assert_eq!(
        (error, question.failed_attempt),
        (Some("it broke"), Some(1))
    );
    assert_eq!((question.iterations, question.max_iterations), (1, 5));
    let commands_do_not_listen = [
        AnswerKind::Edit,
        AnswerKind::Fix,
        AnswerKind::Skip,
        AnswerKind::Stop,
    ];
    assert_eq!(question.choices, commands_do_not_listen);
    assert_eq!(run.state_file().results.get(&task("1.1").id), Some(&false));
    let run = asked_about_time();
    let nothing_to_repair = &AnswerKind::ALL[1..];
    assert_eq!(self::question(&run).choices, nothing_to_repair);
}

#[test]
fn an_edited_task_starts_afresh_as_it_stands_now() {
    let mut run = asked();
    answer(&mut run, PersonAnswer::Edit);
    assert_eq!(run.events(), ["person_answered", "chosen", "plan_asked"]);
    let edited = PickedTask {
        commit: Some("feat: another".to_owned()),
        ..picked("1.1", 0)
    };
    run.pick(edited.clone());
    let order = run.attempt();
    assert_eq!(order.task, edited);
    assert_eq!((order.attempt, order.iteration), (2, 1));
    assert_eq!(order.prompt, PromptKind::Retry);
}

#[test]
fn a_persons_context_is_in_all_later_prompts() {
    let mut run = asked_about_time();
    let said = |text: &str| PersonAnswer::Context {
        text: text.to_owned(),
    };
    answer(&mut run, said("look into src"));
    assert_eq!(run.events(), ["person_answered", "plan_asked"]);
    run.pick(picked("1.1", 0));
    assert_eq!(run.attempt().context, ["look into src"]);
    // The attempts without progress were charged to the requests to split the task.
    assert_eq!(run.attempt().iteration, 1);
    // Another failure gets a fix, which is given the same text.
    run.attempt_ends(failed());
    run.tell(&Input::BudgetRead {
        seq: run.state.next_seq - 1,
        budget: FixBudget {
            last_error: String::new(),
            open_fixes: Vec::new(),
            depth: 0,
            fixes: 0,
            root_fixes: 0,
            root: task("1.1").id,
            fix_ids: vec![],
            next_id: task("1.1.1").id,
        },
    });
    let seq = run.state.next_seq - 1;
    run.tell(&Input::Inserted { seq });
    run.pick(PickedTask {
        root: task("1.1"),
        ..picked("1.1.1", 0)
    });
    assert_eq!(run.attempt().context, ["look into src"]);
    run.attempt_ends(signalled());
    run.finish_task();
    run.pick(picked("1.1", 0));
    stuck(&mut run);
    answer(&mut run, said("and into lib"));
    run.pick(picked("1.1", 0));
    assert_eq!(run.attempt().context, ["look into src", "and into lib"]);
    run.resume(vec![choice(1, "1.1", Skip)]);
    run.pick(picked("1.2", 1));
    assert!(run.attempt().context.is_empty());
}

#[test]
fn a_fix_is_made_if_a_person_wants_one_as_far_as_the_budget_goes() {
    let mut run = asked();
    answer(&mut run, PersonAnswer::Fix);
    assert_eq!(run.events(), ["person_answered", "budget_asked"]);
    assert!(matches!(run.command(), Command::ReadBudget { .. }));
    run.tell(&Input::BudgetRead {
        seq: run.state.next_seq - 1,
        budget: FixBudget {
            last_error: String::new(),
            open_fixes: Vec::new(),
            depth: 0,
            fixes: 3,
            root_fixes: 3,
            root: task("1.1").id,
            fix_ids: vec![],
            next_id: task("1.1.4").id,
        },
    });
    assert!(matches!(outcome(&run), Some(RunOutcome::Limit { .. })));
}

#[test]
fn editing_a_fix_may_edit_the_task_that_it_repairs() {
    let mut run = asked();
    answer(&mut run, PersonAnswer::Fix);
    let seq = run.state.next_seq - 1;
    run.tell(&Input::BudgetRead {
        seq,
        budget: FixBudget {
            last_error: String::new(),
            open_fixes: Vec::new(),
            depth: 0,
            fixes: 0,
            root_fixes: 0,
            root: task("1.1").id,
            fix_ids: vec![],
            next_id: task("1.1.1").id,
        },
    });
    let seq = run.state.next_seq - 1;
    run.tell(&Input::Inserted { seq });
    let fix = PickedTask {
        root: task("1.1"),
        ..picked("1.1.1", 0)
    };
    run.pick(fix.clone());
    run.attempt_ends(failed());
    answer_about(&mut run, "1.1.1", PersonAnswer::Edit);
    run.pick(fix);
    run.attempt_ends(signalled());
    run.finish_task();
    let verify = vec![VerifyCommand::always("make check")];
    let edited = PickedTask {
        verify,
        ..picked("1.1", 0)
    };
    run.pick(edited.clone());
    assert_eq!(run.attempt().task, edited);
    // An edit by the agent changes nothing.
    run.attempt_ends(failed());
    run.resume(vec![]);
    run.pick(picked("1.1", 0));
    assert_eq!(run.state.tasks[&task("1.1")].picked.verify, edited.verify);
}

#[test]
fn a_skipped_task_is_left_out() {
    let mut run = asked();
    answer(&mut run, PersonAnswer::Skip);
    assert_eq!(run.events(), ["person_answered", "chosen", "plan_asked"]);
    assert_eq!(run.state.tasks[&task("1.1")].phase, Phase::Closed);
    run.nothing_left(3, 1);
    assert_eq!(outcome(&run), Some(&RunOutcome::Skipped));
}

#[test]
fn a_question_that_was_not_answered_is_asked_again_by_the_next_run() {
    let mut run = asked();
    answer(&mut run, PersonAnswer::Stop);
    let why = format!("task 1.1: {WHY}; it failed with: it broke");
    assert_eq!(outcome(&run), Some(&RunOutcome::NeedsPerson { why }));
    run.resume(vec![]);
    assert!(run.is_reading_the_plan());
    run.pick(picked("1.1", 0));
    assert_eq!(question(&run).why, WHY);
    assert_eq!(question(&run).iterations, 1);
}

#[test]
fn without_a_terminal_the_run_ends_until_someone_decides() {
    let mut run = asked_with(RunConfig {
        asks: false,
        ..shell()
    });
    assert_eq!(run.events()[2..], ["person_asked", "run_ended"]);
    for _ in 0..2 {
        run.resume(vec![]);
        run.pick(picked("1.1", 0));
        assert_eq!(run.events(), ["task_picked", "person_asked", "run_ended"]);
        assert!(matches!(
            outcome(&run),
            Some(RunOutcome::NeedsPerson { .. })
        ));
    }
    // A later run on a terminal asks the same question.
    run.tell(&Input::Resume(Resumption {
        config: Some(Box::new(shell())),
        ..Resumption::default()
    }));
    run.pick(picked("1.1", 0));
    assert_eq!(question(&run).why, WHY);
}

#[test]
fn a_question_ends_with_a_choice_made_outside_the_run() {
    for what in [Skip, Done, Retry] {
        let mut run = asked();
        run.resume(vec![choice(1, "1.1", what)]);
        assert!(run.is_reading_the_plan());
        assert!(!is_open_question(&run));
    }
    let mut run = asked();
    run.resume(vec![choice(1, "1.1", Retry)]);
    run.pick(picked("1.1", 0));
    assert_eq!(run.attempt().iteration, 1);
}

#[test]
fn after_a_crash_it_is_asked_again_unless_the_task_is_next_no_more() {
    let mut run = asked();
    run.resume(vec![]);
    run.pick(picked("1.1", 0));
    assert_eq!(question(&run).why, WHY);
    run.resume(vec![]);
    run.pick(picked("1.2", 1));
    assert_eq!(run.attempt().task.task, task("1.2"));
}

#[test]
fn interrupting_a_question_stops_the_run_and_it_is_asked_again() {
    let mut run = asked();
    run.stop();
    assert!(matches!(outcome(&run), Some(RunOutcome::Stopped { .. })));
    assert!(is_open_question(&run));
    run.resume(vec![]);
    run.pick(picked("1.1", 0));
    assert_eq!(question(&run).why, WHY);
}

#[test]
fn a_late_or_repeated_answer_changes_nothing() {
    let mut run = asked();
    let seq = run.state.tasks[&task("1.1")].phase.seq().unwrap_or(0);
    let again = Input::PersonAnswered {
        seq,
        answer: PersonAnswer::Fix,
        choice: None,
    };
    answer(&mut run, PersonAnswer::Edit);
    let before = run.state.clone();
    run.tell(&again);
    assert_eq!(run.state, before);
}

#[test]
fn keep_going_leaves_the_question_for_later() {
    let mut run = asked_with(RunConfig {
        keep_going: true,
        ..shell()
    });
    assert_eq!(
        run.events()[2..],
        ["person_asked", "task_parked", "plan_asked"]
    );
    run.pick(picked("1.2", 1));
    // Work in progress comes before open questions.
    run.resume(vec![]);
    assert_eq!(
        run.events(),
        ["run_resumed", "attempt_ended", "attempt_started"]
    );
    assert_eq!(run.attempt().task.task, task("1.2"));
    run.attempt_ends(signalled());
    run.finish_task();
    run.pick(picked("1.1", 0));
    assert_eq!(
        run.events(),
        ["task_picked", "person_asked", "task_parked", "plan_asked"]
    );
    run.nothing_left(3, 1);
    assert!(matches!(
        outcome(&run),
        Some(RunOutcome::NeedsPerson { .. })
    ));
    run.tell(&Input::Resume(Resumption {
        config: Some(Box::new(shell())),
        ..Resumption::default()
    }));
    run.pick(picked("1.1", 0));
    assert_eq!(question(&run).why, WHY);
}

#[test]
fn a_limit_ends_the_run_without_a_question() {
    let mut config = shell();
    config.limits.task_iterations = 1;
    let run = asked_with(config);
    let message = "ERROR: Max retries reached for task 1.1 after 1 attempt".to_owned();
    assert_eq!(outcome(&run), Some(&RunOutcome::Limit { message }));
}

#[test]
fn a_group_has_no_agent_that_could_get_context() {
    let config = RunConfig {
        agent: AgentIdentity::new("shell", None),
        ..shell()
    };
    let mut run = Run::start_with(config, vec![]);
    run.pick(PickedTask {
        is_group: true,
        ..picked("1", 0)
    });
    for _ in 0..2 {
        let error = "no".to_owned();
        run.verified(Verdict::Red { error });
    }
    assert!(!question(&run).choices.contains(&AnswerKind::Context));
    assert_eq!(question(&run).failed_attempt, Some(0));
}

/// An agent that ends its turn with a question.
fn asks() -> AttemptReport {
    AttemptReport {
        failure: FailureRecord {
            diagnosis: Some(Box::new(diagnosed(
                "asked_question",
                "missing_context",
                "after_human",
            ))),
            ..FailureRecord::new("Which one?")
        },
        ..AttemptReport::default()
    }
}

#[test]
fn a_question_is_the_cause_whatever_the_check_says_and_gets_no_fix() {
    for verdict in [
        Verdict::Unverified,
        Verdict::Red {
            error: "grep: no".to_owned(),
        },
    ] {
        let config = RunConfig {
            agent: "command:x".to_owned().into(),
            recovery: true,
            ..RunConfig::default()
        };
        let mut run = Run::start_with(config, vec![]);
        run.pick(picked("1.1", 0));
        run.attempt_ends(asks());
        run.verified(verdict.clone());
        assert_eq!(
            run.last_event("task_failed")["failure"]["error"],
            "Which one?"
        );
        assert_eq!(run.attempt().prompt, PromptKind::Enriched);
        run.attempt_ends(asks());
        run.verified(verdict);
        assert!(
            run.events().contains(&"person_asked".to_owned()),
            "{:?}",
            run.events()
        );
    }
}

#[test]
fn an_agent_that_asks_after_work_that_passes_is_only_reminded() {
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(asks());
    run.verified(Verdict::Green);
    assert_eq!(run.attempt().prompt, PromptKind::Reminder);
}

#[test]
fn what_an_agent_lacks_is_told_again_if_its_service_was_down_but_not_a_second_time() {
    let config = RunConfig {
        agent: "command:x".to_owned().into(),
        recovery: true,
        ..RunConfig::default()
    };
    let mut run = Run::start_with(config, vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(asks());
    run.verified(Verdict::Unverified);
    assert_eq!(run.attempt().prompt, PromptKind::Enriched);
    run.attempt_ends(AttemptReport {
        class: AttemptClass::Transient {
            why: "429".to_owned(),
            until: None,
        },
        ..AttemptReport::default()
    });
    let seq = run.seq();
    run.tell(&Input::Waited { seq, asleep_ms: 0 });
    assert_eq!(run.attempt().prompt, PromptKind::Enriched);
    run.attempt_ends(asks());
    run.verified(Verdict::Unverified);
    assert!(run.events().contains(&"person_asked".to_owned()));
}
