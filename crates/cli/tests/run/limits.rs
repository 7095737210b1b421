//! With recovery off, a task is retried up to a limit; the files during and after the run.

use snapbox::str;

use regreen_test_support::{PROGRESS, STATE, TASKS, Workspace};

const TASK_1_3: &str = "# Tasks

- [x] 1.1 Set up
- [ ] 1.2 Add a folder
  - **Verify**: `true`
- [ ] 1.3 Add failure parser
  - **Do**: Add parsing logic
  - **Files**: implement.md
  - **Verify**: grep -q \"Parse Failure\" implement.md
  - **Commit**: feat(coordinator): add failure parser
- [ ] 1.4 Next task
";

const NEVER: &str = "1.2:*) echo TASK_COMPLETE ;;
     1.3:*) cp $REGREEN_SPEC_DIR/.ralph-state.json $notes/state-$REGREEN_ATTEMPT
         printf 'Task 1.3: Add failure parser FAILED\\n- Error: File not found: src/parser.ts\\n- Attempted fix: Checked alternate paths\\n- Status: Blocked\\n' ;;";

#[test]
fn five_attempts_in_all_then_the_run_stops_and_nothing_is_inserted() {
    let workspace = Workspace::with_tasks(TASK_1_3).agent(NEVER);
    workspace.run_as_text(&[]).and(&workspace, &[TASKS, PROGRESS, STATE]).shows(str![[r#"
   START  demo · 4 tasks · command:sh [AGENT]/agent.sh
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    PASS  [TIME] 1.2 Add a folder
    FAIL  [TIME] 1.3 Add failure parser                         attempt 1/5
          missing file
          File not found: src/parser.ts
    FAIL  [TIME] 1.3 Add failure parser                         attempt 2/5
          missing file
          File not found: src/parser.ts
    FAIL  [TIME] 1.3 Add failure parser                         attempt 3/5
          missing file
          File not found: src/parser.ts
    FAIL  [TIME] 1.3 Add failure parser                         attempt 4/5
          missing file
          File not found: src/parser.ts
    FAIL  [TIME] 1.3 Add failure parser                         attempt 5/5
          missing file
          File not found: src/parser.ts
     END  limit reached · exit code 1                             [RUN]

   Tasks  2 of 4 done in [TIME]
Attempts  6 of 100
Unchecked  1 task was ticked before regreen first ran this list, and never checked: 1.1
    Next  see how 1.3 failed:  regreen why 1.3
          try once more:       regreen run --agent 'command:sh [AGENT]/agent.sh'
--- standard error
ERROR: Max retries reached for task 1.3 after 5 attempts
--- exit code 1
--- specs/demo/tasks.md
# Tasks

- [x] 1.1 Set up
- [x] 1.2 Add a folder
  - **Verify**: `true`
- [ ] 1.3 Add failure parser
  - **Do**: Add parsing logic
  - **Files**: implement.md
  - **Verify**: grep -q "Parse Failure" implement.md
  - **Commit**: feat(coordinator): add failure parser
- [ ] 1.4 Next task
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Add a folder
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
  "globalIteration": 6,
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

#[test]
fn the_state_file_counts_along() {
    let workspace = Workspace::with_tasks(TASK_1_3).agent(NEVER);
    assert_eq!(workspace.run(&["--max-task-iterations=3"]).code, Some(1));
    let said = |attempt: u32| {
        let state = workspace.note(&format!("state-{attempt}"));
        let state: serde_json::Value = serde_json::from_str(&state).unwrap();
        let keys = [
            "taskIndex",
            "totalTasks",
            "taskIteration",
            "globalIteration",
        ];
        keys.map(|key| state[key].as_u64().unwrap())
    };
    assert_eq!(said(1), [2, 4, 1, 2]);
    assert_eq!(said(2), [2, 4, 2, 3]);
    assert_eq!(said(3), [2, 4, 3, 4]);
}

#[test]
fn a_new_run_tries_again_and_counts_from_the_beginning() {
    let workspace = Workspace::with_tasks(TASK_1_3).agent(NEVER);
    assert_eq!(workspace.run(&["--max-task-iterations=2"]).code, Some(1));
    workspace
        .run(&["--max-task-iterations=2"])
        .and_spec(&workspace)
        .shows(str![[r#"
1.3 attempt 1 of 2; failed (missing_file): File not found: src/parser.ts
1.3 attempt 2 of 2; failed (missing_file): File not found: src/parser.ts
ended: limit, 2 of 4 done, 2 of 100 attempts
ERROR: Max retries reached for task 1.3 after 2 attempts
--- exit code 1
--- changes in specs/demo/tasks.md
x - [x] 1.2 Add a folder
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Add a folder
--- state {"taskIndex":2,"totalTasks":4,"taskIteration":2,"globalIteration":2,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success","1.3":"failed","1.4":"pending"}}

"#]]);
    let workspace =
        workspace.agent("*) echo 'Parse Failure' >>implement.md; echo TASK_COMPLETE ;;");
    workspace.run(&[]).and_spec(&workspace).shows(str![[r#"
1.3 attempt 1 of 5; verify green; done
1.4 attempt 1 of 5; verify unverified; done, unverified
ended: all_green, 4 of 4 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Add a folder
x - [x] 1.3 Add failure parser
x - [x] 1.4 Next task
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Add a folder
- [x] 1.3 Add failure parser
- [x] 1.4 Next task
--- no state

"#]]);
}

#[test]
fn earlier_contents_of_the_spec_files_stay() {
    let state = "{\r\n    \"phase\": \"execution\",\r\n    \"author\": {\"name\": \"me\"},\r\n    \"taskIndex\": 0,\r\n    \"totalTasks\": 4.0,\r\n    \"maxTaskIterations\": 2,\r\n    \"fixTasks\": [\"9.9\"],\r\n    \"awaitingApproval\": false\r\n}";
    let progress = "# Progress\n\nMy words.\n\n## Completed\n- [x] 1.1 Set up - abc1234\n\n## Learnings\n- Mind the gap\n";
    let workspace = Workspace::with_tasks(TASK_1_3)
        .file(STATE, state)
        .file(PROGRESS, progress)
        .agent(NEVER);
    workspace
        .run(&[])
        .and(&workspace, &[PROGRESS, STATE])
        .shows(str![[r#"
  warning: the commits of these done tasks are not in the history of HEAD: 1.1 (abc1234). If you did not rewrite it, check whether their work is still there
1.2 attempt 1 of 2; verify green; done
1.3 attempt 1 of 2; failed (missing_file): File not found: src/parser.ts
1.3 attempt 2 of 2; failed (missing_file): File not found: src/parser.ts
ended: limit, 2 of 4 done, 3 of 100 attempts
ERROR: Max retries reached for task 1.3 after 2 attempts
--- exit code 1
--- specs/demo/.progress.md
# Progress

My words.

## Completed
- [x] 1.1 Set up - [HASH]
- [x] 1.2 Add a folder

## Learnings
- Mind the gap
--- specs/demo/.ralph-state.json
{
    "phase": "execution",
    "author": {
        "name": "me"
    },
    "taskIndex": 2,
    "totalTasks": 4.0,
    "maxTaskIterations": 2,
    "fixTasks": ["9.9"],
    "awaitingApproval": false,
    "taskIteration": 2,
    "globalIteration": 3,
    "maxGlobalIterations": 100,
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
--- no line ending

"#]]);
    assert_eq!(
        workspace.text(STATE).matches("\r\n").count(),
        workspace.text(STATE).matches('\n').count()
    );
}

#[test]
fn what_agents_learn_stays_in_the_progress_file() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `true`\n",
    )
    .agent(
        "*) echo \"- $REGREEN_TASK_ID was easy\" >>$REGREEN_SPEC_DIR/.progress.md
             echo TASK_COMPLETE ;;",
    )
    .file(PROGRESS, "## Learnings\n");
    workspace
        .run(&[])
        .and(&workspace, &[PROGRESS])
        .shows(str![[r#"
1.1 attempt 1 of 5; verify green; done
1.2 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 2 of 100 attempts
--- exit code 0
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.2 Second

## Learnings
- 1.1 was easy
- 1.2 was easy

"#]]);
}

#[test]
fn the_run_as_a_whole_has_a_limit_too() {
    let workspace = Workspace::with_tasks(TASK_1_3).agent(NEVER);
    workspace
        .run_as_text(&["--max-global-iterations=3"])
        .and_spec(&workspace)
        .shows(str![[r#"
   START  demo · 4 tasks · command:sh [AGENT]/agent.sh
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    PASS  [TIME] 1.2 Add a folder
    FAIL  [TIME] 1.3 Add failure parser                         attempt 1/5
          missing file
          File not found: src/parser.ts
    FAIL  [TIME] 1.3 Add failure parser                         attempt 2/5
          missing file
          File not found: src/parser.ts
     END  limit reached · exit code 1                             [RUN]

   Tasks  2 of 4 done in [TIME]
Attempts  3 of 3
Unchecked  1 task was ticked before regreen first ran this list, and never checked: 1.1
    Next  see how 1.3 failed:  regreen why 1.3
          try once more:       regreen run --agent 'command:sh [AGENT]/agent.sh' --max-global-iterations=3
--- standard error
ERROR: Maximum global iterations (3) reached. Review .progress.md for failure patterns.
--- exit code 1
--- changes in specs/demo/tasks.md
x - [x] 1.2 Add a folder
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Add a folder
--- state {"taskIndex":2,"totalTasks":4,"taskIteration":2,"globalIteration":3,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success","1.3":"failed","1.4":"pending"}}

"#]]);
}

#[test]
fn the_default_limit_grows_with_the_plan() {
    let rows: String = (1..=60).map(|n| format!("- [ ] 1.{n} Task\n")).collect();
    let workspace = Workspace::with_tasks(&rows).agent("*) exit 1 ;;");
    let output = workspace.run(&["--max-task-iterations=1"]);
    output.mentions("1 of 120 attempts");
    // A limit that grew with this plan is not stored for the next one.
    assert!(
        workspace
            .text(STATE)
            .contains("\"maxGlobalIterations\": 100"),
        "{}",
        workspace.text(STATE)
    );
}

#[test]
fn a_task_that_passes_in_its_last_attempt_has_passed() {
    let workspace = Workspace::with_tasks(TASK_1_3).agent(
        "1.3:5) echo 'Parse Failure' >implement.md; echo TASK_COMPLETE ;;
         1.4:*) touch out; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; verify green; done
1.3 attempt 1 of 5; verify red; verify red; failed (missing_file): Verify failed: `grep -q "Parse Failure" implement.md` ended with exit code 2
    grep: implement.md: No such file or directory
1.3 attempt 2 of 5; verify red; verify red; failed (missing_file): Verify failed: `grep -q "Parse Failure" implement.md` ended with exit code 2
    grep: implement.md: No such file or directory
1.3 attempt 3 of 5; verify red; verify red; failed (missing_file): Verify failed: `grep -q "Parse Failure" implement.md` ended with exit code 2
    grep: implement.md: No such file or directory
1.3 attempt 4 of 5; verify red; verify red; failed (missing_file): Verify failed: `grep -q "Parse Failure" implement.md` ended with exit code 2
    grep: implement.md: No such file or directory
1.3 attempt 5 of 5; verify green; done
1.4 attempt 1 of 5; verify unverified; done, unverified
ended: all_green, 4 of 4 done, 7 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Add a folder
x - [x] 1.3 Add failure parser
x - [x] 1.4 Next task
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Add a folder
- [x] 1.3 Add failure parser
- [x] 1.4 Next task

"#]]);
}

#[test]
fn nothing_is_left_to_do_when_all_is_ticked() {
    let workspace = Workspace::with_tasks("- [x] 1.1 First\n- [x] 1.2 Second\n").agent("");
    workspace.run(&["--keep-state"]).and_spec(&workspace).shows(str![[r#"
ended: all_green, 2 of 2 done, 0 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md
--- state {"taskIndex":2,"totalTasks":2,"taskIteration":1,"globalIteration":1,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success"}}

"#]]);
    workspace
        .run(&[])
        .and(&workspace, &[TASKS, STATE])
        .shows(str![[r#"
ended: all_green, 2 of 2 done, 0 of 100 attempts
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 First
- [x] 1.2 Second
--- no specs/demo/.ralph-state.json

"#]]);
}

#[test]
fn an_unticked_row_is_open_again() {
    let workspace =
        Workspace::with_tasks("- [ ] 1.1 First\n  - **Verify**: `true`\n- [x] 1.2 Second\n")
            .agent("*) echo TASK_COMPLETE ;;");
    assert_eq!(workspace.run(&[]).code, Some(0));
    let workspace = workspace.file(
        TASKS,
        "- [ ] 1.1 First\n  - **Verify**: `true`\n- [x] 1.2 Second\n",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First

"#]]);
}

#[test]
fn the_progress_file_that_a_limit_names_is_there() {
    let tasks = "- [ ] 1.1 It\n  - **Verify**: `test -f never`\n";
    let workspace = Workspace::with_tasks(tasks).agent("*) echo TASK_COMPLETE ;;");
    let limit = ["--max-global-iterations=2"];
    let message =
        "ERROR: Maximum global iterations (2) reached. Review .progress.md for failure patterns.";
    let output = workspace.run(&limit).exits(1);
    assert_eq!(output.message.trim_end(), message);
    let made = workspace.text(PROGRESS);
    assert_eq!(
        made,
        "## Learnings\n- Task 1.1 failed: false success claim\n"
    );
    let workspace = workspace.file(PROGRESS, "## Learnings\n- Mine\n");
    let output = workspace.run(&limit).exits(1);
    assert_eq!(output.message.trim_end(), message);
    assert_eq!(workspace.text(PROGRESS), "## Learnings\n- Mine\n");
}
