//! `regreen explain`, for any log.

use regreen_test_support::Workspace;
use snapbox::str;

const LOG: &str = "\
collecting ...
Traceback (most recent call last):
  File \"app.py\", line 3, in <module>
    import requests
ModuleNotFoundError: No module named 'requests'
make: *** [Makefile:2: test] Error 1
";

#[test]
fn a_log_is_explained_with_the_line_that_matters() {
    Workspace::new()
        .file("out.log", LOG)
        .regreen(&["explain", "out.log", "--exit-code", "2"])
        .exits(0)
        .prints(str![[r#"
    FAIL  missing Python module · app.py:3
          ModuleNotFoundError: No module named 'requests'
    Next  Install missing dependencies
          Run: pip install requests
          Verify installation: python3 -c 'import requests'
   Retry  after a repair of the environment
  Repair  pip_install requests
 Command  make test
   Where  line 5 of the log
            Traceback (most recent call last):
              File "app.py", line 3, in <module>
                import requests
          > ModuleNotFoundError: No module named 'requests'
            make: *** [Makefile:2: test] Error 1
    Rule  python/missing-module · missing_python_module · 88% sure

"#]]);
}

#[test]
fn scripts_get_the_same_as_json() {
    let answer = Workspace::new()
        .file("out.log", LOG)
        .regreen(&["explain", "out.log", "--json", "--exit-code", "2"])
        .exits(0);
    let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(json["category"], "tool_error");
    assert_eq!(json["kind"], "missing_python_module");
    assert_eq!(json["line"], 5);
    assert_eq!(json["repair"]["action"], "pip_install");
    let keys: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    for key in [
        "category",
        "kind",
        "message",
        "blocked_on",
        "line",
        "retryable",
        "retry_mode",
        "completed_steps",
        "files_modified",
        "suggested_actions",
        "repair",
        "rule",
        "confidence",
        "fingerprint",
        "place",
        "step",
        "others",
        "excerpt",
        "named_by",
    ] {
        assert!(keys.contains(&key), "{key} in {keys:?}");
    }
}

#[test]
fn what_did_not_fail_has_no_category() {
    let answer = Workspace::new()
        .file("ok.log", "3 passed in 0.1s\n")
        .regreen(&["explain", "ok.log", "--json", "--exit-code", "0"])
        .exits(0);
    let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(json["category"], serde_json::Value::Null);
}

#[test]
fn bad_input_is_reported() {
    let test = Workspace::new().file("x.log", "nothing like a report\n");
    test.regreen(&["explain", "no.log"])
        .exits(2)
        .complains(str![[r#"
  × no.log does not exist
  help: check the path

"#]]);
    test.regreen(&["explain", "x.log", "--signal", "NOPE"])
        .exits(2);
    test.regreen(&["explain", "x.log", "--report"]).exits(2);
    assert_eq!(test.text("x.log"), "nothing like a report\n");
}

#[test]
fn secrets_in_a_log_are_not_shown() {
    let key = format!("sk-ant-api03-{}", "a1B2".repeat(12));
    let log = format!(
        "Traceback (most recent call last):\n  File \"app.py\", line 3, in <module>\n    connect('postgres://app:hunter2secret@db.example/x', key='{key}')\nConnectionError: cannot reach https://me:hunter2secret@example.com/?key={key}\n"
    );
    for more in [&["--exit-code", "1"][..], &["--exit-code", "1", "--json"]] {
        let test = Workspace::new().file("out.log", &log);
        let output = test
            .command(&[&["explain", "out.log"], more].concat())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains("ConnectionError"), "{printed}");
        assert!(!printed.contains("hunter2secret"), "{printed}");
        assert!(!printed.contains(&key[..20]), "{printed}");
        if more.contains(&"--json") {
            serde_json::from_str::<serde_json::Value>(&printed).unwrap();
        }
    }
}

#[test]
fn lines_that_a_green_run_prints_too_are_not_the_cause() {
    let test = Workspace::new()
        .file(
            "green.log",
            "09:00:01 error: no cache in /tmp/1\nall is well\n",
        )
        .file(
            "red.log",
            "10:30:07 error: no cache in /tmp/2\nthe books do not balance\nbye\n",
        );
    let answer = test
        .regreen(&[
            "explain",
            "red.log",
            "--baseline",
            "green.log",
            "--exit-code",
            "1",
            "--json",
        ])
        .exits(0);
    let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(json["blocked_on"], "the books do not balance");
    assert_eq!(json["excerpt"]["first_line"], 1);
    test.regreen(&["explain", "red.log", "--baseline", "no.log"])
        .exits(2);
}

/// An agent's answer with a report about one of two tasks.
const ANSWER: &str = "\
I could not do it.

Task 1.3: Add failure parser FAILED
- Error: File not found: src/parser.ts
- Attempted fix: Checked alternate paths
";

#[test]
fn what_an_agent_reports_is_an_object_with_public_keys() {
    let workspace = Workspace::new().file("answer.txt", ANSWER);
    let object = |id: &str| {
        let flags = ["--source", "agent", "--task", id, "--failure-object"];
        workspace.regreen(&[&["explain", "answer.txt"], &flags[..]].concat())
    };
    object("1.3").exits(0).prints(str![[r#"
{
  "taskId": "1.3",
  "failed": true,
  "error": "File not found: src/parser.ts",
  "attemptedFix": "Checked alternate paths",
  "status": "Unknown status",
  "rawOutput": "I could not do it.\n\nTask 1.3: Add failure parser FAILED\n- Error: File not found: src/parser.ts\n- Attempted fix: Checked alternate paths\n"
}

"#]]);
    let other = object("1.4").exits(0);
    let json: serde_json::Value = serde_json::from_str(&other.stdout).unwrap();
    assert_eq!(json["attemptedFix"], "No fix attempted");
    let error = json["error"].as_str().unwrap_or_default();
    assert!(error.starts_with("Task did not complete"), "{error}");
    workspace.regreen(&["explain", "--failure-object"]).exits(2);
}

#[test]
fn the_metadata_of_a_report_counts_also_without_the_lines_for_people() {
    let report = "<task_metadata>\n  <session_id>child-1</session_id>\n  <status>failed</status>\n  \
                  <failure_category>timeout</failure_category>\n  <retryable>true</retryable>\n</task_metadata>\n";
    let parsed = |text: &str| {
        let workspace = Workspace::new().file("report.txt", text);
        let told = workspace.regreen(&["explain", "report.txt", "--report"]);
        told.exits(0)
            .mentions("\"category\": \"timeout\"")
            .mentions("\"suggested_retry\": true");
    };
    parsed(report);
    let other = format!("Child agent failed: x\n\nCategory: partial\nRetryable: No\n\n{report}");
    parsed(&other);
}

#[test]
fn a_log_that_is_not_there_is_a_wrong_path_and_nothing_else() {
    Workspace::new()
        .regreen(&["explain", "nosuch.log"])
        .exits(2)
        .mentions("check the path")
        .omits("regreen init");
}
