//! `regreen failures`

use snapbox::str;

use crate::scene::Scene;

#[test]
fn where_nothing_has_failed_nothing_is_listed_and_nothing_is_made() {
    let scene = Scene::new("");
    scene.regreen(&["failures"]).shows(str![[r#"
nothing has failed
--- exit code Some(0)

"#]]);
    scene.regreen(&["failures", "--json"]).shows(str![[r#"
[]
--- exit code Some(0)

"#]]);
    assert!(!scene.test.path(".regreen").exists());
}

#[test]
fn failures_of_runs_and_of_delegations_are_told_with_what_was_tried() {
    let tasks = "- [ ] 1.1 Write it\n  - **Verify**: `test -f out || { echo 'out: No such file or directory'; exit 1; }`\n";
    let scene = Scene::new(
        "1) echo working; sleep 60 ;; 2) touch out; echo TASK_COMPLETE ;; *) echo nothing ;;",
    )
    .file("specs/demo/tasks.md", tasks);
    let flags = ["--prompt", "Do it.", "--timeout", "1s", "--retries", "2"];
    scene.delegate(&flags);
    std::fs::remove_file(scene.test.path("out")).unwrap();
    let agent = scene.agent_flag();
    let run = ["run", "--agent", &agent, "--timeout", "2s"];
    scene.regreen(&run);
    scene.regreen(&["failures"]).shows(str![[r#"
[WHEN]  delegation [CHILD] attempt 1  timeout_with_progress
  Child timed out after 1s
  tried: tried again with what is known, within 2s: it helped
[WHEN]  run [RUN] task 1.1 attempt 1  timeout_with_progress
  The agent was ended: it had not finished after 2s
  tried: attempt 2, told how it failed: it helped
--- exit code Some(0)

"#]]);
    let one = scene.regreen(&[
        "failures",
        "--kind",
        "timeout_with_progress",
        "--limit",
        "1",
    ]);
    assert_eq!(one.stdout.matches("[WHEN]").count(), 1, "{}", one.stdout);
    let none = scene.regreen(&["failures", "--kind", "missing_node_module"]);
    assert_eq!(none.stdout, "nothing has failed\n");
}

#[test]
fn what_was_done_about_a_delegation_is_in_the_log() {
    let scene = Scene::new("1) echo working; sleep 60 ;; *) echo 'Done.' ;;");
    let flags = ["--prompt", "Do it.", "--timeout", "1s", "--retries", "2"];
    scene.delegate(&flags);
    scene.regreen(&["failures", "--json"]).shows(str![[r#"
[
  {
    "time": "[WHEN]",
    "where": "delegation",
    "delegation": "[CHILD]",
    "attempt": 1,
    "prompt": "Do it.",
    "timeout_ms": 1000,
    "log": ".regreen/delegations/[CHILD]/1.log",
    "category": "timeout",
    "kind": "timeout_with_progress",
    "message": "Child timed out after 1s",
    "blocked_on": "working",
    "files_modified": [],
    "tried": "tried again with what is known, within 2s",
    "helped": true
  }
]
--- exit code Some(0)

"#]]);
}

#[test]
fn what_cannot_be_asked_for_is_told_with_what_can() {
    let scene = Scene::new("");
    for (flag, value) in [
        ("--since", "yesterday"),
        ("--kind", "bad_mood"),
        ("--limit", "0"),
    ] {
        let told = scene.regreen(&["failures", flag, value]);
        assert_eq!(told.code, Some(2));
        assert!(told.stderr.contains(value), "{}", told.stderr);
    }
}
