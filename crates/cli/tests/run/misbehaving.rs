//! Agents that keep misbehaving: each is ended by a limit, none is believed.

use snapbox::str;

use regreen_test_support::{Output, PROGRESS, STATE, TASKS, Workspace};

/// 1.1 never passes.
const RED: &str = "- [x] 0.1 Done before
- [ ] 1.1 Never green
  - **Verify**: `test -f never`
- [ ] 1.2 After it
  - **Verify**: `true`
";

/// 1.1 cannot be verified.
const UNVERIFIED: &str = "- [ ] 1.1 Hard to judge
- [ ] 1.2 After it
  - **Verify**: `true`
";

fn misbehaving(tasks: &str, always: &str) -> Workspace {
    Workspace::with_tasks(tasks).agent(&format!("*) {always} ;;"))
}

/// Checks that a run ends with this message, and doesn't claim that everything is done.
#[track_caller]
fn ends(output: Output, code: i32, message: &str) -> Output {
    assert_eq!(output.message, message, "{}", output.stdout);
    assert_eq!(output.code, Some(code), "{}", output.stdout);
    output.omits("all_green")
}

/// Checks how a run with recovery ends; without it, five attempts leave the plan unchanged.
#[track_caller]
fn ends_at_a_limit(tasks: &str, always: &str, message: &str) {
    let with_recovery = misbehaving(tasks, always);
    ends(with_recovery.run(&["--recovery-mode"]), 1, message);
    let without = misbehaving(tasks, always);
    ends(without.run(&[]), 1, FIVE_ATTEMPTS);
    assert_eq!(without.text(TASKS), tasks);
}

const THREE_FIXES: &str =
    "ERROR: Max fix attempts (3) reached for task 1.1\nFix attempts: 1.1.1, 1.1.2, 1.1.3\n";
/// For tests that show every attempt.
const ONE_FIX: [&str; 2] = ["--recovery-mode", "--max-fix-tasks=1"];
const ONE_FIX_MADE: &str =
    "ERROR: Max fix attempts (1) reached for task 1.1\nFix attempts: 1.1.1\n";
const FIVE_ATTEMPTS: &str = "ERROR: Max retries reached for task 1.1 after 5 attempts\n";
const TOO_DEEP: &str = "ERROR: Max fix depth (3) reached at task 1.1.1.1.1\n";

#[test]
fn one_that_always_lies() {
    ends_at_a_limit(RED, "echo TASK_COMPLETE", THREE_FIXES);
}

#[test]
fn one_that_always_contradicts_itself() {
    let always = "echo 'This requires manual work.'; echo TASK_COMPLETE";
    ends_at_a_limit(RED, always, TOO_DEEP);
}

#[test]
fn one_that_never_signals() {
    let always = "echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >work; echo I am working on it";
    for tasks in [RED, UNVERIFIED] {
        ends_at_a_limit(tasks, always, TOO_DEEP);
    }
}

#[test]
fn one_that_says_nothing_at_all() {
    let workspace = misbehaving(RED, "exit 0");
    let output = ends(workspace.run(&["--recovery-mode"]), 1, TOO_DEEP);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1: never does not exist; inserted 1.1.1
1.1.1 attempt 1 of 5; verify red
1.1.1 attempt 1 of 5 (reminder); failed: Task did not complete: the agent printed nothing; inserted 1.1.1.1
1.1.1.1 attempt 1 of 5; verify red
1.1.1.1 attempt 1 of 5 (reminder); failed: Task did not complete: the agent printed nothing; inserted 1.1.1.1.1
1.1.1.1.1 attempt 1 of 5; verify red
1.1.1.1.1 attempt 1 of 5 (reminder); failed: Task did not complete: the agent printed nothing
ended: limit, 1 of 3 done, 0 of 3 fixes, 4 of 100 attempts
ERROR: Max fix depth (3) reached at task 1.1.1.1.1
--- exit code 1
--- changes in specs/demo/tasks.md
+ - [ ] 1.1.1 [FIX 1.1] Fix: never does not exist
+ - [ ] 1.1.1.1 [FIX 1.1.1] Fix: the agent printed nothing
+ - [ ] 1.1.1.1.1 [FIX 1.1.1.1] Fix: the agent printed nothing
--- specs/demo/.progress.md
## Fix Task History
- Task 1.1: 1 fix attempted (1.1.1) - Final: FAIL (max limit)
- Task 1.1.1: 1 fix attempted (1.1.1.1) - Final: FAIL (max limit)
- Task 1.1.1.1: 1 fix attempted (1.1.1.1.1) - Final: FAIL (max limit)

"#]]);
    ends(misbehaving(RED, "exit 3").run(&[]), 1, FIVE_ATTEMPTS);
}

