//! Errors that a job survived, above the failure that ended it: the failure is the cause, however
//! few lines lie between them.

use regreen_diagnosis::{Explanation, evidence_of, scan};
use regreen_model::{Ending, FailureKind, Source};

/// What goes wrong, and doesn't end the job.
const SURVIVED: [&str; 6] = [
    "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused\n\
     database is up",
    "curl: (6) Could not resolve host: cdn.test\nusing the cached copy",
    "Traceback (most recent call last):\n  File \"/app/seed.py\", line 31, in main\n    import lxml\n\
     ModuleNotFoundError: No module named 'lxml'\nseed: going on with the standard parser",
    "Error response from daemon: Get \"https://images.test/v2/\": net/http: TLS handshake timeout\n\
     Status: Downloaded newer image for acme/base:1",
    "npm error code EAI_AGAIN\n\
     npm error request to https://packages.test/audit failed, reason: getaddrinfo EAI_AGAIN packages.test",
    "fatal: not a git repository (or any of the parent directories): .git\n0.0.0",
];

/// What ends the job, its kind, and what of it is quoted.
const FATAL: [(&str, FailureKind, &str); 6] = [
    (
        "============================= test session starts ==============================\n\
         collected 2 items\n\n\
         tests/test_price.py .F                                                   [100%]\n\n\
         =================================== FAILURES ===================================\n\
         ________________________________ test_discount _________________________________\n\n\
         \x20   def test_discount():\n\
         >       assert discount(100, 10) == 90\n\
         E       assert 110 == 90\n\n\
         tests/test_price.py:14: AssertionError\n\
         =========================== short test summary info ============================\n\
         FAILED tests/test_price.py::test_discount - assert 110 == 90\n\
         ========================= 1 failed, 1 passed in 0.31s ==========================",
        FailureKind::TestFailure,
        "assert 110 == 90",
    ),
    (
        "PASS src/login.test.ts\nFAIL src/total.test.ts\n  ● Cart › adds shipping\n\n\
         \x20   expect(received).toBe(expected) // Object.is equality\n\n\
         \x20   Expected: 25\n    Received: 20\n\n\
         \x20     at Object.<anonymous> (src/total.test.ts:12:26)\n\n\
         Tests:       1 failed, 3 passed, 4 total",
        FailureKind::TestFailure,
        "Expected: 25 Received: 20",
    ),
    (
        "=== RUN   TestOpen\n--- PASS: TestOpen (0.00s)\n=== RUN   TestTransfer\n\
         \x20   transfer_test.go:41: balance = 70, want 30\n--- FAIL: TestTransfer (0.01s)\nFAIL\n\
         FAIL\texample.test/ledger\t0.042s\nFAIL",
        FailureKind::TestFailure,
        "balance = 70, want 30",
    ),
    (
        "   Compiling shop v0.1.0 (/app)\nerror[E0308]: mismatched types\n  --> src/cart.rs:18:5\n\
         error: could not compile `shop` (lib) due to 1 previous error",
        FailureKind::CompileError,
        "mismatched types",
    ),
    (
        "> Task :app:compileJava\n> Task :app:test FAILED\n\nCartTest > addsShipping() FAILED\n\
         \x20   org.opentest4j.AssertionFailedError: expected: <25> but was: <20>\n\
         \x20       at app//com.acme.CartTest.addsShipping(CartTest.java:22)\n\n\
         31 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.",
        FailureKind::TestFailure,
        "CartTest > addsShipping()",
    ),
    (
        "[INFO] Scanning for projects...\n[INFO] Running com.acme.CartTest\n\
         [ERROR] com.acme.CartTest.addsShipping -- Time elapsed: 0.004 s <<< FAILURE!\n\
         org.opentest4j.AssertionFailedError: expected: <25> but was: <20>\n\
         [ERROR] Tests run: 120, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
        FailureKind::TestFailure,
        "CartTest.addsShipping",
    ),
];

/// The log of a step of GitHub Actions, with timestamps.
fn of_github(output: &str) -> String {
    let log = format!(
        "##[group]Run ./ci.sh\n./ci.sh\nshell: /usr/bin/bash -e {{0}}\n##[endgroup]\n{output}\n\
         ##[error]Process completed with exit code 1.\nPost job cleanup.\n"
    );
    let stamped = log.lines().zip(1..);
    stamped
        .map(|(line, n)| format!("2026-03-04T08:15:00.{n:07}Z {line}\n"))
        .collect()
}

fn explained(log: &str) -> (Option<FailureKind>, String) {
    let output = scan(log.as_bytes(), Source::Command);
    let ending = Ending {
        exit_code: Some(1),
        ..Ending::default()
    };
    let explanation = Explanation::of(&evidence_of(output, Source::Command, None, ending));
    let failure = explanation.failure;
    let kind = failure.as_ref().map(|failure| failure.kind);
    let line = failure.and_then(|failure| failure.blocked_on);
    (kind, line.unwrap_or_default())
}

#[test]
fn an_error_before_the_failing_tool_began_is_not_the_cause() {
    for survived in SURVIVED {
        for (fatal, kind, quoted) in FATAL {
            let output = format!("{survived}\n{fatal}");
            for log in [of_github(&output), output] {
                let (found, line) = explained(&log);
                assert_eq!(found, Some(kind), "{line}\n{log}");
                assert!(line.contains(quoted), "{line}\n{log}");
            }
        }
    }
}

#[test]
fn an_error_that_a_test_itself_reports_stays_the_cause() {
    let log = "=== RUN   TestStore\n    store_test.go:9: dial tcp 127.0.0.1:5432: connect: connection refused\n\
               --- FAIL: TestStore (0.00s)\n=== RUN   TestSum\n    sum_test.go:4: got 1, want 2\n\
               --- FAIL: TestSum (0.00s)\nFAIL\n";
    assert!(explained(log).1.contains("connection refused"));
}
