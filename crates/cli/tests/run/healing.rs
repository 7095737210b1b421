//! With recovery on, a failed task gets a fix task, and is tried again.

use snapbox::str;

use regreen_test_support::{PROGRESS, STATE, TASKS, Workspace};

const PARSER: &str = "# Tasks

- [ ] 1.3 Add failure parser
  - **Do**: Add parsing logic
  - **Files**: implement.md
  - **Verify**: `test -f fixed`
  - **Commit**: feat: add parser

- [ ] 1.4 Next task
  - **Verify**: `true`
";

const FAILED: &str = "printf 'Task %s: x FAILED\\n- Error: File not found: src/parser.ts\\n- Attempted fix: Checked alternate paths\\n' $REGREEN_TASK_ID";

#[test]
fn a_fix_is_written_done_and_the_task_tried_again() {
    let workspace = Workspace::in_git(PARSER).agent(&format!(
        "1.3:1) {FAILED} ;;
         1.3.1:1) touch fixed; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;"
    ));
    let output = workspace.run_as_text(&["--recovery-mode", "--keep-state"]);
    output
        .and(&workspace, &[TASKS, PROGRESS, STATE])
        .shows(str![[r#"
   START  demo · 2 tasks · command:sh [AGENT]/agent.sh · recovery on
    FAIL  [TIME] 1.3 Add failure parser                         attempt 1/5
          missing file
          File not found: src/parser.ts
     FIX  1.3.1 added for 1.3
    PASS  [TIME] 1.3.1 Fix: File not found: src/parser.ts       [HASH]
    PASS  [TIME] 1.3 Add failure parser                         [HASH]
    PASS  [TIME] 1.4 Next task
     END  all tasks done                                          [RUN]

ALL_TASKS_COMPLETE
   Tasks  2 of 2 done in [TIME]
   Fixes  1 of 1 done
Attempts  4 of 100
--- exit code 0
--- specs/demo/tasks.md
# Tasks

- [x] 1.3 Add failure parser
  - **Do**: Add parsing logic
  - **Files**: implement.md
  - **Verify**: `test -f fixed`
  - **Commit**: feat: add parser

- [x] 1.3.1 [FIX 1.3] Fix: File not found: src/parser.ts
  - **Do**: Address the error: File not found: src/parser.ts
    1. Analyze the failure: Checked alternate paths
    2. Review related code in Files list
    3. Implement fix for: File not found: src/parser.ts
  - **Files**: implement.md
  - **Done when**: Error "File not found: src/parser.ts" no longer occurs
  - **Verify**: `test -f fixed`
  - **Commit**: `fix(demo): address missing file from task 1.3`

- [x] 1.4 Next task
  - **Verify**: `true`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.3.1 Fix: File not found: src/parser.ts - [HASH]
- [x] 1.3 Add failure parser - [HASH]
- [x] 1.4 Next task

## Fix Task History
- Task 1.3: 1 fix attempted (1.3.1) - Final: PASS
--- specs/demo/.ralph-state.json
{
  "source": "direct",
  "name": "demo",
  "basePath": "./specs/demo",
  "phase": "execution",
  "taskIndex": 3,
  "totalTasks": 3,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 4,
  "maxGlobalIterations": 100,
  "recoveryMode": true,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {
    "1.3": {
      "attempts": 1,
      "fixTaskIds": [
        "1.3.1"
      ],
      "lastError": "File not found: src/parser.ts"
    }
  },
  "taskResults": {
    "1.3": {
      "status": "success"
    },
    "1.4": {
      "status": "success"
    },
    "1.3.1": {
      "status": "success"
    }
  }
}

"#]]);
    snapbox::assert_data_eq!(
        workspace.plain(&workspace.history()),
        str![[r#"
* before

A	specs/demo/tasks.md
* fix(demo): address missing file from task 1.3

A	fixed
M	specs/demo/tasks.md
* feat: add parser

A	specs/demo/.progress.md
M	specs/demo/tasks.md
* chore(demo): record progress

M	specs/demo/.progress.md
M	specs/demo/tasks.md

"#]]
    );
}

#[test]
fn a_fix_that_fails_gets_a_fix_of_its_own() {
    let workspace = Workspace::with_tasks(PARSER).agent(&format!(
        "1.3:1) {FAILED} ;;
         1.3.1:1) printf 'Task 1.3.1: x FAILED\\n- Error: no such folder\\n' ;;
         1.3.1:2) touch fixed; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;"
    ));
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.3 attempt 1 of 5; failed (missing_file): File not found: src/parser.ts; inserted 1.3.1
1.3.1 attempt 1 of 5; failed (missing_file): no such folder; inserted 1.3.1.1
1.3.1.1 attempt 1 of 5; verify red; done
1.3.1 attempt 2 of 5; verify green; done
1.3 attempt 2 of 5; verify green; done
1.4 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 2 of 2 fixes, 6 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.3 Add failure parser
+ - [x] 1.3.1 [FIX 1.3] Fix: File not found: src/parser.ts
+
+ - [x] 1.3.1.1 [FIX 1.3.1] Fix: no such folder
+
x - [x] 1.4 Next task
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.3.1.1 Fix: no such folder
- [x] 1.3.1 Fix: File not found: src/parser.ts
- [x] 1.3 Add failure parser
- [x] 1.4 Next task

## Fix Task History
- Task 1.3.1: 1 fix attempted (1.3.1.1) - Final: PASS
- Task 1.3: 1 fix attempted (1.3.1) - Final: PASS
--- state {"taskIndex":4,"totalTasks":4,"taskIteration":1,"globalIteration":6,"recoveryMode":true,"fixTaskMap":{"1.3":{"attempts":1,"fixTaskIds":["1.3.1"],"lastError":"File not found: src/parser.ts"},"1.3.1":{"attempts":1,"fixTaskIds":["1.3.1.1"],"lastError":"no such folder"}},"taskResults":{"1.3":"success","1.4":"success","1.3.1":"success","1.3.1.1":"success"}}

"#]]);
}

#[test]
fn where_only_verify_was_red_it_runs_before_the_agent_is_asked_again() {
    let workspace = Workspace::with_tasks(PARSER).agent(
        "1.3:1) echo TASK_COMPLETE ;;
         1.3:*) echo unasked >$notes/asked; echo TASK_COMPLETE ;;
         1.3.1:1) touch fixed; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    assert!(!workspace.has_note("asked"));
}

#[test]
fn after_three_fixes_it_is_enough() {
    let workspace = Workspace::with_tasks(PARSER).agent(&format!(
        "1.3:*) {FAILED} ;;
         *) echo TASK_COMPLETE ;;"
    ));
    let output = workspace.run_as_text(&["--recovery-mode"]);
    assert!(workspace.text(STATE).contains("\"recoveryMode\": true"));
    output.shows(str![[r#"
   START  demo · 2 tasks · command:sh [AGENT]/agent.sh · recovery on
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    FAIL  [TIME] 1.3 Add failure parser                         attempt 1/5
          missing file
          File not found: src/parser.ts
     FIX  1.3.1 added for 1.3
    PASS  [TIME] 1.3.1 Fix: File not found: src/parser.ts
          Verify failed; 1.3 decides whether the fix worked
          `test -f fixed` ended with exit code 1: fixed does not exist
    FAIL  [TIME] 1.3 Add failure parser                         attempt 2/5
          missing file
          File not found: src/parser.ts
     FIX  1.3.2 added for 1.3
    PASS  [TIME] 1.3.2 Fix: File not found: src/parser.ts
          Verify failed; 1.3 decides whether the fix worked
          `test -f fixed` ended with exit code 1: fixed does not exist
    FAIL  [TIME] 1.3 Add failure parser                         attempt 3/5
          missing file
          File not found: src/parser.ts
     FIX  1.3.3 added for 1.3
    PASS  [TIME] 1.3.3 Fix: File not found: src/parser.ts
          Verify failed; 1.3 decides whether the fix worked
          `test -f fixed` ended with exit code 1: fixed does not exist
    FAIL  [TIME] 1.3 Add failure parser                         attempt 4/5
          missing file
          File not found: src/parser.ts
     END  limit reached · exit code 1                             [RUN]

   Tasks  0 of 2 done in [TIME]
   Fixes  3 of 3 done
Attempts  7 of 100
    Next  see how 1.3 failed:  regreen why 1.3
          try once more:       regreen run --agent 'command:sh [AGENT]/agent.sh' --recovery-mode
--- standard error
ERROR: Max fix attempts (3) reached for task 1.3
Fix attempts: 1.3.1, 1.3.2, 1.3.3
--- exit code 1

"#]]);
    snapbox::assert_data_eq!(
        workspace.text(PROGRESS),
        str![[r#"
## Completed Tasks
- [x] 1.3.1 Fix: File not found: src/parser.ts
- [x] 1.3.2 Fix: File not found: src/parser.ts
- [x] 1.3.3 Fix: File not found: src/parser.ts

## Fix Task History
- Task 1.3: 3 fixes attempted (1.3.1, 1.3.2, 1.3.3) - Final: FAIL (max limit)

"#]]
    );
}

#[test]
fn the_next_fix_names_a_repeated_error() {
    let workspace = Workspace::with_tasks(PARSER).agent(&format!(
        "1.3:3) touch fixed; echo TASK_COMPLETE ;;
         1.3:*) {FAILED} ;;
         *) echo TASK_COMPLETE ;;"
    ));
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    let tasks = workspace.text(TASKS);
    assert!(
        tasks.contains(
            "    4. The same error came back after 1.3.1: find another way than that fix took\n"
        ),
        "{tasks}"
    );
}

#[test]
fn fixes_of_fixes_end_at_their_depth() {
    let workspace = Workspace::with_tasks(PARSER).agent(&format!("*) {FAILED} ;;"));
    let output = workspace.run(&["--recovery-mode"]);
    assert_eq!(output.code, Some(1));
    assert!(
        output
            .message
            .contains("ERROR: Max fix depth (3) reached at task 1.3.1.1.1\n"),
        "{}",
        output.message
    );
    snapbox::assert_data_eq!(
        workspace.text(PROGRESS),
        str![[r#"
## Fix Task History
- Task 1.3: 1 fix attempted (1.3.1) - Final: FAIL (max limit)
- Task 1.3.1: 1 fix attempted (1.3.1.1) - Final: FAIL (max limit)
- Task 1.3.1.1: 1 fix attempted (1.3.1.1.1) - Final: FAIL (max limit)

"#]]
    );
}

#[test]
fn recovery_stays_on_until_it_is_turned_off() {
    let workspace = Workspace::with_tasks(PARSER).agent(&format!(
        "1.3:*) {FAILED} ;;
         *) echo TASK_COMPLETE ;;"
    ));
    assert_eq!(
        workspace
            .run(&["--recovery-mode", "--max-fix-tasks=1"])
            .code,
        Some(1)
    );
    let output = workspace.run(&[]);
    assert!(
        output
            .message
            .contains("ERROR: Max fix attempts (1) reached for task 1.3\nFix attempts: 1.3.1\n"),
        "{}",
        output.message
    );
    let output = workspace.run(&["--no-recovery-mode", "--max-task-iterations=2"]);
    assert!(
        output
            .message
            .contains("ERROR: Max retries reached for task 1.3 after 2 attempts\n"),
        "{}",
        output.message
    );
}

#[test]
fn the_shell_agent_cannot_repair_so_a_person_decides() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 Fails\n  - **Do**: `false`\n- [ ] 1.2 Works\n  - **Do**: `touch x`\n",
    );
    let output = workspace.regreen(&["run", "--agent", "shell", "--recovery-mode"]);
    assert_eq!(output.code, Some(3));
    let output = workspace.regreen(&["run", "--agent", "shell", "--recovery-mode", "--keep-going"]);
    assert_eq!(output.code, Some(3));
    output.shows(str![[r#"
  RESUME  demo · 2 tasks · shell · recovery on
     ASK  1.1 Fails
          the shell agent runs commands and cannot fix them
    PARK  1.1 waits for your decision; continuing with the other tasks
    PASS  [TIME] 1.2 Works                                      unverified
     END  needs your decision · exit code 3                       [RUN]

   Tasks  1 of 2 done in [TIME]
Attempts  2 of 100
     ASK  1.1
    WARN  unverified: 1.2
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    Next  see how 1.1 failed:              regreen why 1.1
          once 1.1 is edited or repaired:  regreen retry 1.1
          if 1.1 is done already:          regreen done 1.1
          leave 1.1 out:                   regreen skip 1.1
          then continue:                   regreen run --agent shell --recovery-mode --keep-going
--- standard error
A person must decide: these tasks wait for a person: 1.1
--- exit code 3

"#]]);
    assert!(workspace.text(TASKS).contains("- [x] 1.2"));
}

#[test]
fn a_task_that_is_too_big_is_split_on_request() {
    let workspace = Workspace::with_tasks(PARSER).agent(
        r#"1.3:1) printf 'TASK_MODIFICATION_REQUEST\n{"type":"SPLIT_TASK","originalTaskId":"1.3","reasoning":"big","proposedTasks":[{"title":"First half","do":"a","verify":"true"},{"title":"Second half","do":"b","verify":"test -d ."}]}\n' ;;
           1.3:2) touch fixed; echo TASK_COMPLETE ;;
           *) echo TASK_COMPLETE ;;"#,
    );
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.3 attempt 1 of 5; inserted 1.3.1, 1.3.2
1.3.1 attempt 1 of 5; verify green; done
1.3.2 attempt 1 of 5; verify green; done
1.3 attempt 2 of 5; verify green; done
1.4 attempt 1 of 5; verify green; done
ended: all_green, 4 of 4 done, 5 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
+ - [x] 1.3.1 First half
+   - **Do**: a
+   - **Verify**: `true`
+   - **Commit**: `feat: add parser`
+
+ - [x] 1.3.2 Second half
+   - **Do**: b
+   - **Verify**: `test -d .`
+   - **Commit**: `feat: add parser`
+
x - [x] 1.3 Add failure parser
x - [x] 1.4 Next task
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.3.1 First half
- [x] 1.3.2 Second half
- [x] 1.3 Add failure parser
- [x] 1.4 Next task
--- state {"taskIndex":4,"totalTasks":4,"taskIteration":1,"globalIteration":5,"recoveryMode":true,"fixTaskMap":{},"taskResults":{"1.3":"success","1.4":"success","1.3.1":"success","1.3.2":"success"},"modificationMap":{"1.3":{"count":1,"taskIds":["1.3.1","1.3.2"],"lastRequest":"[RUN]/1","lastTaskIds":["1.3.1","1.3.2"]}}}

"#]]);
}
