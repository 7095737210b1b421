//! Work that passed still passes at the end: attacks on the results of earlier tasks.

use std::fs;

use snapbox::str;

use regreen_test_support::{TASKS, Workspace};

const THREE: &str = "- [ ] 1.1 Make a
  - **Verify**: `test -f a`
- [ ] 1.2 Make b
  - **Verify**: `test -f b`
- [ ] 1.3 Make c
  - **Verify**: `test -f c`
";

/// The third task creates its own file, and does this as well.
fn third_also(harm: &str) -> Workspace {
    let agent = format!(
        "1.1:*) touch a; echo TASK_COMPLETE ;;
         1.1.1:*) touch a; echo TASK_COMPLETE ;;
         1.2:*) touch b; echo TASK_COMPLETE ;;
         1.3:*) touch c; {harm}; echo TASK_COMPLETE ;;"
    );
    Workspace::with_tasks(THREE).agent(&agent)
}

#[test]
fn a_task_that_a_later_one_broke_is_open_and_the_run_has_failed() {
    let workspace = third_also("rm a");
    workspace
        .run_as_text(&[])
        .and_plan(&workspace)
        .shows(str![[r#"
   START  demo · 3 tasks · command:sh [AGENT]/agent.sh
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    PASS  [TIME] 1.1 Make a
    PASS  [TIME] 1.2 Make b
    PASS  [TIME] 1.3 Make c
    FAIL  [TIME] 1.1 Make a                                     no longer passes
          Verify failed: `test -f a` ended with exit code 1: a does not exist
          ran since it passed: 1.2, 1.3
     END  finished tasks no longer pass · exit code 1             [RUN]

   Tasks  2 of 3 done in [TIME]
Attempts  3 of 100
Reopened  1.1
    Next  see how 1.1 failed:       regreen why 1.1
          do the open tasks again:  regreen run --agent 'command:sh [AGENT]/agent.sh'
--- standard error
ERROR: Task 1.1 passed, but no longer does: Verify failed: test -f a ended with exit code 1: a does not exist (ran since: 1.2, 1.3)
--- exit code 1
--- changes in specs/demo/tasks.md
x - [x] 1.2 Make b
x - [x] 1.3 Make c
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Make b
- [x] 1.3 Make c

"#]]);
}

#[test]
fn with_recovery_a_task_that_a_later_one_broke_is_healed() {
    let workspace = third_also("rm a");
    let ran = workspace.run(&["--recovery-mode"]);
    ran.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify green; done
1.2 attempt 1 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done
1.1 failed (runtime_exception): Verify failed: `test -f a` ended with exit code 1: a does not exist; inserted 1.1.1
1.1.1 attempt 1 of 5; verify green; done
1.1 verify green; done
ended: all_green, 3 of 3 done, 1 of 1 fixes, 4 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Make a
+ - [x] 1.1.1 [FIX 1.1] Fix: a does not exist
x - [x] 1.2 Make b
x - [x] 1.3 Make c
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Make b
- [x] 1.3 Make c
- [x] 1.1.1 Fix: a does not exist
- [x] 1.1 Make a

## Fix Task History
- Task 1.1: 1 fix attempted (1.1.1) - Final: PASS

"#]]);
}

#[test]
fn the_next_run_does_not_call_broken_work_done() {
    let workspace = third_also("rm a");
    assert_eq!(workspace.run_as_text(&[]).code, Some(1));
    let again = workspace.run(&[]);
    again.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify green; done
ended: all_green, 3 of 3 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Make a
x - [x] 1.2 Make b
x - [x] 1.3 Make c
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Make b
- [x] 1.3 Make c
- [x] 1.1 Make a

"#]]);
}

#[test]
fn work_of_an_earlier_run_must_pass_as_well() {
    // The first run ends with 1.1 open; the second redoes it, and breaks 1.2.
    let workspace = Workspace::with_tasks(THREE).agent(
        "1.1:*) touch a; test -e c && rm b; echo TASK_COMPLETE ;;
         1.2:*) touch b; echo TASK_COMPLETE ;;
         1.3:*) touch c; rm a; echo TASK_COMPLETE ;;",
    );
    assert_eq!(workspace.run_as_text(&[]).code, Some(1));
    let second = workspace.run_as_text(&[]);
    second.exits(1).mentions(
        "ERROR: Task 1.2 passed, but no longer does: Verify failed: test -f b ended with exit code 1: b does not exist (ran since: 1.1)",
    );
    assert!(workspace.text("specs/demo/tasks.md").contains("- [ ] 1.2"));
}

/// Runs that end before all tasks are done leave their checks to the run that ends green.
#[test]
fn work_before_a_limit_a_selection_or_a_retry_must_pass_as_well() {
    let agent = "1.1:*) touch a; echo TASK_COMPLETE ;;
         1.2:*) test -e ready && touch b; echo TASK_COMPLETE ;;
         1.3:*) touch c; test -e ready && rm a; echo TASK_COMPLETE ;;";
    for first in [&["--max-task-iterations=1"][..], &["--only=1.1"]] {
        let workspace = Workspace::with_tasks(THREE).agent(agent);
        workspace.run_as_text(first);
        let second = workspace.file("ready", "").run_as_text(&[]);
        second
            .exits(1)
            .mentions("Task 1.1 passed, but no longer does");
    }
    let workspace = Workspace::with_tasks(THREE).agent(agent);
    workspace.run_as_text(&["--max-task-iterations=1"]);
    workspace.regreen(&["retry", "1.2"]);
    let second = workspace.file("ready", "").run_as_text(&[]);
    second
        .exits(1)
        .mentions("Task 1.1 passed, but no longer does");
}

