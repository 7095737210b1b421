//! An agent's changes to the plan: which stay, and which are reverted.

use snapbox::str;

use regreen_test_support::{TASKS, Workspace, files_below};

#[test]
fn an_agent_that_rewrites_its_verify_changes_nothing() {
    let workspace =
        Workspace::with_tasks("- [ ] 1.1 Write it\n  - **Verify**: `test -f out`\n\n## Later\n")
            .agent("*) sed -i 's/test -f out/true/' $tasks; echo TASK_COMPLETE ;;");
    let output = workspace.run(&["--max-task-iterations=2"]);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 2; reverted 1.1; verify red; verify red; failed (false_success_claim): Verify failed: `test -f out` ended with exit code 1: out does not exist
  warning: task 1.1 is being worked on: reverted the agent's changes to it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md; if they are yours, run `regreen accept-plan`
1.1 attempt 2 of 2; reverted 1.1; verify red; verify red; failed (false_success_claim): Verify failed: `test -f out` ended with exit code 1: out does not exist
  warning: task 1.1 is being worked on: reverted the agent's changes to it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/2.plan.md; if they are yours, run `regreen accept-plan`
ended: limit, 0 of 1 done, 2 of 100 attempts
ERROR: Max retries reached for task 1.1 after 2 attempts
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
}

#[test]
fn an_agent_that_edits_and_ticks_its_own_block_changes_nothing() {
    let tasks = "- [ ] 1.1 Write it\n  - **Do**: all of it\n  - **Verify**: `true`\n- [ ] 1.2 More\n  - **Verify**: `true`\n";
    let workspace = Workspace::with_tasks(tasks).agent(
        "1.1:*) sed -i -e 's/all of it/half of it/' -e 's/- \\[ \\] 1.1/- [x] 1.1/' $tasks
             echo TASK_COMPLETE ;;
         1.2:*) sed -i 's/- \\[ \\] 1.2/- [x] 1.2/' $tasks; echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; reverted 1.1; verify green; done
  warning: task 1.1 is being worked on: reverted the agent's changes to it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md; if they are yours, run `regreen accept-plan`
1.2 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
x - [x] 1.2 More
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 Write it
- [x] 1.2 More

"#]]);
}

#[test]
fn a_tick_of_another_row_is_a_claim() {
    let tasks = "- [ ] 1.1 Write it
  - **Verify**: `true`
- [ ] 1.2 Is done by the way
  - **Verify**: `test -f out`
- [ ] 1.3 Is not done
  - **Verify**: `test -f missing`
- [ ] 1.4 Nobody can tell
  - **Verify**: it looks good
";
    let workspace = Workspace::with_tasks(tasks).agent(
        "1.1:*) touch out; sed -i 's/- \\[ \\]/- [x]/' $tasks; echo TASK_COMPLETE ;;
         1.3:*) touch missing; echo TASK_COMPLETE ;;
         1.4:*) touch something; echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; ticked 1.2, 1.3, 1.4; kept 1.2; took back 1.3, 1.4
1.2 done, claimed
  warning: the agent's tick of task 1.3 was taken back: nothing shows that it is done. If it is, run `regreen done 1.3`
  warning: the agent's tick of task 1.4 was taken back: nothing shows that it is done. If it is, run `regreen done 1.4`
1.1 verify green; done
1.3 attempt 1 of 5; verify green; done
1.4 attempt 1 of 5; verify unverified; done, unverified
ended: all_green, 4 of 4 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
x - [x] 1.2 Is done by the way
x - [x] 1.3 Is not done
x - [x] 1.4 Nobody can tell
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Is done by the way
- [x] 1.1 Write it
- [x] 1.3 Is not done
- [x] 1.4 Nobody can tell

"#]]);
}

#[test]
fn the_gate_can_confirm_a_claim() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Write it\n- [ ] 1.2 By the way\n")
        .file("regreen.toml", "gate = \"test -f out\"\n")
        .agent("1.1:*) touch out; sed -i 's/- \\[ \\]/- [x]/' $tasks; echo TASK_COMPLETE ;;");
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; ticked 1.2; kept 1.2
1.2 done, claimed
1.1 verify green; done
ended: all_green, 2 of 2 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Write it
x - [x] 1.2 By the way
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 By the way
- [x] 1.1 Write it

"#]]);
}

const FOUR: &str = "# Plan

- [x] 1.1 Was done
  - **Verify**: `true`
- [ ] 1.2 Is next
  - **Verify**: `true`

Some words in between.

- [ ] 1.3 Comes later
  - **Verify**: `true`
