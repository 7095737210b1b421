//! A task that a fix was made for is verified before its agent works again.

use regreen_engine::Input;
use regreen_model::{
    Failure, FailureKind, FixBudget, Inspection, PickedTask, RunConfig, Verdict, VerifyCommand,
};

use crate::script::{Run, picked, signalled, task};

fn original() -> PickedTask {
    PickedTask {
        verify: vec![VerifyCommand::always("make check")],
        ..picked("1.1", 0)
    }
}

fn diagnosis(line: &str, rule: &str) -> Failure {
    let failure = serde_json::json!({
        "category": "tool_error", "kind": "runtime_exception", "message": line,
        "blocked_on": line, "line": 1, "retryable": true, "retry_mode": "after_fix",
        "completed_steps": [], "files_modified": [], "tool_usage": {},
        "last_successful_tool": null, "suggested_actions": [], "repair": null,
        "rule": rule, "confidence": 70, "fingerprint": line
    });
    let Ok(failure) = serde_json::from_value(failure) else {
        panic!("not a failure")
    };
    failure
}

fn red(run: &mut Run, line: &str, rule: &str) {
    run.tell(&Input::Verified {
        tests: None,
        seq: run.seq(),
        verdict: Verdict::Red {
            error: format!("Verify failed: `make check` ended with exit code 2\n{line}"),
        },
        diagnosis: Some(Box::new(diagnosis(line, rule))),
        took_ms: 0,
    });
}

/// A run whose task claimed success, was red, and has its first fix done.
fn fixed_once() -> Run {
    let config = RunConfig {
        agent: "command:x".to_owned().into(),
        recovery: true,
        ..RunConfig::default()
    };
    let mut run = Run::start_with(config, vec![]);
    run.pick(original());
    run.attempt_ends(signalled());
    red(&mut run, "first cause", "python/traceback");
    red(&mut run, "first cause", "python/traceback");
    run.tell(&Input::RepairInspected {
        seq: run.seq(),
        inspection: Inspection::Nothing,
    });
    run.budget_is(FixBudget {
        depth: 0,
        fixes: 0,
        root_fixes: 0,
        root: task("1.1").id,
        fix_ids: vec![],
        next_id: task("1.1.1").id,
        last_error: String::new(),
        open_fixes: Vec::new(),
    });
    run.tell(&Input::Inserted { seq: run.seq() });
    run.pick(PickedTask {
        root: task("1.1"),
        ..picked("1.1.1", 0)
    });
    run.attempt_ends(signalled());
    run.finish_task();
    run.pick(original());
    run
}

#[test]
fn the_next_prompt_has_the_cause_that_is_left_after_a_fix() {
    let mut run = fixed_once();
    red(&mut run, "second cause", "python/traceback");
    let previous = run.attempt().previous.clone().unwrap();
    let found = previous.diagnosis.unwrap();
    assert_eq!(found.blocked_on.as_deref(), Some("second cause"));
    assert!(
        previous.error.ends_with("second cause"),
        "{}",
        previous.error
    );
}

#[test]
fn a_check_that_says_nothing_refutes_the_claim_again_after_a_fix() {
    let mut run = fixed_once();
    red(&mut run, "`make check` exited with 2", "exit/code");
    let previous = run.attempt().previous.clone().unwrap();
    let found = previous.diagnosis.unwrap();
    assert_eq!(found.kind, FailureKind::FalseSuccessClaim);
}
