//! Groups, optional rows, lists without ids, and runs of part of a plan.

use snapbox::str;

use regreen_test_support::{TASKS, Workspace, files_below};

const GROUPS: &str = "# Implementation Plan

- [ ] 1. Set up
  - [ ] 1.1 Make the folder
    - _Requirements: 1.1_
  - [ ]* 1.2 Write about it
    - _Requirements: 1.2_
  - **Verify**: `test -d src`
- [ ] 2. Finish
  - [ ] 2.1 Write the file
";

/// Creates what each row asks for.
const WORKER: &str = "1.1:*) mkdir -p src; touch src/a; echo TASK_COMPLETE ;;
     1.2:*) touch src/readme; echo TASK_COMPLETE ;;
     2.1:*) touch src/b; echo TASK_COMPLETE ;;";

#[test]
fn a_group_is_verified_and_ticked_when_its_rows_are_done() {
    let workspace = Workspace::with_tasks(GROUPS).agent(WORKER);
    workspace.run(&["--keep-state"]).and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify unverified; done, unverified
1 verify green; done
2.1 attempt 1 of 5; verify unverified; done, unverified
2 verify unverified; done
ended: all_green, 4 of 4 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1. Set up
x   - [x] 1.1 Make the folder
x - [x] 2. Finish
x   - [x] 2.1 Write the file
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Make the folder
- [x] 1 Set up
- [x] 2.1 Write the file
- [x] 2 Finish
--- state {"taskIndex":2,"totalTasks":2,"taskIteration":1,"globalIteration":2,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1":"success","1.1":"success","1.2":"pending","2":"success","2.1":"success"}}

"#]]);
}

#[test]
fn optional_rows_are_run_when_asked_for() {
    let workspace = Workspace::with_tasks(GROUPS).agent(WORKER);
    let output = workspace.run(&["--include-optional", "--keep-state"]);
    output.and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify unverified; done, unverified
1.2 attempt 1 of 5; verify unverified; done, unverified
1 verify green; done
2.1 attempt 1 of 5; verify unverified; done, unverified
2 verify unverified; done
ended: all_green, 5 of 5 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1. Set up
x   - [x] 1.1 Make the folder
x   - [x]* 1.2 Write about it
x - [x] 2. Finish
x   - [x] 2.1 Write the file
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Make the folder
- [x] 1.2 Write about it
- [x] 1 Set up
- [x] 2.1 Write the file
- [x] 2 Finish
--- state {"taskIndex":3,"totalTasks":3,"taskIteration":1,"globalIteration":3,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1":"success","1.1":"success","1.2":"success","2":"success","2.1":"success"}}

"#]]);
}

#[test]
fn a_group_whose_own_verify_is_red_ends_the_run() {
    let workspace = Workspace::with_tasks(GROUPS).agent("*) touch out; echo TASK_COMPLETE ;;");
    workspace.run(&[]).and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify unverified; done, unverified
1 verify red; verify red; failed (runtime_exception): Verify failed: `test -d src` ended with exit code 1: src does not exist
ended: limit, 1 of 4 done, 1 of 100 attempts
ERROR: Verify of group 1 failed after its tasks were done
--- exit code 1
--- changes in specs/demo/tasks.md
x   - [x] 1.1 Make the folder
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Make the folder
--- state {"taskIndex":0,"totalTasks":2,"taskIteration":1,"globalIteration":1,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1":"failed","1.1":"success","1.2":"pending","2":"pending","2.1":"pending"}}

"#]]);
}

const THREE: &str = "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `test -f out`\n- [ ] 1.3 Third\n";

#[test]
fn only_one_task_is_run_when_only_one_is_asked_for() {
    let workspace = Workspace::with_tasks(THREE).agent("1.2:*) touch out; echo TASK_COMPLETE ;;");
    workspace.run(&["--only=1.2"]).and_spec(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; verify green; done
ended: only_done, 1 of 3 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Second
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Second
--- state {"taskIndex":0,"totalTasks":3,"taskIteration":1,"globalIteration":1,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"pending","1.2":"success","1.3":"pending"}}

"#]]);
}

#[test]
fn one_task_that_fails_is_not_green() {
    let workspace = Workspace::with_tasks(THREE).agent("*) echo TASK_COMPLETE ;;");
    let output = workspace.run(&["--only=1.2", "--max-task-iterations=1"]);
    output.and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 1; verify red; verify red; failed (false_success_claim): Verify failed: `test -f out` ended with exit code 1: out does not exist
ended: limit, 0 of 3 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.2 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
}

#[test]
fn one_task_that_is_done_already_is_not_run() {
    let workspace = Workspace::with_tasks("- [x] 1.1 First\n- [ ] 1.2 Second\n").agent("");
    workspace
        .run(&["--only=1.1"])
        .and_plan(&workspace)
        .shows(str![[r#"
ended: only_done, 1 of 2 done, 0 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
}

#[test]
fn the_only_task_that_was_left_completes_the_plan() {
    let workspace =
        Workspace::with_tasks("- [x] 1.1 First\n- [ ] 1.2 Second\n  - **Verify**: `true`\n")
            .agent("*) echo TASK_COMPLETE ;;");
    workspace
        .run(&["--only=1.2"])
        .and_spec(&workspace)
        .shows(str![[r#"
1.2 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Second
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Second
--- no state

"#]]);
}

#[test]
fn a_task_that_is_not_there_cannot_be_asked_for() {
    let workspace = Workspace::with_tasks(THREE).agent("");
    workspace
        .run(&["--only=9.9"])
        .and_plan(&workspace)
        .shows(str![[r#"
--- standard error
  × task 9.9 not found in specs/demo/tasks.md
  help: known tasks: 1.1, 1.2, 1.3
--- exit code 2
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
}

#[test]
fn a_group_can_be_asked_for_with_its_rows() {
    let workspace = Workspace::with_tasks(GROUPS).agent(WORKER);
    workspace
        .run(&["--only=1"])
        .and_plan(&workspace)
        .shows(str![[r#"
1.1 attempt 1 of 5; verify unverified; done, unverified
1 verify green; done
ended: only_done, 2 of 4 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1. Set up
x   - [x] 1.1 Make the folder
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Make the folder
- [x] 1 Set up

"#]]);
}

#[test]
fn a_dry_run_runs_and_writes_nothing() {
    let tasks = format!("{THREE}  - **Verify**: `grep -c x out` returns 0\n- [x] 1.4 Fourth\n");
    let workspace = Workspace::with_tasks(&tasks).agent("*) touch ran ;;");
    let before = files_below(&workspace.path("."));
    workspace
        .run_as_text(&["--dry-run"])
        .and(&workspace, &[TASKS])
        .shows(str![[r#"
spec demo, agent command:sh [AGENT]/agent.sh: 3 of 4 tasks would be run

1.1 First
    verify: true

1.2 Second
    verify: test -f out

1.3 Third
    verify: grep -c x out
    judged: prints 0

limits: 5 attempts per task, 30m 00s per attempt, 10m 00s per Verify
--- exit code 0
--- specs/demo/tasks.md
- [ ] 1.1 First
  - **Verify**: `true`
- [ ] 1.2 Second
  - **Verify**: `test -f out`
- [ ] 1.3 Third
  - **Verify**: `grep -c x out` returns 0
- [x] 1.4 Fourth

"#]]);
    assert_eq!(files_below(&workspace.path(".")), before);
}

#[test]
fn rows_without_ids_are_numbered() {
    let workspace = Workspace::with_tasks("* [ ] Write it\n* [X] Was done\n* [~] Half done\n")
        .agent("*) echo $REGREEN_TASK_ID >>out; echo TASK_COMPLETE ;;");
    workspace.run(&["--keep-state"]).and_spec(&workspace).shows(str![[r#"
1 attempt 1 of 5; verify unverified; done, unverified
3 attempt 1 of 5; verify unverified; done, unverified
ended: all_green, 3 of 3 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x * [x] Write it
- * [~] Half done
+ * [x] Half done
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1 Write it
- [x] 3 Half done
--- state {"taskIndex":3,"totalTasks":3,"taskIteration":1,"globalIteration":2,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1":"success","2":"success","3":"success"}}

"#]]);
}

#[test]
fn two_rows_with_one_id_are_two_tasks() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Verify**: `test -f a`\n- [ ] 1.1 Second\n  - **Verify**: `test -f b`\n",
    )
    .agent(
        "*) case $prompt in *'called “First”'*) touch a ;; *) touch b ;; esac; echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify green; done
1.1 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
x - [x] 1.1 Second
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.1 Second

"#]]);
    let logs = files_below(&workspace.path(".regreen/runs"));
    let logs = logs.iter().filter(|path| path.ends_with("/1.log"));
    assert_eq!(logs.count(), 2);
}

#[test]
fn a_task_file_of_any_name_has_its_own_state_and_progress() {
    let workspace = Workspace::new()
        .file("docs/todo.md", "- [ ] 1. Write it\r\n- [ ] 2. Tell it")
        .agent("*) echo $REGREEN_TASK_ID >>out; echo TASK_COMPLETE ;;");
    let output = workspace.run(&["docs/todo.md", "--keep-state"]);
    let own = ".regreen/specs/docs%2ftodo.md";
    output
        .and(
            &workspace,
            &[
                "docs/todo.md",
                &format!("{own}/.progress.md"),
                &format!("{own}/.ralph-state.json"),
            ],
        )
        .shows(str![[r#"
1 attempt 1 of 5; verify unverified; done, unverified
2 attempt 1 of 5; verify unverified; done, unverified
ended: all_green, 2 of 2 done, 2 of 100 attempts
--- exit code 0
--- docs/todo.md
- [x] 1. Write it
- [x] 2. Tell it
--- no line ending
--- .regreen/specs/docs%2ftodo.md/.progress.md
## Completed Tasks
- [x] 1 Write it
- [x] 2 Tell it
--- .regreen/specs/docs%2ftodo.md/.ralph-state.json
{
  "source": "direct",
  "name": "todo",
  "basePath": "./docs",
  "phase": "execution",
  "taskIndex": 2,
  "totalTasks": 2,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 2,
  "maxGlobalIterations": 100,
  "recoveryMode": false,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {},
  "taskResults": {
    "1": {
      "status": "success"
    },
    "2": {
      "status": "success"
    }
  }
}

"#]]);
}

#[test]
fn the_shell_agent_runs_the_steps_of_a_task() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 Write it\n  - **Do**:\n    1. `echo one >out`\n    2. `echo two >>out`\n  - **Verify**: `grep -c . out` returns 2\n- [ ] 1.2 In words\n  - **Do**: think about it\n",
    );
    let output = workspace.run_with_agent("shell", &["--max-task-iterations=2"]);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 2; verify green; done
1.2 attempt 1 of 2; exit code 1; failed (runtime_exception): The task has no commands for the shell agent: write them in an `sh` code block, or choose another agent with --agent
1.2 attempt 2 of 2; exit code 1; failed (runtime_exception): The task has no commands for the shell agent: write them in an `sh` code block, or choose another agent with --agent
ended: limit, 1 of 2 done, 3 of 100 attempts
ERROR: Max retries reached for task 1.2 after 2 attempts
--- exit code 1
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it

"#]]);
}