#[test]
fn with_warn_broken_work_is_a_warning() {
    let workspace = third_also("rm a");
    let ran = workspace.run_as_text(&["--final-check=warn"]);
    ran.shows(str![[r#"
   START  demo · 3 tasks · command:sh [AGENT]/agent.sh
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    PASS  [TIME] 1.1 Make a
    PASS  [TIME] 1.2 Make b
    PASS  [TIME] 1.3 Make c
    WARN  Task 1.1 passed, but no longer does: Verify failed: test -f a ended with exit code 1: a does not exist (ran since: 1.2, 1.3)
     END  all tasks done                                          [RUN]

ALL_TASKS_COMPLETE
   Tasks  3 of 3 done in [TIME]
Attempts  3 of 100
--- exit code 0

"#]]);
}

#[test]
fn switched_off_broken_work_is_not_found() {
    let workspace = third_also("rm a");
    assert_eq!(workspace.run_as_text(&["--final-check=off"]).code, Some(0));
}

#[test]
fn a_repository_cannot_switch_the_final_check_off() {
    let workspace = third_also("rm a").file("regreen.toml", "final_check = \"off\"\n");
    let ran = workspace.run_as_text(&[]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("final_check"), "{}", ran.stderr);
}

#[test]
fn checks_without_time_left_are_named() {
    let workspace = third_also("rm a");
    let ran = workspace.run_as_text(&["--final-check-time=1ms"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let output = format!("{}{}", ran.stdout, ran.stderr);
    assert!(output.contains("not repeated at the end: 1."), "{output}");
    assert!(output.contains("(no time left)"), "{output}");
}

#[test]
fn a_red_check_stays_red_if_there_is_no_time_to_repeat_it() {
    let tasks = THREE.replace("`test -f a`", "`sh check.sh`");
    let broken = "test -f again && sleep 60; touch again; echo broken; exit 1";
    let agent = format!(
        "1.3:*) touch c; echo '{broken}' >check.sh; echo TASK_COMPLETE ;;
         *) touch a b; echo TASK_COMPLETE ;;"
    );
    let workspace = Workspace::with_tasks(&tasks)
        .file("check.sh", "test -f a\n")
        .agent(&agent);
    let ran = workspace.run_as_text(&["--final-check-time=2s"]);
    ran.exits(1).mentions(
        "Task 1.1 passed, but no longer does: Verify failed: sh check.sh ended with exit code 1",
    );
}

#[test]
fn red_rows_and_checks_of_git_history_are_not_repeated() {
    let tasks = "- [ ] 1.1 [RED] Test it
  - **Verify**: `! test -f b`
- [ ] 1.2 Show it
  - **Verify**: `git status --porcelain | grep a`
- [ ] 1.3 [GREEN] Make b
  - **Verify**: `test -f b`
";
    let workspace = Workspace::in_git(tasks).agent(
        "1.1:*) touch t; echo TASK_COMPLETE ;;
         1.2:*) touch a; echo TASK_COMPLETE ;;
         1.3:*) touch b; rm -f a; echo TASK_COMPLETE ;;",
    );
    let ran = workspace.run_as_text(&[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let output = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        output.contains("not repeated at the end: 1.1 ([RED]); 1.2 (checks git history)"),
        "{output}"
    );
}

#[test]
fn a_single_task_is_verified_once() {
    for make in [Workspace::with_tasks, Workspace::in_git] {
        let tasks = "- [ ] 1.1 Make a\n  - **Verify**: `sh check.sh`\n  - **Commit**: `feat: a`\n";
        let workspace = make(tasks).agent("*) touch a; echo TASK_COMPLETE ;;");
        let verified = workspace.note_path("verified");
        let check = format!("echo once >>{}; test -f a\n", verified.display());
        let workspace = workspace.file("check.sh", check);
        assert_eq!(workspace.run_as_text(&[]).code, Some(0));
        assert_eq!(workspace.note("verified"), "once\n");
    }
}

const COMMITTED: &str = "- [ ] 1.1 Make a
  - **Verify**: `test -f a`
  - **Commit**: `feat: a`
- [ ] 1.2 Make b
  - **Verify**: `test -f b`
  - **Commit**: `feat: b`
- [ ] 1.3 Make c
  - **Verify**: `test -f c`
  - **Commit**: `feat: c`
";

/// The first attempt at the third task does this to the branch, and claims to be done.
#[track_caller]
fn check_branch(harm: &str, cause: &str) {
    let agent = format!(
        "1.1:*) echo a >a; echo TASK_COMPLETE ;;
         1.2:*) echo b >b; echo TASK_COMPLETE ;;
         1.3:1) {{ {harm}; }} >/dev/null 2>&1; echo c >c; echo TASK_COMPLETE ;;
         1.3:*) echo c >c; echo TASK_COMPLETE ;;"
    );
    let workspace = Workspace::in_git(COMMITTED).agent(&agent);
    let branch = workspace.git(&["symbolic-ref", "HEAD"]);
    let ran = workspace.run_as_text(&[]);
    let output = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, Some(0), "{harm}: {output}");
    assert!(output.contains(cause), "{harm}: {output}");
    assert_eq!(workspace.git(&["symbolic-ref", "HEAD"]), branch, "{harm}");
    let subjects = workspace.git(&["log", "--format=%s"]);
    let made: Vec<&str> = subjects
        .lines()
        .filter(|line| line.starts_with("feat"))
        .collect();
    assert_eq!(made, ["feat: c", "feat: b", "feat: a"], "{harm}");
    let files = workspace.git(&["ls-tree", "--name-only", "HEAD"]);
    for file in ["a", "b", "c"] {
        assert!(workspace.has(file), "{harm}: {file} is gone");
        assert!(files.lines().any(|line| line == file), "{harm}: {files}");
    }
    let kept = workspace.git(&["for-each-ref", "--format=%(refname)", "refs/regreen"]);
    assert!(
        kept.contains("/1.3/1/head") || kept.contains("/1.3/1/branch"),
        "{harm}: {kept}"
    );
}

