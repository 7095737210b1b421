//! Where the rules are not sure of a cause, the agent is asked for it, if the user wants that.

use regreen_engine::{Command, Input, OpinionOrder};
use regreen_model::{
    Confidence, DiagnosisAsk, Failure, Limits, PickedTask, RunConfig, Usage, Verdict, VerifyCommand,
};

use crate::script::{Run, diagnosed, picked, signalled, task};

fn asking() -> RunConfig {
    RunConfig {
        agent: "command:x".to_owned().into(),
        diagnosis_ask: DiagnosisAsk::Agent,
        ..RunConfig::default()
    }
}

fn failure(line: &str, percent: u8) -> Failure {
    Failure {
        blocked_on: Some(line.to_owned()),
        line: Some(1),
        confidence: Confidence::percent(percent),
        ..diagnosed("runtime_exception", "tool_error", "after_fix")
    }
}

/// A run whose first attempt claims success, and whose Verify is red for a cause that the rules are
/// so sure of.
fn failed(config: RunConfig, percent: u8) -> Run {
    let mut run = Run::start_with(config, vec![]);
    run.pick(PickedTask {
        verify: vec![VerifyCommand::always("make check")],
        ..picked("1.1", 0)
    });
    run.attempt_ends(signalled());
    // A red Verify is run once more.
    for _ in 0..2 {
        run.tell(&Input::Verified {
            tests: None,
            seq: run.seq(),
            verdict: Verdict::Red {
                error: "Verify failed\nbye".to_owned(),
            },
            diagnosis: Some(Box::new(failure("bye", percent))),
            took_ms: 0,
        });
    }
    run
}

fn question(run: &Run) -> Option<&OpinionOrder> {
    match run.command() {
        Command::AskOpinion(order) => Some(order),
        _ => None,
    }
}

#[test]
fn the_agent_is_asked_once_and_its_answer_reaches_the_next_prompt() {
    let mut run = failed(asking(), 30);
    let asked = question(&run).unwrap();
    assert_eq!((&asked.task, asked.attempt), (&task("1.1"), 1));
    run.tell(&Input::OpinionGiven {
        seq: run.seq(),
        diagnosis: Some(Box::new(failure("no flux", 60))),
        usage: Some(Usage {
            input_tokens: 40,
            ..Usage::default()
        }),
        took_ms: 7,
    });
    let previous = run.attempt().previous.clone().unwrap();
    assert_eq!(
        previous.diagnosis.unwrap().blocked_on.as_deref(),
        Some("no flux")
    );
    assert_eq!(run.state.spent.input_tokens, 40);
}

#[test]
fn an_answer_that_says_nothing_leaves_the_cause_as_it_is() {
    let mut run = failed(asking(), 30);
    run.tell(&Input::OpinionGiven {
        seq: run.seq(),
        diagnosis: None,
        usage: None,
        took_ms: 0,
    });
    let previous = run.attempt().previous.clone().unwrap();
    assert_eq!(
        previous.diagnosis.unwrap().blocked_on.as_deref(),
        Some("bye")
    );
}

#[test]
fn no_one_is_asked_by_default_or_where_the_rules_are_sure_or_of_commands() {
    let off = RunConfig {
        diagnosis_ask: DiagnosisAsk::Off,
        ..asking()
    };
    assert!(question(&failed(off, 30)).is_none());
    assert!(question(&failed(asking(), 40)).is_none());
    let shell = RunConfig {
        agent: "shell".to_owned().into(),
        ..asking()
    };
    assert!(question(&failed(shell, 30)).is_none());
}

#[test]
fn a_question_that_was_cut_off_is_asked_again() {
    let mut run = failed(asking(), 30);
    run.resume(vec![]);
    assert!(question(&run).is_some());
}

#[test]
fn no_one_is_asked_once_a_budget_is_used_up() {
    let config = RunConfig {
        limits: Limits {
            global_iterations: 1,
            ..Limits::default()
        },
        ..asking()
    };
    assert!(question(&failed(config, 30)).is_none());
}

#[test]
fn nothing_is_repaired_because_of_an_opinion() {
    let config = RunConfig {
        recovery: true,
        ..asking()
    };
    let sure = failed(config.clone(), 90);
    assert!(matches!(sure.command(), Command::InspectRepair(_)));
    let mut run = failed(config, 30);
    run.tell(&Input::OpinionGiven {
        seq: run.seq(),
        diagnosis: Some(Box::new(Failure {
            rule: "agent/opinion".to_owned(),
            ..failure("./check.sh: Permission denied", 60)
        })),
        usage: None,
        took_ms: 0,
    });
    assert!(matches!(run.command(), Command::ReadBudget { .. }));
}