- [ ] 1.4 Comes last
  - **Verify**: `true`
";

#[test]
fn a_row_that_vanishes_is_put_back_once() {
    let workspace = Workspace::with_tasks(FOUR).agent(
        "1.2:*) sed -i '/1.3/,+1d' $tasks; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; removed 1.3; verify green; done
  warning: restored task 1.3, which had vanished from the plan; run `regreen skip 1.3` to skip it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.2/1.plan.md; if they are yours, run `regreen accept-plan`
1.3 attempt 1 of 5; verify green; done
1.4 attempt 1 of 5; verify green; done
ended: all_green, 4 of 4 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Is next
x - [x] 1.3 Comes later
x - [x] 1.4 Comes last
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Is next
- [x] 1.3 Comes later
- [x] 1.4 Comes last

"#]]);
    assert_eq!(workspace.text(TASKS), FOUR.replace("[ ]", "[x]"));
}

#[test]
fn a_row_that_vanishes_again_is_skipped_and_the_run_is_not_green() {
    let workspace = Workspace::with_tasks(FOUR).agent(
        "1.2:1) sed -i '/1.3/,+1d' $tasks; exit 1 ;;
         1.2:2) sed -i '/1.3/,+1d' $tasks; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    workspace
        .run(&["--max-task-iterations=2"])
        .and_spec(&workspace)
        .shows(str![[r#"
1.2 attempt 1 of 2; exit code 1; removed 1.3; verify green
  warning: restored task 1.3, which had vanished from the plan; run `regreen skip 1.3` to skip it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.2/1.plan.md; if they are yours, run `regreen accept-plan`
1.2 attempt 1 of 2 (reminder); removed again 1.3
  warning: task 1.3 has vanished from the plan again; skipping it
1.3 skipped
1.2 verify green; done
1.4 attempt 1 of 2; verify green; done
ended: skipped, 3 of 3 done, 2 of 100 attempts
--- exit code 1
--- changes in specs/demo/tasks.md
x - [x] 1.2 Is next
- - [ ] 1.3 Comes later
-   - **Verify**: `true`
x - [x] 1.4 Comes last
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Is next
- [x] 1.4 Comes last
--- state {"taskIndex":3,"totalTasks":3,"taskIteration":1,"globalIteration":2,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success","1.3":"pending","1.4":"success"}}

"#]]);
}

#[test]
fn done_rows_stay_as_they_are() {
    let workspace = Workspace::with_tasks(FOUR).agent(
        "1.2:*) sed -i 's/\\[x\\] 1.1 Was done/[ ] 1.1 Was done/' $tasks; echo TASK_COMPLETE ;;
         1.3:*) sed -i '/1.1/,+1d' $tasks; echo TASK_COMPLETE ;;
         1.4:*) sed -i 's/Was done/Was easy/' $tasks; echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; reverted 1.1; verify green; done
  warning: task 1.1 is done: the agent unticked it; ticked it again
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.2/1.plan.md; if they are yours, run `regreen accept-plan`
1.3 attempt 1 of 5; reverted 1.1; verify green; done
  warning: task 1.1 is done: the agent removed it; restored it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.3/1.plan.md; if they are yours, run `regreen accept-plan`
1.4 attempt 1 of 5; reverted 1.1; verify green; done
  warning: task 1.1 is done: reverted the agent's changes to it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.4/1.plan.md; if they are yours, run `regreen accept-plan`
ended: all_green, 4 of 4 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Is next
x - [x] 1.3 Comes later
x - [x] 1.4 Comes last
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Is next
- [x] 1.3 Comes later
- [x] 1.4 Comes last

"#]]);
    assert_eq!(workspace.text(TASKS), FOUR.replace("[ ]", "[x]"));
}

#[test]
fn rows_that_an_agent_adds_or_edits_are_accepted_run_and_listed() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `test -f out`\n",
    )
    .agent(
        "1.1:*) sed -i 's/Second/Another/' $tasks
             printf -- '- [ ] 1.3 Third\\n  - **Verify**: `true`\\n' >>$tasks
             echo TASK_COMPLETE ;;
         1.2:*) touch out; echo TASK_COMPLETE ;;
         1.3:*) echo TASK_COMPLETE ;;",
    );
    workspace.run(&["--keep-state"]).and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; added 1.3; edited 1.2; verify green; done
1.2 attempt 1 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
- - [ ] 1.2 Second
+ - [x] 1.2 Another
+ - [x] 1.3 Third
+   - **Verify**: `true`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.2 Another
- [x] 1.3 Third
--- state {"taskIndex":3,"totalTasks":3,"taskIteration":1,"globalIteration":3,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success","1.3":"success"}}

"#]]);
}

#[test]
fn a_row_that_an_agent_adds_ticked_is_a_claim_too() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `true`\n",
    )
    .agent(
        "1.1:*) printf -- '- [x] 1.3 Third\\n  - **Verify**: `test -f out`\\n' >>$tasks
             echo TASK_COMPLETE ;;
         1.2:*) echo TASK_COMPLETE ;;
         1.3:*) touch out; echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; ticked 1.3; added 1.3; took back 1.3; verify green; done
  warning: the agent's tick of task 1.3 was taken back: nothing shows that it is done. If it is, run `regreen done 1.3`
