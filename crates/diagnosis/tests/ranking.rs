//! Choosing the cause among many lines that look like one.

use regreen_diagnosis::{evidence_of, rank, scan};
use regreen_model::{
    Ending, Evidence, Failure, FailureCategory, FailureKind, Source, VerifyResult,
};

fn evidence(text: &str, ending: Ending) -> Evidence {
    evidence_of(
        scan(text.as_bytes(), Source::Command),
        Source::Command,
        None,
        ending,
    )
}

fn exit(code: i32) -> Ending {
    Ending {
        exit_code: Some(code),
        ..Ending::default()
    }
}

fn failure(text: &str, code: i32) -> Failure {
    let failure = rank(&evidence(text, exit(code)));
    assert!(failure.is_some(), "no failure in {text}");
    failure.unwrap_or_else(|| unreachable!("asserted above"))
}

fn check(text: &str, code: i32, kind: FailureKind, line: usize) {
    let failure = failure(text, code);
    assert_eq!(
        (failure.kind, failure.line),
        (kind, Some(line)),
        "{text}\n{failure:?}"
    );
}

#[test]
fn of_chained_exceptions_the_first_is_the_cause() {
    let text = "Traceback (most recent call last):\n  File \"a.py\", line 2, in a\nKeyError: 'rate'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"a.py\", line 9, in b\nRuntimeError: report failed\n";
    check(text, 1, FailureKind::RuntimeException, 3);
}

#[test]
fn the_innermost_caused_by_beats_the_exception_around_it() {
    let text = "Exception in thread \"main\" java.lang.RuntimeException: start failed\n\tat A.main(A.java:3)\nCaused by: java.lang.IllegalStateException: no pool\n\tat B.f(B.java:7)\nCaused by: java.net.ConnectException: Connection refused\n\tat C.g(C.java:1)\n";
    check(text, 1, FailureKind::ConnectionRefused, 5);
}

#[test]
fn the_first_compile_error_beats_those_that_follow() {
    let text = "a.c:3:5: error: unknown type name ‘strng’\na.c:9:1: error: ‘x’ undeclared\nmake: *** [Makefile:2: a.o] Error 1\nbash: ./a: No such file or directory\n";
    check(text, 2, FailureKind::CompileError, 1);
}

#[test]
fn a_line_that_announces_another_is_not_the_cause() {
    let text = "go: errors parsing go.mod:\ngo.mod requires go >= 1.99 (running go 1.22.1; GOTOOLCHAIN=local)\n";
    check(text, 1, FailureKind::WrongToolVersion, 2);
    let text = "error: Your local changes to the following files would be overwritten by checkout:\n\ta\nPlease commit your changes or stash them before you switch branches.\nAborting\n";
    check(text, 1, FailureKind::GitDirtyTree, 1);
}

#[test]
fn a_warning_that_looks_like_an_error_is_not_the_cause() {
    let text = "warning: no such file or directory: old.cfg (ignored for now)\nTraceback (most recent call last):\n  File \"a.py\", line 2, in <module>\nZeroDivisionError: division by zero\n";
    check(text, 1, FailureKind::RuntimeException, 4);
}

#[test]
fn expected_errors_in_passing_tests_are_not_the_cause() {
    let text = "✓ reports 'command not found'\nok 2 - connection refused is shown\nbash: line 9: helm: command not found\n";
    check(text, 127, FailureKind::MissingCommand, 3);
}

