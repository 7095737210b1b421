//! People and healing: resuming, retrying, and editing the plan meanwhile.

use std::fs;

use snapbox::str;

use regreen_test_support::{PROGRESS, STATE, TASKS, Workspace};

const PLAN: &str = "- [x] 1.1 Read
- [ ] 1.2 Parse
  - **Verify**: `test -f fixed`
- [ ] 1.3 Print
  - **Verify**: `true`
";

const FAILED: &str =
    "printf 'Task %s: it FAILED\\n- Error: boom\\n- Attempted fix: none\\n' $REGREEN_TASK_ID";

/// Always fails 1.2; fixes only claim to be done.
fn never_healed(tasks: &str) -> Workspace {
    Workspace::with_tasks(tasks).agent(&format!(
        "1.2:*) echo $REGREEN_TASK_ID >>$notes/order; {FAILED} ;;
         *) echo $REGREEN_TASK_ID >>$notes/order; echo TASK_COMPLETE ;;"
    ))
}

/// Blocks in the first attempt of this fix until it is ended.
fn waits_in(fix: &str) -> Workspace {
    Workspace::with_tasks(PLAN).agent(&format!(
        "1.2:1) {FAILED} ;;
         1.2.1:1) {FAILED} ;;
         {fix}:*) echo $REGREEN_TASK_ID >>$notes/order; if ! test -f $notes/go; then touch $notes/waiting; exec sleep 60; fi; touch fixed; echo TASK_COMPLETE ;;
         *) echo $REGREEN_TASK_ID >>$notes/order; echo TASK_COMPLETE ;;"
    ))
}

fn let_go(workspace: &Workspace) {
    let note = workspace.agent_flag();
    let folder = note.strip_prefix("command:sh ").unwrap();
    let folder = folder.strip_suffix("/agent.sh").unwrap();
    fs::write(format!("{folder}/go"), "").unwrap();
}

