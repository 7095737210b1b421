use regreen_model::{
    AgentQuestion, Ending, OutputKind, ResetTime, RetryMode, Source, TroubleClass,
};

use super::*;
use crate::Scanner;

fn transcript(words: &str, printed: &str) -> Transcript {
    let mut scanner = Scanner::new(Source::Command);
    scanner.feed(printed.as_bytes());
    Transcript {
        own_words: words.to_owned(),
        output: Some(scanner.finish()),
        output_kind: OutputKind::Mixed,
        ..Transcript::default()
    }
}

const EXIT_1: Ending = Ending {
    exit_code: Some(1),
    signal: None,
    timed_out: false,
    limit_ms: None,
    duration_ms: 0,
};

fn kind(words: &str, printed: &str) -> FailureKind {
    let report = AttemptReport {
        ending: EXIT_1,
        ..AttemptReport::default()
    };
    let failure = task_failure(&report, &transcript(words, printed), Vec::new());
    failure.unwrap().kind
}

#[test]
fn output_explains_what_words_do_not() {
    assert_eq!(
        kind(
            "start",
            "start\nModuleNotFoundError: No module named 'yaml'\n"
        ),
        FailureKind::MissingPythonModule
    );
}

#[test]
fn words_that_explain_a_failure_are_believed() {
    assert_eq!(
        kind(
            "TASK_FAILED: 1.1\nError: fatal: not a git repository\n",
            "TypeError: x is not a function\n"
        ),
        FailureKind::GitNotARepo
    );
}

#[track_caller]
fn check_asked(transcript: &Transcript, asked: Option<&str>) {
    let report = AttemptReport {
        unfinished: true,
        ending: Ending {
            signal: Some(15),
            ..Ending::default()
        },
        ..AttemptReport::default()
    };
    let failure = task_failure(&report, transcript, Vec::new());
    let question = failure.filter(|failure| failure.kind == FailureKind::AskedQuestion);
    let found = question.and_then(|question| question.blocked_on);
    assert_eq!(found.as_deref(), asked);
}

fn message(text: &str) -> Transcript {
    Transcript {
        own_words: text.to_owned(),
        final_message: text.to_owned(),
        ..Transcript::default()
    }
}

#[test]
fn an_agent_that_was_ended_because_it_asked_did_not_crash() {
    for permission in [false, true] {
        let text = "Tabs or\nblanks?".to_owned();
        let transcript = Transcript {
            question: Some(AgentQuestion { text, permission }),
            ..Transcript::default()
        };
        check_asked(&transcript, Some("Tabs or blanks?"));
    }
}

#[test]
fn a_message_that_ends_with_a_question_is_one() {
    let asked = "Awaiting your input on the storage engine.";
    let whole = format!("I looked at both of them. {asked}");
    check_asked(&message(&whole), Some(asked));
    let broken = "ModuleNotFoundError: No module named 'yaml'. Should I install it?";
    check_asked(&message(broken), Some("Should I install it?"));
    // A person must decide anyway, so no second attempt is needed.
    check_asked(
        &message("I'm sorry, but I can't help with building a keylogger. Anything safer?"),
        None,
    );
    check_asked(&message("All tests pass. Should I push it?"), None);
    check_asked(&message("The build failed: error: missing semicolon"), None);
}

#[test]
fn a_busy_service_names_how_long_to_wait() {
    let busy = "API Error: 429 rate_limit_error, try again in 2 seconds\n";
    let trouble = agent_trouble(&transcript(busy, busy), EXIT_1).unwrap();
    assert_eq!(trouble.class, TroubleClass::Transient);
    assert_eq!(trouble.resets, Some(ResetTime::After(2000)));
    let logged_out = "Invalid API key · Please run /login\n";
    let trouble = agent_trouble(&transcript("", logged_out), EXIT_1).unwrap();
    assert_eq!(trouble.class, TroubleClass::Fatal);
}

#[test]
fn an_agent_that_succeeds_or_fails_for_another_reason_has_no_service_trouble() {
    let busy = "API Error: 429 rate_limit_error\n";
    let success = Ending {
        exit_code: Some(0),
        ..EXIT_1
    };
    assert_eq!(agent_trouble(&transcript(busy, busy), success), None);
    let refused = "curl: (7) Failed to connect to localhost port 80: Connection refused\n";
    assert_eq!(agent_trouble(&transcript(refused, refused), EXIT_1), None);
}

