//! regreen verifies by itself: what it runs, how it judges the result, and what it reports if
//! nothing can run.

use snapbox::str;

use regreen_test_support::Workspace;

/// A task to write `out`, with this Verify.
fn with_verify(verify: &str) -> Workspace {
    Workspace::with_tasks(&format!("- [ ] 1.1 Write it\n  - **Verify**: {verify}\n"))
        .agent("*) echo it >>out; echo TASK_COMPLETE ;;")
}

#[track_caller]
fn check(verify: &str, expected: impl snapbox::IntoData) {
    let workspace = with_verify(verify);
    let output = workspace.run(&["--max-task-iterations=1", "--preflight=warn"]);
    output.and_plan(&workspace).shows(expected);
}

#[test]
fn prose_is_not_run_and_the_output_says_so() {
    check(
        "the page looks as it should",
        str![[r#"
1.1 attempt 1 of 1; verify unverified; done, unverified
ended: all_green, 1 of 1 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

#[test]
fn scripts_also_see_unverified() {
    let workspace = with_verify("the page looks as it should");
    let output = workspace.run_as_text(&["--json"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let said = |what: &str| {
        let event = format!("\"event\":\"{what}\"");
        let line = output.stdout.lines().find(|line| line.contains(&event));
        line.unwrap_or_else(|| panic!("no {what} in {}", output.stdout))
            .to_owned()
    };
    assert!(said("verify_ended").contains("unverified"));
    assert!(said("task_done").contains("unverified"));
    assert!(said("run_ended").contains(r#""unverified":[{"id":"1.1""#));
}

#[test]
fn the_placeholder_does_not_count_as_a_verify() {
    check(
        "`echo 'Verify manually'`",
        str![[r#"
1.1 attempt 1 of 1; verify unverified; done, unverified
ended: all_green, 1 of 1 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

#[test]
fn spans_that_name_no_program_are_prose() {
    check(
        "the `header` and the `main menu` look right",
        str![[r#"
1.1 attempt 1 of 1; verify unverified; done, unverified
ended: all_green, 1 of 1 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

#[test]
fn a_stated_number_is_compared_with_what_is_printed() {
    // `grep -c` finds nothing, prints 0, and exits with 1.
    check(
        "`grep -c nothing out` returns 0",
        str![[r#"
1.1 attempt 1 of 1; verify green; done
ended: all_green, 1 of 1 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

#[test]
fn a_stated_number_that_is_not_printed_is_a_failure() {
    check(
        "`grep -c it out` returns 0",
        str![[r#"
1.1 attempt 1 of 1; verify red; verify red; failed: Verify failed: `grep -c it out` ended with exit code 0, but `prints 0` was expected
    1
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn a_program_that_is_missing_is_a_failure_and_no_prose() {
    check(
        "`no-such-checker --all`",
        str![[r#"
  warning: 1.1: `no-such-checker` is not installed or not in PATH; install it, or add a task that does
1.1 attempt 1 of 1; verify red; verify red; failed (missing_command): Verify failed: `no-such-checker --all` ended with exit code 127
    bash: line 1: no-such-checker: command not found
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn of_several_commands_all_must_pass() {
    check(
        "`test -f out` and then `test -f more`",
        str![[r#"
1.1 attempt 1 of 1; verify red; verify red; failed (false_success_claim): Verify failed: `test -f more` ended with exit code 1: more does not exist
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn a_script_in_a_fence_is_run_as_a_whole_by_bash() {
    check(
        "\n    ```bash\n    [[ $(< out) == it ]]\n    test -d specs/demo\n    ```",
        str![[r#"
1.1 attempt 1 of 1; verify green; done
ended: all_green, 1 of 1 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

#[test]
fn a_bare_command_is_run() {
    check(
        "grep -q \"it\" out",
        str![[r#"
1.1 attempt 1 of 1; verify green; done
ended: all_green, 1 of 1 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

#[test]
fn red_then_green_passes_and_is_marked() {
    check(
        "`test -f seen || { touch seen; false; }`",
        str![[r#"
1.1 attempt 1 of 1; verify red; verify green; done, flaky
ended: all_green, 1 of 1 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

#[test]
fn a_verify_whose_keeper_is_killed_counts_as_not_having_run() {
    check(
        "`test -f seen || { touch seen; kill -9 $PPID; sleep 30; }`",
        str![[r#"
1.1 attempt 1 of 1; verify green; done
ended: all_green, 1 of 1 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

/// Not even if it is expected to fail.
#[test]
fn a_verify_that_always_kills_its_keeper_never_passes() {
    for expected in ["", " fails"] {
        let workspace = with_verify(&format!("`kill -9 $PPID; sleep 30`{expected}"));
        let output = workspace.run_as_text(&["--max-task-iterations=1"]);
        assert_eq!(output.code, Some(1), "{}", output.stdout);
        assert!(
            output.stdout.contains("was killed 3 times"),
            "{}",
            output.stdout
        );
    }
}

#[test]
fn a_verify_that_takes_too_long_is_red() {
    let workspace = with_verify("`sleep 30`");
    let flags = ["--max-task-iterations=1", "--verify-timeout=0.3s"];
    workspace.run(&flags).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 1; verify red; verify red; failed (timeout_no_progress): Verify failed: `sleep 30` was stopped after 300ms
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
}

#[test]
fn the_gate_stands_in_where_there_is_no_verify() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 Nothing to run\n- [ ] 1.2 Its own\n  - **Verify**: `true`\n- [ ] 1.3 In words\n  - **Verify**: it looks good\n",
    )
    .file("regreen.toml", "gate = \"test -f ok\"\n")
    .agent(
        "1.1:2) touch ok; echo TASK_COMPLETE ;;
         1.2:*) rm ok; echo TASK_COMPLETE ;;
         1.3:2) touch ok; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `test -f ok` ended with exit code 1: ok does not exist
1.1 attempt 2 of 5; verify green; done
1.2 attempt 1 of 5; verify green; done
1.3 attempt 1 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `test -f ok` ended with exit code 1: ok does not exist
1.3 attempt 2 of 5; verify green; done
ended: all_green, 3 of 3 done, 5 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Nothing to run
x - [x] 1.2 Its own
x - [x] 1.3 In words
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Nothing to run
- [x] 1.2 Its own
- [x] 1.3 In words

"#]]);
}

#[test]
fn an_unverified_attempt_without_changes_is_asked_once_more() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Think\n- [ ] 1.2 Write\n").agent(
        "1.2:2) echo it >out; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify unverified
1.1 attempt 2 of 5 (no_op); verify unverified; done, unverified, nothing_changed
1.2 attempt 1 of 5; verify unverified
1.2 attempt 2 of 5 (no_op); verify unverified; done, unverified
ended: all_green, 2 of 2 done, 4 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Think
x - [x] 1.2 Write
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Think
- [x] 1.2 Write

"#]]);
    let prompt = workspace.note("1.1-2.prompt");
    assert!(prompt.contains("## Nothing was changed"), "{prompt}");
}

#[test]
fn a_green_verify_is_enough_if_nothing_needed_to_change() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 Is there\n  - **Verify**: `test -f specs/demo/tasks.md`\n",
    )
    .agent("*) echo TASK_COMPLETE ;;");
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify green; done
ended: all_green, 1 of 1 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Is there
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Is there

"#]]);
}

/// The key that no one may find in what is published.
const KEY: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";

#[test]
fn a_check_that_looks_for_a_secret_sees_it_and_nothing_else_does() {
    let tasks = format!(
        "- [ ] 1.1 Publish it\n  - **Verify**: `cat bundle.js` does not contain \"{KEY}\"\n"
    );
    let workspace = Workspace::with_tasks(&tasks)
        .file("bundle.js", format!("let key = '{KEY}'\n"))
        .agent("*) echo TASK_COMPLETE ;;");
    workspace
        .run_as_text(&["--max-task-iterations=1"])
        .exits(1)
        .omits(KEY)
        .mentions("Max retries reached for task 1.1");
    workspace
        .regreen(&["log", "1.1", "--verify"])
        .exits(0)
        .omits(KEY);
}