#[test]
fn a_missing_package_may_hide_an_outage() {
    let text = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(': Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/rich/\nERROR: Could not find a version that satisfies the requirement rich (from versions: none)\nERROR: No matching distribution found for rich\n";
    check(text, 1, FailureKind::DnsFailure, 1);
}

#[test]
fn errors_logged_before_an_assertion_do_not_explain_it() {
    let text = "F\n=================================== FAILURES ===================================\n>       assert ok\nE       AssertionError: expected 201 got 404\nERROR    root:a.py:3 retrying: Connection refused\nFAILED a.py::test_a - AssertionError: expected 201 got 404\n1 failed in 0.06s\n";
    check(text, 1, FailureKind::TestFailure, 4);
}

#[test]
fn output_of_a_tested_program_does_not_explain_its_test() {
    let text = "F\n=================================== FAILURES ===================================\n>       assert total == 1\nE       assert 0 == 1\n----------------------------- Captured stdout call -----------------------------\nerror: disk full\n=========================== short test summary info ============================\nFAILED a.py::test_a - assert 0 == 1\n1 failed in 0.06s\n";
    check(text, 1, FailureKind::TestFailure, 4);
}

#[test]
fn a_masked_exit_code_does_not_hide_a_failed_test() {
    assert_eq!(
        failure("1 failed, 3 passed in 0.1s\n", 0).category,
        FailureCategory::Partial
    );
    assert_eq!(rank(&evidence("4 passed in 0.1s\n", exit(0))), None);
}

#[test]
fn a_handled_error_is_not_a_failure() {
    let text = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nModuleNotFoundError: No module named 'orjson'\nfalling back to json\n";
    assert_eq!(rank(&evidence(text, exit(0))), None);
    assert_eq!(failure(text, 1).kind, FailureKind::MissingPythonModule);
}

#[test]
fn a_printed_count_is_not_a_failure() {
    assert_eq!(rank(&evidence("0\n", exit(1))), None);
    assert!(rank(&evidence("0\n", exit(2))).is_some());
}

#[test]
fn a_kill_without_a_message_is_a_crash_of_unknown_cause() {
    assert_eq!(
        failure("building index\n", 137).kind,
        FailureKind::CrashedBySignal
    );
    assert_eq!(
        failure("building index\nOut of memory\n", 137).kind,
        FailureKind::OutOfMemory
    );
    assert_eq!(failure("", 139).kind, FailureKind::CrashedBySignal);
    assert_eq!(failure("", 139).blocked_on, None);
}

#[test]
fn a_kill_after_a_term_is_a_runners_limit() {
    let failure = failure("Terminated\n", 137);
    assert_eq!(failure.kind, FailureKind::TimeoutNoProgress);
    assert_eq!(failure.blocked_on, None);
}

#[test]
fn steps_that_are_done_make_it_partial() {
    let text = "[1/3] schema … done\n[2/3] pack … done\n[3/3] upload\nbash: line 1: s3cp: command not found\n";
    assert_eq!(failure(text, 127).category, FailureCategory::Partial);
}

#[test]
fn a_failed_verify_explains_an_attempt_that_reports_no_failure() {
    let attempt = Evidence {
        source: Source::Agent,
        final_message: Some("Added the parser.\nTASK_COMPLETE".to_owned()),
        ending: exit(0),
        files_changed: vec!["src/parser.rs".to_owned()],
        verify: Some(Box::new(VerifyResult {
            passed: false,
            evidence: evidence(
                "error[E0425]: cannot find value `x` in this scope\n",
                exit(101),
            ),
        })),
        ..Evidence::default()
    };
    let failure = rank(&attempt).unwrap();
    assert_eq!(failure.kind, FailureKind::CompileError);
    assert_eq!(failure.category, FailureCategory::Partial);
    assert_eq!(failure.files_modified, ["src/parser.rs"]);
}

#[test]
fn the_same_blocker_has_the_same_fingerprint_wherever_it_occurs() {
    let one = failure(
        "2026-01-02 03:04:05 /tmp/a1/x.py:3: ModuleNotFoundError: No module named 'yaml'\n",
        1,
    );
    let other = failure(
        "2026-02-03 04:05:06 /srv/b/x.py:41: ModuleNotFoundError: No module named 'yaml'\n",
        1,
    );
    let another = failure(
        "2026-02-03 04:05:06 /srv/b/x.py:41: ModuleNotFoundError: No module named 'toml'\n",
        1,
    );
    assert_eq!(one.fingerprint, other.fingerprint);
    assert_ne!(one.fingerprint, another.fingerprint);
}
