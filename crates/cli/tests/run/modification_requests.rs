//! Agents that request changes to the plan.

use snapbox::str;

use regreen_test_support::{STATE, TASKS, Workspace};

const PLAN: &str = "# Tasks

- [x] 1.1 Read

- [ ] 1.2 Parse
  - **Do**: Parse it
  - **Verify**: `true`

- [ ] 1.3 Print
  - **Verify**: `true`
";

/// Returns a shell command that makes a request for a task.
fn request(kind: &str, task: &str, proposed: &str) -> String {
    let json = format!(
        r#"{{"type":"{kind}","originalTaskId":"{task}","reasoning":"because","proposedTasks":[{proposed}]}}"#
    );
    format!("cat <<'END'\nTASK_MODIFICATION_REQUEST\n{json}\nEND\n")
}

const DONE: &str = "*) echo $REGREEN_TASK_ID >>$notes/order; echo $REGREEN_TASK_ID-$REGREEN_ATTEMPT >work; echo TASK_COMPLETE ;;";

/// 1.2 makes one request, in its first attempt.
fn asks_once(tasks: &str, kind: &str, proposed: &str) -> Workspace {
    let request = request(kind, "1.2", proposed);
    Workspace::with_tasks(tasks).agent(&format!("1.2:1) {request} ;;\n{DONE}"))
}

