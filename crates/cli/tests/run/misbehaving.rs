//! Agents that misbehave for ever: each is ended by a limit, none is believed.

use snapbox::str;

use regreen_test_support::{Output, PROGRESS, STATE, TASKS, Workspace};

/// Nothing makes 1.1 green.
const RED: &str = "- [x] 0.1 Done before
- [ ] 1.1 Never green
  - **Verify**: `test -f never`
- [ ] 1.2 After it
  - **Verify**: `true`
";

/// Nobody can say what 1.1 is worth.
const UNVERIFIED: &str = "- [ ] 1.1 Hard to judge
- [ ] 1.2 After it
  - **Verify**: `true`
";

fn misbehaving(tasks: &str, always: &str) -> Workspace {
    Workspace::with_tasks(tasks).agent(&format!("*) {always} ;;"))
}

/// It ends with this on standard error, and nothing claims that all was done.
#[track_caller]
fn ends(told: Output, code: i32, message: &str) -> Output {
    assert_eq!(told.message, message, "{}", told.stdout);
    assert_eq!(told.code, Some(code), "{}", told.stdout);
    told.omits("all_green")
}

const THREE_FIXES: &str =
    "ERROR: Max fix attempts (3) reached for task 1.1\nFix attempts: 1.1.1, 1.1.2, 1.1.3\n";
/// For what is told of every attempt.
const ONE_FIX: [&str; 2] = ["--recovery-mode", "--max-fix-tasks=1"];
const ONE_FIX_MADE: &str =
    "ERROR: Max fix attempts (1) reached for task 1.1\nFix attempts: 1.1.1\n";
const FIVE_ATTEMPTS: &str = "ERROR: Max retries reached for task 1.1 after 5 attempts\n";
const TOO_DEEP: &str = "ERROR: Max fix depth (3) reached at task 1.1.1.1.1\n";

#[test]
fn one_that_always_lies() {
    let workspace = misbehaving(RED, "echo TASK_COMPLETE");
    let told = ends(workspace.run(&["--recovery-mode"]), 1, THREE_FIXES);
    told.and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1; inserted 1.1.1
1.1.1 attempt 1 of 5; verify red; done
1.1 verify red
1.1 attempt 2 of 5; verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1; inserted 1.1.2
1.1.2 attempt 1 of 5; verify red; done
1.1 verify red
1.1 attempt 3 of 5; verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1; inserted 1.1.3
1.1.3 attempt 1 of 5; verify red; done
1.1 verify red
1.1 attempt 4 of 5; verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1
ended: limit, 1 of 3 done, 7 of 100 attempts
ERROR: Max fix attempts (3) reached for task 1.1
Fix attempts: 1.1.1, 1.1.2, 1.1.3
--- exit code 1
--- specs/demo/tasks.md
- [x] 0.1 Done before
- [ ] 1.1 Never green
  - **Verify**: `test -f never`
- [x] 1.1.1 [FIX 1.1] Fix: Verify failed: test -f never ended with exit code
  - **Do**: Address the error: Verify failed: test -f never ended with exit code 1
    1. Analyze the failure: No fix attempted
    2. Review related code in Files list
    3. Implement fix for: Verify failed: test -f never ended with exit code 1
  - **Files**: Same directory as original
  - **Done when**: Error "Verify failed: test -f never ended with exit code 1" no longer occurs
  - **Verify**: `test -f never`
  - **Commit**: `fix(demo): address error from task 1.1`
- [x] 1.1.2 [FIX 1.1] Fix: Verify failed: test -f never ended with exit code
  - **Do**: Address the error: Verify failed: test -f never ended with exit code 1
    1. Analyze the failure: No fix attempted
    2. Review related code in Files list
    3. Implement fix for: Verify failed: test -f never ended with exit code 1
    4. The same error came back after 1.1.1: find another way than that fix took
  - **Files**: Same directory as original
  - **Done when**: Error "Verify failed: test -f never ended with exit code 1" no longer occurs
  - **Verify**: `test -f never`
  - **Commit**: `fix(demo): address error from task 1.1`
- [x] 1.1.3 [FIX 1.1] Fix: Verify failed: test -f never ended with exit code
  - **Do**: Address the error: Verify failed: test -f never ended with exit code 1
    1. Analyze the failure: No fix attempted
    2. Review related code in Files list
    3. Implement fix for: Verify failed: test -f never ended with exit code 1
    4. The same error came back after 1.1.2: find another way than that fix took
  - **Files**: Same directory as original
  - **Done when**: Error "Verify failed: test -f never ended with exit code 1" no longer occurs
  - **Verify**: `test -f never`
  - **Commit**: `fix(demo): address error from task 1.1`
- [ ] 1.2 After it
  - **Verify**: `true`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: Verify failed: test -f never ended with exit code
- [x] 1.1.2 Fix: Verify failed: test -f never ended with exit code
- [x] 1.1.3 Fix: Verify failed: test -f never ended with exit code

## Fix Task History
- Task 1.1: 3 fixes attempted (1.1.1, 1.1.2, 1.1.3) - Final: FAIL (max limit)
--- state {"taskIndex":1,"totalTasks":6,"taskIteration":4,"globalIteration":7,"recoveryMode":true,"fixTaskMap":{"1.1":{"attempts":3,"fixTaskIds":["1.1.1","1.1.2","1.1.3"],"lastError":"Verify failed: test -f never ended with exit code 1"}},"taskResults":{"0.1":"success","1.1":"failed","1.2":"pending","1.1.1":"success","1.1.2":"success","1.1.3":"success"}}

"#]]);
    let workspace = misbehaving(RED, "echo TASK_COMPLETE");
    ends(workspace.run(&[]), 1, FIVE_ATTEMPTS);
    assert_eq!(workspace.text(TASKS), RED);
}