fn diagnosed_words(words: &str, exit_code: i32) -> AttemptReport {
    let report = AttemptReport {
        ending: Ending {
            exit_code: Some(exit_code),
            ..Ending::default()
        },
        ..AttemptReport::default()
    };
    diagnosed(report, &transcript(words, words), Vec::new())
}

#[test]
fn a_question_is_quoted_and_outranks_verify() {
    let report = diagnosed_words(
        "I read the spec. It isn't stated which database to use. Should the table live in Postgres or in MySQL? Let me know how to proceed.",
        0,
    );
    let found = report.failure.diagnosis.unwrap();
    assert_eq!(found.category, FailureCategory::MissingContext);
    let question = "Should the table live in Postgres or in MySQL?";
    assert_eq!(found.blocked_on.as_deref(), Some(question));
    assert_eq!(
        report.failure.error,
        format!("Task did not complete: {question}")
    );
    assert!(outranks_verify(&found));
}

const CRASHED: &str = "Traceback (most recent call last):\n  File \"/opt/agent/run.py\", line 9, in <module>\n    key = config[\"model\"]\nKeyError: 'model'\n";

#[test]
fn a_crash_of_the_agent_is_not_the_projects_failure() {
    let report = AttemptReport {
        ending: EXIT_1,
        ..AttemptReport::default()
    };
    let report = diagnosed(report, &transcript("start", CRASHED), Vec::new());
    assert_eq!(
        report.failure.error,
        "The agent crashed (exit code 1): KeyError: 'model'"
    );
    let found = report.failure.diagnosis.unwrap();
    assert_eq!(CauseOrigin::of(&found), CauseOrigin::AgentCrash);
    assert_eq!(found.retry_mode, RetryMode::AsIs);
    assert_eq!(found.repair, None);
    assert!(outranks_verify(&found));
}

#[test]
fn a_question_comes_before_a_crash() {
    let report = AttemptReport {
        ending: EXIT_1,
        ..AttemptReport::default()
    };
    let asked = "Which of the two schemas should I migrate, `a.sql` or `b.sql`?";
    let report = diagnosed(report, &transcript(asked, CRASHED), Vec::new());
    assert_eq!(
        report.failure.diagnosis.unwrap().blocked_on.as_deref(),
        Some(asked)
    );
}

#[test]
fn a_crash_by_a_signal_names_it() {
    let report = AttemptReport {
        ending: Ending {
            signal: Some(11),
            ..Ending::default()
        },
        ..AttemptReport::default()
    };
    let report = diagnosed(report, &transcript("start", "start\n"), Vec::new());
    assert_eq!(
        report.failure.error,
        "The agent crashed: the agent was killed by SIGSEGV"
    );
}

#[test]
fn the_blocker_of_a_time_limit_is_the_limit() {
    let report = AttemptReport {
        ending: Ending {
            timed_out: true,
            limit_ms: Some(2000),
            ..Ending::default()
        },
        progressed: true,
        ..AttemptReport::default()
    };
    let report = diagnosed(
        report,
        &transcript("", "Running test suite...\n"),
        Vec::new(),
    );
    let found = report.failure.diagnosis.unwrap();
    assert_eq!(found.blocked_on.as_deref(), Some("Time limit insufficient"));
    assert_eq!(found.line, None);
    assert_eq!(
        found.suggested_actions.last().unwrap(),
        "Find out why this took so long: Running test suite..."
    );
}

#[test]
fn a_time_limit_depends_on_the_observed_progress() {
    for (progressed, kind) in [
        (true, FailureKind::TimeoutWithProgress),
        (false, FailureKind::TimeoutNoProgress),
    ] {
        let report = AttemptReport {
            ending: Ending {
                timed_out: true,
                ..Ending::default()
            },
            progressed,
            unfinished: true,
            ..AttemptReport::default()
        };
        let failure = task_failure(&report, &Transcript::default(), Vec::new());
        assert_eq!(failure.unwrap().kind, kind);
    }
}

#[test]
fn an_answer_without_the_signal_is_named_as_that() {
    let told = |words: &str, code| {
        let report = AttemptReport {
            ending: Ending {
                exit_code: Some(code),
                ..Ending::default()
            },
            ..AttemptReport::default()
        };
        let transcript = Transcript {
            final_message: words.to_owned(),
            ..transcript(words, words)
        };
        diagnosed(report, &transcript, Vec::new()).failure.error
    };
    assert_eq!(
        told("I changed it.\nall done\n", 0),
        "Task did not complete: its answer has no line TASK_COMPLETE (it ends with: all done)"
    );
    assert_eq!(
        told("", 1),
        "Task did not complete: the agent exited with 1 and printed nothing"
    );
}
