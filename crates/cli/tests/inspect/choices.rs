use std::fs;

use snapbox::str;

use regreen_test_support::{STATE, TASKS, Workspace};

const THREE: &str = "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `cat good`\n- [ ] 1.3 Third\n  - **Verify**: `true`\n";

fn workspace() -> Workspace {
    Workspace::with_tasks(THREE).agent("*) date +%N >$REGREEN_TASK_ID.txt; echo TASK_COMPLETE ;;")
}

#[test]
fn a_skipped_task_is_left_out_until_the_skip_is_taken_back() {
    let workspace = workspace();
    workspace.regreen(&["skip", "1.2"]).shows(str![[r#"
skipping 1.2 from now on; run `regreen retry 1.2` to reopen
--- exit code 0

"#]]);
    workspace.run(&[]).and(&workspace, &[TASKS]).shows(str![[r#"
1.2 chosen skip
1.1 attempt 1 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: skipped, 2 of 3 done, 2 of 100 attempts
--- exit code 1
--- specs/demo/tasks.md
- [x] 1.1 First
  - **Verify**: `true`
- [ ] 1.2 Second
  - **Verify**: `cat good`
- [x] 1.3 Third
  - **Verify**: `true`

"#]]);
    workspace.regreen(&["retry", "1.2"]).shows(str![[r#"
reopened 1.2 and reset its attempts; run `regreen run` to try again
--- exit code 0

"#]]);
    let workspace = workspace.file("good", "");
    workspace.run(&[]).and(&workspace, &[TASKS]).shows(str![[r#"
1.2 chosen retry
1.2 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 1 of 100 attempts
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 First
  - **Verify**: `true`
- [x] 1.2 Second
  - **Verify**: `cat good`
- [x] 1.3 Third
  - **Verify**: `true`

"#]]);
}

#[test]
fn done_ticks_a_task_without_checking_it() {
    let workspace = workspace();
    workspace
        .regreen(&["done", "1.2"])
        .and(&workspace, &[TASKS])
        .shows(str![[r#"
marked 1.2 as done, without verifying
--- exit code 0
--- specs/demo/tasks.md
- [ ] 1.1 First
  - **Verify**: `true`
- [x] 1.2 Second
  - **Verify**: `cat good`
- [ ] 1.3 Third
  - **Verify**: `true`

"#]]);
    workspace.run(&[]).and(&workspace, &[TASKS]).shows(str![[r#"
1.2 chosen done
1.1 attempt 1 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 2 of 100 attempts
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 First
  - **Verify**: `true`
- [x] 1.2 Second
  - **Verify**: `cat good`
- [x] 1.3 Third
  - **Verify**: `true`

"#]]);
    workspace
        .regreen(&["status"])
        .mentions("all tasks done, 1 by your choice")
        .mentions("DONE  1.2 Second")
        .mentions("your choice, unverified");
    workspace.regreen(&["why", "1.2"]).shows(str![[r#"
    PASS  1.2 Second

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    DONE  your choice
--- exit code 0

"#]]);
    workspace.regreen(&["skip", "1.2"]).shows(str![[r#"
1.2 is already done; nothing to skip
--- exit code 0

"#]]);
}

#[test]
fn a_task_at_its_limit_has_all_its_attempts_again() {
    let workspace = workspace().has_run(&["--max-task-iterations=2"], 1);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 1 of 3 tasks done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · limit reached; `regreen run` tries once more
          ERROR: Max retries reached for task 1.2 after 2 attempts
          3 of 100 attempts

    PASS  1.1 First
    FAIL  1.2 Second                                              2/2 attempts used
          missing file
          cat: good: No such file or directory
    TODO  1.3 Third
--- exit code 0

"#]]);
    workspace.regreen(&["retry", "1.2"]).shows(str![[r#"
reopened 1.2 and reset its attempts; run `regreen run` to try again
--- exit code 0

"#]]);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 1 of 3 tasks done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · limit reached; `regreen run` tries once more
          ERROR: Max retries reached for task 1.2 after 2 attempts
          3 of 100 attempts

    PASS  1.1 First
    FAIL  1.2 Second                                              2 attempts
          missing file
          cat: good: No such file or directory
    TODO  1.3 Third
--- exit code 0

"#]]);
    workspace.run(&["--max-task-iterations=2"]).shows(str![[r#"
1.2 chosen retry
1.2 attempt 1 of 2; verify red; verify red; failed (missing_file): Verify failed: `cat good` ended with exit code 1
    cat: good: No such file or directory
1.2 attempt 2 of 2; verify red; verify red; failed (missing_file): Verify failed: `cat good` ended with exit code 1
    cat: good: No such file or directory
ended: limit, 1 of 3 done, 2 of 100 attempts
ERROR: Max retries reached for task 1.2 after 2 attempts
--- exit code 1

"#]]);
}

#[test]
fn a_resumed_run_counts_from_the_start_after_a_retry() {
    let workspace = Workspace::with_tasks(THREE).agent(
        "1.2:2) touch $notes/working; sleep 60 ;;
         1.2:[34]) echo TASK_COMPLETE ;;
         1.2:5) touch good; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    let flags = ["--max-task-iterations=3"];
    let run = workspace.start(&flags, "working");
    workspace.regreen(&["stop"]).shows(str![[r#"
stopped spec demo; run `regreen run` to resume
--- exit code 0

"#]]);
    run.wait();
    workspace.regreen(&["retry", "1.2"]).shows(str![[r#"
reopened 1.2 and reset its attempts; run `regreen run` to try again
--- exit code 0

"#]]);
    // Attempts 3, 4 and 5, although only two were left.
    workspace.run(&flags).shows(str![[r#"
resumed
1.2 chosen retry
1.2 attempt 1 of 3; verify red; verify red; failed (missing_file): Verify failed: `cat good` ended with exit code 1
    cat: good: No such file or directory
1.2 attempt 2 of 3; verify red; verify red; failed (missing_file): Verify failed: `cat good` ended with exit code 1
    cat: good: No such file or directory
1.2 attempt 3 of 3; verify green; done
1.3 attempt 1 of 3; verify green; done
ended: all_green, 3 of 3 done, 6 of 100 attempts
--- exit code 0

"#]]);
}

#[test]
fn a_group_stands_for_the_tasks_in_it() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1 Group\n  - [ ] 1.1 Inside\n  - [x] 1.2 Done\n  - [ ]* 1.3 Optional\n- [ ] 2 Other\n",
    )
    .agent("*) date +%N >out; echo TASK_COMPLETE ;;");
    workspace.regreen(&["skip", "1"]).shows(str![[r#"
skipping 1 (with 1.1) from now on; run `regreen retry 1` to reopen
--- exit code 0

"#]]);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 1 of 4 tasks done · specs/demo/tasks.md
     RUN  none yet: `regreen run` starts one

    SKIP  1 Group
    SKIP    1.1 Inside
    PASS    1.2 Done
    TODO    1.3 Optional (optional)
    TODO  2 Other
--- exit code 0

"#]]);
    let workspace = workspace.has_run(&[], 1);
    workspace
        .regreen(&["retry", "1"])
        .and(&workspace, &[TASKS])
        .shows(str![[r#"
reopened 1 (with 1.1) and reset its attempts; run `regreen run` to try again
--- exit code 0
--- specs/demo/tasks.md
- [ ] 1 Group
  - [ ] 1.1 Inside
  - [x] 1.2 Done
  - [ ]* 1.3 Optional
- [x] 2 Other

"#]]);
    workspace
        .regreen(&["done", "1"])
        .and(&workspace, &[TASKS])
        .shows(str![[r#"
marked 1 (with 1.1, 1.2) as done, without verifying
--- exit code 0
--- specs/demo/tasks.md
- [x] 1 Group
  - [x] 1.1 Inside
  - [x] 1.2 Done
  - [ ]* 1.3 Optional
- [x] 2 Other

"#]]);
    workspace
        .regreen(&["retry", "1.1"])
        .and(&workspace, &[TASKS])
        .shows(str![[r#"
reopened 1.1 and reset its attempts; run `regreen run` to try again
--- exit code 0
--- specs/demo/tasks.md
- [ ] 1 Group
  - [ ] 1.1 Inside
  - [x] 1.2 Done
  - [ ]* 1.3 Optional
- [x] 2 Other

"#]]);
}

#[test]
fn a_skipped_fix_leaves_its_task_to_be_run() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 Task\n  - **Verify**: `true`\n- [ ] 1.1.1 [FIX 1.1] Repair\n",
    )
    .agent("1.1:1) echo TASK_COMPLETE ;; *) touch $notes/wrong ;;");
    workspace.regreen(&["skip", "1.1.1"]).shows(str![[r#"
skipping 1.1.1 from now on; run `regreen retry 1.1.1` to reopen
--- exit code 0

"#]]);
    let workspace = workspace.has_run(&[], 0);
    assert!(!workspace.has_note("wrong"));
}

#[test]
fn of_two_tasks_with_one_id_the_line_selects_one() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 One\n- [ ] 1.1 Other\n");
    workspace
        .regreen(&["done", "1.1", "--line", "2"])
        .and(&workspace, &[TASKS])
        .shows(str![[r#"
marked 1.1 as done, without verifying
--- exit code 0
--- specs/demo/tasks.md
- [ ] 1.1 One
- [x] 1.1 Other

"#]]);
}

#[test]
fn a_decision_about_an_id_that_several_tasks_have_needs_the_line() {
    let tasks = "- [x] 1.1 One\n- [ ] 1.1 Other\n";
    let workspace = Workspace::with_tasks(tasks);
    for command in ["skip", "done", "retry"] {
        let output = workspace.regreen(&[command, "1.1"]);
        assert_eq!(output.code, Some(2));
        assert_eq!(
            output.stderr,
            "  × 2 tasks in specs/demo/tasks.md have the id 1.1\n  help: say which: `--line 1` (One), `--line 2` (Other)\n"
        );
    }
    assert_eq!(fs::read_to_string(workspace.path(TASKS)).unwrap(), tasks);
}

#[test]
fn a_mistyped_id_changes_nothing() {
    let workspace = Workspace::with_tasks(THREE);
    for command in ["skip", "done", "retry"] {
        let output = workspace.regreen(&[command, "1.4"]);
        assert_eq!(output.code, Some(2));
        assert_eq!(
            output.stderr,
            "  × task 1.4 not found in specs/demo/tasks.md\n  help: known tasks: 1.1, 1.2, 1.3\n"
        );
    }
    assert!(!workspace.has(".regreen"));
    assert_eq!(fs::read_to_string(workspace.path(TASKS)).unwrap(), THREE);
}

#[test]
fn a_task_at_its_limit_of_fixes_gets_as_many_again() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n")
        .agent(
            "1.1:*) date +%N >made; echo TASK_COMPLETE ;;
             1.1.3:*) touch good; echo TASK_COMPLETE ;;
             *) date +%N >made; echo TASK_COMPLETE ;;",
        )
        .has_run(&["--recovery-mode", "--max-fix-tasks=2"], 1);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 0 of 1 tasks done · 2 of 2 fixes done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · limit reached; `regreen run` tries once more
          ERROR: Max fix attempts (2) reached for task 1.1
          5 of 100 attempts

    FAIL  1.1 Make it                                             3/5 attempts used · 2/2 fixes
          missing file
          cat: good: No such file or directory
    PASS    1.1.1 Fix: cat: good: No such file or directory
    PASS    1.1.2 Fix: cat: good: No such file or directory
--- exit code 0

"#]]);
    workspace
        .regreen(&["retry", "1.1"])
        .and(&workspace, &[STATE])
        .shows(str![[r#"
reopened 1.1 and reset its attempts; run `regreen run` to try again
--- exit code 0
--- specs/demo/.ralph-state.json
{
  "source": "direct",
  "name": "demo",
  "basePath": "./specs/demo",
  "phase": "execution",
  "taskIndex": 0,
  "totalTasks": 3,
  "taskIteration": 3,
  "maxTaskIterations": 5,
  "globalIteration": 5,
  "maxGlobalIterations": 100,
  "recoveryMode": true,
  "maxFixTasksPerOriginal": 2,
  "fixTaskMap": {
    "1.1": {
      "attempts": 2,
      "fixTaskIds": [
        "1.1.1",
        "1.1.2"
      ],
      "lastError": "cat: good: No such file or directory",
      "forgiven": 2
    }
  },
  "taskResults": {
    "1.1": {
      "status": "failed"
    },
    "1.1.1": {
      "status": "success"
    },
    "1.1.2": {
      "status": "success"
    }
  }
}

"#]]);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 0 of 1 tasks done · 2 of 2 fixes done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · limit reached; `regreen run` tries once more
          ERROR: Max fix attempts (2) reached for task 1.1
          5 of 100 attempts

    FAIL  1.1 Make it                                             3 attempts
          missing file
          cat: good: No such file or directory
    PASS    1.1.1 Fix: cat: good: No such file or directory
    PASS    1.1.2 Fix: cat: good: No such file or directory
--- exit code 0

"#]]);
    // The limit is still 2 and recovery is still on, from the state file.
    let workspace = workspace.has_run(&[], 0);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 1 of 1 tasks done · 3 of 3 fixes done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · all tasks done
          2 of 100 attempts

    PASS  1.1 Make it                                             4 attempts
    PASS    1.1.1 Fix: cat: good: No such file or directory
    PASS    1.1.2 Fix: cat: good: No such file or directory
    PASS    1.1.3 Fix: cat: good: No such file or directory
--- exit code 0

"#]]);
}
