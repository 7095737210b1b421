//! An agent's word is never enough, and must have the right form.

use snapbox::str;

use regreen_test_support::Workspace;

/// Verify passes, so only the agent's words decide.
const GREEN: &str = "- [ ] 1.1 Write it\n  - **Verify**: `true`\n";

/// Makes one attempt with this answer.
#[track_caller]
fn once(answer: &str, expected: impl snapbox::IntoData) {
    let workspace =
        Workspace::with_tasks(GREEN).agent(&format!("*) cat <<'END'\n{answer}\nEND\n;;"));
    let output = workspace.run(&["--max-task-iterations=1"]);
    output.and_plan(&workspace).shows(expected);
}

#[test]
fn a_claim_does_not_pass_with_a_red_verify() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Write it\n  - **Verify**: `test -f out`\n")
        .agent(
            "1.1:1) echo TASK_COMPLETE ;;
         1.1:2) touch out; echo TASK_COMPLETE ;;",
        );
    workspace.run(&[]).and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `test -f out` ended with exit code 1: out does not exist
1.1 attempt 2 of 5; verify green; done
ended: all_green, 1 of 1 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it
--- no state

"#]]);
}

#[test]
fn the_word_in_prose_is_not_a_signal() {
    once(
        "When the tests pass I will say TASK_COMPLETE here.",
        str![[r#"
1.1 attempt 1 of 1; verify green
1.1 attempt 1 of 1 (reminder); failed: Task did not complete: TASK_COMPLETE is not on a line of its own, outside of quotations and code (it ends with: When the tests pass I will say TASK_COMPLETE here.)
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn the_word_in_a_fence_is_not_a_signal() {
    once(
        "```\nTASK_COMPLETE\n```",
        str![[r#"
1.1 attempt 1 of 1; verify green
1.1 attempt 1 of 1 (reminder); failed: Task did not complete: TASK_COMPLETE is not on a line of its own, outside of quotations and code (it ends with: TASK_COMPLETE)
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn the_word_in_a_quote_is_not_a_signal() {
    once(
        "You wrote:\n> TASK_COMPLETE",
        str![[r#"
1.1 attempt 1 of 1; verify green
1.1 attempt 1 of 1 (reminder); failed: Task did not complete: TASK_COMPLETE is not on a line of its own, outside of quotations and code (it ends with: > TASK_COMPLETE)
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn a_claim_that_admits_failure_does_not_pass() {
    once(
        "The last step requires manual work in the console.\n\nTASK_COMPLETE",
        str![[r#"
1.1 attempt 1 of 1; contradiction: requires manual; failed: CONTRADICTION: claimed completion while admitting failure: requires manual
  warning: CONTRADICTION: claimed completion while admitting failure
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn a_negated_admission_does_not_count() {
    once(
        "Everything is in place, no manual intervention needed.\n\nTASK_COMPLETE",
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
fn a_failure_block_beats_the_word() {
    once(
        "TASK_COMPLETE\n\nTask 1.1: Write it FAILED\n- Error: File not found: src/a.ts\n- Attempted fix: Looked in lib\n- Status: Blocked",
        str![[r#"
1.1 attempt 1 of 1; failed (missing_file): File not found: src/a.ts
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn a_failure_block_of_another_task_is_not_this_one() {
    once(
        "Before, this was said:\nTask 1.10: Other FAILED\n- Error: boom\n\nTASK_COMPLETE",
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
fn a_missing_signal_is_reminded_of_once_in_the_same_attempt() {
    let workspace = Workspace::with_tasks(GREEN).agent(
        "1.1:1) touch out; echo 'I wrote it.' ;;
         1.1:2) echo TASK_COMPLETE ;;",
    );
    let output = workspace.run(&["--max-task-iterations=1", "--max-global-iterations=1"]);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 1; verify green
1.1 attempt 1 of 1 (reminder); verify green; done
ended: all_green, 1 of 1 done, 1 of 1 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]]);
    // The reminder continues the first attempt, so an agent without sessions gets the whole prompt.
    let (first, reminder) = (
        workspace.note("1.1-1.prompt"),
        workspace.note("1.1-2.prompt"),
    );
    let (task, known) = first.split_once("## What is known").unwrap_or((&first, ""));
    assert!(reminder.starts_with(task.trim_end()), "{reminder}");
    assert_eq!(reminder.contains("## What is known"), !known.is_empty());
    assert!(
        reminder.contains("## Your answer has no final line"),
        "{reminder}"
    );
}

#[test]
fn a_signal_missing_after_the_reminder_is_incomplete_work() {
    let workspace = Workspace::with_tasks(GREEN).agent(
        "1.1:1|1.1:2) echo 'I wrote it.' ;;
         1.1:3) echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify green
1.1 attempt 1 of 5 (reminder); failed: Task did not complete: its answer has no line TASK_COMPLETE (it ends with: I wrote it.)
1.1 attempt 2 of 5; verify green; done
ended: all_green, 1 of 1 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]]);
}

#[test]
fn a_red_verify_needs_no_reminder() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Write it\n  - **Verify**: `false`\n")
        .agent("*) echo 'I wrote it.' ;;");
    let output = workspace.run(&["--max-task-iterations=1"]);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 1; verify red; verify red; failed (runtime_exception): Verify failed: `false` ended with exit code 1: `false` always fails
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
}

#[test]
fn the_exit_code_of_an_agent_means_nothing() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Fails in style\n  - **Verify**: `true`\n- [ ] 1.2 Succeeds in silence\n  - **Verify**: `false`\n").agent(
        "1.1:*) echo TASK_COMPLETE; exit 3 ;;
         1.2:*) exit 0 ;;",
    );
    let output = workspace.run(&["--max-task-iterations=1"]);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 1; exit code 3; verify green; done
1.2 attempt 1 of 1; verify red; verify red; failed (runtime_exception): Verify failed: `false` ended with exit code 1: `false` always fails
ended: limit, 1 of 2 done, 2 of 100 attempts
ERROR: Max retries reached for task 1.2 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
x - [x] 1.1 Fails in style
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Fails in style

"#]]);
}

#[test]
fn a_row_that_only_verifies_may_say_so_in_its_own_word() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 [VERIFY] All is well\n  - **Verify**: `true`\n- [ ] 1.2 [VERIFY] Still\n  - **Verify**: `true`\n",
    )
    .agent(
        "1.1:*) echo VERIFICATION_PASS ;;
         1.2:*) echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify green; done
1.2 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 [VERIFY] All is well
x - [x] 1.2 [VERIFY] Still
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 All is well
- [x] 1.2 Still

"#]]);
}

#[test]
fn other_rows_may_not() {
    once(
        "VERIFICATION_PASS",
        str![[r#"
1.1 attempt 1 of 1; verify green
1.1 attempt 1 of 1 (reminder); failed: Task did not complete: its answer has no line TASK_COMPLETE (it ends with: VERIFICATION_PASS)
ended: limit, 0 of 1 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]],
    );
}

#[test]
fn an_agent_that_thinks_it_has_done_everything_has_done_its_task() {
    once(
        "ALL_TASKS_COMPLETE",
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
