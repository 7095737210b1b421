//! regreen verifies by itself: what is run, how it is judged, and what is said where nothing
//! can be run.

use snapbox::str;

use regreen_test_support::Workspace;

/// A task whose work is to write `out`.
fn with_verify(verify: &str) -> Workspace {
    Workspace::with_tasks(&format!("- [ ] 1.1 Write it\n  - **Verify**: {verify}\n"))
        .agent("*) echo it >>out; echo TASK_COMPLETE ;;")
}

#[track_caller]
fn check(verify: &str, expected: impl snapbox::IntoData) {
    let workspace = with_verify(verify);
    let told = workspace.run(&["--max-task-iterations=1"]);
    told.and_plan(&workspace).shows(expected);
}

#[test]
fn prose_is_not_run_and_that_is_said() {
    check(
        "the page looks as it should",
        str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1 Write it: done after [TIME], unverified
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Unverified:      1.1
Warnings:        1
Next:            `regreen diff 1.1` shows what nothing has verified
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Write it
  - **Verify**: the page looks as it should
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

#[test]
fn unverified_is_said_to_scripts_too() {
    let workspace = with_verify("the page looks as it should");
    let told = workspace.run(&["--json"]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    let said = |what: &str| {
        let event = format!("\"event\":\"{what}\"");
        let line = told.stdout.lines().find(|line| line.contains(&event));
        line.unwrap_or_else(|| panic!("no {what} in {}", told.stdout))
            .to_owned()
    };
    assert!(said("verify_ended").contains("unverified"));
    assert!(said("task_done").contains("unverified"));
    assert!(said("run_ended").contains(r#""unverified":[{"id":"1.1""#));
}

#[test]
fn the_placeholder_for_a_verify_is_none() {
    check(
        "`echo 'Verify manually'`",
        str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1 Write it: done after [TIME], unverified
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Unverified:      1.1
Warnings:        1
Next:            `regreen diff 1.1` shows what nothing has verified
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Write it
  - **Verify**: `echo 'Verify manually'`
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
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1: verifying: header; main menu
1.1 Write it: done after [TIME], unverified
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Unverified:      1.1
Warnings:        1
Next:            `regreen diff 1.1` shows what nothing has verified
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Write it
  - **Verify**: the `header` and the `main menu` look right
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

#[test]
fn a_stated_number_is_compared_with_what_is_printed() {
    // `grep -c` finds nothing, says so with 0, and exits with 1.
    check(
        "`grep -c nothing out` returns 0",
        str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1: verifying: grep -c nothing out
1.1 Write it: done after [TIME]
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Write it
  - **Verify**: `grep -c nothing out` returns 0
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
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1: verifying: grep -c it out
1.1: Verify is red, it runs once more: Verify failed: grep -c it out ended with exit code 0, but returns 0 was stated
1.1 Write it: attempt 1 of 1 failed after [TIME]: Verify failed: grep -c it out ended with exit code 0, but returns 0 was stated
run [RUN] ended after [TIME]: a limit was reached (exit code 1)

Originals:       0 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
Next:            `regreen why 1.1` tells how it failed
Next:            `regreen run` tries once more
--- standard error
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- specs/demo/tasks.md
- [ ] 1.1 Write it
  - **Verify**: `grep -c it out` returns 0
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn a_program_that_is_missing_is_a_failure_and_no_prose() {
    check(
        "`no-such-checker --all`",
        str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1: verifying: no-such-checker --all
1.1: Verify is red, it runs once more: bash: line 1: no-such-checker: command not found
1.1 Write it: attempt 1 of 1 failed after [TIME] (missing command): bash: line 1: no-such-checker: command not found
run [RUN] ended after [TIME]: a limit was reached (exit code 1)

Originals:       0 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
Next:            `regreen why 1.1` tells how it failed
Next:            `regreen run` tries once more
--- standard error
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- specs/demo/tasks.md
- [ ] 1.1 Write it
  - **Verify**: `no-such-checker --all`
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn of_several_commands_all_must_pass() {
    check(
        "`test -f out` and then `test -f more`",
        str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1: verifying: test -f out; test -f more
1.1: Verify is red, it runs once more: Verify failed: test -f more ended with exit code 1
1.1 Write it: attempt 1 of 1 failed after [TIME]: Verify failed: test -f more ended with exit code 1
run [RUN] ended after [TIME]: a limit was reached (exit code 1)

Originals:       0 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
Next:            `regreen why 1.1` tells how it failed
Next:            `regreen run` tries once more
--- standard error
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- specs/demo/tasks.md
- [ ] 1.1 Write it
  - **Verify**: `test -f out` and then `test -f more`
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn a_script_in_a_fence_is_run_as_a_whole_by_bash() {
    check(
        "\n    ```bash\n    [[ $(< out) == it ]]\n    test -d specs/demo\n    ```",
        str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1: verifying: [[ $(< out) == it ]] test -d specs/demo
1.1 Write it: done after [TIME]
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Write it
  - **Verify**: 
    ```bash
    [[ $(< out) == it ]]
    test -d specs/demo
    ```
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
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1: verifying: grep -q "it" out
1.1 Write it: done after [TIME]
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Write it
  - **Verify**: grep -q "it" out
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
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1: verifying: test -f seen || { touch seen; false; }
1.1: Verify is red, it runs once more: Verify failed: test -f seen || { touch seen; false; } ended with exit code 1
1.1: Verify is green the second time: flaky
1.1 Write it: done after [TIME], flaky
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Flaky:           1.1
Warnings:        1
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Write it
  - **Verify**: `test -f seen || { touch seen; false; }`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]],
    );
}

#[test]
fn a_verify_that_takes_too_long_is_red() {
    let workspace = with_verify("`sleep 30`");
    let flags = ["--max-task-iterations=1", "--verify-timeout=0.3s"];
    workspace.run(&flags).and_plan(&workspace).shows(str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Write it: attempt 1 of 1
1.1: verifying: sleep 30
1.1: Verify is red, it runs once more: Verify failed: sleep 30 was ended after 300ms
1.1 Write it: attempt 1 of 1 failed after [TIME] (timeout without progress): Verify failed: sleep 30 was ended after 300ms
run [RUN] ended after [TIME]: a limit was reached (exit code 1)

Originals:       0 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
Next:            `regreen why 1.1` tells how it failed
Next:            `regreen run` tries once more
--- standard error
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- specs/demo/tasks.md
- [ ] 1.1 Write it
  - **Verify**: `sleep 30`
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
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Nothing to run: attempt 1 of 5
1.1: verifying: test -f ok
1.1: Verify is red, it runs once more: Verify failed: test -f ok ended with exit code 1
1.1 Nothing to run: attempt 1 of 5 failed after [TIME]: Verify failed: test -f ok ended with exit code 1
1.1 Nothing to run: attempt 2 of 5
1.1: verifying: test -f ok
1.1 Nothing to run: done after [TIME]
1.2 Its own: attempt 1 of 5
1.2: verifying: true
1.2 Its own: done after [TIME]
1.3 In words: attempt 1 of 5
1.3: verifying: test -f ok
1.3: Verify is red, it runs once more: Verify failed: test -f ok ended with exit code 1
1.3 In words: attempt 1 of 5 failed after [TIME]: Verify failed: test -f ok ended with exit code 1
1.3 In words: attempt 2 of 5
1.3: verifying: test -f ok
1.3 In words: done after [TIME]
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       3 of 3 done
Attempts:        5 (limit 100)
Time:            [TIME]
Warnings:        1
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Nothing to run
- [x] 1.2 Its own
  - **Verify**: `true`
- [x] 1.3 In words
  - **Verify**: it looks good
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Nothing to run
- [x] 1.2 Its own
- [x] 1.3 In words

"#]]);
}

#[test]
fn whoever_changes_nothing_that_could_be_verified_is_asked_once_more() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Think\n- [ ] 1.2 Write\n").agent(
        "1.2:2) echo it >out; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Think: attempt 1 of 5
1.1 Think: attempt 2 of 5, the last one changed nothing
1.1 Think: done after [TIME], unverified, nothing changed
1.2 Write: attempt 1 of 5
1.2 Write: attempt 2 of 5, the last one changed nothing
1.2 Write: done after [TIME], unverified
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       2 of 2 done
Attempts:        4 (limit 100)
Time:            [TIME]
Unverified:      1.1, 1.2
Nothing changed: 1.1
Warnings:        1
Next:            `regreen diff 1.1` shows what nothing has verified
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Think
- [x] 1.2 Write
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Think
- [x] 1.2 Write

"#]]);
    let prompt = workspace.note("1.1-2.prompt");
    assert!(prompt.contains("## Nothing was changed"), "{prompt}");
}

#[test]
fn a_green_verify_is_enough_where_nothing_had_to_be_changed() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 Is there\n  - **Verify**: `test -f specs/demo/tasks.md`\n",
    )
    .agent("*) echo TASK_COMPLETE ;;");
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Is there: attempt 1 of 5
1.1: verifying: test -f specs/demo/tasks.md
1.1 Is there: done after [TIME]
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Is there
  - **Verify**: `test -f specs/demo/tasks.md`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Is there

"#]]);
}