fn edit(workspace: &Workspace, from: &str, to: &str) {
    let text = workspace.text(TASKS);
    assert!(text.contains(from), "{text}");
    fs::write(workspace.path(TASKS), text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_chain_that_was_stopped_resumes_where_it_was() {
    let workspace = waits_in("1.2.1.1");
    let run = workspace.start(&["--recovery-mode", "--keep-state"], "waiting");
    run.signal("INT");
    assert_eq!(run.wait().code, Some(130));
    let_go(&workspace);
    let output = workspace.run(&["--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
resumed
1.2.1.1 attempt 1 of 5 (interrupted); verify green; done
1.2.1 attempt 2 of 5; verify green; done
1.2 attempt 2 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 2 of 2 fixes, 6 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Parse
+ - [x] 1.2.1 [FIX 1.2] Fix: boom
+ - [x] 1.2.1.1 [FIX 1.2.1] Fix: boom
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.1.1 Fix: boom
- [x] 1.2.1 Fix: boom
- [x] 1.2 Parse
- [x] 1.3 Print

## Fix Task History
- Task 1.2.1: 1 fix attempted (1.2.1.1) - Final: PASS
- Task 1.2: 1 fix attempted (1.2.1) - Final: PASS
--- state {"taskIndex":5,"totalTasks":5,"taskIteration":1,"globalIteration":6,"recoveryMode":true,"fixTaskMap":{"1.2":{"attempts":1,"fixTaskIds":["1.2.1"],"lastError":"boom"},"1.2.1":{"attempts":1,"fixTaskIds":["1.2.1.1"],"lastError":"boom"}},"taskResults":{"1.1":"success","1.2":"success","1.3":"success","1.2.1":"success","1.2.1.1":"success"}}

"#]]);
}

#[test]
fn a_chain_that_was_killed_resumes_where_it_was() {
    let workspace = waits_in("1.2.1.1");
    let run = workspace.start(&["--recovery-mode"], "waiting");
    run.signal("KILL");
    run.wait();
    let_go(&workspace);
    let output = workspace.run(&[]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert_eq!(
        workspace.note("order"),
        "1.2.1.1\n1.2.1.1\n1.2.1\n1.2\n1.3\n"
    );
    assert_eq!(
        workspace.text(PROGRESS),
        "## Completed Tasks
- [x] 1.2.1.1 Fix: boom
- [x] 1.2.1 Fix: boom
- [x] 1.2 Parse
- [x] 1.3 Print

## Fix Task History
- Task 1.2.1: 1 fix attempted (1.2.1.1) - Final: PASS
- Task 1.2: 1 fix attempted (1.2.1) - Final: PASS
"
    );
}

#[test]
fn while_fixes_run_the_state_points_at_their_original() {
    let workspace = waits_in("1.2.1.1");
    let run = workspace.start(&["--recovery-mode"], "waiting");
    let state = workspace.text(STATE);
    run.signal("INT");
    run.wait();
    snapbox::assert_data_eq!(
        state,
        str![[r#"
{
  "source": "direct",
  "name": "demo",
  "basePath": "./specs/demo",
  "phase": "execution",
  "taskIndex": 1,
  "totalTasks": 5,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 3,
  "maxGlobalIterations": 100,
  "recoveryMode": true,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {
    "1.2": {
      "attempts": 1,
      "fixTaskIds": [
        "1.2.1"
      ],
      "lastError": "boom"
    },
    "1.2.1": {
      "attempts": 1,
      "fixTaskIds": [
        "1.2.1.1"
      ],
      "lastError": "boom"
    }
  },
  "taskResults": {
    "1.1": {
      "status": "success"
    },
    "1.2": {
      "status": "failed"
    },
    "1.3": {
      "status": "pending"
    },
    "1.2.1": {
      "status": "failed"
    },
    "1.2.1.1": {
      "status": "pending"
    }
  }
}

"#]]
    );
}

#[test]
fn a_new_run_after_a_limit_tries_the_original_first_and_refunds_nothing() {
    let workspace = never_healed(PLAN);
    workspace.run(&["--recovery-mode", "--max-fix-tasks=1"]);
    assert_eq!(workspace.note("order"), "1.2\n1.2.1\n1.2\n");
    let output = workspace.run(&[]);
    assert_eq!(workspace.note("order"), "1.2\n1.2.1\n1.2\n1.2\n");
    output.and_spec(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; failed (runtime_exception): boom
ended: limit, 1 of 3 done, 1 of 1 fixes, 1 of 100 attempts
ERROR: Max fix attempts (1) reached for task 1.2
Fix attempts: 1.2.1
--- exit code 1
--- changes in specs/demo/tasks.md
+ - [x] 1.2.1 [FIX 1.2] Fix: boom
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.1 Fix: boom

## Fix Task History
- Task 1.2: 1 fix attempted (1.2.1) - Final: FAIL (max limit)
--- state {"taskIndex":1,"totalTasks":4,"taskIteration":1,"globalIteration":1,"recoveryMode":true,"fixTaskMap":{"1.2":{"attempts":1,"fixTaskIds":["1.2.1"],"lastError":"boom"}},"taskResults":{"1.1":"success","1.2":"failed","1.3":"pending","1.2.1":"success"}}

"#]]);
}

#[test]
fn an_open_fix_waits_for_its_original_in_a_new_run_after_a_limit() {
    let workspace = Workspace::with_tasks(PLAN).agent(&format!(
        "1.2:2) touch fixed; echo TASK_COMPLETE ;;
         1.3:*) echo TASK_COMPLETE ;;
         *) if test -f $notes/go; then touch fixed; echo TASK_COMPLETE; else {FAILED}; fi ;;"
    ));
    // Too deep: 1.2.1.1.1 and all tasks above it stay open.
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(1));
    let_go(&workspace);
    let output = workspace.run(&[]);
    output.and_spec(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; verify green; superseded 1.2.1, 1.2.1.1, 1.2.1.1.1; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 0 of 3 fixes, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Parse
+ - [x] 1.2.1 [FIX 1.2] Fix: boom
+ - [x] 1.2.1.1 [FIX 1.2.1] Fix: boom
+ - [x] 1.2.1.1.1 [FIX 1.2.1.1] Fix: boom
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Parse
- [x] 1.3 Print

## Fix Task History
- Task 1.2: 1 fix attempted (1.2.1) - Final: PASS
- Task 1.2.1: 1 fix attempted (1.2.1.1) - Final: FAIL (max limit)
- Task 1.2.1.1: 1 fix attempted (1.2.1.1.1) - Final: FAIL (max limit)
--- no state

"#]]);
}

// AC-3.1
#[test]
fn a_higher_limit_allows_the_next_fix() {
    let workspace = never_healed(PLAN);
    workspace.run(&["--recovery-mode", "--max-fix-tasks=1"]);
    let output = workspace.run(&["--max-fix-tasks=2"]);
    assert_eq!(
        output.message,
        "ERROR: Max fix attempts (2) reached for task 1.2\nFix attempts: 1.2.1, 1.2.2\n"
    );
    assert_eq!(
        workspace.note("order"),
        "1.2\n1.2.1\n1.2\n1.2\n1.2.2\n1.2\n"
    );
    assert!(
        workspace
            .text(STATE)
            .contains("\"maxFixTasksPerOriginal\": 2")
    );
}

#[test]
fn retry_gives_a_task_its_budget_back() {
    let workspace = never_healed(PLAN);
    workspace.run(&["--recovery-mode", "--max-fix-tasks=1"]);
    assert_eq!(workspace.regreen(&["retry", "1.2"]).code, Some(0));
    let output = workspace.run(&[]);
    assert_eq!(
        output.message,
        "ERROR: Max fix attempts (1) reached for task 1.2\nFix attempts: 1.2.1, 1.2.2\n"
    );
    assert_eq!(
        workspace.note("order"),
        "1.2\n1.2.1\n1.2\n1.2\n1.2.2\n1.2\n"
    );
}

#[test]
fn a_fix_row_that_a_person_deletes_is_not_refunded() {
    let workspace = never_healed(PLAN);
    workspace.run(&["--recovery-mode", "--max-fix-tasks=1"]);
    let text = workspace.text(TASKS);
    let (before, rest) = text.split_once("- [x] 1.2.1").unwrap();
    let (_, after) = rest.split_once("- [ ] 1.3").unwrap();
    fs::write(workspace.path(TASKS), format!("{before}- [ ] 1.3{after}")).unwrap();
    let output = workspace.run(&[]);
    assert_eq!(
        output.message,
        "ERROR: Max fix attempts (1) reached for task 1.2\nFix attempts: 1.2.1\n"
    );
    assert_eq!(workspace.text(TASKS), PLAN);
    // Its number is not reused either.
    workspace.run(&["--max-fix-tasks=2"]);
    assert!(workspace.text(TASKS).contains("1.2.2 [FIX 1.2]"));
    assert!(!workspace.text(TASKS).contains("1.2.1 "));
}

#[test]
fn a_fix_that_a_person_ticks_is_done() {
    let workspace = waits_in("1.2.1.1");
    let run = workspace.start(&["--recovery-mode"], "waiting");
    run.signal("INT");
    run.wait();
    let_go(&workspace);
    edit(&workspace, "- [ ] 1.2.1.1", "- [x] 1.2.1.1");
    fs::write(workspace.path("fixed"), "").unwrap();
    let output = workspace.run(&[]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert_eq!(workspace.note("order"), "1.2.1.1\n1.2.1\n1.2\n1.3\n");
}

#[test]
fn an_original_that_a_person_unticks_is_run_again_with_its_fixes_left_alone() {
    let workspace = waits_in("1.2.1.1");
    let_go(&workspace);
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    edit(&workspace, "- [x] 1.2 ", "- [ ] 1.2 ");
    let output = workspace.run(&["--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; failed (runtime_exception): boom; inserted 1.2.2
1.2.2 attempt 1 of 5; verify green; done
1.2 attempt 2 of 5; verify green; done
ended: all_green, 3 of 3 done, 3 of 3 fixes, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Parse
+ - [x] 1.2.1 [FIX 1.2] Fix: boom
+ - [x] 1.2.1.1 [FIX 1.2.1] Fix: boom
+ - [x] 1.2.2 [FIX 1.2] Fix: boom
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.1.1 Fix: boom
- [x] 1.2.1 Fix: boom
- [x] 1.2 Parse
- [x] 1.3 Print
- [x] 1.2.2 Fix: boom

## Fix Task History
- Task 1.2.1: 1 fix attempted (1.2.1.1) - Final: PASS
- Task 1.2: 2 fixes attempted (1.2.1, 1.2.2) - Final: PASS
--- state {"taskIndex":6,"totalTasks":6,"taskIteration":1,"globalIteration":3,"recoveryMode":true,"fixTaskMap":{"1.2":{"attempts":2,"fixTaskIds":["1.2.1","1.2.2"],"lastError":"boom"},"1.2.1":{"attempts":1,"fixTaskIds":["1.2.1.1"],"lastError":"boom"}},"taskResults":{"1.1":"success","1.2":"success","1.3":"success","1.2.1":"success","1.2.1.1":"success","1.2.2":"success"}}

"#]]);
}

#[test]
fn an_original_that_a_person_renames_keeps_its_fixes() {
    let workspace = waits_in("1.2.1.1");
    let run = workspace.start(&["--recovery-mode"], "waiting");
    run.signal("INT");
    run.wait();
    let_go(&workspace);
    edit(&workspace, "1.2 Parse", "1.2 Parse everything");
    let output = workspace.run(&["--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
resumed
1.2.1.1 attempt 1 of 5 (interrupted); verify green; done
1.2.1 attempt 2 of 5; verify green; done
1.2 attempt 1 of 5; failed (runtime_exception): boom; inserted 1.2.2
1.2.2 attempt 1 of 5; verify green; done
1.2 attempt 2 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 3 of 3 fixes, 8 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
- - [ ] 1.2 Parse
+ - [x] 1.2 Parse everything
+ - [x] 1.2.1 [FIX 1.2] Fix: boom
+ - [x] 1.2.1.1 [FIX 1.2.1] Fix: boom
+ - [x] 1.2.2 [FIX 1.2] Fix: boom
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.1.1 Fix: boom
- [x] 1.2.1 Fix: boom
- [x] 1.2.2 Fix: boom
- [x] 1.2 Parse everything
- [x] 1.3 Print

## Fix Task History
- Task 1.2.1: 1 fix attempted (1.2.1.1) - Final: PASS
- Task 1.2: 2 fixes attempted (1.2.1, 1.2.2) - Final: PASS
--- state {"taskIndex":6,"totalTasks":6,"taskIteration":1,"globalIteration":8,"recoveryMode":true,"fixTaskMap":{"1.2":{"attempts":2,"fixTaskIds":["1.2.1","1.2.2"],"lastError":"boom"},"1.2.1":{"attempts":1,"fixTaskIds":["1.2.1.1"],"lastError":"boom"}},"taskResults":{"1.1":"success","1.2":"success","1.3":"success","1.2.1":"success","1.2.1.1":"success","1.2.2":"success"}}

"#]]);
}

#[test]
fn fixes_whose_original_a_person_deletes_are_ordinary_tasks() {
    let workspace = waits_in("1.2.1.1");
    let run = workspace.start(&["--recovery-mode"], "waiting");
    run.signal("INT");
    run.wait();
    let_go(&workspace);
    edit(
        &workspace,
        "- [ ] 1.2 Parse\n  - **Verify**: `test -f fixed`\n",
        "",
    );
    let output = workspace.run(&[]);
    output.and_plan(&workspace).shows(str![[r#"
resumed
1.2.1.1 attempt 1 of 5 (interrupted); verify green; done
1.2.1 attempt 2 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 1 of 1 fixes, 5 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
- - [ ] 1.2 Parse
+ - [x] 1.2.1 [FIX 1.2] Fix: boom
+ - [x] 1.2.1.1 [FIX 1.2.1] Fix: boom
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.1.1 Fix: boom
- [x] 1.2.1 Fix: boom
- [x] 1.3 Print

## Fix Task History
- Task 1.2.1: 1 fix attempted (1.2.1.1) - Final: PASS

"#]]);
}

// AC-4.3
#[test]
fn no_recovery_mode_is_for_once() {
    let workspace = never_healed(PLAN).file(
        STATE,
        "{\n  \"recoveryMode\": true,\n  \"maxTaskIterations\": 2\n}\n",
    );
    let output = workspace.run(&["--no-recovery-mode"]);
    assert_eq!(
        output.message,
        "ERROR: Max retries reached for task 1.2 after 2 attempts\n"
    );
    assert_eq!(workspace.text(TASKS), PLAN);
    assert!(workspace.text(STATE).contains("\"recoveryMode\": true"));
    assert!(!workspace.has(PROGRESS));
    // The next run heals again.
    workspace.run(&[]);
    assert!(workspace.text(TASKS).contains("1.2.1 [FIX 1.2]"));
}

#[test]
fn without_recovery_open_fixes_of_before_are_still_done() {
    let workspace = never_healed(
        "- [ ] 1.2 Parse\n  - **Verify**: `test -f fixed`\n- [ ] 1.2.1 [FIX 1.2] Fix: boom\n- [ ] 1.3 Print\n  - **Verify**: `true`\n",
    );
    let output = workspace.run(&["--max-task-iterations=1"]);
    assert_eq!(workspace.note("order"), "1.2.1\n1.2\n");
    output.and_plan(&workspace).shows(str![[r#"
1.2.1 attempt 1 of 1; verify unverified; done, unverified, nothing_changed
1.2 attempt 1 of 1; failed (runtime_exception): boom
ended: limit, 0 of 2 done, 1 of 1 fixes, 2 of 100 attempts
ERROR: Max retries reached for task 1.2 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
x - [x] 1.2.1 [FIX 1.2] Fix: boom
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.1 Fix: boom

"#]]);
}
