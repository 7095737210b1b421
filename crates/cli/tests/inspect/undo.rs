use std::fs;

use snapbox::str;

use regreen_test_support::{PROGRESS, TASKS, Workspace};

const COMMITTED: &str = "- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n  - **Commit**: `feat: make it`\n- [ ] 1.2 Later\n  - **Verify**: `true`\n";

fn made() -> Workspace {
    Workspace::in_git(COMMITTED)
        .file("old", "one\n")
        .committed("old")
        .agent(
            "1.1:1) echo two >>old; echo TASK_COMPLETE ;;
             1.1:2) echo x >good; mkdir -p deep/er; echo x >deep/er/file; echo TASK_COMPLETE ;;
             1.2:1) echo later >later; echo TASK_COMPLETE ;;",
        )
        .has_run(&[], 0)
}

#[test]
fn a_task_is_taken_back_in_the_work_tree_and_commits_stay() {
    let workspace = made();
    let commits = workspace.git(&["rev-list", "--all", "--", "old"]);
    workspace
        .regreen(&["undo", "1.1"])
        .and(&workspace, &[TASKS, "old", "good", "later"])
        .shows(str![[r#"
restored 3 files to their state before task 1.1; the task is open again
  deep/er/file
  good
  old
commits stay ([HASHES]); commit the restored files to make the undo permanent
--- exit code 0
--- specs/demo/tasks.md
- [ ] 1.1 Make it
  - **Verify**: `cat good`
  - **Commit**: `feat: make it`
- [x] 1.2 Later
  - **Verify**: `true`
--- old
one
--- no good
--- later
later

"#]]);
    assert!(!workspace.has("deep"));
    assert_eq!(workspace.git(&["rev-list", "--all", "--", "old"]), commits);
    assert_eq!(
        workspace.text(PROGRESS),
        "## Completed Tasks\n- [x] 1.2 Later\n"
    );
    // Repeating it is harmless.
    workspace.regreen(&["undo", "1.1"]).shows(str![[r#"
nothing to revert for task 1.1
--- exit code 0

"#]]);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 1 of 2 tasks done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · ended; 1 task is open again, `regreen run` does the rest
          3 of 100 attempts

    TODO  1.1 Make it                                             2 attempts
    PASS  1.2 Later
--- exit code 0

"#]]);
}

#[test]
fn a_task_that_was_taken_back_is_tried_as_if_for_the_first_time() {
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n  - **Verify**: `false`\n")
        .agent("*) echo x >>made; echo TASK_COMPLETE ;;")
        .has_run(&["--max-task-iterations=2"], 1);
    assert_eq!(workspace.regreen(&["undo", "1.1"]).code, Some(0));
    let why = workspace.regreen(&["why", "1.1"]).stdout;
    assert!(
        why.ends_with("\n   RETRY  your choice, starting over\n"),
        "{why}"
    );
    // Once is enough.
    workspace.regreen(&["undo", "1.1"]);
    assert_eq!(workspace.regreen(&["why", "1.1"]).stdout, why);
}

#[test]
fn an_undone_task_can_be_done_and_undone_again() {
    let workspace = made();
    workspace.regreen(&["undo", "1.1"]);
    let workspace = workspace.has_run(&[], 0);
    assert_eq!(workspace.text("old"), "one\ntwo\n");
    let output = workspace.regreen(&["undo", "1.1"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!(workspace.text("old"), "one\n");
    assert!(!workspace.has("good") && workspace.has("later"));
}

#[test]
fn work_of_others_is_not_lost_by_it() {
    let workspace = made();
    let workspace = workspace.file("old", "one\ntwo\nmine\n");
    let before = workspace.git(&["status", "--porcelain"]);
    workspace
        .regreen(&["undo", "1.1"])
        .and(&workspace, &[TASKS, "old", "good"])
        .shows(str![[r#"
--- standard error
  × undoing task 1.1 would lose work:
  │ old was changed after the task
  help: nothing was changed; run `regreen diff 1.1` to see what to revert by hand
--- exit code 3
--- specs/demo/tasks.md
- [x] 1.1 Make it
  - **Verify**: `cat good`
  - **Commit**: `feat: make it`
- [x] 1.2 Later
  - **Verify**: `true`
--- old
one
two
mine
--- good
x

"#]]);
    assert_eq!(workspace.git(&["status", "--porcelain"]), before);
}

#[test]
fn attempts_of_several_runs_are_taken_back_together() {
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n")
        .agent("*) date +%N >>times; echo TASK_COMPLETE ;;")
        .has_run(&["--max-task-iterations=2"], 1)
        .file("good", "")
        .has_run(&[], 0);
    assert_eq!(workspace.text("times").lines().count(), 3);
    workspace.regreen(&["undo", "1.1"]).shows(str![[r#"
restored 1 file to its state before task 1.1; the task is open again
  times
--- exit code 0

"#]]);
    assert!(!workspace.has("times"));
}

#[test]
fn a_group_is_taken_back_with_what_is_in_it_and_a_task_opens_its_group() {
    let workspace =
        Workspace::in_git("- [ ] 1 Group\n  - [ ] 1.1 Inside\n  - [ ] 1.2 Inside, too\n")
            .agent("*) echo x >$REGREEN_TASK_ID.txt; echo TASK_COMPLETE ;;")
            .has_run(&[], 0);
    workspace
        .regreen(&["undo", "1.2"])
        .and(&workspace, &[TASKS])
        .shows(str![[r#"
restored 1 file to its state before task 1.2; the task is open again
  1.2.txt
--- exit code 0
--- specs/demo/tasks.md
- [ ] 1 Group
  - [x] 1.1 Inside
  - [ ] 1.2 Inside, too

"#]]);
    let workspace = workspace.has_run(&[], 0);
    workspace
        .regreen(&["undo", "1"])
        .and(&workspace, &[TASKS])
        .shows(str![[r#"
restored 1 file to its state before task 1; the task is open again
  1.2.txt
--- exit code 0
--- specs/demo/tasks.md
- [ ] 1 Group
  - [x] 1.1 Inside
  - [ ] 1.2 Inside, too

"#]]);
}

#[test]
fn where_there_is_nothing_to_take_back_nothing_is_made() {
    let workspace = Workspace::in_git(COMMITTED);
    workspace.regreen(&["undo", "1.1"]).shows(str![[r#"
--- standard error
  × spec demo has not been run yet
  help: run `regreen run` to start one
--- exit code 2

"#]]);
    workspace.regreen(&["undo", "7"]).shows(str![[r#"
--- standard error
  × task 7 not found in specs/demo/tasks.md
  help: known tasks: 1.1, 1.2
--- exit code 2

"#]]);
    assert!(!workspace.has(".regreen"));
    let workspace = Workspace::with_tasks("- [ ] 1.1 Make it\n")
        .agent("*) echo x >made; echo TASK_COMPLETE ;;")
        .has_run(&[], 0);
    workspace.regreen(&["undo", "1.1"]).shows(str![[r#"
--- standard error
  × not a git repository, so regreen has no snapshots
  help: run `git init`, then run the task again: regreen takes snapshots before and after every attempt
--- exit code 2

"#]]);
    assert!(
        fs::read_to_string(workspace.path(TASKS))
            .unwrap()
            .contains("[x]")
    );
}
