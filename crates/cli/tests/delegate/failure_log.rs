//! `regreen failures` after delegations.

use snapbox::str;

use regreen_test_support::Workspace;

#[test]
fn where_nothing_has_failed_nothing_is_listed_and_nothing_is_made() {
    let workspace = Workspace::new().child_agent("");
    workspace.regreen(&["failures"]).shows(str![[r#"
    PASS  nothing has failed
--- exit code 0

"#]]);
    workspace.regreen(&["failures", "--json"]).shows(str![[r#"
[]
--- exit code 0

"#]]);
    assert!(!workspace.path(".regreen").exists());
}

#[test]
fn failures_of_runs_and_delegations_are_listed_with_what_was_tried() {
    let tasks = "- [ ] 1.1 Write it\n  - **Verify**: `test -f out || { echo 'out: No such file or directory'; exit 1; }`\n";
    let workspace = Workspace::new()
        .child_agent(
            "1) echo working; sleep 60 ;; 2) touch out; echo TASK_COMPLETE ;; *) echo nothing ;;",
        )
        .file("specs/demo/tasks.md", tasks);
    let flags = ["--prompt", "Do it.", "--timeout", "1s", "--retries", "2"];
    workspace.delegate(&flags);
    std::fs::remove_file(workspace.path("out")).unwrap();
    let agent = workspace.agent_flag();
    let run = ["run", "--agent", &agent, "--timeout", "2s"];
    workspace.regreen(&run);
    workspace.regreen(&["failures"]).shows(str![[r#"
    FAIL  [MOMENT] delegation [CHILD] attempt 1
          timeout
          Child timed out after 1s
          then tried again with the failure explained, within 2s: helped
    FAIL  [MOMENT] task 1.1 attempt 1 · run [RUN]
          timeout
          The agent did not finish within 2s
          then attempt 2, with the failure: helped
--- exit code 0

"#]]);
    let one = workspace.regreen(&[
        "failures",
        "--kind",
        "timeout_with_progress",
        "--limit",
        "1",
    ]);
    assert_eq!(one.stdout.matches("[MOMENT]").count(), 1, "{}", one.stdout);
    let none = workspace.regreen(&["failures", "--kind", "missing_node_module"]);
    assert_eq!(none.stdout, "    PASS  nothing has failed\n");
}

#[test]
fn the_log_of_a_delegation_says_what_was_done_about_failures() {
    let workspace = Workspace::new().child_agent("1) echo working; sleep 60 ;; *) echo 'Done.' ;;");
    let flags = ["--prompt", "Do it.", "--timeout", "1s", "--retries", "2"];
    workspace.delegate(&flags);
    workspace.regreen(&["failures", "--json"]).shows(str![[r#"
[
  {
    "time": "[MOMENT]",
    "where": "delegation",
    "delegation": "[CHILD]",
    "attempt": 1,
    "prompt": "Do it.",
    "timeout_ms": 1000,
    "log": ".regreen/delegations/[CHILD]/1.log",
    "category": "timeout",
    "kind": "timeout_with_progress",
    "message": "Child timed out after 1s",
    "blocked_on": "Time limit insufficient",
    "files_modified": [],
    "tried": "tried again with the failure explained, within 2s",
    "helped": true
  }
]
--- exit code 0

"#]]);
}

#[test]
fn bad_filters_are_refused_with_the_known_values() {
    let workspace = Workspace::new().child_agent("");
    for (flag, value) in [
        ("--since", "yesterday"),
        ("--kind", "bad_mood"),
        ("--limit", "0"),
    ] {
        let output = workspace.regreen(&["failures", flag, value]);
        assert_eq!(output.code, Some(2));
        assert!(output.stderr.contains(value), "{}", output.stderr);
    }
}