#[test]
fn commits_that_were_taken_off_the_branch_are_put_back_and_the_attempt_has_failed() {
    let cause = "commits were removed from the branch";
    for harm in [
        "git reset -q --hard HEAD~2",
        "git reset -q --soft HEAD~1",
        "git commit -q --amend --allow-empty -m mine",
        "git stash -q; GIT_SEQUENCE_EDITOR='sed -i 2d' git rebase -q -i HEAD~2",
        "git update-ref refs/heads/$(git branch --show-current) HEAD~1",
    ] {
        check_branch(harm, cause);
    }
}

#[test]
fn a_head_that_was_moved_to_another_branch_is_put_back_and_the_attempt_has_failed() {
    let cause = "HEAD was moved from branch";
    for harm in [
        "git checkout -q -b other",
        "git checkout -q -b other; echo mine >mine; git add mine; git commit -q -m mine",
        "git checkout -q -f HEAD~1",
        "git checkout -q --orphan new",
        "was=$(git branch --show-current); git checkout -q -f -b other HEAD~1; git branch -q -D $was",
    ] {
        check_branch(harm, cause);
    }
}

#[test]
fn a_rebase_that_was_left_unfinished_is_ended_and_the_attempt_has_failed() {
    check_branch(
        "git stash -q; GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~1",
        "a rebase was left unfinished",
    );
}

#[test]
fn an_agent_may_add_commits_to_the_branch() {
    let workspace = Workspace::in_git(COMMITTED).agent(
        "1.1:*) echo a >a; git add a; git commit -q -m 'feat: a'; echo TASK_COMPLETE ;;
         1.2:*) echo b >b; echo TASK_COMPLETE ;;
         1.3:*) echo c >c; echo TASK_COMPLETE ;;",
    );
    workspace.run_as_text(&[]).exits(0).omits("HEAD was moved");
}