#[test]
fn parts_go_before_the_task_which_runs_after_them() {
    let proposed = r#"{"title":"Split lines","do":"Read lines","files":"a.rs","doneWhen":"It reads","verify":"true","commit":"feat: lines"},{"title":"Join lines"}"#;
    let workspace = asks_once(PLAN, "SPLIT_TASK", proposed);
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    assert_eq!(workspace.note("order"), "1.2.1\n1.2.2\n1.2\n1.3\n");
    let state: serde_json::Value = serde_json::from_str(&workspace.text(STATE)).unwrap();
    let described = &state["modificationMap"]["1.2"]["modifications"];
    assert_eq!(described[0]["id"], "1.2.1");
    assert_eq!(described[0]["type"], "SPLIT_TASK");
    output.and_spec(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; inserted 1.2.1, 1.2.2
1.2.1 attempt 1 of 5; verify green; done
1.2.2 attempt 1 of 5; verify unverified; done, unverified
1.2 attempt 2 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 5 of 5 done, 5 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
+ - [x] 1.2.1 Split lines
+   - **Do**: Read lines
+   - **Files**: a.rs
+   - **Done when**: It reads
+   - **Verify**: `true`
+   - **Commit**: `feat: lines`
+
+ - [x] 1.2.2 Join lines
+
x - [x] 1.2 Parse
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.1 Split lines
- [x] 1.2.2 Join lines
- [x] 1.2 Parse
- [x] 1.3 Print
--- state {"taskIndex":5,"totalTasks":5,"taskIteration":1,"globalIteration":5,"recoveryMode":true,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success","1.3":"success","1.2.1":"success","1.2.2":"success"},"modificationMap":{"1.2":{"count":1,"taskIds":["1.2.1","1.2.2"],"lastRequest":"[RUN]/1","lastTaskIds":["1.2.1","1.2.2"]}}}

"#]]);
}

#[test]
fn prerequisites_go_before_the_task() {
    let workspace = asks_once(
        PLAN,
        "ADD_PREREQUISITE",
        r#""- [ ] 1.2.9 Install it\n  - **Do**: Get it\n  - **Verify**: `true`""#,
    );
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    assert_eq!(workspace.note("order"), "1.2.1\n1.2\n1.3\n");
    snapbox::assert_data_eq!(
        workspace.plan_changes(),
        str![[r#"
+ - [x] 1.2.1 Install it
+   - **Do**: Get it
+   - **Verify**: `true`
+
x - [x] 1.2 Parse
x - [x] 1.3 Print

"#]]
    );
}

#[test]
fn follow_up_rows_go_after_the_task() {
    let proposed = r#"{"title":"Measure it"},{"title":"Tell of it"}"#;
    let workspace = asks_once(PLAN, "ADD_FOLLOWUP", proposed);
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    assert_eq!(workspace.note("order"), "1.2\n1.2.1\n1.2.2\n1.3\n");
    snapbox::assert_data_eq!(
        workspace.plan_changes(),
        str![[r#"
x - [x] 1.2 Parse
+ - [x] 1.2.1 Measure it
+
+ - [x] 1.2.2 Tell of it
+
x - [x] 1.3 Print

"#]]
    );
}

#[test]
fn follow_up_rows_go_after_the_fixes_of_the_task() {
    let request = request("ADD_FOLLOWUP", "1.2", r#"{"title":"Measure it"}"#);
    let workspace = Workspace::with_tasks(PLAN).agent(&format!(
        "1.2:1) printf 'Task 1.2: it FAILED\\n- Error: boom\\n' ;;\n1.2:2) {request} ;;\n{DONE}"
    ));
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    assert_eq!(workspace.note("order"), "1.2.1\n1.2\n1.2.2\n1.3\n");
    snapbox::assert_data_eq!(
        workspace.plan_changes(),
        str![[r#"
x - [x] 1.2 Parse
+ - [x] 1.2.1 [FIX 1.2] Fix: boom
+   - **Do**: Address the error: boom
+     1. Analyze the failure: No fix attempted
+     2. Review related code in Files list
+     3. Implement fix for: boom
+   - **Files**: Same directory as original
+   - **Done when**: Error "boom" no longer occurs
+   - **Verify**: `true`
+   - **Commit**: `fix(demo): address error from task 1.2`
+
+ - [x] 1.2.2 Measure it
+
x - [x] 1.3 Print

"#]]
    );
}

#[test]
fn in_a_group_they_stand_in_the_group() {
    let tasks =
        "- [ ] 1. Build\n  - [ ] 1.1 Read\n  - [ ] 1.2 Parse\n  - [ ] 1.3 Print\n- [ ] 2. Ship\n";
    let proposed = r#"{"title":"One","do":"it"},{"title":"Two"}"#;
    let workspace = asks_once(tasks, "SPLIT_TASK", proposed);
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    snapbox::assert_data_eq!(
        workspace.plan_changes(),
        str![[r#"
x - [x] 1. Build
x   - [x] 1.1 Read
+   - [x] 1.2.1 One
+     - **Do**: it
+   - [x] 1.2.2 Two
x   - [x] 1.2 Parse
x   - [x] 1.3 Print
x - [x] 2. Ship

"#]]
    );
}

#[test]
fn without_recovery_a_request_is_only_reported() {
    let workspace = asks_once(PLAN, "SPLIT_TASK", r#"{"title":"One"}"#);
    let output = workspace.run(&[]);
    output.and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; verify green
  warning: the agent asked for other rows in the plan; that is only done in recovery mode
1.2 attempt 1 of 5 (reminder); verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Parse
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Parse
- [x] 1.3 Print

"#]]);
}

#[test]
fn a_passed_attempt_may_ask_for_followup_tasks() {
    let request = request("ADD_FOLLOWUP", "1.2", r#"{"title":"Measure it"}"#);
    let workspace = Workspace::with_tasks(PLAN)
        .agent(&format!("1.2:1) {request}\necho TASK_COMPLETE ;;\n{DONE}"));
    let output = workspace.run(&["--recovery-mode"]);
    output.and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; inserted 1.2.1; verify green; done
1.2.1 attempt 1 of 5; verify unverified; done, unverified
1.3 attempt 1 of 5; verify green; done
ended: all_green, 4 of 4 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Parse
+ - [x] 1.2.1 Measure it
+
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Parse
- [x] 1.2.1 Measure it
- [x] 1.3 Print

"#]]);
}

#[test]
fn a_task_that_is_called_done_is_not_divided() {
    let request = request("SPLIT_TASK", "1.2", r#"{"title":"Measure it"}"#);
    let workspace = Workspace::with_tasks(PLAN)
        .agent(&format!("1.2:1) {request}\necho TASK_COMPLETE ;;\n{DONE}"));
    let output = workspace.run(&["--recovery-mode"]);
    output.and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; verify green; done
  warning: the agent asked for rows to be done before its task, but says that it is done: they are not added
1.3 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Parse
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Parse
- [x] 1.3 Print

"#]]);
}

#[test]
fn a_bad_request_is_reported_and_ignored() {
    const UNKNOWN: &str = "warning: cannot parse the agent's request to change the plan: ";
    let one = r#"{"title":"One"}"#;
    let no_title = r#"{"title":"One"},{"title":" \n[x] "}"#;
    let no_object = format!("{UNKNOWN}no JSON object follows TASK_MODIFICATION_REQUEST\n");
    for (request, why) in [
        (
            request("SPLIT_TASK", "1.3", one),
            "; refused: it asks for task 1.3, but task 1.2 was run;",
        ),
        (
            request("SPLIT_TASK", "1.2", ""),
            "; refused: it proposes 0 rows; 1 to 10 are allowed;",
        ),
        (
            request("SPLIT_TASK", "1.2", &[one; 11].join(",")),
            "; refused: it proposes 11 rows; 1 to 10 are allowed;",
        ),
        (
            request("SPLIT_TASK", "1.2", no_title),
            "; refused: a row that it proposes has no title;",
        ),
        (request("EXPLODE", "1.2", one), UNKNOWN),
        (
            "printf 'TASK_MODIFICATION_REQUEST\\nplease\\n'".to_owned(),
            &no_object,
        ),
    ] {
        let agent = format!("1.2:1) {request} ;;\n{DONE}");
        let workspace = Workspace::with_tasks(PLAN).agent(&agent);
        workspace.run(&["--recovery-mode"]).mentions(why);
        assert_eq!(workspace.text(TASKS), PLAN.replace("[ ]", "[x]"), "{why}");
    }
}

#[test]
fn a_task_and_its_parts_have_three_requests_between_them() {
    let split = |task: &str| request("SPLIT_TASK", task, r#"{"title":"Part"}"#);
    let workspace = Workspace::with_tasks(PLAN).agent(&format!(
        "1.2:1) {} ;;\n1.2.1:1) {} ;;\n1.2:2) {} ;;\n1.2:3) {} ;;\n{DONE}",
        split("1.2"),
        split("1.2.1"),
        split("1.2"),
        split("1.2"),
    ));
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; inserted 1.2.1
1.2.1 attempt 1 of 5; inserted 1.2.1.1
1.2.1.1 attempt 1 of 5; verify unverified; done, unverified
1.2.1 attempt 2 of 5; verify unverified; done, unverified
1.2 attempt 2 of 5; inserted 1.2.2
1.2.2 attempt 1 of 5; verify unverified; done, unverified
1.2 attempt 3 of 5; refused: task 1.2 already had its 3 changes; verify green
1.2 attempt 3 of 5 (reminder); verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 6 of 6 done, 8 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
+ - [x] 1.2.1.1 Part
+
+ - [x] 1.2.1 Part
+
+ - [x] 1.2.2 Part
+
x - [x] 1.2 Parse
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.1.1 Part
- [x] 1.2.1 Part
- [x] 1.2.2 Part
- [x] 1.2 Parse
- [x] 1.3 Print
--- state {"taskIndex":6,"totalTasks":6,"taskIteration":1,"globalIteration":8,"recoveryMode":true,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success","1.3":"success","1.2.1":"success","1.2.1.1":"success","1.2.2":"success"},"modificationMap":{"1.2":{"count":3,"taskIds":["1.2.1","1.2.2"],"lastRequest":"[RUN]/2","lastTaskIds":["1.2.2"]},"1.2.1":{"taskIds":["1.2.1.1"],"lastRequest":"[RUN]/1","lastTaskIds":["1.2.1.1"]}}}

"#]]);
}

#[test]
fn parts_of_parts_are_not_divided() {
    let split = |task: &str| request("SPLIT_TASK", task, r#"{"title":"Part"}"#);
    let workspace = Workspace::with_tasks(PLAN).agent(&format!(
        "1.2:1) {} ;;\n1.2.1:1) {} ;;\n1.2.1.1:1) {} ;;\n{DONE}",
        split("1.2"),
        split("1.2.1"),
        split("1.2.1.1"),
    ));
    let output = workspace.run(&["--recovery-mode"]);
    output.exits(0).mentions(
        "1.2.1.1 attempt 1 of 5; refused: a part of a divided task cannot be divided again",
    );
    assert!(!workspace.text(TASKS).contains("1.2.1.1.1"));
}

#[test]
fn a_fix_asks_on_behalf_of_its_original() {
    let split = request("ADD_PREREQUISITE", "1.2.1", r#"{"title":"Install it"}"#);
    let workspace = Workspace::with_tasks(PLAN).agent(&format!(
        "1.2:1) printf 'Task 1.2: it FAILED\\n- Error: boom\\n' ;;\n1.2.1:1) {split} ;;\n{DONE}"
    ));
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    assert_eq!(workspace.note("order"), "1.2.2\n1.2.1\n1.2\n1.3\n");
    output.and_spec(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; failed (runtime_exception): boom; inserted 1.2.1
1.2.1 attempt 1 of 5; inserted 1.2.2
1.2.2 attempt 1 of 5; verify unverified; done, unverified
1.2.1 attempt 2 of 5; verify green; done
1.2 attempt 2 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 4 of 4 done, 1 of 1 fixes, 6 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
+ - [x] 1.2.2 Install it
+
x - [x] 1.2 Parse
+ - [x] 1.2.1 [FIX 1.2] Fix: boom
+
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.2 Install it
- [x] 1.2.1 Fix: boom
- [x] 1.2 Parse
- [x] 1.3 Print

## Fix Task History
- Task 1.2: 1 fix attempted (1.2.1) - Final: PASS
--- state {"taskIndex":5,"totalTasks":5,"taskIteration":1,"globalIteration":6,"recoveryMode":true,"fixTaskMap":{"1.2":{"attempts":1,"fixTaskIds":["1.2.1"],"lastError":"boom"}},"taskResults":{"1.1":"success","1.2":"success","1.3":"success","1.2.1":"success","1.2.2":"success"},"modificationMap":{"1.2":{"count":1},"1.2.1":{"taskIds":["1.2.2"],"lastRequest":"[RUN]/1","lastTaskIds":["1.2.2"]}}}

"#]]);
}

#[test]
fn a_part_that_fails_is_healed() {
    let split = request(
        "SPLIT_TASK",
        "1.2",
        r#"{"title":"One","verify":"test -f one"},{"title":"Two","verify":"true"}"#,
    );
    let workspace = Workspace::with_tasks(PLAN).agent(&format!(
        "1.2:1) {split} ;;\n1.2.1.1:1) touch one; echo TASK_COMPLETE ;;\n{DONE}"
    ));
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; inserted 1.2.1, 1.2.2
1.2.1 attempt 1 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `test -f one` ended with exit code 1: one does not exist; inserted 1.2.1.1
1.2.1.1 attempt 1 of 5; verify green; done
1.2.1 verify green; done
1.2.2 attempt 1 of 5; verify green; done
1.2 attempt 2 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 5 of 5 done, 1 of 1 fixes, 6 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
+ - [x] 1.2.1 One
+   - **Verify**: `test -f one`
+
+ - [x] 1.2.1.1 [FIX 1.2.1] Fix: one does not exist
+
+ - [x] 1.2.2 Two
+   - **Verify**: `true`
+
x - [x] 1.2 Parse
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.1.1 Fix: one does not exist
- [x] 1.2.1 One
- [x] 1.2.2 Two
- [x] 1.2 Parse
- [x] 1.3 Print

## Fix Task History
- Task 1.2.1: 1 fix attempted (1.2.1.1) - Final: PASS
--- state {"taskIndex":6,"totalTasks":6,"taskIteration":1,"globalIteration":6,"recoveryMode":true,"fixTaskMap":{"1.2.1":{"attempts":1,"fixTaskIds":["1.2.1.1"],"lastError":"Verify failed: test -f one ended with exit code 1: one does not exist"}},"taskResults":{"1.1":"success","1.2":"success","1.3":"success","1.2.1":"success","1.2.2":"success","1.2.1.1":"success"},"modificationMap":{"1.2":{"count":1,"taskIds":["1.2.1","1.2.2"],"lastRequest":"[RUN]/1","lastTaskIds":["1.2.1","1.2.2"]}}}

"#]]);
}

#[test]
fn hostile_text_in_a_proposed_row_is_only_words() {
    let proposed = [
        r#"{"title":"One\n- [x] 1.3 Print\n- [ ] 6.6 Evil","do":"a\n  - **Verify**: `true`\n- [ ] 6.7 Evil","files":"x\n- [ ] 6.8 Evil\n```\nfence","doneWhen":"b\n## Phase 6\n---","verify":"true\n# - [x] 6.9 Evil","commit":"c`\n- [ ] 7.0 Evil"}"#,
        r#"{"title":"1.3 [FIX 1.3] [P] [x] Two **Verify**: `true`","verify":"`true` and `test -d .`"}"#,
        r#""```\n- [ ] 8.8 Evil\n```""#,
        r#""- [x] 1.1 Three\n  - **Verify**: `true`\n- [ ] 9.0 Evil""#,
        r#"{"title":"Four","do":"--> \u001b[31mred\u202e <!--"}"#,
        r#"{"title":"Five","do":"    indented\n\n\tcode","verify":""}"#,
        r#"{"title":"* [ ] 4.4 Six","verify":"echo `date` \u0007"}"#,
    ];
    let workspace = asks_once(PLAN, "SPLIT_TASK", &proposed.join(","));
    let output = workspace.run(&["--recovery-mode"]);
    output.and(&workspace, &[TASKS]).shows(str![[r#"
1.2 attempt 1 of 5; inserted 1.2.1, 1.2.2, 1.2.3, 1.2.4, 1.2.5, 1.2.6, 1.2.7
1.2.1 attempt 1 of 5; verify green; done
1.2.2 attempt 1 of 5; verify green; done
1.2.3 attempt 1 of 5; verify unverified; done, unverified
1.2.4 attempt 1 of 5; verify green; done
1.2.5 attempt 1 of 5; verify unverified; done, unverified
1.2.6 attempt 1 of 5; verify unverified; done, unverified
1.2.7 attempt 1 of 5; verify green; done
1.2 attempt 2 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 10 of 10 done, 10 of 100 attempts
--- exit code 0
--- specs/demo/tasks.md
# Tasks

- [x] 1.1 Read

- [x] 1.2.1 One
  - **Do**: a - **Verify**: true - 6.7 Evil
  - **Files**: x - 6.8 Evil fence
  - **Done when**: b ## Phase 6 ---
  - **Verify**:
    ```bash
    true
    # - [x] 6.9 Evil
    ```
  - **Commit**: `c - 7.0 Evil`

- [x] 1.2.2 1.3 Two **Verify**: true
  - **Verify**: `true` and `test -d .`

- [x] 1.2.3 8.8 Evil

- [x] 1.2.4 1.1 Three
  - **Verify**: `true`

- [x] 1.2.5 Four
  - **Do**: --> red <!--

- [x] 1.2.6 Five
  - **Do**: indented code

- [x] 1.2.7 * 4.4 Six
  - **Verify**:
    ```bash
    echo `date`
    ```

- [x] 1.2 Parse
  - **Do**: Parse it
  - **Verify**: `true`

- [x] 1.3 Print
  - **Verify**: `true`

"#]]);
}

#[test]
fn in_a_list_without_ids_the_plan_stays_as_it_is() {
    let request = request("SPLIT_TASK", "2", r#"{"title":"One"},{"title":"Two"}"#);
    let tasks = "- [x] Read\n- [ ] Parse\n- [ ] Print\n";
    let workspace = Workspace::with_tasks(tasks).agent(&format!("2:1) {request} ;;\n{DONE}"));
    let output = workspace.run(&["--recovery-mode", "--keep-state"]);
    assert_eq!(workspace.text(TASKS), tasks.replace("[ ]", "[x]"));
    assert!(!workspace.text(STATE).contains("modificationMap"));
    output.shows(str![[r#"
2 attempt 1 of 5; refused: this list has no ids, so new rows would renumber its tasks; give them ids (1.1, 1.2, …) to allow it; verify unverified
2 attempt 1 of 5 (reminder); verify unverified; done, unverified
3 attempt 1 of 5; verify unverified; done, unverified
ended: all_green, 3 of 3 done, 2 of 100 attempts
--- exit code 0

"#]]);
}

#[test]
fn in_a_list_of_one_task_with_an_id_parts_are_written() {
    let workspace = asks_once(
        "- [ ] 1.2 Parse\n",
        "SPLIT_TASK",
        r#"{"title":"One"},{"title":"Two"}"#,
    );
    assert_eq!(workspace.run(&["--recovery-mode"]).code, Some(0));
    snapbox::assert_data_eq!(
        workspace.plan_changes(),
        str![[r#"
+ - [x] 1.2.1 One
+ - [x] 1.2.2 Two
x - [x] 1.2 Parse

"#]]
    );
}

#[test]
fn where_only_one_task_is_run_it_is_not_divided() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Write it\n  - **Verify**: `true`\n- [ ] 1.2 Not asked for\n").agent(
        r#"1.1:1) printf 'TASK_MODIFICATION_REQUEST\n{"type":"SPLIT_TASK","originalTaskId":"1.1","proposedTasks":["One","Two"]}\n' ;;
           *) touch work; echo TASK_COMPLETE ;;"#,
    );
    let output = workspace.run(&["--recovery-mode", "--only=1.1"]);
    output.shows(str![[r#"
1.1 attempt 1 of 5; verify green
  warning: the agent asked for rows to be done before its task, but only that task is run: they are not added
1.1 attempt 1 of 5 (reminder); verify green; done
ended: only_done, 1 of 2 done, 1 of 100 attempts
--- exit code 0

"#]]);
}

/// 1.2 makes no progress within its time limit, then gives this answer.
fn gets_nowhere(tasks: &str, answer: &str) -> Workspace {
    Workspace::with_tasks(tasks).agent(&format!(
        "1.2:1) exec sleep 60 ;;\n1.2:2) echo $REGREEN_PROMPT_KIND >$notes/kind\n{answer} ;;\n{DONE}"
    ))
}

const IN_TIME: [&str; 2] = ["--recovery-mode", "--timeout=2s"];

#[test]
fn a_task_that_gets_nowhere_in_its_time_is_split() {
    let parts = request("SPLIT_TASK", "1.2", r#""One","Two""#);
    let workspace = gets_nowhere(PLAN, &parts);
    let output = workspace.run(&IN_TIME);
    assert_eq!(workspace.note("kind"), "split\n");
    assert_eq!(workspace.note("order"), "1.2.1\n1.2.2\n1.2\n1.3\n");
    output.and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; timed out; failed (timeout_no_progress): The agent did not finish within 2s
1.2 attempt 1 of 5 (split); inserted 1.2.1, 1.2.2
1.2.1 attempt 1 of 5; verify unverified; done, unverified
1.2.2 attempt 1 of 5; verify unverified; done, unverified
1.2 attempt 1 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 5 of 5 done, 6 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
+ - [x] 1.2.1 One
+
+ - [x] 1.2.2 Two
+
x - [x] 1.2 Parse
x - [x] 1.3 Print
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2.1 One
- [x] 1.2.2 Two
- [x] 1.2 Parse
- [x] 1.3 Print

"#]]);
}

#[test]
fn a_task_without_progress_that_cannot_be_split_goes_to_a_person() {
    let workspace = gets_nowhere(PLAN, "echo It is one thing");
    let output = workspace.run(&IN_TIME);
    assert_eq!(workspace.text(TASKS), PLAN);
    output.exits(3).mentions("the agent could not split it");
    // The same applies if the plan can't be changed.
    let tasks = "- [x] Read\n- [ ] Parse\n";
    let parts = request("SPLIT_TASK", "2", r#""One","Two""#);
    let workspace = Workspace::with_tasks(tasks)
        .agent(&format!("2:1) exec sleep 60 ;;\n2:2) {parts} ;;\n{DONE}"));
    assert_eq!(workspace.run(&IN_TIME).code, Some(3));
    assert_eq!(workspace.text(TASKS), tasks);
}
