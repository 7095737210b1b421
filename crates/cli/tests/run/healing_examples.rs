//! The examples in the original description of fix tasks, each as a run with all its files.

use std::time::{Duration, Instant};

use snapbox::str;

use regreen_test_support::{PROGRESS, STATE, TASKS, Workspace};

/// The failed task of the generation example.
const GENERATION: &str = r#"- [ ] 1.3 Add failure parser
  - **Do**: Add parsing logic to implement.md
  - **Files**: plugins/ralph-specum/commands/implement.md
  - **Done when**: Parser extracts error details
  - **Verify**: grep -q "Parse Failure" implement.md
  - **Commit**: feat(coordinator): add failure parser
"#;

/// Reports a failure of the current task, as executors do.
fn failed(error: &str, attempted: &str) -> String {
    format!(
        "printf 'Task %s: it FAILED\\n- Error: {error}\\n- Attempted fix: {attempted}\\n\
         - Status: Blocked, needs manual intervention\\n' $REGREEN_TASK_ID"
    )
}

/// Keeps copies of the plan and the state as they are during this attempt.
const KEEP: &str =
    "cp $tasks $notes/tasks.then; cp ${tasks%/*}/.ralph-state.json $notes/state.then";

// AC-1.2, AC-1.4, AC-5.1, FR-2, FR-9
#[test]
fn a_fix_is_generated_byte_for_byte_as_described() {
    let workspace = Workspace::with_tasks(GENERATION);
    let output = workspace.regreen(&[
        "tasks",
        "insert-fix",
        TASKS,
        "1.3",
        "--error=File not found: src/parser.ts",
        "--attempted=Checked alternate paths",
        "--error-type=missing file",
    ]);
    assert_eq!(output.code, Some(0));
    let generated = output.stdout.strip_prefix(GENERATION).unwrap();
    assert_eq!(
        generated,
        r#"
- [ ] 1.3.1 [FIX 1.3] Fix: File not found: src/parser.ts
  - **Do**: Address the error: File not found: src/parser.ts
    1. Analyze the failure: Checked alternate paths
    2. Review related code in Files list
    3. Implement fix for: File not found: src/parser.ts
  - **Files**: plugins/ralph-specum/commands/implement.md
  - **Done when**: Error "File not found: src/parser.ts" no longer occurs
  - **Verify**: grep -q "Parse Failure" implement.md
  - **Commit**: `fix(recovery): address missing file from task 1.3`
"#
    );
}

// AC-1.1, AC-1.2, AC-1.3, AC-1.4, FR-1, FR-2, FR-3, FR-7
#[test]
fn the_generation_example_is_healed() {
    let workspace = Workspace::with_tasks(GENERATION).agent(&format!(
        "1.3:1) {} ;;
         1.3.1:1) echo 'Parse Failure' >implement.md; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
        failed("File not found: src/parser.ts", "Checked alternate paths")
    ));
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.3 attempt 1 of 5; contradiction: manual intervention; failed (missing_file): File not found: src/parser.ts; inserted 1.3.1
1.3.1 attempt 1 of 5; verify green; done
1.3 attempt 2 of 5; verify green; done
ended: all_green, 1 of 1 done, 1 of 1 fixes, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.3 Add failure parser
+
+ - [x] 1.3.1 [FIX 1.3] Fix: File not found: src/parser.ts
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.3.1 Fix: File not found: src/parser.ts
- [x] 1.3 Add failure parser

## Fix Task History
- Task 1.3: 1 fix attempted (1.3.1) - Final: PASS
--- state {"taskIndex":2,"totalTasks":2,"taskIteration":1,"globalIteration":3,"recoveryMode":true,"fixTaskMap":{"1.3":{"attempts":1,"fixTaskIds":["1.3.1"],"lastError":"File not found: src/parser.ts"}},"taskResults":{"1.3":"success","1.3.1":"success"}}

"#]]);
}

