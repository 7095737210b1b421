//! Healing in task files of every style: a fix looks like the rows around it.

use snapbox::str;

use regreen_test_support::{PROGRESS, STATE, TASKS, Workspace};

const FAILED: &str =
    "printf 'Task %s: it FAILED\\n- Error: boom\\n- Attempted fix: none\\n' $REGREEN_TASK_ID";

/// An agent that fails this task once; its fix creates the file `fixed`.
fn failing_once(tasks: impl AsRef<str>, id: &str) -> Workspace {
    Workspace::with_tasks(tasks.as_ref()).agent(&format!(
        "{id}:1) {FAILED} ;;
         {id}.*:1) touch fixed; echo TASK_COMPLETE ;;
         *) echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >other; echo TASK_COMPLETE ;;"
    ))
}

/// Returns the plan after it was healed.
#[track_caller]
fn healed(workspace: &Workspace, flags: &[&str]) -> String {
    let output = workspace.run(&[&["--recovery-mode"], flags].concat());
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    output.mentions("ended: all_green");
    workspace.plan_changes()
}

#[test]
fn smart_ralph() {
    let workspace = failing_once(
        "---
spec: demo
---

# Tasks: Demo

## Phase 1: Make It Work (POC)

Focus: the parser.

- [ ] 1.1 [P] Parse
  - **Do**:
    1. Read the file
    2. Split it
  - **Files**: `src/parse.rs`, `src/main.rs`
  - **Done when**: It parses
  - **Verify**: `test -f fixed`
  - **Commit**: `feat(parser): parse`
  - _Requirements: FR-1_
  - _Design: Parser_

- [ ] 1.2 [VERIFY] Quality checkpoint: `true`
  - **Do**: Run it
  - **Verify**: `true`
  - **Done when**: No errors
  - **Commit**: `chore: pass` (if needed)

## Phase 2: Refactoring

- [ ] 2.1 Tidy
  - **Verify**: `true`
",
        "1.1",
    );
    snapbox::assert_data_eq!(
        healed(&workspace, &[]),
        str![[r#"
x - [x] 1.1 [P] Parse
+ - [x] 1.1.1 [FIX 1.1] Fix: boom
+   - **Do**: Address the error: boom
+     1. Analyze the failure: none
+     2. Review related code in Files list
+     3. Implement fix for: boom
+   - **Files**: `src/parse.rs`, `src/main.rs`
+   - **Done when**: Error "boom" no longer occurs
+   - **Verify**: `test -f fixed`
+   - **Commit**: `fix(demo): address error from task 1.1`
+
x - [x] 1.2 [VERIFY] Quality checkpoint: `true`
x - [x] 2.1 Tidy

"#]]
    );
}

#[test]
fn spec_kit() {
    let workspace = failing_once(
        "# Tasks: Photo albums

## Phase 3: User Story 1 - Albums (Priority: P1)

### Tests for User Story 1

- [x] T011 [P] [US1] Contract test in tests/test_albums.py
- [ ] T012 [P] [US1] Create Album model in src/models/album.py
- [ ] T013 [US1] Implement AlbumService in src/services/album.py (depends on T012)

**Checkpoint**: User Story 1 works

---

## Phase 4: Polish

- [ ] T014 Documentation
",
        "T012",
    );
    snapbox::assert_data_eq!(
        healed(&workspace, &[]),
        str![[r#"
x - [x] T012 [P] [US1] Create Album model in src/models/album.py
+ - [x] T012.1 [FIX T012] Fix: boom
+   - **Do**: Address the error: boom
+     1. Analyze the failure: none
+     2. Review related code in Files list
+     3. Implement fix for: boom
+   - **Files**: Same directory as original
+   - **Done when**: Error "boom" no longer occurs
+   - **Verify**: echo 'Verify manually'
+   - **Commit**: `fix(demo): address error from task T012`
x - [x] T013 [US1] Implement AlbumService in src/services/album.py (depends on T012)
x - [x] T014 Documentation

"#]]
    );
}

#[test]
fn openspec() {
    let workspace = failing_once(
        "## 1. Setup

- [x] 1.1 Create the table
- [ ] 1.2 Add the migration

## 2. Backend

- [ ] 2.1 Add the endpoint
",
        "1.2",
    );
    snapbox::assert_data_eq!(
        healed(&workspace, &[]),
        str![[r#"
x - [x] 1.2 Add the migration
+ - [x] 1.2.1 [FIX 1.2] Fix: boom
+   - **Do**: Address the error: boom
+     1. Analyze the failure: none
+     2. Review related code in Files list
+     3. Implement fix for: boom
+   - **Files**: Same directory as original
+   - **Done when**: Error "boom" no longer occurs
+   - **Verify**: echo 'Verify manually'
+   - **Commit**: `fix(demo): address error from task 1.2`
x - [x] 2.1 Add the endpoint

"#]]
    );
}

const KIRO: &str = "# Implementation Plan

- [ ] 1. Set up the project
  - [ ] 1.1 Create the folders
    - Make src and tests
    - _Requirements: 1.1_
  - [ ]* 1.2 Write property tests
    - _Requirements: 1.2_
  - **Verify**: `test -f fixed`
- [ ] 2. Build it
  - [ ] 2.1 Write the parser
    - _Requirements: 2.1_
  - [ ] 2.2 Write the printer
";

#[test]
fn a_row_in_a_group() {
    let workspace = Workspace::with_tasks(KIRO).agent(&format!(
        "2.1:1) {FAILED} ;;
         *) touch fixed; echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >other; echo TASK_COMPLETE ;;"
    ));
    snapbox::assert_data_eq!(
        healed(&workspace, &[]),
        str![[r#"
x - [x] 1. Set up the project
x   - [x] 1.1 Create the folders
x - [x] 2. Build it
x   - [x] 2.1 Write the parser
+   - [x] 2.1.1 [FIX 2.1] Fix: boom
+     - **Do**: Address the error: boom
+       1. Analyze the failure: none
+       2. Review related code in Files list
+       3. Implement fix for: boom
+     - **Files**: Same directory as original
+     - **Done when**: Error "boom" no longer occurs
+     - **Verify**: echo 'Verify manually'
+     - **Commit**: `fix(demo): address error from task 2.1`
x   - [x] 2.2 Write the printer

"#]]
    );
}

#[test]
fn a_group_whose_own_verify_is_red() {
    let workspace = Workspace::with_tasks(KIRO).agent(
        "1.3:1) touch fixed; echo TASK_COMPLETE ;;
         *) echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >other; echo TASK_COMPLETE ;;",
    );
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify unverified; done, unverified
1 verify red; verify red; failed (runtime_exception): Verify failed: `test -f fixed` ended with exit code 1: fixed does not exist; inserted 1.3
1.3 attempt 1 of 5; verify green; done
1 verify green; done
2.1 attempt 1 of 5; verify unverified; done, unverified
2.2 attempt 1 of 5; verify unverified; done, unverified
2 verify unverified; done
ended: all_green, 5 of 5 done, 1 of 1 fixes, 4 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1. Set up the project
x   - [x] 1.1 Create the folders
+ - [x] 1.3 [FIX 1] Fix: fixed does not exist
x - [x] 2. Build it
x   - [x] 2.1 Write the parser
x   - [x] 2.2 Write the printer
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Create the folders
- [x] 1.3 Fix: fixed does not exist
- [x] 1 Set up the project
- [x] 2.1 Write the parser
- [x] 2.2 Write the printer
- [x] 2 Build it

## Fix Task History
- Task 1: 1 fix attempted (1.3) - Final: PASS
--- state {"taskIndex":4,"totalTasks":4,"taskIteration":1,"globalIteration":4,"recoveryMode":true,"fixTaskMap":{"1":{"attempts":1,"fixTaskIds":["1.3"],"lastError":"Verify failed: test -f fixed ended with exit code 1: fixed does not exist"}},"taskResults":{"1":"success","1.1":"success","1.2":"pending","2":"success","2.1":"success","2.2":"success","1.3":"success"}}

"#]]);
}

#[test]
fn a_group_that_nothing_heals() {
    let workspace = Workspace::with_tasks(KIRO)
        .agent("*) echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >other; echo TASK_COMPLETE ;;");
    let output = workspace.run(&["--recovery-mode"]);
    assert_eq!(output.code, Some(1));
    assert_eq!(
        output.message,
        "ERROR: Max fix attempts (3) reached for task 1\nFix attempts: 1.3, 1.4, 1.5\n"
    );
    snapbox::assert_data_eq!(
        workspace.plan_changes(),
        str![[r#"
x   - [x] 1.1 Create the folders
+ - [x] 1.3 [FIX 1] Fix: fixed does not exist
+   - **Do**: Address the error: Verify failed: test -f fixed ended with exit code 1: fixed does not exist
+     1. Analyze the failure: No fix attempted
+     2. Review related code in Files list
+     3. Implement fix for: Verify failed: test -f fixed ended with exit code 1: fixed does not exist
+   - **Files**: Same directory as original
+   - **Done when**: Error "Verify failed: test -f fixed ended with exit code 1: fixed does not exist" no longer occurs
+   - **Verify**: `test -f fixed`
+   - **Commit**: `fix(demo): address error from task 1`
+ - [x] 1.4 [FIX 1] Fix: fixed does not exist
+   - **Do**: Address the error: Verify failed: test -f fixed ended with exit code 1: fixed does not exist
+     1. Analyze the failure: No fix attempted
+     2. Review related code in Files list
+     3. Implement fix for: Verify failed: test -f fixed ended with exit code 1: fixed does not exist
+     4. The same error came back after 1.3: find another way than that fix took
+   - **Files**: Same directory as original
+   - **Done when**: Error "Verify failed: test -f fixed ended with exit code 1: fixed does not exist" no longer occurs
+   - **Verify**: `test -f fixed`
+   - **Commit**: `fix(demo): address error from task 1`
+ - [x] 1.5 [FIX 1] Fix: fixed does not exist
+   - **Do**: Address the error: Verify failed: test -f fixed ended with exit code 1: fixed does not exist
+     1. Analyze the failure: No fix attempted
+     2. Review related code in Files list
+     3. Implement fix for: Verify failed: test -f fixed ended with exit code 1: fixed does not exist
+     4. The same error came back after 1.4: find another way than that fix took
+   - **Files**: Same directory as original
+   - **Done when**: Error "Verify failed: test -f fixed ended with exit code 1: fixed does not exist" no longer occurs
+   - **Verify**: `test -f fixed`
+   - **Commit**: `fix(demo): address error from task 1`

"#]]
    );
}

#[test]
fn an_optional_row_that_was_asked_for() {
    let workspace = failing_once(KIRO, "1.2");
    snapbox::assert_data_eq!(
        healed(&workspace, &["--include-optional"]),
        str![[r#"
x - [x] 1. Set up the project
x   - [x] 1.1 Create the folders
x   - [x]* 1.2 Write property tests
+   - [x] 1.2.1 [FIX 1.2] Fix: boom
+     - **Do**: Address the error: boom
+       1. Analyze the failure: none
+       2. Review related code in Files list
+       3. Implement fix for: boom
+     - **Files**: Same directory as original
+     - **Done when**: Error "boom" no longer occurs
+     - **Verify**: echo 'Verify manually'
+     - **Commit**: `fix(demo): address error from task 1.2`
x - [x] 2. Build it
x   - [x] 2.1 Write the parser
x   - [x] 2.2 Write the printer

"#]]
    );
}

#[test]
fn an_optional_row_that_was_not_requested_stays_open() {
    let workspace = failing_once(
        "- [ ] 1.1 Needed\n  - **Verify**: `test -f fixed`\n- [ ]* 1.2 Not needed\n",
        "1.1",
    );
    snapbox::assert_data_eq!(
        healed(&workspace, &[]),
        str![[r#"
x - [x] 1.1 Needed
+ - [x] 1.1.1 [FIX 1.1] Fix: boom
+   - **Do**: Address the error: boom
+     1. Analyze the failure: none
+     2. Review related code in Files list
+     3. Implement fix for: boom
+   - **Files**: Same directory as original
+   - **Done when**: Error "boom" no longer occurs
+   - **Verify**: `test -f fixed`
+   - **Commit**: `fix(demo): address error from task 1.1`

"#]]
    );
}

#[test]
fn a_plain_list_without_ids() {
    let workspace = failing_once("# To do\n\n- [x] Read\n- [ ] Parse\n- [ ] Print\n", "2");
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
2 attempt 1 of 5; failed (runtime_exception): boom; inserted 2.1
2.1 attempt 1 of 5; verify unverified; done, unverified
2 attempt 2 of 5; verify unverified; done, unverified
3 attempt 1 of 5; verify unverified; done, unverified
ended: all_green, 3 of 3 done, 1 of 1 fixes, 4 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] Parse
+ - [x] 2.1 [FIX 2] Fix: boom
x - [x] Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 2.1 Fix: boom
- [x] 2 Parse
- [x] 3 Print

## Fix Task History
- Task 2: 1 fix attempted (2.1) - Final: PASS
--- state {"taskIndex":4,"totalTasks":4,"taskIteration":1,"globalIteration":4,"recoveryMode":true,"fixTaskMap":{"2":{"attempts":1,"fixTaskIds":["2.1"],"lastError":"boom"}},"taskResults":{"1":"success","2":"success","3":"success","2.1":"success"}}

"#]]);
}

#[test]
fn two_fixes_on_a_plain_list_of_one_task() {
    let workspace = Workspace::with_tasks("- [ ] Do it\n").agent(&format!(
        "1:1) {FAILED} ;;
         1:2) {FAILED} ;;
         *) echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >other; echo TASK_COMPLETE ;;"
    ));
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1 attempt 1 of 5; failed (runtime_exception): boom; inserted 1.1
1.1 attempt 1 of 5; verify unverified; done, unverified
1 attempt 2 of 5; failed (runtime_exception): boom; inserted 1.2
1.2 attempt 1 of 5; verify unverified; done, unverified
1 attempt 3 of 5; verify unverified; done, unverified
ended: all_green, 1 of 1 done, 2 of 2 fixes, 5 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] Do it
+ - [x] 1.1 [FIX 1] Fix: boom
+ - [x] 1.2 [FIX 1] Fix: boom
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Fix: boom
- [x] 1.2 Fix: boom
- [x] 1 Do it

## Fix Task History
- Task 1: 2 fixes attempted (1.1, 1.2) - Final: PASS
--- state {"taskIndex":3,"totalTasks":3,"taskIteration":1,"globalIteration":5,"recoveryMode":true,"fixTaskMap":{"1":{"attempts":2,"fixTaskIds":["1.1","1.2"],"lastError":"boom"}},"taskResults":{"1":"success","1.1":"success","1.2":"success"}}

"#]]);
}

#[test]
fn two_fixes_on_a_list_of_one_task_with_an_id() {
    let workspace = Workspace::with_tasks("- [ ] 1.3 Do it\n").agent(&format!(
        "1.3:1) {FAILED} ;;
         1.3:2) {FAILED} ;;
         *) echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >other; echo TASK_COMPLETE ;;"
    ));
    snapbox::assert_data_eq!(
        healed(&workspace, &[]),
        str![[r#"
x - [x] 1.3 Do it
+ - [x] 1.3.1 [FIX 1.3] Fix: boom
+   - **Do**: Address the error: boom
+     1. Analyze the failure: none
+     2. Review related code in Files list
+     3. Implement fix for: boom
+   - **Files**: Same directory as original
+   - **Done when**: Error "boom" no longer occurs
+   - **Verify**: echo 'Verify manually'
+   - **Commit**: `fix(demo): address error from task 1.3`
+ - [x] 1.3.2 [FIX 1.3] Fix: boom
+   - **Do**: Address the error: boom
+     1. Analyze the failure: none
+     2. Review related code in Files list
+     3. Implement fix for: boom
+     4. The same error came back after 1.3.1: find another way than that fix took
+   - **Files**: Same directory as original
+   - **Done when**: Error "boom" no longer occurs
+   - **Verify**: echo 'Verify manually'
+   - **Commit**: `fix(demo): address error from task 1.3`

"#]]
    );
}

/// Returns the healed `tasks`, with carriage returns and tabs made visible.
#[track_caller]
fn bytes(tasks: &str, id: &str) -> String {
    let workspace = failing_once(tasks, id);
    healed(&workspace, &[]);
    let plan = workspace.text(TASKS);
    plan.replace('\r', "<CR>").replace('\t', "<TAB>")
}

#[test]
fn windows_line_endings() {
    let plan = bytes(
        "# Tasks\r\n\r\n- [ ] 1.1 Parse\r\n  - **Files**: a\r\n  - **Verify**: `test -f fixed`\r\n\r\n- [ ] 1.2 Print\r\n",
        "1.1",
    );
    snapbox::assert_data_eq!(
        plan,
        str![[r##"
# Tasks<CR>
<CR>
- [x] 1.1 Parse<CR>
  - **Files**: a<CR>
  - **Verify**: `test -f fixed`<CR>
<CR>
- [x] 1.1.1 [FIX 1.1] Fix: boom<CR>
  - **Do**: Address the error: boom<CR>
    1. Analyze the failure: none<CR>
    2. Review related code in Files list<CR>
    3. Implement fix for: boom<CR>
  - **Files**: a<CR>
  - **Done when**: Error "boom" no longer occurs<CR>
  - **Verify**: `test -f fixed`<CR>
  - **Commit**: `fix(demo): address error from task 1.1`<CR>
<CR>
- [x] 1.2 Print<CR>

"##]]
    );
}

#[test]
fn tabs() {
    let plan = bytes(
        "- [ ] 1 Group\n\t- [ ] 1.1 Parse\n\t\t- **Verify**: `test -f fixed`\n\t- [ ] 1.2 Print\n",
        "1.1",
    );
    snapbox::assert_data_eq!(
        plan,
        str![[r#"
- [x] 1 Group
<TAB>- [x] 1.1 Parse
<TAB><TAB>- **Verify**: `test -f fixed`
<TAB>- [x] 1.1.1 [FIX 1.1] Fix: boom
<TAB>  - **Do**: Address the error: boom
<TAB>    1. Analyze the failure: none
<TAB>    2. Review related code in Files list
<TAB>    3. Implement fix for: boom
<TAB>  - **Files**: Same directory as original
<TAB>  - **Done when**: Error "boom" no longer occurs
<TAB>  - **Verify**: `test -f fixed`
<TAB>  - **Commit**: `fix(demo): address error from task 1.1`
<TAB>- [x] 1.2 Print

"#]]
    );
}

#[test]
fn no_final_line_ending() {
    let plan = bytes("- [x] 1.1 Parse\n- [ ] 1.2 Print", "1.2");
    assert!(!plan.ends_with('\n'));
    snapbox::assert_data_eq!(
        plan + "<",
        str![[r#"
- [x] 1.1 Parse
- [x] 1.2 Print
- [x] 1.2.1 [FIX 1.2] Fix: boom
  - **Do**: Address the error: boom
    1. Analyze the failure: none
    2. Review related code in Files list
    3. Implement fix for: boom
  - **Files**: Same directory as original
  - **Done when**: Error "boom" no longer occurs
  - **Verify**: echo 'Verify manually'
  - **Commit**: `fix(demo): address error from task 1.2`<
"#]]
    );
}

#[test]
fn a_byte_order_mark_and_trailing_blanks() {
    let plan = bytes("\u{feff}- [ ] 1.1 Parse  \n- [ ] 1.2 Print \n\n\n", "1.1");
    assert!(plan.starts_with("\u{feff}- [x] 1.1 Parse  \n"));
    assert!(plan.ends_with("- [x] 1.2 Print \n\n\n"));
}

#[test]
fn two_tasks_of_one_id_have_their_own_fixes() {
    let workspace = Workspace::with_tasks(
        "## Phase 1

- [ ] 1.1 Parse
  - **Verify**: `test -f one`

## Phase 2

- [ ] 1.1 Print
  - **Verify**: `test -f two`
",
    )
    .agent(
        "1.1.1:1) touch one; echo TASK_COMPLETE ;;
         1.1.2:1) touch two; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `test -f one` ended with exit code 1: one does not exist; inserted 1.1.1
1.1.1 attempt 1 of 5; verify green; done
1.1 verify green; done
1.1 attempt 1 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `test -f two` ended with exit code 1: two does not exist; inserted 1.1.2
1.1.2 attempt 1 of 5; verify green; done
1.1 verify green; done
ended: all_green, 2 of 2 done, 2 of 2 fixes, 4 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Parse
+ - [x] 1.1.1 [FIX 1.1] Fix: one does not exist
+
x - [x] 1.1 Print
+
+ - [x] 1.1.2 [FIX 1.1] Fix: two does not exist
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: one does not exist
- [x] 1.1 Parse
- [x] 1.1.2 Fix: two does not exist
- [x] 1.1 Print

## Fix Task History
- Task 1.1: 2 fixes attempted (1.1.1, 1.1.2) - Final: PASS
--- state {"taskIndex":4,"totalTasks":4,"taskIteration":1,"globalIteration":4,"recoveryMode":true,"fixTaskMap":{"1.1":{"attempts":2,"fixTaskIds":["1.1.1","1.1.2"],"lastError":"Verify failed: test -f two ended with exit code 1: two does not exist"}},"taskResults":{"1.1":"success","1.1.1":"success","1.1.2":"success"}}

"#]]);
}

#[test]
fn a_task_pays_for_no_fix_of_another_with_its_id() {
    let workspace = Workspace::with_tasks(
        "## Phase 1

- [ ] 1.1 Parse
  - **Verify**: `test -f one`

## Phase 2

- [ ] 1.1 Print
  - **Verify**: `test -f two`
",
    )
    .agent(
        "1.1.2:1) touch one; echo TASK_COMPLETE ;;
         1.1.4:1) touch two; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    healed(&workspace, &["--max-fix-tasks=2"]);
}

#[test]
fn rows_that_may_run_side_by_side_run_in_order_with_the_fix_between_them() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 [P] One\n- [ ] 1.2 [P] Two\n- [ ] 1.3 [P] Three\n- [ ] 1.4 [VERIFY] Check\n  - **Verify**: `true`\n",
    )
    .agent(&format!(
        "1.2:1) echo $REGREEN_TASK_ID >>$notes/order; {FAILED} ;;
         1.4:*) echo $REGREEN_TASK_ID >>$notes/order; echo VERIFICATION_PASS ;;
         *) echo $REGREEN_TASK_ID >>$notes/order; echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >other; echo TASK_COMPLETE ;;"
    ));
    snapbox::assert_data_eq!(
        healed(&workspace, &[]),
        str![[r#"
x - [x] 1.1 [P] One
x - [x] 1.2 [P] Two
+ - [x] 1.2.1 [FIX 1.2] Fix: boom
+   - **Do**: Address the error: boom
+     1. Analyze the failure: none
+     2. Review related code in Files list
+     3. Implement fix for: boom
+   - **Files**: Same directory as original
+   - **Done when**: Error "boom" no longer occurs
+   - **Verify**: echo 'Verify manually'
+   - **Commit**: `fix(demo): address error from task 1.2`
x - [x] 1.3 [P] Three
x - [x] 1.4 [VERIFY] Check

"#]]
    );
    assert_eq!(workspace.note("order"), "1.1\n1.2\n1.2.1\n1.2\n1.3\n1.4\n");
}

#[test]
fn a_checkpoint_that_is_red_is_healed_and_checked_again() {
    let workspace = Workspace::with_tasks(
        "- [x] 1.1 Build\n- [ ] V2 [VERIFY] Quality checkpoint\n  - **Do**: Run it\n  - **Verify**: `test -f fixed`\n- [ ] V3 [VERIFY] Last\n  - **Verify**: `true`\n",
    )
    .agent(
        "V2:1) printf 'VERIFICATION_FAIL\\n' ;;
         V2.1:1) touch fixed; echo TASK_COMPLETE ;;
         *) echo VERIFICATION_PASS ;;",
    );
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
V2 attempt 1 of 5; verify red; verify red; failed (runtime_exception): Verify failed: `test -f fixed` ended with exit code 1: fixed does not exist; inserted V2.1
V2.1 attempt 1 of 5; verify green; done
V2 attempt 2 of 5; verify green; done
V3 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 1 of 1 fixes, 4 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] V2 [VERIFY] Quality checkpoint
+ - [x] V2.1 [FIX V2] Fix: fixed does not exist
x - [x] V3 [VERIFY] Last
--- specs/demo/.progress.md
## Completed Tasks
- [x] V2.1 Fix: fixed does not exist
- [x] V2 Quality checkpoint
- [x] V3 Last

## Fix Task History
- Task V2: 1 fix attempted (V2.1) - Final: PASS
--- state {"taskIndex":4,"totalTasks":4,"taskIteration":1,"globalIteration":4,"recoveryMode":true,"fixTaskMap":{"V2":{"attempts":1,"fixTaskIds":["V2.1"],"lastError":"Verify failed: test -f fixed ended with exit code 1: fixed does not exist"}},"taskResults":{"1.1":"success","V2":"success","V3":"success","V2.1":"success"}}

"#]]);
}

#[test]
fn a_task_file_of_any_name() {
    let workspace = Workspace::with_tasks("- [x] 1 x\n- [x] 2 y\n")
        .file("TODO.md", "* [ ] Parse\n* [ ] Print\n")
        .agent(&format!(
            "1:1) {FAILED} ;;
             *) echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >other; echo TASK_COMPLETE ;;"
        ));
    let agent = workspace.agent_flag();
    let output = workspace.regreen(&["run", "TODO.md", "--agent", &agent, "--recovery-mode"]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(!workspace.has(PROGRESS) && !workspace.has(STATE));
    snapbox::assert_data_eq!(
        workspace.text("TODO.md"),
        str![[r#"
* [x] Parse
* [x] 1.1 [FIX 1] Fix: boom
  - **Do**: Address the error: boom
    1. Analyze the failure: none
    2. Review related code in Files list
    3. Implement fix for: boom
  - **Files**: Same directory as original
  - **Done when**: Error "boom" no longer occurs
  - **Verify**: echo 'Verify manually'
  - **Commit**: `fix(TODO): address error from task 1`
* [x] Print

"#]]
    );
}