#[test]
fn a_check_that_takes_commits_off_the_branch_has_failed() {
    let tasks = COMMITTED.replace("`test -f c`", "`sh check.sh`");
    let workspace = Workspace::in_git(&tasks).agent(
        "1.1:*) echo a >a; echo TASK_COMPLETE ;;
         1.2:*) echo b >b; echo TASK_COMPLETE ;;
         1.3:*) echo c >c; echo 'git reset -q --hard HEAD~1' >check.sh; echo TASK_COMPLETE ;;",
    );
    let ran = workspace.run_as_text(&["--max-task-iterations=1"]);
    ran.exits(1)
        .mentions("commits were removed from the branch");
    assert!(workspace.has("a") && workspace.has("b"));
    let subjects = workspace.git(&["log", "-1", "--format=%s"]);
    assert_eq!(subjects.trim(), "feat: b");
}

#[test]
fn what_the_user_had_not_committed_survives_a_reset_by_the_agent() {
    let workspace = Workspace::in_git(COMMITTED)
        .file("notes", "first\n")
        .committed("notes")
        .file("notes", "mine\n")
        .agent(
            "1.1:1) git reset -q --hard HEAD~1; echo a >a; echo TASK_COMPLETE ;;
             1.1:*) echo a >a; echo TASK_COMPLETE ;;
             1.2:*) echo b >b; echo TASK_COMPLETE ;;
             1.3:*) echo c >c; echo TASK_COMPLETE ;;",
        );
    workspace.run_as_text(&[]).exits(0);
    assert_eq!(workspace.text("notes"), "mine\n");
}

/// The filter runs when git writes a file, long after the attempt has ended.
#[test]
fn putting_a_branch_back_runs_no_filter_of_the_repository() {
    let attack = "touch .git/smudged; sed -i 's/\\[ \\]/[x]/' specs/demo/tasks.md; cat";
    let workspace = Workspace::in_git(COMMITTED)
        .file(".gitattributes", "a filter=own\nb filter=own\n")
        .file("smudge.sh", "cat\n")
        .committed("filter")
        .agent(&format!(
            "1.1:*) echo a >a; echo TASK_COMPLETE ;;
             1.2:1) git reset -q --hard HEAD~1; echo {attack:?} >smudge.sh; echo TASK_COMPLETE ;;
             1.2:*) echo b >b; echo TASK_COMPLETE ;;
             1.3:*) echo TASK_COMPLETE ;;"
        ));
    workspace.git(&["config", "filter.own.smudge", "sh smudge.sh"]);
    let ran = workspace.run_as_text(&["--max-task-iterations=2"]);
    ran.exits(1)
        .mentions("commits were removed from the branch");
    assert_eq!(workspace.text("a"), "a\n");
    assert!(!workspace.has(".git/smudged"));
    assert!(workspace.text("specs/demo/tasks.md").contains("- [ ] 1.3"));
}

/// The first run ends green with 1.1 broken. Returns how the second one ends.
fn second_run_after(flags: &[&str]) -> Option<i32> {
    let workspace = third_also("rm -f a");
    assert_eq!(workspace.run(flags).code, Some(0), "{flags:?}");
    workspace.run(&[]).code
}

#[test]
fn what_a_green_run_left_out_is_checked_by_the_next_one() {
    assert_eq!(second_run_after(&["--final-check", "off"]), Some(1));
    assert_eq!(second_run_after(&["--final-check", "warn"]), Some(1));
    assert_eq!(second_run_after(&["--final-check-time", "0.001s"]), Some(1));
}

/// Edits the plan as a person, while nothing runs.
fn edit_plan(workspace: &Workspace, edit: impl Fn(&str) -> String) {
    let plan = workspace.text("specs/demo/tasks.md");
    fs::write(workspace.path("specs/demo/tasks.md"), edit(&plan)).unwrap();
}

#[test]
fn a_verify_that_a_person_made_stricter_between_runs_is_the_one_that_counts() {
    let workspace = Workspace::with_tasks(THREE).agent(
        "1.1:*) touch a; echo TASK_COMPLETE ;;
         1.2:1) echo not yet ;;
         *) touch b c; echo TASK_COMPLETE ;;",
    );
    workspace.run(&["--max-task-iterations", "1"]).exits(1);
    edit_plan(&workspace, |plan| {
        plan.replace("test -f a", "grep -q real a")
    });
    workspace
        .run_as_text(&["--max-task-iterations", "2"])
        .mentions("Task 1.1 passed, but no longer does")
        .exits(1);
}