const INSERTION: &str = "- [ ] 1.3 Add failure parser
  - **Do**: Add parsing logic
  - **Files**: implement.md
  - **Verify**: grep pattern
  - **Commit**: feat: add parser

- [ ] 1.4 Next task
";

// AC-1.3, AC-3.4, AC-4.3, FR-3, FR-5, FR-8
#[test]
fn a_fix_is_inserted_between_its_task_and_the_next() {
    let workspace = Workspace::with_tasks(INSERTION).agent(&format!(
        "1.3:1) {} ;;
         1.3.1:1) {KEEP}; touch implement.md; echo TASK_COMPLETE ;;
         *) echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >done-$REGREEN_TASK_ID; echo TASK_COMPLETE ;;",
        failed("File not found", "Checked alternate paths")
    ));
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    snapbox::assert_data_eq!(
        workspace.note("tasks.then"),
        str![[r#"
- [ ] 1.3 Add failure parser
  - **Do**: Add parsing logic
  - **Files**: implement.md
  - **Verify**: grep pattern
  - **Commit**: feat: add parser

- [ ] 1.3.1 [FIX 1.3] Fix: File not found
  - **Do**: Address the error: File not found
    1. Analyze the failure: Checked alternate paths
    2. Review related code in Files list
    3. Implement fix for: File not found
  - **Files**: implement.md
  - **Done when**: Error "File not found" no longer occurs
  - **Verify**: grep pattern
  - **Commit**: `fix(demo): address missing file from task 1.3`

- [ ] 1.4 Next task

"#]]
    );
    snapbox::assert_data_eq!(
        workspace.note("state.then"),
        str![[r#"
{
  "source": "direct",
  "name": "demo",
  "basePath": "./specs/demo",
  "phase": "execution",
  "taskIndex": 0,
  "totalTasks": 3,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 2,
  "maxGlobalIterations": 100,
  "recoveryMode": true,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {
    "1.3": {
      "attempts": 1,
      "fixTaskIds": [
        "1.3.1"
      ],
      "lastError": "File not found"
    }
  },
  "taskResults": {
    "1.3": {
      "status": "failed"
    },
    "1.4": {
      "status": "pending"
    },
    "1.3.1": {
      "status": "pending"
    }
  }
}

"#]]
    );
}

const SEQUENCE: &str = "# Tasks

- [x] 1.1 Read
- [x] 1.2 Split

- [ ] 1.3 Parse
  - **Files**: parser.ts
  - **Verify**: `test -f parser.ts`

- [ ] 1.4 Next task
  - **Verify**: `true`
";

// AC-2.1, AC-2.2, AC-5.2, AC-5.3, FR-4, FR-10
#[test]
fn after_its_fix_a_task_is_tried_again_and_the_next_one_follows() {
    let workspace = Workspace::with_tasks(SEQUENCE).agent(&format!(
        "1.3:1) {} ;;
         1.3.1:1) {KEEP}; touch parser.ts; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
        failed("syntax error in parser.ts", "none")
    ));
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.3 attempt 1 of 5; contradiction: manual intervention; failed (syntax_error): syntax error in parser.ts; inserted 1.3.1
1.3.1 attempt 1 of 5; verify green; done
1.3 attempt 2 of 5; verify green; done
1.4 attempt 1 of 5; verify green; done
ended: all_green, 4 of 4 done, 1 of 1 fixes, 4 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.3 Parse
+ - [x] 1.3.1 [FIX 1.3] Fix: syntax error in parser.ts
+
x - [x] 1.4 Next task
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.3.1 Fix: syntax error in parser.ts
- [x] 1.3 Parse
- [x] 1.4 Next task

## Fix Task History
- Task 1.3: 1 fix attempted (1.3.1) - Final: PASS
--- state {"taskIndex":5,"totalTasks":5,"taskIteration":1,"globalIteration":4,"recoveryMode":true,"fixTaskMap":{"1.3":{"attempts":1,"fixTaskIds":["1.3.1"],"lastError":"syntax error in parser.ts"}},"taskResults":{"1.1":"success","1.2":"success","1.3":"success","1.4":"success","1.3.1":"success"}}

"#]]);
    snapbox::assert_data_eq!(
        workspace.note("state.then"),
        str![[r#"
{
  "source": "direct",
  "name": "demo",
  "basePath": "./specs/demo",
  "phase": "execution",
  "taskIndex": 2,
  "totalTasks": 5,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 2,
  "maxGlobalIterations": 100,
  "recoveryMode": true,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {
    "1.3": {
      "attempts": 1,
      "fixTaskIds": [
        "1.3.1"
      ],
      "lastError": "syntax error in parser.ts"
    }
  },
  "taskResults": {
    "1.1": {
      "status": "success"
    },
    "1.2": {
      "status": "success"
    },
    "1.3": {
      "status": "failed"
    },
    "1.4": {
      "status": "pending"
    },
    "1.3.1": {
      "status": "pending"
    }
  }
}

"#]]
    );
}

// AC-2.3, AC-5.1, AC-5.2, FR-10
#[test]
fn a_fix_of_a_fix_is_done_then_the_fix_then_the_task() {
    let workspace = Workspace::with_tasks(SEQUENCE).agent(&format!(
        "1.3:1) {} ;;
         1.3.1:1) {} ;;
         1.3.1.1:1) {KEEP}; touch library; echo TASK_COMPLETE ;;
         1.3.1:2) test -f library && touch parser.ts; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
        failed("syntax error in parser.ts", "none"),
        failed("the library is missing", "none"),
    ));
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.3 attempt 1 of 5; contradiction: manual intervention; failed (syntax_error): syntax error in parser.ts; inserted 1.3.1
1.3.1 attempt 1 of 5; contradiction: manual intervention; failed (incomplete_work): the library is missing; inserted 1.3.1.1
1.3.1.1 attempt 1 of 5; verify red; done
1.3.1 attempt 2 of 5; verify green; done
1.3 attempt 2 of 5; verify green; done
1.4 attempt 1 of 5; verify green; done
ended: all_green, 4 of 4 done, 2 of 2 fixes, 6 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.3 Parse
+ - [x] 1.3.1 [FIX 1.3] Fix: syntax error in parser.ts
+
+ - [x] 1.3.1.1 [FIX 1.3.1] Fix: the library is missing
+
x - [x] 1.4 Next task
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.3.1.1 Fix: the library is missing
- [x] 1.3.1 Fix: syntax error in parser.ts
- [x] 1.3 Parse
- [x] 1.4 Next task

## Fix Task History
- Task 1.3.1: 1 fix attempted (1.3.1.1) - Final: PASS
- Task 1.3: 1 fix attempted (1.3.1) - Final: PASS
--- state {"taskIndex":6,"totalTasks":6,"taskIteration":1,"globalIteration":6,"recoveryMode":true,"fixTaskMap":{"1.3":{"attempts":1,"fixTaskIds":["1.3.1"],"lastError":"syntax error in parser.ts"},"1.3.1":{"attempts":1,"fixTaskIds":["1.3.1.1"],"lastError":"the library is missing"}},"taskResults":{"1.1":"success","1.2":"success","1.3":"success","1.4":"success","1.3.1":"success","1.3.1.1":"success"}}

"#]]);
    snapbox::assert_data_eq!(
        workspace.note("tasks.then"),
        str![[r##"
# Tasks

- [x] 1.1 Read
- [x] 1.2 Split

- [ ] 1.3 Parse
  - **Files**: parser.ts
  - **Verify**: `test -f parser.ts`

- [ ] 1.3.1 [FIX 1.3] Fix: syntax error in parser.ts
  - **Do**: Address the error: syntax error in parser.ts
    1. Analyze the failure: none
    2. Review related code in Files list
    3. Implement fix for: syntax error in parser.ts
  - **Files**: parser.ts
  - **Done when**: Error "syntax error in parser.ts" no longer occurs
  - **Verify**: `test -f parser.ts`
  - **Commit**: `fix(demo): address syntax error from task 1.3`

- [ ] 1.3.1.1 [FIX 1.3.1] Fix: the library is missing
  - **Do**: Address the error: the library is missing
    1. Analyze the failure: none
    2. Review related code in Files list
    3. Implement fix for: the library is missing
  - **Files**: parser.ts
  - **Done when**: Error "the library is missing" no longer occurs
  - **Verify**: `test -f parser.ts`
  - **Commit**: `fix(demo): address incomplete work from task 1.3.1`

- [ ] 1.4 Next task
  - **Verify**: `true`

"##]]
    );
    snapbox::assert_data_eq!(
        workspace.note("state.then"),
        str![[r#"
{
  "source": "direct",
  "name": "demo",
  "basePath": "./specs/demo",
  "phase": "execution",
  "taskIndex": 2,
  "totalTasks": 6,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 3,
  "maxGlobalIterations": 100,
  "recoveryMode": true,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {
    "1.3": {
      "attempts": 1,
      "fixTaskIds": [
        "1.3.1"
      ],
      "lastError": "syntax error in parser.ts"
    },
    "1.3.1": {
      "attempts": 1,
      "fixTaskIds": [
        "1.3.1.1"
      ],
      "lastError": "the library is missing"
    }
  },
  "taskResults": {
    "1.1": {
      "status": "success"
    },
    "1.2": {
      "status": "success"
    },
    "1.3": {
      "status": "failed"
    },
    "1.4": {
      "status": "pending"
    },
    "1.3.1": {
      "status": "failed"
    },
    "1.3.1.1": {
      "status": "pending"
    }
  }
}

"#]]
    );
}

// AC-2.3, AC-5.2, FR-10
#[test]
fn attempted_fixes_are_noted_above_the_learnings() {
    let workspace = Workspace::with_tasks(
        "- [x] 1.1 Task A
- [ ] 1.2 Task B
  - **Verify**: `test -f b`
",
    )
    .file(
        PROGRESS,
        "## Completed Tasks
- [x] 1.1 Task A - abc123

## Learnings
- Some learning
",
    )
    .agent(&format!(
        "1.2:1) {} ;;
         1.2:2) {} ;;
         1.2:3) touch b; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
        failed("one", "none"),
        failed("two", "none"),
    ));
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    assert_eq!(
        workspace.text(PROGRESS),
        "## Completed Tasks
- [x] 1.1 Task A - abc123
- [x] 1.2.1 Fix: one
- [x] 1.2.2 Fix: two
- [x] 1.2 Task B

## Fix Task History
- Task 1.2: 2 fixes attempted (1.2.1, 1.2.2) - Final: PASS

## Learnings
- Some learning
"
    );
}

// AC-2.4, AC-3.1, AC-3.3, AC-3.4, FR-5, FR-6, NFR-3
#[test]
fn at_the_limit_the_progress_file_says_that_it_failed() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.3 Parse
  - **Verify**: `true`
- [ ] 2.1 Print
  - **Verify**: `true`
- [ ] 3.4 Ship
  - **Verify**: `false`
- [ ] 4.1 Rest
",
    )
    .file(
        PROGRESS,
        "## Fix Task History
- Task 0.9: 1 fix attempted (0.9.1) - Final: PASS

## Learnings
- Some learning
",
    )
    .agent(&format!(
        "1.3:1) {} ;;
         1.3:2) {} ;;
         2.1:1) {} ;;
         *) echo TASK_COMPLETE ;;",
        failed("a", "none"),
        failed("b", "none"),
        failed("c", "none"),
    ));
    let output = workspace.run(&["--recovery-mode"]);
    output.and_spec(&workspace).shows(str![[r#"
1.3 attempt 1 of 5; contradiction: manual intervention; failed (runtime_exception): a; inserted 1.3.1
1.3.1 attempt 1 of 5; verify green; done
1.3 attempt 2 of 5; contradiction: manual intervention; failed (runtime_exception): b; inserted 1.3.2
1.3.2 attempt 1 of 5; verify green; done
1.3 attempt 3 of 5; verify green; done
2.1 attempt 1 of 5; contradiction: manual intervention; failed (runtime_exception): c; inserted 2.1.1
2.1.1 attempt 1 of 5; verify green; done
2.1 attempt 2 of 5; verify green; done
3.4 attempt 1 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `false` ended with exit code 1: `false` always fails; inserted 3.4.1
3.4.1 attempt 1 of 5; verify red; done
3.4 verify red
3.4 attempt 2 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `false` ended with exit code 1: `false` always fails; inserted 3.4.2
3.4.2 attempt 1 of 5; verify red; done
3.4 verify red
3.4 attempt 3 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `false` ended with exit code 1: `false` always fails; inserted 3.4.3
3.4.3 attempt 1 of 5; verify red; done
3.4 verify red
3.4 attempt 4 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `false` ended with exit code 1: `false` always fails
ended: limit, 2 of 4 done, 6 of 6 fixes, 15 of 100 attempts
ERROR: Max fix attempts (3) reached for task 3.4
Fix attempts: 3.4.1, 3.4.2, 3.4.3
--- exit code 1
--- changes in specs/demo/tasks.md
x - [x] 1.3 Parse
+ - [x] 1.3.1 [FIX 1.3] Fix: a
+ - [x] 1.3.2 [FIX 1.3] Fix: b
x - [x] 2.1 Print
+ - [x] 2.1.1 [FIX 2.1] Fix: c
+ - [x] 3.4.1 [FIX 3.4] Fix: false always fails
+ - [x] 3.4.2 [FIX 3.4] Fix: false always fails
+ - [x] 3.4.3 [FIX 3.4] Fix: false always fails
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.3.1 Fix: a
- [x] 1.3.2 Fix: b
- [x] 1.3 Parse
- [x] 2.1.1 Fix: c
- [x] 2.1 Print
- [x] 3.4.1 Fix: false always fails
- [x] 3.4.2 Fix: false always fails
- [x] 3.4.3 Fix: false always fails

## Fix Task History
- Task 0.9: 1 fix attempted (0.9.1) - Final: PASS
- Task 1.3: 2 fixes attempted (1.3.1, 1.3.2) - Final: PASS
- Task 2.1: 1 fix attempted (2.1.1) - Final: PASS
- Task 3.4: 3 fixes attempted (3.4.1, 3.4.2, 3.4.3) - Final: FAIL (max limit)

## Learnings
- Some learning
--- state {"taskIndex":5,"totalTasks":10,"taskIteration":4,"globalIteration":15,"recoveryMode":true,"fixTaskMap":{"1.3":{"attempts":2,"fixTaskIds":["1.3.1","1.3.2"],"lastError":"b"},"2.1":{"attempts":1,"fixTaskIds":["2.1.1"],"lastError":"c"},"3.4":{"attempts":3,"fixTaskIds":["3.4.1","3.4.2","3.4.3"],"lastError":"Verify failed: false ended with exit code 1: false always fails"}},"taskResults":{"1.3":"success","2.1":"success","3.4":"failed","4.1":"pending","1.3.1":"success","1.3.2":"success","2.1.1":"success","3.4.1":"success","3.4.2":"success","3.4.3":"success"}}

"#]]);
}

/// The state in the description, with undocumented keys.
const STATE_BEFORE: &str = r#"{
    "source": "spec",
    "phase": "execution",
    "taskIndex": 2,
    "totalTasks": 10,
    "recoveryMode": true,
    "maxFixTasksPerOriginal": 3,
    "fixTaskMap": {
        "1.3": {
            "attempts": 2,
            "fixTaskIds": ["1.3.1", "1.3.2"],
            "lastError": "Syntax error in parser.ts line 42",
            "owner": "somebody"
        }
    },
    "ratio": 1.50,
    "myTool": {"x": [1, 2]}
}
"#;

const WITH_TWO_FIXES: &str = "- [x] 1.1 Read
- [x] 1.2 Split
- [ ] 1.3 Parse
  - **Verify**: `test -f parser.ts`
- [x] 1.3.1 [FIX 1.3] Fix: one
- [x] 1.3.2 [FIX 1.3] Fix: two
- [ ] 1.4 Next task
  - **Verify**: `true`
";

// AC-3.4, AC-4.3, FR-5, FR-8
#[test]
fn a_state_with_two_fixes_is_taken_up_and_the_third_fix_is_numbered_three() {
    let workspace = Workspace::with_tasks(WITH_TWO_FIXES)
        .file(STATE, STATE_BEFORE)
        .agent(&format!(
            "1.3:1) {} ;;
             1.3.3:1) touch parser.ts; echo TASK_COMPLETE ;;
             *) echo TASK_COMPLETE ;;",
            failed("Syntax error in parser.ts line 42", "none"),
        ));
    let output = workspace.run(&["--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.3 attempt 1 of 5; contradiction: manual intervention; failed (syntax_error): Syntax error in parser.ts line 42; inserted 1.3.3
1.3.3 attempt 1 of 5; verify green; done
1.3 attempt 2 of 5; verify green; done
1.4 attempt 1 of 5; verify green; done
ended: all_green, 4 of 4 done, 3 of 3 fixes, 4 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.3 Parse
+ - [x] 1.3.3 [FIX 1.3] Fix: Syntax error in parser.ts line 42
x - [x] 1.4 Next task
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.3.3 Fix: Syntax error in parser.ts line 42
- [x] 1.3 Parse
- [x] 1.4 Next task

## Fix Task History
- Task 1.3: 3 fixes attempted (1.3.1, 1.3.2, 1.3.3) - Final: PASS
--- state {"source":"spec","taskIndex":7,"totalTasks":7,"recoveryMode":true,"fixTaskMap":{"1.3":{"attempts":3,"fixTaskIds":["1.3.1","1.3.2","1.3.3"],"lastError":"Syntax error in parser.ts line 42","owner":"somebody"}},"ratio":1.50,"myTool":{"x":[1,2]},"taskIteration":1,"globalIteration":4,"taskResults":{"1.1":"success","1.2":"success","1.3":"success","1.3.1":"success","1.3.2":"success","1.4":"success","1.3.3":"success"}}

"#]]);
}

// AC-3.1, AC-3.3, FR-6
#[test]
fn fixes_that_only_the_state_knows_count_for_the_limit() {
    let rows_gone: String = WITH_TWO_FIXES
        .lines()
        .filter(|line| !line.contains("[FIX"))
        .map(|line| format!("{line}\n"))
        .collect();
    let workspace = Workspace::with_tasks(&rows_gone)
        .file(STATE, STATE_BEFORE)
        .agent(&format!(
            "1.3:*) {} ;;
             *) echo TASK_COMPLETE ;;",
            failed("boom", "none"),
        ));
    let output = workspace.run(&[]);
    assert_eq!(output.code, Some(1));
    assert_eq!(
        output.message,
        "ERROR: Max fix attempts (3) reached for task 1.3\nFix attempts: 1.3.1, 1.3.2, 1.3.3\n"
    );
    snapbox::assert_data_eq!(
        workspace.plan_changes(),
        str![[r#"
+ - [x] 1.3.3 [FIX 1.3] Fix: boom
+   - **Do**: Address the error: boom
+     1. Analyze the failure: none
+     2. Review related code in Files list
+     3. Implement fix for: boom
+   - **Files**: Same directory as original
+   - **Done when**: Error "boom" no longer occurs
+   - **Verify**: `test -f parser.ts`
+   - **Commit**: `fix(demo): address error from task 1.3`

"#]]
    );
}

// AC-3.2, AC-3.3, NFR-3
#[test]
fn the_limit_of_the_run_ends_healing_too() {
    let workspace =
        Workspace::with_tasks(SEQUENCE).agent(&format!("*) {} ;;", failed("boom", "none")));
    let output = workspace.run(&["--recovery-mode", "--max-global-iterations=3"]);
    output.and_spec(&workspace).shows(str![[r#"
1.3 attempt 1 of 5; contradiction: manual intervention; failed (runtime_exception): boom; inserted 1.3.1
1.3.1 attempt 1 of 5; contradiction: manual intervention; failed (runtime_exception): boom; inserted 1.3.1.1
1.3.1.1 attempt 1 of 5; contradiction: manual intervention; failed (runtime_exception): boom
ended: limit, 2 of 4 done, 0 of 2 fixes, 3 of 3 attempts
ERROR: Maximum global iterations (3) reached. Review .progress.md for failure patterns.
--- exit code 1
--- changes in specs/demo/tasks.md
+ - [ ] 1.3.1 [FIX 1.3] Fix: boom
+
+ - [ ] 1.3.1.1 [FIX 1.3.1] Fix: boom
+
--- specs/demo/.progress.md
## Fix Task History
- Task 1.3: 1 fix attempted (1.3.1) - Final: FAIL (max limit)
- Task 1.3.1: 1 fix attempted (1.3.1.1) - Final: FAIL (max limit)
--- state {"taskIndex":2,"totalTasks":6,"taskIteration":1,"globalIteration":3,"recoveryMode":true,"fixTaskMap":{"1.3":{"attempts":1,"fixTaskIds":["1.3.1"],"lastError":"boom"},"1.3.1":{"attempts":1,"fixTaskIds":["1.3.1.1"],"lastError":"boom"}},"taskResults":{"1.1":"success","1.2":"success","1.3":"failed","1.4":"pending","1.3.1":"failed","1.3.1.1":"failed"}}

"#]]);
}

// AC-3.3, NFR-3
#[test]
fn an_original_and_all_its_fixes_have_ten_fixes_between_them() {
    let workspace = Workspace::with_tasks(SEQUENCE).agent(&format!(
        "1.3:*) {0} ;;
         1.3.[123]:[123]) {0} ;;
         *) echo TASK_COMPLETE ;;",
        failed("boom", "none"),
    ));
    let output = workspace.run(&["--recovery-mode"]);
    assert_eq!(output.code, Some(1));
    assert_eq!(
        output.message,
        "ERROR: Max fix attempts (10) reached for task 1.3 and its fixes\n"
    );
    assert_eq!(workspace.text(TASKS).matches("[FIX ").count(), 10);
    assert_eq!(
        workspace
            .text(PROGRESS)
            .split("## Fix Task History\n")
            .nth(1),
        Some(
            "- Task 1.3.1: 3 fixes attempted (1.3.1.1, 1.3.1.2, 1.3.1.3) - Final: PASS
- Task 1.3.2: 3 fixes attempted (1.3.2.1, 1.3.2.2, 1.3.2.3) - Final: PASS
- Task 1.3: 3 fixes attempted (1.3.1, 1.3.2, 1.3.3) - Final: FAIL (max limit)
- Task 1.3.3: 1 fix attempted (1.3.3.1) - Final: FAIL (max limit)
"
        )
    );
}

// AC-3.3, NFR-3
#[test]
fn the_attempts_of_a_task_are_limited_though_it_is_healed() {
    let workspace = Workspace::with_tasks(SEQUENCE).agent(&format!(
        "1.3:*) {} ;;
         *) echo TASK_COMPLETE ;;",
        failed("boom", "none"),
    ));
    let output = workspace.run(&["--recovery-mode", "--max-task-iterations=2"]);
    assert_eq!(output.code, Some(1));
    assert_eq!(
        output.message,
        "ERROR: Max retries reached for task 1.3 after 2 attempts\n"
    );
    assert!(
        workspace
            .text(PROGRESS)
            .ends_with("- Task 1.3: 1 fix attempted (1.3.1) - Final: FAIL (max limit)\n")
    );
}

// AC-4.1, AC-4.2, NFR-1
#[test]
fn without_recovery_a_failed_task_is_tried_five_times_and_nothing_is_written() {
    let workspace =
        Workspace::with_tasks(SEQUENCE).agent(&format!("*) {} ;;", failed("boom", "none")));
    let output = workspace.run(&[]);
    assert_eq!(workspace.text(TASKS), SEQUENCE);
    output.and(&workspace, &[PROGRESS, STATE]).shows(str![[r#"
1.3 attempt 1 of 5; contradiction: manual intervention; failed (runtime_exception): boom
1.3 attempt 2 of 5; contradiction: manual intervention; failed (runtime_exception): boom
1.3 attempt 3 of 5; contradiction: manual intervention; failed (runtime_exception): boom
1.3 attempt 4 of 5; contradiction: manual intervention; failed (runtime_exception): boom
1.3 attempt 5 of 5; contradiction: manual intervention; failed (runtime_exception): boom
ended: limit, 2 of 4 done, 5 of 100 attempts
ERROR: Max retries reached for task 1.3 after 5 attempts
--- exit code 1
--- no specs/demo/.progress.md
--- specs/demo/.ralph-state.json
{
  "source": "direct",
  "name": "demo",
  "basePath": "./specs/demo",
  "phase": "execution",
  "taskIndex": 2,
  "totalTasks": 4,
  "taskIteration": 5,
  "maxTaskIterations": 5,
  "globalIteration": 5,
  "maxGlobalIterations": 100,
  "recoveryMode": false,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {},
  "taskResults": {
    "1.1": {
      "status": "success"
    },
    "1.2": {
      "status": "success"
    },
    "1.3": {
      "status": "failed"
    },
    "1.4": {
      "status": "pending"
    }
  }
}

"#]]);
}

// NFR-2
#[test]
fn in_a_file_of_a_thousand_tasks_a_fix_comes_at_once() {
    let task = |n: usize| {
        let done = if n == 500 { ' ' } else { 'x' };
        format!(
            "- [{done}] {n}.1 Task {n}\n  - **Do**: Write it\n  - **Verify**: `test -f fixed`\n\n"
        )
    };
    let tasks: String = (1..=1000).map(task).collect();
    let workspace = Workspace::with_tasks(&tasks).agent(&format!(
        "500.1:1) {} ;;
         500.1.1:1) touch fixed; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
        failed("boom", "none"),
    ));
    let began = Instant::now();
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    assert!(began.elapsed() < Duration::from_secs(120));
    let expected = tasks.replace(
        "- [ ] 500.1 Task 500\n  - **Do**: Write it\n  - **Verify**: `test -f fixed`\n\n",
        "- [x] 500.1 Task 500\n  - **Do**: Write it\n  - **Verify**: `test -f fixed`\n\n\
         - [x] 500.1.1 [FIX 500.1] Fix: boom\n  \
         - **Do**: Address the error: boom\n    \
         1. Analyze the failure: none\n    \
         2. Review related code in Files list\n    \
         3. Implement fix for: boom\n  \
         - **Files**: Same directory as original\n  \
         - **Done when**: Error \"boom\" no longer occurs\n  \
         - **Verify**: `test -f fixed`\n  \
         - **Commit**: `fix(demo): address error from task 500.1`\n\n",
    );
    assert!(workspace.text(TASKS) == expected, "other rows have changed");
}
