//! Ways to a green check that is none: each was green once, though something had failed.

use std::os::unix::fs::PermissionsExt;

use regreen_test_support::Workspace;

/// Runs a task with this Verify; returns the exit code, and whether it was marked unverified.
fn judged(verify: &str) -> (Option<i32>, bool) {
    let tasks = format!("- [ ] 1.1 Write it\n  - **Verify**: {verify}\n");
    let workspace = Workspace::with_tasks(&tasks).agent("*) echo it >>out; echo TASK_COMPLETE ;;");
    let output = workspace.run_as_text(&["--json", "--max-task-iterations=1"]);
    let marked = output.stdout.contains("expectation_not_checked");
    (output.code, marked)
}

#[test]
fn a_failure_is_never_turned_into_a_pass() {
    for verify in [
        "`sh -c 'exit 1'` (fails on warnings)",
        "If `sh -c 'exit 1'` fails, fix it",
        "nothing in `sh -c 'exit 1'` fails",
        "neither `true` nor `sh -c 'exit 1'` fails",
        "no `sh -c 'exit 1'` fails",
        "`sh -c 'exit 1'` fails before the change and passes after it",
        "`sh -c 'exit 1'` exits non-zero on failure",
        "`sh -c 'exit 1'` returns 0 errors",
        "`no-such-program-here x` fails",
        "`grep x no/such/file` returns 0 matches",
        "`sh -c 'echo 1 failed, 3 passed; exit 1'` shows \"passed\"",
        "`echo v14.2.0` shows 4.2.0",
        "`printf 'a\\nb\\n'` shows 3 files",
        "`echo CHANGES_REQUESTED` shows no CHANGES_REQUESTED",
        "`sh -c 'echo FAILED a; exit 1'` shows no ERROR",
        "`sh -c 'echo FAILED a; exit 1'` shows at most 3 lines",
        "`sh -c 'exit 3' | tail -5`",
        "`sh -c 'exit 3' 2>&1 | tee log`",
        "\n    ```sh\n    false\n    echo done\n    ```",
        "\n    ```sh\n    for x in a b; do\n      test $x = b\n    done\n    ```",
    ] {
        assert_eq!(judged(verify).0, Some(1), "{verify}");
    }
}

#[test]
fn expectations_that_hold_still_pass() {
    for verify in [
        "`echo 4.2.0` shows 4.2.0",
        "`printf 'a\\nb\\n'` shows 2 files",
        "`grep x out` returns 0 matches",
        "`grep x out` shows at most 3 lines",
        "`grep x out` shows no ERROR",
        "`sh -c 'exit 2'` fails",
        "`yes | head -1`",
        "`echo x | grep -q x`",
        "`! grep -q FAIL out`",
        "\n    ```sh\n    cd /\n    X=1\n    if test \"$X\" = 1; then\n      cat <<E\n    false\n    E\n    fi\n    test \"$PWD\" = /\n    ```",
        "\n    ```sh\n    found=$(grep x out)\n    test -z \"$found\"\n    ```",
        "\n    ```sh\n    sh -c 'exit 2'\n    test $? -eq 2\n    ```",
    ] {
        assert_eq!(judged(verify), (Some(0), false), "{verify}");
    }
}

#[test]
fn what_can_not_be_checked_is_marked() {
    for verify in [
        "`true` shows usage",
        "`true` (fails on warnings)",
        "`true`; it is fast",
    ] {
        assert_eq!(judged(verify), (Some(0), true), "{verify}");
    }
}

/// What makes a bare text a command is looked up before the agent works: it can't take that away.
#[test]
fn a_check_that_the_agent_makes_impossible_is_red() {
    for (verify, deed) in [
        ("make check", "printf 'all:\\n' >Makefile"),
        ("make check", "rm Makefile"),
        ("sh check.txt", "rm check.txt"),
        ("Run `./judge.sh`", "chmod -x judge.sh"),
    ] {
        let tasks = format!("- [ ] 1.1 Write it\n  - **Verify**: {verify}\n");
        let workspace = Workspace::with_tasks(&tasks)
            .file("Makefile", "check:\n\ttrue\n")
            .file("check.txt", "true\n")
            // Not check.sh: make would make `check` of it.
            .file("judge.sh", "#!/bin/sh\n")
            .agent(&format!("*) {deed}; echo it >>out; echo TASK_COMPLETE ;;"));
        let script = workspace.path("judge.sh");
        std::fs::set_permissions(script, PermissionsExt::from_mode(0o755)).unwrap();
        let output = workspace.run_as_text(&["--max-task-iterations=1"]);
        assert_eq!(output.code, Some(1), "{verify}, {deed}: {}", output.stdout);
    }
}