1.2 attempt 1 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
x - [x] 1.2 Second
+ - [x] 1.3 Third
+   - **Verify**: `test -f out`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.2 Second
- [x] 1.3 Third

"#]]);
}

#[test]
fn a_task_file_that_an_agent_removes_is_put_back() {
    let workspace = Workspace::with_tasks(FOUR).agent(
        "1.2:*) rm $tasks; echo TASK_COMPLETE ;;
         1.3:*) rm -r specs; echo TASK_COMPLETE ;;
         1.4:*) echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; verify green; done
  warning: the agent removed the task file; it was restored
1.3 attempt 1 of 5; verify green; done
  warning: the agent removed the task file; it was restored
1.4 attempt 1 of 5; verify green; done
ended: all_green, 4 of 4 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Is next
x - [x] 1.3 Comes later
x - [x] 1.4 Comes last
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Is next
- [x] 1.3 Comes later
- [x] 1.4 Comes last

"#]]);
    assert_eq!(workspace.text(TASKS), FOUR.replace("[ ]", "[x]"));
}

#[test]
fn a_plan_that_an_agent_replaces_is_restored_and_the_other_one_kept() {
    let workspace = Workspace::with_tasks(FOUR).agent(
        "1.2:*) printf '# My own plan\\n\\n- [ ] 9.1 Something else\\n' >$tasks
             echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; removed 1.3, 1.4; reverted 1.1, 1.2; verify green; done
  warning: the agent rewrote the plan beyond recognition; restored the plan from before the attempt
  warning: task 1.1 is done: the agent removed it; restored it
  warning: task 1.2 is being worked on: the agent removed it; restored it
  warning: restored task 1.3, which had vanished from the plan; run `regreen skip 1.3` to skip it
  warning: restored task 1.4, which had vanished from the plan; run `regreen skip 1.4` to skip it
  warning: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.2/1.plan.md; if they are yours, run `regreen accept-plan`
1.3 attempt 1 of 5; verify green; done
1.4 attempt 1 of 5; verify green; done
ended: all_green, 4 of 4 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Is next
x - [x] 1.3 Comes later
x - [x] 1.4 Comes last
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Is next
- [x] 1.3 Comes later
- [x] 1.4 Comes last

"#]]);
    let kept = files_below(&workspace.path(".regreen/runs"));
    let kept = kept
        .iter()
        .find(|path| path.ends_with("1.2/1.plan.md"))
        .unwrap();
    assert_eq!(
        workspace.text(&format!(".regreen/runs/{kept}")),
        "# My own plan\n\n- [ ] 9.1 Something else\n"
    );
}

#[test]
fn while_nothing_runs_the_file_is_peoples() {
    let tasks = "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `test -f second`\n- [ ] 1.3 Third\n  - **Verify**: `test -f third`\n";
    let workspace = Workspace::with_tasks(tasks).agent("*) echo TASK_COMPLETE ;;");
    workspace.run(&["--max-task-iterations=1"]).exits(1);
    let edited = workspace.text(TASKS);
    let edited = edited
        .replace("[ ] 1.2", "[ ]* 1.2")
        .replace("test -f third", "true");
    let workspace = workspace.file(TASKS, edited);
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.3 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.3 Third
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.3 Third

"#]]);
}

#[test]
fn a_claim_that_is_red_once_and_then_green_stays() {
    let tasks = "- [ ] 1.1 Write it
  - **Verify**: `true`
- [ ] 1.2 Is done by the way
  - **Verify**: `test -f second || { touch second; false; }`
";
    let workspace = Workspace::with_tasks(tasks).agent(
        "1.1:*) sed -i 's/- \\[ \\] 1.2/- [x] 1.2/' $tasks; touch out; echo TASK_COMPLETE ;;",
    );
    let output = workspace.run(&[]);
    output.exits(0).mentions("; kept 1.2");
    assert!(workspace.text(TASKS).contains("- [x] 1.2"));
}
