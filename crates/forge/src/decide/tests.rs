use std::collections::BTreeMap;

use regreen_model::Confidence;

use super::*;
use crate::check::{Check, CheckSource, CheckState};

fn failure(kind: FailureKind, line: &str) -> Failure {
    Failure {
        category: kind.category(),
        kind,
        message: line.to_owned(),
        blocked_on: Some(line.to_owned()),
        line: Some(1),
        retryable: true,
        retry_mode: kind.retry_mode(),
        completed_steps: Vec::new(),
        files_modified: Vec::new(),
        tool_usage: BTreeMap::new(),
        last_successful_tool: None,
        suggested_actions: Vec::new(),
        repair: None,
        rule: "test".to_owned(),
        confidence: Confidence::percent(90),
        fingerprint: "f".to_owned(),
    }
}

fn red(word: &str, failure: Option<Failure>) -> RedCheck {
    let conclusion = Conclusion::read(word);
    RedCheck {
        red: Red {
            check: Check {
                name: "test".to_owned(),
                source: CheckSource::Job { id: 1, suite: 1 },
                state: CheckState::Ended(conclusion.clone()),
                summary: String::new(),
                url: String::new(),
            },
            conclusion,
        },
        failure,
        is_broken_on_base: false,
        is_flaky: false,
        reruns: 0,
        fixes: 0,
    }
}

fn respond(red: &RedCheck) -> Response {
    response(red, &Limits::default())
}

const FAILED: FailureKind = FailureKind::TestFailure;

#[test]
fn each_cause_has_its_response() {
    let because = |kind, line| respond(&red("failure", Some(failure(kind, line))));
    let asks = Response::Ask(AskReason::Permission);
    for (kind, line, expected) in [
        (FAILED, "expected 1, got 2", Response::Fix),
        (
            FailureKind::DnsFailure,
            "getaddrinfo EAI_AGAIN",
            Response::Rerun,
        ),
        (
            FailureKind::DiskFull,
            "No space left on device",
            Response::Rerun,
        ),
        (
            FailureKind::RuntimeException,
            "The runner has received a shutdown signal. This can happen",
            Response::Rerun,
        ),
        (
            FailureKind::PermissionDenied,
            "Resource not accessible by integration",
            asks,
        ),
        (FailureKind::AuthFailed, "401 Unauthorized", asks),
        (
            FailureKind::RuntimeException,
            "Error: Input required and not supplied: token",
            asks,
        ),
        (FailureKind::MissingEnvVar, "DEPLOY_TOKEN is not set", asks),
        (
            FailureKind::MissingEnvVar,
            "DATABASE_URL is not set",
            Response::Fix,
        ),
    ] {
        assert_eq!(because(kind, line), expected, "{line}");
    }
}

#[test]
fn a_check_that_was_ended_from_outside_runs_again_at_most_twice() {
    for word in ["cancelled", "stale", "timed_out"] {
        let mut ended = red(word, None);
        for reruns in 0..2 {
            ended.reruns = reruns;
            assert_eq!(respond(&ended), Response::Rerun, "{word}");
        }
        ended.reruns = 2;
        let asks = Response::Ask(AskReason::StillInfrastructure);
        assert_eq!(respond(&ended), asks, "{word}");
    }
}

#[test]
fn a_cancelled_check_is_not_fixed_whatever_its_log_says() {
    let cancelled = red("cancelled", Some(failure(FAILED, "expected 1, got 2")));
    assert_eq!(respond(&cancelled), Response::Rerun);
}

#[test]
fn what_flickered_before_runs_again_and_is_then_fixed() {
    let mut flaky = RedCheck {
        is_flaky: true,
        ..red("failure", Some(failure(FAILED, "expected 1, got 2")))
    };
    assert_eq!(respond(&flaky), Response::Rerun);
    flaky.reruns = 2;
    assert_eq!(respond(&flaky), Response::Fix);
}

#[test]
fn a_failure_of_the_base_branch_is_not_fixed_here() {
    let broken = RedCheck {
        is_broken_on_base: true,
        ..red("failure", Some(failure(FAILED, "expected 1, got 2")))
    };
    assert_eq!(respond(&broken), Response::Ask(AskReason::BaseBroken));
}

#[test]
fn a_check_without_log_or_summary_is_a_persons() {
    let mut silent = red("failure", None);
    assert_eq!(respond(&silent), Response::Ask(AskReason::NoEvidence));
    "3 new problems".clone_into(&mut silent.red.check.summary);
    assert_eq!(respond(&silent), Response::Fix);
}

#[test]
fn only_jobs_of_the_code_host_can_run_again() {
    let mut other = red("cancelled", None);
    other.red.check.source = CheckSource::Status;
    let asks = Response::Ask(AskReason::StillInfrastructure);
    assert_eq!(respond(&other), asks);
}

#[test]
fn a_fix_comes_before_a_rerun_and_a_person() {
    let wrong = red("failure", Some(failure(FAILED, "expected 1, got 2")));
    let network = red(
        "failure",
        Some(failure(FailureKind::DnsFailure, "EAI_AGAIN")),
    );
    let secret = red("startup_failure", None);
    let all = [secret.clone(), network.clone(), wrong];
    let limits = Limits::default();
    assert_eq!(decide(&all, 0, &limits), Next::Fix(vec![2]));
    assert_eq!(decide(&all, 10, &limits), Next::OutOfCycles);
    let two = [secret.clone(), network];
    assert_eq!(decide(&two, 0, &limits), Next::Rerun(vec![1]));
    let asked = Next::Ask(vec![(0, AskReason::Permission)]);
    assert_eq!(decide(&[secret], 0, &limits), asked);
}

#[test]
fn one_failure_gets_three_fixes() {
    let mut again = red("failure", Some(failure(FAILED, "expected 1, got 2")));
    again.fixes = 3;
    assert_eq!(respond(&again), Response::Ask(AskReason::FixesDidNotHelp));
}
