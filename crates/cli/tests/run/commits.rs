//! Commits in real repositories contain exactly the work of the task.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use snapbox::{IntoData, str};

use regreen_test_support::{PROGRESS, STATE, TASKS, Workspace};

const TWO: &str = "- [ ] 1.1 First
  - **Verify**: `true`
  - **Commit**: `feat: first`
- [ ] 1.2 Second
  - **Verify**: `test -f b`
  - **Commit**: feat: second (if anything changed)
";

const WORKER: &str = "1.1:*) echo a >a; echo TASK_COMPLETE ;;
     1.2:1) echo half >half; echo TASK_COMPLETE ;;
     1.2:2) echo b >b; rm half; echo whole >whole; echo TASK_COMPLETE ;;";

#[track_caller]
fn check_history(workspace: &Workspace, expected: impl IntoData) {
    snapbox::assert_data_eq!(workspace.history(), expected.into_data().raw());
}

#[test]
fn a_commit_has_what_the_attempts_changed_and_the_files_of_the_spec() {
    let workspace = Workspace::in_git(TWO).agent(WORKER);
    workspace
        .run_as_text(&["--keep-state"])
        .and_plan(&workspace)
        .shows(str![[r#"
   START  demo · 2 tasks · command:sh [AGENT]/agent.sh
    PASS  [TIME] 1.1 First                                      [HASH]
    FAIL  [TIME] 1.2 Second                                     attempt 1/5
          the agent claimed success
          Verify failed: `test -f b` ended with exit code 1: b does not exist
    PASS  [TIME] 1.2 Second                                     [HASH]
     END  all tasks done                                          [RUN]

ALL_TASKS_COMPLETE
   Tasks  2 of 2 done in [TIME]
Attempts  3 of 100
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
x - [x] 1.2 Second
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First - [HASH]
- [x] 1.2 Second - [HASH]

"#]]);
    check_history(
        &workspace,
        str![[r#"
* before

A	specs/demo/tasks.md
* feat: first

A	a
M	specs/demo/tasks.md
* feat: second

A	b
A	specs/demo/.progress.md
M	specs/demo/tasks.md
A	whole
* chore(demo): record progress

M	specs/demo/.progress.md

"#]],
    );
    // The line with the last hash goes into the closing commit; the state file into none.
    let status = workspace.git(&["status", "--porcelain"]);
    assert_eq!(status, format!("?? {STATE}\n"));
    let committed = workspace.git(&["show", &format!("HEAD~1:{PROGRESS}")]);
    assert!(
        committed.contains("1.1 First - ") && !committed.contains("1.2"),
        "{committed}"
    );
}

#[test]
fn what_was_changed_before_the_run_is_left_alone() {
    let workspace = Workspace::in_git(TWO)
        .file("mine", "one\n")
        .committed("mine")
        .file("mine", "two\n")
        .file("a", "my own a\n")
        .agent(WORKER);
    workspace.run(&[]).shows(str![[r#"
1.1 attempt 1 of 5; verify green; done, committed
  warning: your uncommitted changes were overwritten during attempt 1 of task 1.1: a; to get them back: `git --literal-pathspecs restore --source=refs/regreen/[RUN]/1.1/1/before -- a`
  warning: a was not committed: it already had changes when the run started
1.2 attempt 1 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `test -f b` ended with exit code 1: b does not exist
1.2 attempt 2 of 5; verify green; done, committed
ended: all_green, 2 of 2 done, 3 of 100 attempts
--- exit code 0

"#]]);
    check_history(
        &workspace,
        str![[r#"
* before

A	specs/demo/tasks.md
* mine

A	mine
* feat: first

M	specs/demo/tasks.md
* feat: second

A	b
A	specs/demo/.progress.md
M	specs/demo/tasks.md
A	whole
* chore(demo): record progress

M	specs/demo/.progress.md

"#]],
    );
    let status = workspace.git(&["status", "--porcelain"]);
    assert_eq!(status, " M mine\n?? a\n");
}

#[test]
fn staged_changes_stay_staged() {
    let workspace = Workspace::in_git(TWO).file("mine", "one\n").agent(WORKER);
    workspace.git(&["add", "mine"]);
    assert_eq!(workspace.run(&[]).code, Some(0));
    let status = workspace.git(&["status", "--porcelain"]);
    assert_eq!(status, "A  mine\n");
}

#[test]
fn what_the_agent_committed_is_not_committed_again() {
    let workspace = Workspace::in_git(TWO).agent(
        "1.1:*) echo a >a; git add a; git commit -qm 'the agent: a'; echo TASK_COMPLETE ;;
         1.2:*) echo b >b; git add b; git commit -qm 'the agent: b'; echo c >c; echo TASK_COMPLETE ;;",
    );
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify green; done, committed
1.2 attempt 1 of 5; verify green; done, committed
ended: all_green, 2 of 2 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
x - [x] 1.2 Second
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First - [HASH]
- [x] 1.2 Second - [HASH]

"#]]);
    check_history(
        &workspace,
        str![[r#"
* before

A	specs/demo/tasks.md
* the agent: a

A	a
* feat: first

M	specs/demo/tasks.md
* the agent: b

A	b
* feat: second

A	c
A	specs/demo/.progress.md
M	specs/demo/tasks.md
* chore(demo): record progress

M	specs/demo/.progress.md

"#]],
    );
}

#[test]
fn a_hook_that_refuses_is_a_failed_verification() {
    let workspace = Workspace::in_git(TWO).agent(
        "1.1:1) echo a >a; echo TASK_COMPLETE ;;
         1.1:2) touch formatted; echo TASK_COMPLETE ;;
         1.2:*) echo b >b; echo TASK_COMPLETE ;;",
    );
    let hook = workspace.path(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(
        &hook,
        "#!/bin/sh\ntest -f formatted || { echo 'a is not formatted' >&2; exit 1; }\n",
    )
    .unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify green; commit refused: a is not formatted; failed: a is not formatted
1.1 attempt 2 of 5; verify green; done, committed
1.2 attempt 1 of 5; verify green; done, committed
ended: all_green, 2 of 2 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
x - [x] 1.2 Second
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First - [HASH]
- [x] 1.2 Second - [HASH]

"#]]);
    check_history(
        &workspace,
        str![[r#"
* before

A	specs/demo/tasks.md
* feat: first

A	a
A	formatted
M	specs/demo/tasks.md
* feat: second

A	b
A	specs/demo/.progress.md
M	specs/demo/tasks.md
* chore(demo): record progress

M	specs/demo/.progress.md

"#]],
    );
    let prompt = workspace.note("1.1-2.prompt");
    assert!(prompt.contains("a is not formatted"), "{prompt}");
}

#[test]
fn a_hook_that_always_refuses_is_never_bypassed() {
    let workspace = Workspace::in_git(TWO).agent(WORKER);
    let hook = workspace.path(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\necho 'never on a Monday'\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let output = workspace.run(&["--max-task-iterations=2"]);
    output.and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 2; verify green; commit refused: never on a Monday; failed: never on a Monday
1.1 attempt 2 of 2; verify green; commit refused: never on a Monday; failed: never on a Monday
ended: limit, 0 of 2 done, 2 of 100 attempts
ERROR: Max retries reached for task 1.1 after 2 attempts
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
    check_history(
        &workspace,
        str![[r#"
* before

A	specs/demo/tasks.md

"#]],
    );
}

#[test]
fn nothing_is_committed_if_that_is_not_wanted() {
    let workspace = Workspace::in_git(TWO).agent(WORKER);
    workspace
        .run(&["--commit=never"])
        .and_plan(&workspace)
        .shows(str![[r#"
1.1 attempt 1 of 5; verify green; done
1.2 attempt 1 of 5; verify red; verify red; failed (false_success_claim): Verify failed: `test -f b` ended with exit code 1: b does not exist
1.2 attempt 2 of 5; verify green; done
ended: all_green, 2 of 2 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
x - [x] 1.2 Second
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.2 Second

"#]]);
    check_history(
        &workspace,
        str![[r#"
* before

A	specs/demo/tasks.md

"#]],
    );
}

#[test]
fn a_task_without_a_message_has_no_commit_of_its_own() {
    let workspace = Workspace::in_git(
        "- [ ] 1.1 First\n  - **Verify**: `true`\n  - **Commit**: None\n- [ ] 1.2 Second\n  - **Verify**: `true`\n- [ ] 1.3 Third\n  - **Verify**: `true`\n  - **Commit**: `feat: third`\n",
    )
    .agent("*) echo $REGREEN_TASK_ID >$REGREEN_TASK_ID; echo TASK_COMPLETE ;;");
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; verify green; done
1.2 attempt 1 of 5; verify green; done
1.3 attempt 1 of 5; verify green; done, committed
ended: all_green, 3 of 3 done, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
x - [x] 1.2 Second
x - [x] 1.3 Third
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.2 Second
- [x] 1.3 Third - [HASH]

"#]]);
    check_history(
        &workspace,
        str![[r#"
* before

A	specs/demo/tasks.md
* feat: third

A	1.3
A	specs/demo/.progress.md
M	specs/demo/tasks.md
* chore(demo): record progress

M	specs/demo/.progress.md

"#]],
    );
}

#[test]
fn a_second_run_knows_what_the_first_one_made() {
    let workspace = Workspace::in_git(TWO).agent(
        "1.1:*) echo a >a; echo TASK_COMPLETE ;;
         1.2:*) echo early >early; echo early >both; echo TASK_COMPLETE ;;",
    );
    assert_eq!(workspace.run(&["--max-task-iterations=1"]).code, Some(1));
    let workspace = workspace.agent("1.2:*) echo late >>both; echo b >b; echo TASK_COMPLETE ;;");
    workspace.run(&[]).shows(str![[r#"
1.2 attempt 1 of 5; verify green; done, committed
ended: all_green, 2 of 2 done, 1 of 100 attempts
--- exit code 0

"#]]);
    check_history(
        &workspace,
        str![[r#"
* before

A	specs/demo/tasks.md
* feat: first

A	a
M	specs/demo/tasks.md
* feat: second

A	b
A	both
A	early
A	specs/demo/.progress.md
M	specs/demo/tasks.md
* chore(demo): record progress

M	specs/demo/.progress.md

"#]],
    );
}

#[test]
fn the_state_is_never_committed() {
    let workspace = Workspace::in_git(TWO).agent(
        "*) echo '{\"mine\": 1}' >$REGREEN_SPEC_DIR/.ralph-state.json
            echo b >b; echo TASK_COMPLETE ;;",
    );
    assert_eq!(workspace.run(&["--keep-state"]).code, Some(0));
    check_history(
        &workspace,
        str![[r#"
* before

A	specs/demo/tasks.md
* feat: first

A	b
M	specs/demo/tasks.md
* feat: second

A	specs/demo/.progress.md
M	specs/demo/tasks.md
* chore(demo): record progress

M	specs/demo/.progress.md

"#]],
    );
    // Not even if it was committed before.
    let workspace = workspace.committed("the state").file(TASKS, TWO);
    assert_eq!(workspace.run(&["--keep-state"]).code, Some(0));
    let changed = workspace.git(&["log", "--format=%s", "--", STATE]);
    assert_eq!(changed, "the state\n");
}

#[test]
fn the_first_commit_of_a_repository_can_be_a_tasks() {
    let workspace = Workspace::with_tasks(TWO).agent(WORKER);
    fs::remove_dir(workspace.path(".git")).unwrap();
    workspace.init_git();
    assert_eq!(workspace.run(&[]).code, Some(0));
    check_history(
        &workspace,
        str![[r#"
* feat: first

A	a
A	specs/demo/tasks.md
* feat: second

A	b
A	specs/demo/.progress.md
M	specs/demo/tasks.md
A	whole
* chore(demo): record progress

M	specs/demo/.progress.md

"#]],
    );
}

#[test]
fn the_plan_of_a_user_with_changes_of_their_own_is_committed_with_the_task() {
    let workspace = Workspace::in_git(TWO).agent(WORKER);
    let workspace = workspace.file(TASKS, format!("# My heading\n\n{TWO}"));
    assert_eq!(workspace.run(&[]).code, Some(0));
    check_history(
        &workspace,
        str![[r#"
* before

A	specs/demo/tasks.md
* feat: first

A	a
M	specs/demo/tasks.md
* feat: second

A	b
A	specs/demo/.progress.md
M	specs/demo/tasks.md
A	whole
* chore(demo): record progress

M	specs/demo/.progress.md

"#]],
    );
}

#[test]
fn nothing_runs_if_what_is_the_users_cannot_be_kept_in_mind() {
    let workspace = Workspace::in_git(TWO).agent(WORKER);
    let workspace = workspace.file(".regreen/runs", "no folder");
    let output = workspace.run(&[]);
    assert_eq!(output.code, Some(78), "{}", output.stderr);
    assert!(output.stderr.contains("dirty-before"), "{}", output.stderr);
    assert!(!workspace.has_note("1.1-1.prompt"));
}

#[test]
fn a_file_that_the_user_edits_between_two_runs_is_the_users() {
    let workspace = Workspace::in_git(TWO).agent(
        "1.1:*) echo a >a; echo TASK_COMPLETE ;;
         1.2:*) echo early >early; echo early >both; echo TASK_COMPLETE ;;",
    );
    assert_eq!(workspace.run(&["--max-task-iterations=1"]).code, Some(1));
    fs::write(workspace.path("both"), "words of the user\n").unwrap();
    let workspace = workspace.agent("1.2:*) echo b >b; echo TASK_COMPLETE ;;");
    let output = workspace.run(&[]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert_eq!(
        workspace.git(&["status", "--porcelain", "both"]),
        "?? both\n"
    );
    assert_eq!(workspace.git(&["show", "HEAD:early"]), "early\n");
}

/// Kills regreen right after this commit, once.
fn kill_after_commit(subject: &str) -> String {
    format!(
        "#!/bin/sh
[ \"$(git log -1 --format=%s)\" = '{subject}' ] && [ ! -e .git/killed ] || exit 0
touch .git/killed
parent() {{ cut -d' ' -f4 /proc/$1/stat; }}
# Git, its keeper, regreen.
kill -9 \"$(parent \"$(parent \"$PPID\")\")\"
sleep 30
"
    )
}

#[test]
fn a_commit_made_just_before_a_kill_is_found_though_a_fix_was_committed_before_it() {
    let workspace = Workspace::in_git(
        "- [ ] 1.1 First
  - **Verify**: `test -f ok`
  - **Commit**: `feat: first`
- [ ] 1.2 Second
  - **Verify**: `true`
",
    )
    .agent(
        "1.1:*) echo a >a; echo TASK_COMPLETE ;;
         1.1.1:*) touch ok; echo TASK_COMPLETE ;;
         1.2:*) echo b >b; echo TASK_COMPLETE ;;",
    );
    let hook = workspace.path(".git/hooks/post-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, kill_after_commit("feat: first")).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let killed = workspace.run_as_text(&["--recovery-mode"]);
    assert_eq!(killed.code, None, "{}", killed.stdout);
    let resumed = workspace.run_as_text(&["--recovery-mode"]);
    assert_eq!(
        resumed.code,
        Some(0),
        "{}{}",
        resumed.stdout,
        resumed.stderr
    );
    let subjects = workspace.git(&["log", "--format=%s"]);
    assert_eq!(subjects.matches("feat: first\n").count(), 1, "{subjects}");
    let hash = workspace.git(&["log", "-1", "--format=%h", "--grep=^feat: first$"]);
    let progress = fs::read_to_string(workspace.path(PROGRESS)).unwrap();
    let line = format!("- [x] 1.1 First - {hash}");
    assert!(progress.contains(&line), "{progress}");
}

/// Leaves a git lock, as a killed git does.
fn lock(workspace: &Workspace, name: &str, age: Duration) {
    let path = workspace.path(name);
    fs::write(&path, "").unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn locks_that_a_killed_git_left_are_moved_aside_for_the_commit() {
    const OLD: Duration = Duration::from_secs(3600);
    for name in [
        ".git/HEAD.lock",
        ".git/index.lock",
        ".git/refs/heads/main.lock",
    ] {
        let workspace = Workspace::in_git(TWO).agent(WORKER);
        lock(&workspace, name, OLD);
        let output = workspace.run_as_text(&[]);
        assert_eq!(output.code, Some(0), "{name}: {}", output.stdout);
        let said = format!("moved {name}, left behind by a killed git, to .regreen/removed/");
        assert!(output.stdout.contains(&said), "{}", output.stdout);
        assert!(!workspace.path(name).exists());
        let status = workspace.git(&["status", "--porcelain", "--", "a", "b"]);
        assert_eq!(status, "", "{name}");
    }
}

/// Its owner may be in another container, so only the user can know.
#[test]
fn a_recent_lock_stays_and_the_message_names_the_way_out() {
    let workspace = Workspace::in_git(TWO).agent(WORKER);
    lock(&workspace, ".git/HEAD.lock", Duration::ZERO);
    let output = workspace.run_as_text(&[]);
    assert_eq!(output.code, Some(78), "{}", output.stdout);
    assert!(
        output.stdout.contains("delete it: `rm "),
        "{}",
        output.stdout
    );
    assert!(workspace.path(".git/HEAD.lock").exists());
}

#[test]
fn a_lock_that_is_younger_than_our_own_killed_commit_is_ours() {
    let workspace = Workspace::in_git(TWO).agent(WORKER);
    let hook = workspace.path(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let kill = kill_after_commit("before").replace("kill -9", "touch .git/HEAD.lock; kill -9");
    fs::write(&hook, kill).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(workspace.run_as_text(&[]).code, None);
    assert!(workspace.path(".git/HEAD.lock").exists());
    let output = workspace.run_as_text(&[]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    let subjects = workspace.git(&["log", "--format=%s"]);
    assert_eq!(
        subjects,
        "chore(demo): record progress\nfeat: second\nfeat: first\nbefore\n"
    );
}

/// The agent of 1.2 replaces the repository that has the commit of 1.1 with another one, or removes
/// it.
#[test]
fn commits_that_are_lost_with_the_repository_are_named() {
    let again = "git init -q .; git add -A; git commit -q -m new";
    for attack in ["rm -rf .git", &format!("rm -rf .git; {again}")] {
        let tasks = "- [ ] 1.1 a\n  - **Verify**: `true`\n  - **Commit**: `feat: a`\n- [ ] 1.2 b\n  - **Verify**: `true`\n";
        let workspace = Workspace::in_git(tasks).agent(&format!(
            "1.2:1) {attack}; echo TASK_COMPLETE ;;
             *) echo more >>work; echo TASK_COMPLETE ;;"
        ));
        let told = workspace.run_as_text(&[]).exits(78);
        let said = "git fails since attempt 1 of task 1.2: ";
        assert!(told.stderr.contains(said), "{attack}: {}", told.stderr);
        let told = workspace.run_as_text(&[]);
        let said = "the commits of these done tasks are not in the history of HEAD: 1.1 (";
        assert!(
            told.stdout.contains(said),
            "{attack}: {}{}",
            told.stdout,
            told.stderr
        );
    }
}

#[test]
fn files_of_a_task_that_git_ignores_are_named_once_as_not_committed() {
    let tasks = "\
- [ ] 1.1 Write the report
  - **Files**: `out/report.txt`
  - **Verify**: `grep -q yes out/data.txt`
  - **Commit**: `feat: report`
- [ ] 1.2 Extend it
  - **Files**: `out/report.txt`, `src.txt`
  - **Verify**: `grep -q yes src.txt`
  - **Commit**: `feat: more`
";
    let workspace = Workspace::with_tasks(tasks)
        .file(".gitignore", "out/\n")
        .git_repository()
        .agent("*) mkdir -p out; for f in out/report.txt out/data.txt src.txt; do echo yes >>$f; done; echo TASK_COMPLETE ;;");
    let output = workspace.run_as_text(&[]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    let printed = format!("{}{}", output.stdout, output.stderr);
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "git ignores out/report.txt, which a task's Files name: no commit contains it",
        "git ignores out/data.txt, which a Verify reads: no commit contains it",
    ] {
        assert_eq!(printed.matches(said).count(), 1, "{printed}");
    }
    assert!(!printed.contains("git ignores src.txt"), "{printed}");
}