#[test]
fn one_that_never_does_anything() {
    // If Verify can't decide, the agent is asked once more, and the task is marked.
    let workspace = misbehaving(UNVERIFIED, "echo TASK_COMPLETE");
    let output = workspace.run(&["--recovery-mode"]);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify unverified
1.1 attempt 2 of 5 (no_op); verify unverified; done, unverified, nothing_changed
1.2 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Hard to judge
x - [x] 1.2 After it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Hard to judge
- [x] 1.2 After it

"#]]);
}

/// A request for one part, for any task.
const SPLIT: &str = r#"printf 'TASK_MODIFICATION_REQUEST\n{"type":"SPLIT_TASK","originalTaskId":"%s","reasoning":"big","proposedTasks":[{"title":"Part"}]}\n' $REGREEN_TASK_ID"#;

#[test]
fn one_that_always_asks_to_split() {
    let too_deep = "ERROR: Max fix depth (3) reached at task 1.1.1.1.1.1.1\n";
    let workspace = misbehaving(RED, SPLIT);
    workspace
        .run(&["--recovery-mode"])
        .and_plan(&workspace)
        .shows(str![[r#"
1.1 attempt 1 of 5; inserted 1.1.1
1.1.1 attempt 1 of 5; inserted 1.1.1.1
1.1.1.1 attempt 1 of 5; refused: a part of a divided task cannot be divided again; verify unverified
1.1.1.1 attempt 1 of 5 (reminder); refused: a part of a divided task cannot be divided again; failed: Task did not complete: the agent asked to change the plan instead: a part of a divided task cannot be divided again; inserted 1.1.1.1.1
1.1.1.1.1 attempt 1 of 5; refused: a part of a divided task cannot be divided again; verify unverified
1.1.1.1.1 attempt 1 of 5 (reminder); refused: a part of a divided task cannot be divided again; failed: Task did not complete: the agent asked to change the plan instead: a part of a divided task cannot be divided again; inserted 1.1.1.1.1.1
1.1.1.1.1.1 attempt 1 of 5; refused: a part of a divided task cannot be divided again; verify unverified
1.1.1.1.1.1 attempt 1 of 5 (reminder); refused: a part of a divided task cannot be divided again; failed: Task did not complete: the agent asked to change the plan instead: a part of a divided task cannot be divided again; inserted 1.1.1.1.1.1.1
1.1.1.1.1.1.1 attempt 1 of 5; refused: a part of a divided task cannot be divided again; verify unverified
1.1.1.1.1.1.1 attempt 1 of 5 (reminder); refused: a part of a divided task cannot be divided again; failed: Task did not complete: the agent asked to change the plan instead: a part of a divided task cannot be divided again
ended: limit, 1 of 5 done, 0 of 3 fixes, 6 of 100 attempts
ERROR: Max fix depth (3) reached at task 1.1.1.1.1.1.1
--- exit code 1
--- changes in specs/demo/tasks.md
+ - [ ] 1.1.1.1 Part
+ - [ ] 1.1.1.1.1 [FIX 1.1.1.1] Fix: the agent asked to change the plan instead: a part
+ - [ ] 1.1.1.1.1.1 [FIX 1.1.1.1.1] Fix: the agent asked to change the plan instead: a part
+ - [ ] 1.1.1.1.1.1.1 [FIX 1.1.1.1.1.1] Fix: the agent asked to change the plan instead: a part
+ - [ ] 1.1.1 Part
--- specs/demo/.progress.md
## Fix Task History
- Task 1.1.1.1: 1 fix attempted (1.1.1.1.1) - Final: FAIL (max limit)
- Task 1.1.1.1.1: 1 fix attempted (1.1.1.1.1.1) - Final: FAIL (max limit)
- Task 1.1.1.1.1.1: 1 fix attempted (1.1.1.1.1.1.1) - Final: FAIL (max limit)

"#]]);
    ends_at_a_limit(RED, SPLIT, too_deep);
}

#[test]
fn one_that_always_runs_out_of_time_while_it_gets_on() {
    let always = "echo working; exec sleep 60";
    let workspace = misbehaving(RED, always);
    let flags = ["--timeout=500ms", "--max-task-iterations=3"];
    let output = workspace.run(&[&flags[..], &["--recovery-mode"]].concat());
    let limit = "ERROR: Max retries reached for task 1.1 after 3 attempts\n";
    ends(output, 1, limit).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 3; timed out; failed (timeout_with_progress): The agent did not finish within 500ms
1.1 attempt 2 of 3; timed out; failed (timeout_with_progress): The agent did not finish within 1s
1.1 attempt 3 of 3; timed out; failed (timeout_with_progress): The agent did not finish within 2s
ended: limit, 1 of 3 done, 3 of 100 attempts
ERROR: Max retries reached for task 1.1 after 3 attempts
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
    let workspace = misbehaving(RED, always);
    ends(workspace.run(&flags), 1, limit);
    assert_eq!(workspace.text(TASKS), RED);
}

#[test]
fn one_that_always_runs_out_of_time_and_gets_nowhere() {
    let workspace = misbehaving(RED, "exec sleep 60");
    let output = workspace.run(&["--recovery-mode", "--timeout=100ms"]);
    assert_eq!(workspace.text(TASKS), RED);
    assert_eq!(output.code, Some(3));
    let why = "it made no progress within its time limit and was not split";
    assert!(output.message.contains(why), "{}", output.message);
    let workspace = misbehaving(RED, "exec sleep 60");
    ends(workspace.run(&["--timeout=100ms"]), 1, FIVE_ATTEMPTS);
}

#[test]
fn one_that_ticks_every_row() {
    let always = "sed -i 's/\\[ \\]/[x]/' $tasks; echo TASK_COMPLETE";
    let plan = RED.replace("`true`", "`test -f never-either`");
    let workspace = misbehaving(&plan, always);
    let output = ends(workspace.run(&ONE_FIX), 1, ONE_FIX_MADE);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; ticked 1.2; took back 1.2; verify red; verify red; failed (false_success_claim): Verify failed: `test -f never` ended with exit code 1: never does not exist; inserted 1.1.1
  warning: the agent's tick of task 1.2 was taken back: nothing shows that it is done. If it is, run `regreen done 1.2`
1.1.1 attempt 1 of 5; ticked 1.2; took back 1.2; verify red; done
  warning: the agent's tick of task 1.2 was taken back: nothing shows that it is done. If it is, run `regreen done 1.2`
1.1 verify red
1.1 attempt 2 of 5; ticked 1.2; took back 1.2; verify red; verify red; failed (false_success_claim): Verify failed: `test -f never` ended with exit code 1: never does not exist
  warning: the agent's tick of task 1.2 was taken back: nothing shows that it is done. If it is, run `regreen done 1.2`
ended: limit, 1 of 3 done, 1 of 1 fixes, 3 of 100 attempts
ERROR: Max fix attempts (1) reached for task 1.1
Fix attempts: 1.1.1
--- exit code 1
--- changes in specs/demo/tasks.md
+ - [x] 1.1.1 [FIX 1.1] Fix: never does not exist
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: never does not exist

## Fix Task History
- Task 1.1: 1 fix attempted (1.1.1) - Final: FAIL (max limit)

"#]]);
    let workspace = misbehaving(&plan, always);
    ends(workspace.run(&[]), 1, FIVE_ATTEMPTS);
    assert_eq!(workspace.text(TASKS), plan);
}

#[test]
fn one_that_deletes_rows() {
    // Its own row is restored every time, others once.
    let workspace = misbehaving(RED, "sed -i '/1\\.[12]/,$d' $tasks; echo TASK_COMPLETE");
    let output = ends(workspace.run(&ONE_FIX), 1, ONE_FIX_MADE);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; removed 1.2; reverted 1.1; verify red; verify red; failed (false_success_claim): Verify failed: `test -f never` ended with exit code 1: never does not exist; inserted 1.1.1
  warning: the agent rewrote the plan beyond recognition; restored the plan from before the attempt
  warning: task 1.1 is being worked on: the agent removed it; restored it
  warning: restored task 1.2, which had vanished from the plan; run `regreen skip 1.2` to skip it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md; if they are yours, run `regreen accept-plan`
1.1.1 attempt 1 of 5; removed again 1.2; reverted 1.1, 1.1.1
  warning: task 1.1 is being worked on: the agent removed it; restored it
  warning: task 1.1.1 is being worked on: the agent removed it; restored it
  warning: task 1.2 has vanished from the plan again; skipping it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1.1/1.plan.md; if they are yours, run `regreen accept-plan`
1.2 skipped
1.1.1 verify red; done
1.1 verify red
1.1 attempt 2 of 5; reverted 1.1, 1.1.1; verify red; verify red; failed (false_success_claim): Verify failed: `test -f never` ended with exit code 1: never does not exist
  warning: the agent rewrote the plan beyond recognition; restored the plan from before the attempt
  warning: task 1.1 is being worked on: the agent removed it; restored it
  warning: task 1.1.1 is done: the agent removed it; restored it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/2.plan.md; if they are yours, run `regreen accept-plan`
ended: limit, 1 of 2 done, 1 of 1 fixes, 3 of 100 attempts
ERROR: Max fix attempts (1) reached for task 1.1
Fix attempts: 1.1.1
--- exit code 1
--- changes in specs/demo/tasks.md
- - [ ] 1.2 After it
-   - **Verify**: `true`
+ - [x] 1.1.1 [FIX 1.1] Fix: never does not exist
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: never does not exist

## Fix Task History
- Task 1.1: 1 fix attempted (1.1.1) - Final: FAIL (max limit)

"#]]);
    let workspace = misbehaving(RED, ": >$tasks; echo TASK_COMPLETE");
    ends(workspace.run(&["--recovery-mode"]), 1, THREE_FIXES);
    let workspace = misbehaving(RED, "rm $tasks; echo TASK_COMPLETE");
    ends(workspace.run(&[]), 1, FIVE_ATTEMPTS);
    assert_eq!(workspace.text(TASKS), RED);
}

#[test]
fn one_that_deletes_the_row_of_another_task_is_not_green() {
    let tasks = "- [ ] 1.1 First\n- [ ] 1.2 Second\n  - **Verify**: `true`\n- [ ] 1.3 Third\n";
    let always = "grep -v 'Third' $tasks >$notes/less; cp $notes/less $tasks; \
                  echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >work; echo TASK_COMPLETE";
    let workspace = misbehaving(tasks, always);
    let output = workspace.run(&["--recovery-mode"]);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; removed 1.3; verify unverified; done, unverified
  warning: restored task 1.3, which had vanished from the plan; run `regreen skip 1.3` to skip it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md; if they are yours, run `regreen accept-plan`
1.2 attempt 1 of 5; removed again 1.3
  warning: task 1.3 has vanished from the plan again; skipping it
1.3 skipped
1.2 verify green; done
ended: skipped, 2 of 2 done, 2 of 100 attempts
--- exit code 1
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
x - [x] 1.2 Second
- - [ ] 1.3 Third
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.2 Second

"#]]);
}

#[test]
fn one_that_unticks_done_rows() {
    let always = "sed -i 's/\\[x\\]/[ ]/' $tasks; echo TASK_COMPLETE";
    let workspace = misbehaving(RED, always);
    let output = ends(workspace.run(&ONE_FIX), 1, ONE_FIX_MADE);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; reverted 0.1; verify red; verify red; failed (false_success_claim): Verify failed: `test -f never` ended with exit code 1: never does not exist; inserted 1.1.1
  warning: task 0.1 is done: the agent unticked it; ticked it again
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md; if they are yours, run `regreen accept-plan`
1.1.1 attempt 1 of 5; reverted 0.1; verify red; done
  warning: task 0.1 is done: the agent unticked it; ticked it again
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1.1/1.plan.md; if they are yours, run `regreen accept-plan`
1.1 verify red
1.1 attempt 2 of 5; reverted 0.1, 1.1.1; verify red; verify red; failed (false_success_claim): Verify failed: `test -f never` ended with exit code 1: never does not exist
  warning: task 0.1 is done: the agent unticked it; ticked it again
  warning: task 1.1.1 is done: the agent unticked it; ticked it again
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/2.plan.md; if they are yours, run `regreen accept-plan`
ended: limit, 1 of 3 done, 1 of 1 fixes, 3 of 100 attempts
ERROR: Max fix attempts (1) reached for task 1.1
Fix attempts: 1.1.1
--- exit code 1
--- changes in specs/demo/tasks.md
+ - [x] 1.1.1 [FIX 1.1] Fix: never does not exist
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: never does not exist

## Fix Task History
- Task 1.1: 1 fix attempted (1.1.1) - Final: FAIL (max limit)

"#]]);
    // If everything else passes, no task runs twice because of it.
    let workspace = misbehaving(
        "- [x] 0.1 Done before\n- [ ] 1.1 One\n  - **Verify**: `true`\n- [ ] 1.2 Two\n  - **Verify**: `true`\n",
        &format!("echo $REGREEN_TASK_ID >>$notes/order; {always}"),
    );
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    assert_eq!(workspace.note("order"), "1.1\n1.2\n");
}

#[test]
fn one_that_weakens_its_verify() {
    let always = "sed -i 's/test -f never/true/' $tasks; echo TASK_COMPLETE";
    let workspace = misbehaving(RED, always);
    let output = ends(workspace.run(&ONE_FIX), 1, ONE_FIX_MADE);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; reverted 1.1; verify red; verify red; failed (false_success_claim): Verify failed: `test -f never` ended with exit code 1: never does not exist; inserted 1.1.1
  warning: task 1.1 is being worked on: reverted the agent's changes to it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md; if they are yours, run `regreen accept-plan`
1.1.1 attempt 1 of 5; reverted 1.1, 1.1.1; verify red; done
  warning: task 1.1 is being worked on: reverted the agent's changes to it
  warning: task 1.1.1 is being worked on: reverted the agent's changes to it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1.1/1.plan.md; if they are yours, run `regreen accept-plan`
1.1 verify red
1.1 attempt 2 of 5; reverted 1.1, 1.1.1; verify red; verify red; failed (false_success_claim): Verify failed: `test -f never` ended with exit code 1: never does not exist
  warning: task 1.1 is being worked on: reverted the agent's changes to it
  warning: task 1.1.1 is done: reverted the agent's changes to it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/2.plan.md; if they are yours, run `regreen accept-plan`
ended: limit, 1 of 3 done, 1 of 1 fixes, 3 of 100 attempts
ERROR: Max fix attempts (1) reached for task 1.1
Fix attempts: 1.1.1
--- exit code 1
--- changes in specs/demo/tasks.md
+ - [x] 1.1.1 [FIX 1.1] Fix: never does not exist
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: never does not exist

## Fix Task History
- Task 1.1: 1 fix attempted (1.1.1) - Final: FAIL (max limit)

"#]]);
    let workspace = misbehaving(RED, always);
    ends(workspace.run(&[]), 1, FIVE_ATTEMPTS);
    assert_eq!(workspace.text(TASKS), RED);
}

#[test]
fn one_that_weakens_the_verify_of_the_task_it_is_a_part_of() {
    let workspace = Workspace::with_tasks(RED).agent(&format!(
        "1.1:1) {SPLIT} ;;
         *) sed -i 's/test -f never/true/' $tasks; touch work; echo TASK_COMPLETE ;;"
    ));
    let made = "ERROR: Max fix attempts (1) reached for task 1.1\nFix attempts: 1.1.2\n";
    let output = ends(workspace.run(&ONE_FIX), 1, made);
    let warning = "task 1.1 is being worked on: reverted the agent's changes to it\n";
    assert!(output.stdout.contains(warning), "{}", output.stdout);
    // It doesn't help the next run either.
    ends(workspace.run(&[]), 1, made);
    assert!(!workspace.text(TASKS).contains("- [x] 1.1 "));
}

#[test]
fn one_that_adds_rows_endlessly() {
    let always = "n=$(cat $notes/n 2>/dev/null || echo 10); n=$((n + 1)); echo $n >$notes/n; \
                  printf -- '- [ ] %s.1 One more\\n  - **Verify**: `true`\\n' $n >>$tasks; echo TASK_COMPLETE";
    let tasks = "- [ ] 1.1 One\n  - **Verify**: `true`\n- [ ] 1.2 Two\n  - **Verify**: `true`\n";
    let limit =
        "ERROR: Maximum global iterations (6) reached. Review .progress.md for failure patterns.\n";
    for flags in [
        &["--max-global-iterations=6"][..],
        &["--max-global-iterations=6", "--recovery-mode"],
    ] {
        ends(misbehaving(tasks, always).run(flags), 1, limit);
    }
    let workspace = misbehaving(tasks, always);
    let output = workspace.run(&["--recovery-mode", "--max-global-iterations=4"]);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; added 11.1; verify green; done
1.2 attempt 1 of 5; added 12.1; verify green; done
11.1 attempt 1 of 5; added 13.1; verify green; done
12.1 attempt 1 of 5; added 14.1; verify green; done
ended: limit, 4 of 6 done, 4 of 4 attempts
ERROR: Maximum global iterations (4) reached. Review .progress.md for failure patterns.
--- exit code 1
--- changes in specs/demo/tasks.md
x - [x] 1.1 One
x - [x] 1.2 Two
+ - [x] 11.1 One more
+   - **Verify**: `true`
+ - [x] 12.1 One more
+   - **Verify**: `true`
+ - [ ] 13.1 One more
+   - **Verify**: `true`
+ - [ ] 14.1 One more
+   - **Verify**: `true`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 One
- [x] 1.2 Two
- [x] 11.1 One more
- [x] 12.1 One more

"#]]);
}

#[test]
fn one_that_adds_fixes_to_its_own_task() {
    let always = "n=$(cat $notes/n 2>/dev/null || echo 10); n=$((n + 1)); echo $n >$notes/n; \
                  sed -i \"s/^- \\[ \\] 1.2/- [ ] 1.1.$n [FIX 1.1] Fix: more\\n&/\" $tasks; echo TASK_COMPLETE";
    let workspace = misbehaving(RED, always);
    let output = workspace.run(&["--recovery-mode", "--max-global-iterations=6"]);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; added 1.1.11; verify red; verify red; failed (false_success_claim): Verify failed: `test -f never` ended with exit code 1: never does not exist; inserted 1.1.12
1.1.12 attempt 1 of 5; added 1.1.12; verify red; done
1.1.12 attempt 1 of 5; added 1.1.13; verify unverified
1.1.12 attempt 2 of 5 (no_op); added 1.1.14; verify unverified; done, unverified, nothing_changed
1.1.14 attempt 1 of 5; added 1.1.15; verify unverified
1.1.14 attempt 2 of 5 (no_op); added 1.1.16; verify unverified; done, unverified, nothing_changed
ended: limit, 1 of 3 done, 3 of 7 fixes, 6 of 6 attempts
ERROR: Maximum global iterations (6) reached. Review .progress.md for failure patterns.
--- exit code 1
--- changes in specs/demo/tasks.md
+ - [ ] 1.1.11 [FIX 1.1] Fix: more
+ - [x] 1.1.12 [FIX 1.1] Fix: never does not exist
+ - [x] 1.1.12 [FIX 1.1] Fix: more
+ - [ ] 1.1.13 [FIX 1.1] Fix: more
+ - [x] 1.1.14 [FIX 1.1] Fix: more
+ - [ ] 1.1.15 [FIX 1.1] Fix: more
+ - [ ] 1.1.16 [FIX 1.1] Fix: more
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.12 Fix: never does not exist
- [x] 1.1.12 Fix: more
- [x] 1.1.14 Fix: more

## Fix Task History
- Task 1.1: 2 fixes attempted (1.1.12, 1.1.14) - Final: FAIL (max limit)

"#]]);
}

#[test]
fn one_that_writes_its_own_state() {
    let always = "printf '{\"recoveryMode\":true,\"maxFixTasksPerOriginal\":99,\"fixTaskMap\":{}}' \
                  >${tasks%/*}/.ralph-state.json; echo TASK_COMPLETE";
    let workspace = misbehaving(RED, always);
    ends(workspace.run(&["--recovery-mode"]), 1, THREE_FIXES);
    assert!(workspace.has(STATE) && workspace.has(PROGRESS));
}