#[test]
fn a_deleted_journal_is_named_with_the_work_that_is_not_checked_again() {
    let workspace = third_also("true");
    workspace.run(&[]).exits(0);
    fs::remove_dir_all(workspace.path(".regreen")).unwrap();
    edit_plan(&workspace, |plan| format!("{plan}- [ ] 1.4 More\n"));
    workspace
        .run_as_text(&["--max-task-iterations", "1"])
        .mentions("the journal of the runs that finished task 1.1 and 2 others is gone: the final check does not repeat their Verify");
}

#[test]
fn progress_lines_that_an_agent_throws_away_are_written_again() {
    let workspace = Workspace::in_git(THREE).agent(
        "1.1:*) touch a; echo TASK_COMPLETE ;;
         1.2:*) git reset -q --hard; git clean -fdq; touch b; echo TASK_COMPLETE ;;
         1.3:*) git reset -q --hard; git clean -fdq; touch c; echo TASK_COMPLETE ;;",
    );
    workspace.run(&["--final-check", "off"]);
    let progress = workspace.text("specs/demo/.progress.md");
    for task in ["1.1", "1.2", "1.3"] {
        assert!(progress.contains(&format!("- [x] {task} ")), "{progress}");
    }
}

/// The agent of the third task writes a check that passes and, when repeated, removes the first
/// task's result.
#[test]
fn a_repeated_check_that_breaks_another_task_is_found() {
    let tasks = THREE.replace("`test -f c`", "`sh check.sh`");
    let check = "test -f c && { test ! -e again || rm -f a; touch again; }";
    let agent = format!(
        "1.3:*) touch c; echo '{check}' >check.sh; echo TASK_COMPLETE ;;
         *) touch a b; echo TASK_COMPLETE ;;"
    );
    for make in [Workspace::with_tasks, Workspace::in_git] {
        let workspace = make(&tasks).agent(&agent);
        let ran = workspace.run_as_text(&[]);
        ran.exits(1).mentions("Task 1.1 passed, but no longer does");
    }
}

/// 1.1 passes in a first run; then someone edits the plan, and 1.3 breaks what 1.1 made.
fn after_first_task(edit: impl Fn(&str) -> String) -> Workspace {
    let workspace = Workspace::with_tasks(THREE).agent(
        "1.[12]:*) touch a b new; echo TASK_COMPLETE ;;
         *) touch b c; rm -f a; echo TASK_COMPLETE ;;",
    );
    workspace.run(&["--only=1.1"]).exits(0);
    edit_plan(&workspace, edit);
    workspace
}

#[test]
fn work_of_an_earlier_run_is_found_under_its_new_number() {
    let renumber = |plan: &str| {
        let plan = plan.replace("1.3", "1.4").replace("1.2", "1.3");
        let plan = plan.replace("1.1", "1.2");
        format!("- [ ] 1.1 New\n  - **Verify**: `test -f new`\n{plan}")
    };
    let workspace = after_first_task(renumber);
    let ran = workspace.run_as_text(&["--max-task-iterations=1"]).exits(1);
    ran.mentions("Task 1.2 passed, but no longer does: Verify failed: test -f a");
    assert!(workspace.text(TASKS).contains("- [ ] 1.2 Make a"));
}

#[test]
fn work_of_an_earlier_run_is_found_by_its_verify_under_a_new_name() {
    let rename = |plan: &str| plan.replace("1.1 Make a", "9 Create the file");
    let workspace = after_first_task(rename);
    let ran = workspace.run_as_text(&[]).exits(1);
    ran.mentions("Task 9 passed, but no longer does: Verify failed: test -f a");
}

#[test]
fn work_of_an_earlier_run_without_a_row_is_named_as_not_repeated() {
    let replace = |plan: &str| {
        plan.replace("[x] 1.1 Make a", "[ ] 1.1 Something else")
            .replace("test -f a", "true")
    };
    let told = "task 1.1 (Make a) passed in an earlier run, and the plan has no such row now: the final check does not repeat that Verify";
    after_first_task(replace).run_as_text(&[]).mentions(told);
    let remove = |plan: &str| plan[plan.find("- [ ] 1.2").unwrap()..].to_owned();
    after_first_task(remove).run_as_text(&[]).mentions(told);
}

#[test]
fn work_under_the_old_name_of_a_spec_must_pass_as_well() {
    let workspace = after_first_task(str::to_owned);
    fs::rename(workspace.path("specs/demo"), workspace.path("specs/new")).unwrap();
    let ran = workspace.run_as_text(&[]).exits(1);
    ran.mentions("specs/demo/tasks.md is gone, and its tasks are in specs/new/tasks.md")
        .mentions("Task 1.1 passed, but no longer does");
}