#[test]
fn one_that_always_contradicts_itself() {
    let always = "echo 'This requires manual work.'; echo TASK_COMPLETE";
    let workspace = misbehaving(RED, always);
    ends(workspace.run(&["--recovery-mode"]), 1, TOO_DEEP);
    ends(misbehaving(RED, always).run(&[]), 1, FIVE_ATTEMPTS);
}

#[test]
fn one_that_never_signals() {
    for tasks in [RED, UNVERIFIED] {
        let workspace = misbehaving(
            tasks,
            "echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >work; echo I am working on it",
        );
        ends(workspace.run(&["--recovery-mode"]), 1, TOO_DEEP);
        let workspace = misbehaving(
            tasks,
            "echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >work; echo I am working on it",
        );
        ends(workspace.run(&[]), 1, FIVE_ATTEMPTS);
        assert_eq!(workspace.text(TASKS), tasks);
    }
}

#[test]
fn one_that_says_nothing_at_all() {
    let workspace = misbehaving(RED, "exit 0");
    let told = ends(workspace.run(&["--recovery-mode"]), 1, TOO_DEEP);
    told.and_rows(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1; inserted 1.1.1
1.1.1 attempt 1 of 5; verify red
1.1.1 attempt 1 of 5 (reminder); failed: Task did not complete; inserted 1.1.1.1
1.1.1.1 attempt 1 of 5; verify red
1.1.1.1 attempt 1 of 5 (reminder); failed: Task did not complete; inserted 1.1.1.1.1
1.1.1.1.1 attempt 1 of 5; verify red
1.1.1.1.1 attempt 1 of 5 (reminder); failed: Task did not complete
ended: limit, 1 of 3 done, 4 of 100 attempts
ERROR: Max fix depth (3) reached at task 1.1.1.1.1
--- exit code 1
--- rows of specs/demo/tasks.md
- [x] 0.1 Done before
- [ ] 1.1 Never green
- [ ] 1.1.1 [FIX 1.1] Fix: Verify failed: test -f never ended with exit code
- [ ] 1.1.1.1 [FIX 1.1.1] Fix: Task did not complete
- [ ] 1.1.1.1.1 [FIX 1.1.1.1] Fix: Task did not complete
- [ ] 1.2 After it
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
    // With a Verify, that is the judge.
    let workspace = misbehaving(RED, "echo TASK_COMPLETE");
    ends(workspace.run(&["--recovery-mode"]), 1, THREE_FIXES);
    // Without one it is asked once more, and then marked.
    let workspace = misbehaving(UNVERIFIED, "echo TASK_COMPLETE");
    let told = workspace.run(&["--recovery-mode"]);
    told.and_rows(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify unverified
1.1 attempt 2 of 5 (no_op); verify unverified; done, unverified, nothing_changed
1.2 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 3 of 100 attempts
--- exit code 0
--- rows of specs/demo/tasks.md
- [x] 1.1 Hard to judge
- [x] 1.2 After it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Hard to judge
- [x] 1.2 After it

"#]]);
}

/// A wish for one part, whoever is asked.
const SPLIT: &str = r#"printf 'TASK_MODIFICATION_REQUEST\n{"type":"SPLIT_TASK","originalTaskId":"%s","reasoning":"big","proposedTasks":[{"title":"Part"}]}\n' $REGREEN_TASK_ID"#;

#[test]
fn one_that_always_asks_to_split() {
    let workspace = misbehaving(RED, SPLIT);
    let too_deep = "ERROR: Max fix depth (3) reached at task 1.1.1.1.1.1.1\n";
    let told = ends(workspace.run(&["--recovery-mode"]), 1, too_deep);
    told.and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; inserted 1.1.1
1.1.1 attempt 1 of 5; inserted 1.1.1.1
1.1.1.1 attempt 1 of 5; refused: parts of parts are not divided further; verify unverified
1.1.1.1 attempt 1 of 5 (reminder); refused: parts of parts are not divided further; failed: Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further; inserted 1.1.1.1.1
1.1.1.1.1 attempt 1 of 5; refused: parts of parts are not divided further; verify unverified
1.1.1.1.1 attempt 1 of 5 (reminder); refused: parts of parts are not divided further; failed: Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further; inserted 1.1.1.1.1.1
1.1.1.1.1.1 attempt 1 of 5; refused: parts of parts are not divided further; verify unverified
1.1.1.1.1.1 attempt 1 of 5 (reminder); refused: parts of parts are not divided further; failed: Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further; inserted 1.1.1.1.1.1.1
1.1.1.1.1.1.1 attempt 1 of 5; refused: parts of parts are not divided further; verify unverified
1.1.1.1.1.1.1 attempt 1 of 5 (reminder); refused: parts of parts are not divided further; failed: Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further
ended: limit, 1 of 5 done, 6 of 100 attempts
ERROR: Max fix depth (3) reached at task 1.1.1.1.1.1.1
--- exit code 1
--- specs/demo/tasks.md
- [x] 0.1 Done before
- [ ] 1.1.1.1 Part
- [ ] 1.1.1.1.1 [FIX 1.1.1.1] Fix: Task did not complete: the agent asked for other r
  - **Do**: Address the error: Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further
    1. Analyze the failure: No fix attempted
    2. Review related code in Files list
    3. Implement fix for: Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further
  - **Files**: Same directory as original
  - **Done when**: Error "Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further" no longer occurs
  - **Verify**: echo 'Verify manually'
  - **Commit**: `fix(demo): address error from task 1.1.1.1`
- [ ] 1.1.1.1.1.1 [FIX 1.1.1.1.1] Fix: Task did not complete: the agent asked for other r
  - **Do**: Address the error: Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further
    1. Analyze the failure: No fix attempted
    2. Review related code in Files list
    3. Implement fix for: Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further
  - **Files**: Same directory as original
  - **Done when**: Error "Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further" no longer occurs
  - **Verify**: echo 'Verify manually'
  - **Commit**: `fix(demo): address error from task 1.1.1.1.1`
- [ ] 1.1.1.1.1.1.1 [FIX 1.1.1.1.1.1] Fix: Task did not complete: the agent asked for other r
  - **Do**: Address the error: Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further
    1. Analyze the failure: No fix attempted
    2. Review related code in Files list
    3. Implement fix for: Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further
  - **Files**: Same directory as original
  - **Done when**: Error "Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further" no longer occurs
  - **Verify**: echo 'Verify manually'
  - **Commit**: `fix(demo): address error from task 1.1.1.1.1.1`
- [ ] 1.1.1 Part
- [ ] 1.1 Never green
  - **Verify**: `test -f never`
- [ ] 1.2 After it
  - **Verify**: `true`
--- specs/demo/.progress.md
## Fix Task History
- Task 1.1.1.1: 1 fix attempted (1.1.1.1.1) - Final: FAIL (max limit)
- Task 1.1.1.1.1: 1 fix attempted (1.1.1.1.1.1) - Final: FAIL (max limit)
- Task 1.1.1.1.1.1: 1 fix attempted (1.1.1.1.1.1.1) - Final: FAIL (max limit)
--- state {"taskIndex":1,"totalTasks":8,"taskIteration":1,"globalIteration":6,"recoveryMode":true,"fixTaskMap":{"1.1.1.1":{"attempts":1,"fixTaskIds":["1.1.1.1.1"],"lastError":"Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further"},"1.1.1.1.1":{"attempts":1,"fixTaskIds":["1.1.1.1.1.1"],"lastError":"Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further"},"1.1.1.1.1.1":{"attempts":1,"fixTaskIds":["1.1.1.1.1.1.1"],"lastError":"Task did not complete: the agent asked for other rows in the plan instead: parts of parts are not divided further"}},"taskResults":{"0.1":"success","1.1":"pending","1.2":"pending","1.1.1":"pending","1.1.1.1":"failed","1.1.1.1.1":"failed","1.1.1.1.1.1":"failed","1.1.1.1.1.1.1":"failed"},"modificationMap":{"1.1":{"count":2,"taskIds":["1.1.1"],"lastRequest":"[RUN]/1","lastTaskIds":["1.1.1"]},"1.1.1":{"taskIds":["1.1.1.1"],"lastRequest":"[RUN]/1","lastTaskIds":["1.1.1.1"]}}}

"#]]);
    let workspace = misbehaving(RED, SPLIT);
    ends(workspace.run(&[]), 1, FIVE_ATTEMPTS);
    assert_eq!(workspace.text(TASKS), RED);
}

#[test]
fn one_that_always_runs_out_of_time_while_it_gets_on() {
    let always = "echo working; exec sleep 60";
    let workspace = misbehaving(RED, always);
    let flags = ["--timeout=500ms", "--max-task-iterations=3"];
    let told = workspace.run(&[&flags[..], &["--recovery-mode"]].concat());
    let limit = "ERROR: Max retries reached for task 1.1 after 3 attempts\n";
    ends(told, 1, limit).and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 3; timed out; failed (timeout_with_progress): The agent was ended: it had not finished after 500ms
1.1 attempt 2 of 3; timed out; failed (timeout_with_progress): The agent was ended: it had not finished after 1s
1.1 attempt 3 of 3; timed out; failed (timeout_with_progress): The agent was ended: it had not finished after 2s
ended: limit, 1 of 3 done, 3 of 100 attempts
ERROR: Max retries reached for task 1.1 after 3 attempts
--- exit code 1
--- specs/demo/tasks.md
- [x] 0.1 Done before
- [ ] 1.1 Never green
  - **Verify**: `test -f never`
- [ ] 1.2 After it
  - **Verify**: `true`
--- no specs/demo/.progress.md
--- state {"taskIndex":1,"totalTasks":3,"taskIteration":3,"globalIteration":3,"recoveryMode":true,"fixTaskMap":{},"taskResults":{"0.1":"success","1.1":"failed","1.2":"pending"}}

"#]]);
    let workspace = misbehaving(RED, always);
    ends(workspace.run(&flags), 1, limit);
    assert_eq!(workspace.text(TASKS), RED);
}

#[test]
fn one_that_always_runs_out_of_time_and_gets_nowhere() {
    let workspace = misbehaving(RED, "exec sleep 60");
    let told = workspace.run(&["--recovery-mode", "--timeout=100ms"]);
    assert_eq!(workspace.text(TASKS), RED);
    assert_eq!(told.code, Some(3));
    let why = "it gets nowhere in its time, and was not split";
    assert!(told.message.contains(why), "{}", told.message);
    let workspace = misbehaving(RED, "exec sleep 60");
    ends(workspace.run(&["--timeout=100ms"]), 1, FIVE_ATTEMPTS);
}

#[test]
fn one_that_ticks_every_row() {
    let always = "sed -i 's/\\[ \\]/[x]/' $tasks; echo TASK_COMPLETE";
    let plan = RED.replace("`true`", "`test -f never-either`");
    let workspace = misbehaving(&plan, always);
    let told = ends(workspace.run(&ONE_FIX), 1, ONE_FIX_MADE);
    told.and_rows(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; ticked 1.2; took back 1.2
warning: the agent's tick of task 1.2 was taken back: nothing shows that it is done. If it is: regreen done 1.2
1.1 verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1; inserted 1.1.1
1.1.1 attempt 1 of 5; ticked 1.2; took back 1.2
warning: the agent's tick of task 1.2 was taken back: nothing shows that it is done. If it is: regreen done 1.2
1.1.1 verify red; done
1.1 verify red
1.1 attempt 2 of 5; ticked 1.2; took back 1.2
warning: the agent's tick of task 1.2 was taken back: nothing shows that it is done. If it is: regreen done 1.2
1.1 verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1
ended: limit, 1 of 3 done, 3 of 100 attempts
ERROR: Max fix attempts (1) reached for task 1.1
Fix attempts: 1.1.1
--- exit code 1
--- rows of specs/demo/tasks.md
- [x] 0.1 Done before
- [ ] 1.1 Never green
- [x] 1.1.1 [FIX 1.1] Fix: Verify failed: test -f never ended with exit code
- [ ] 1.2 After it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: Verify failed: test -f never ended with exit code

## Fix Task History
- Task 1.1: 1 fix attempted (1.1.1) - Final: FAIL (max limit)

"#]]);
    let workspace = misbehaving(&plan, always);
    ends(workspace.run(&[]), 1, FIVE_ATTEMPTS);
    assert_eq!(workspace.text(TASKS), plan);
}

#[test]
fn one_that_deletes_rows() {
    // Its own row comes back for ever, others once.
    let workspace = misbehaving(RED, "sed -i '/1\\.[12]/,$d' $tasks; echo TASK_COMPLETE");
    let told = ends(workspace.run(&ONE_FIX), 1, ONE_FIX_MADE);
    told.and_rows(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; removed 1.2
warning: the agent rewrote the plan beyond recognition: the plan of before the attempt is restored
warning: task 1.1 is being worked on: the agent removed it, it was put back
warning: task 1.2 had vanished from the plan and was put back; to leave it out, run `regreen skip 1.2`
warning: not all that the agent did to the task file stays; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md
1.1 verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1; inserted 1.1.1
1.1.1 attempt 1 of 5; removed again 1.2
warning: task 1.1 is being worked on: the agent removed it, it was put back
warning: task 1.1.1 is being worked on: the agent removed it, it was put back
warning: task 1.2 has vanished from the plan again: skipped
warning: not all that the agent did to the task file stays; its version is kept as .regreen/runs/[RUN]/1.1.1/1.plan.md
1.2 skipped
1.1.1 verify red; done
1.1 verify red
1.1 attempt 2 of 5
warning: the agent rewrote the plan beyond recognition: the plan of before the attempt is restored
warning: task 1.1 is being worked on: the agent removed it, it was put back
warning: task 1.1.1 is done: the agent removed it, it was put back
warning: not all that the agent did to the task file stays; its version is kept as .regreen/runs/[RUN]/1.1/2.plan.md
1.1 verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1
ended: limit, 1 of 2 done, 3 of 100 attempts
ERROR: Max fix attempts (1) reached for task 1.1
Fix attempts: 1.1.1
--- exit code 1
--- rows of specs/demo/tasks.md
- [x] 0.1 Done before
- [ ] 1.1 Never green
- [x] 1.1.1 [FIX 1.1] Fix: Verify failed: test -f never ended with exit code
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: Verify failed: test -f never ended with exit code

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
    let told = workspace.run(&["--recovery-mode"]);
    told.and_rows(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; removed 1.3
warning: task 1.3 had vanished from the plan and was put back; to leave it out, run `regreen skip 1.3`
warning: not all that the agent did to the task file stays; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md
1.1 verify unverified; done, unverified
1.2 attempt 1 of 5; removed again 1.3
warning: task 1.3 has vanished from the plan again: skipped
1.3 skipped
1.2 verify green; done
ended: skipped, 2 of 2 done, 2 of 100 attempts
--- exit code 1
--- rows of specs/demo/tasks.md
- [x] 1.1 First
- [x] 1.2 Second
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
    let told = ends(workspace.run(&ONE_FIX), 1, ONE_FIX_MADE);
    told.and_rows(&workspace).shows(str![[r#"
1.1 attempt 1 of 5
warning: task 0.1 is done: the agent unticked it, it is ticked again
warning: not all that the agent did to the task file stays; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md
1.1 verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1; inserted 1.1.1
1.1.1 attempt 1 of 5
warning: task 0.1 is done: the agent unticked it, it is ticked again
warning: not all that the agent did to the task file stays; its version is kept as .regreen/runs/[RUN]/1.1.1/1.plan.md
1.1.1 verify red; done
1.1 verify red
1.1 attempt 2 of 5
warning: task 0.1 is done: the agent unticked it, it is ticked again
warning: task 1.1.1 is done: the agent unticked it, it is ticked again
warning: not all that the agent did to the task file stays; its version is kept as .regreen/runs/[RUN]/1.1/2.plan.md
1.1 verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1
ended: limit, 1 of 3 done, 3 of 100 attempts
ERROR: Max fix attempts (1) reached for task 1.1
Fix attempts: 1.1.1
--- exit code 1
--- rows of specs/demo/tasks.md
- [x] 0.1 Done before
- [ ] 1.1 Never green
- [x] 1.1.1 [FIX 1.1] Fix: Verify failed: test -f never ended with exit code
- [ ] 1.2 After it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: Verify failed: test -f never ended with exit code

## Fix Task History
- Task 1.1: 1 fix attempted (1.1.1) - Final: FAIL (max limit)

"#]]);
    // If all is well otherwise, no task is run twice for it.
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
    let told = ends(workspace.run(&ONE_FIX), 1, ONE_FIX_MADE);
    told.and_rows(&workspace).shows(str![[r#"
1.1 attempt 1 of 5
warning: task 1.1 is being worked on: what the agent changed in it was taken back
warning: not all that the agent did to the task file stays; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md
1.1 verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1; inserted 1.1.1
1.1.1 attempt 1 of 5
warning: task 1.1 is being worked on: what the agent changed in it was taken back
warning: task 1.1.1 is being worked on: what the agent changed in it was taken back
warning: not all that the agent did to the task file stays; its version is kept as .regreen/runs/[RUN]/1.1.1/1.plan.md
1.1.1 verify red; done
1.1 verify red
1.1 attempt 2 of 5
warning: task 1.1 is being worked on: what the agent changed in it was taken back
warning: task 1.1.1 is done: what the agent changed in it was taken back
warning: not all that the agent did to the task file stays; its version is kept as .regreen/runs/[RUN]/1.1/2.plan.md
1.1 verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1
ended: limit, 1 of 3 done, 3 of 100 attempts
ERROR: Max fix attempts (1) reached for task 1.1
Fix attempts: 1.1.1
--- exit code 1
--- rows of specs/demo/tasks.md
- [x] 0.1 Done before
- [ ] 1.1 Never green
- [x] 1.1.1 [FIX 1.1] Fix: Verify failed: test -f never ended with exit code
- [ ] 1.2 After it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: Verify failed: test -f never ended with exit code

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
    let told = ends(workspace.run(&ONE_FIX), 1, made);
    let warning = "task 1.1 is being worked on: what the agent changed in it was taken back\n";
    assert!(told.stdout.contains(warning), "{}", told.stdout);
    // Nor does that help the next run.
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
    let told = workspace.run(&["--recovery-mode", "--max-global-iterations=4"]);
    told.and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; added 11.1; verify green; done
1.2 attempt 1 of 5; added 12.1; verify green; done
11.1 attempt 1 of 5; added 13.1; verify green; done
12.1 attempt 1 of 5; added 14.1; verify green; done
ended: limit, 4 of 6 done, 4 of 4 attempts
ERROR: Maximum global iterations (4) reached. Review .progress.md for failure patterns.
--- exit code 1
--- specs/demo/tasks.md
- [x] 1.1 One
  - **Verify**: `true`
- [x] 1.2 Two
  - **Verify**: `true`
- [x] 11.1 One more
  - **Verify**: `true`
- [x] 12.1 One more
  - **Verify**: `true`
- [ ] 13.1 One more
  - **Verify**: `true`
- [ ] 14.1 One more
  - **Verify**: `true`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 One
- [x] 1.2 Two
- [x] 11.1 One more
- [x] 12.1 One more
--- state {"taskIndex":4,"totalTasks":6,"taskIteration":1,"globalIteration":4,"recoveryMode":true,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success","11.1":"success","12.1":"success","13.1":"pending","14.1":"pending"}}

"#]]);
}

#[test]
fn one_that_adds_fixes_to_its_own_task() {
    let always = "n=$(cat $notes/n 2>/dev/null || echo 10); n=$((n + 1)); echo $n >$notes/n; \
                  sed -i \"s/^- \\[ \\] 1.2/- [ ] 1.1.$n [FIX 1.1] Fix: more\\n&/\" $tasks; echo TASK_COMPLETE";
    let workspace = misbehaving(RED, always);
    let told = workspace.run(&["--recovery-mode", "--max-global-iterations=6"]);
    told.and_rows(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; added 1.1.11; verify red; verify red; failed (runtime_exception): Verify failed: `test -f never` ended with exit code 1; inserted 1.1.12
1.1.12 attempt 1 of 5; added 1.1.12; verify red; done
1.1.12 attempt 1 of 5; added 1.1.13; verify unverified
1.1.12 attempt 2 of 5 (no_op); added 1.1.14; verify unverified; done, unverified, nothing_changed
1.1.14 attempt 1 of 5; added 1.1.15; verify unverified
1.1.14 attempt 2 of 5 (no_op); added 1.1.16; verify unverified; done, unverified, nothing_changed
ended: limit, 1 of 3 done, 6 of 6 attempts
ERROR: Maximum global iterations (6) reached. Review .progress.md for failure patterns.
--- exit code 1
--- rows of specs/demo/tasks.md
- [x] 0.1 Done before
- [ ] 1.1 Never green
- [ ] 1.1.11 [FIX 1.1] Fix: more
- [x] 1.1.12 [FIX 1.1] Fix: Verify failed: test -f never ended with exit code
- [x] 1.1.12 [FIX 1.1] Fix: more
- [ ] 1.1.13 [FIX 1.1] Fix: more
- [x] 1.1.14 [FIX 1.1] Fix: more
- [ ] 1.1.15 [FIX 1.1] Fix: more
- [ ] 1.1.16 [FIX 1.1] Fix: more
- [ ] 1.2 After it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.12 Fix: Verify failed: test -f never ended with exit code
- [x] 1.1.12 Fix: more
- [x] 1.1.14 Fix: more

## Fix Task History
- Task 1.1: 6 fixes attempted (1.1.12, 1.1.11, 1.1.13, 1.1.14, 1.1.15, 1.1.16) - Final: FAIL (max limit)

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
