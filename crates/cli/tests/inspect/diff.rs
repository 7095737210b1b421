use std::fs;

use snapbox::str;

use regreen_test_support::Workspace;

#[test]
fn a_task_is_shown_as_a_whole_and_attempt_by_attempt() {
    let workspace = Workspace::in_git(
        "- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n  - **Commit**: `feat: make it`\n- [ ] 1.2 Later\n  - **Verify**: `true`\n",
    )
    .agent(
        "1.1:1) echo one >made; echo '- learnt a lot' >>$REGREEN_SPEC_DIR/.progress.md; echo TASK_COMPLETE ;;
         1.1:2) echo two >>made; echo x >good; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    )
    .has_run(&[], 0);
    workspace.regreen(&["diff", "1.1"]).shows(str![[r#"
diff --git a/good b/good
new file mode 100644
index 0000000..587be6b
--- /dev/null
+++ b/good
@@ -0,0 +1 @@
+x
diff --git a/made b/made
new file mode 100644
index 0000000..814f4a4
--- /dev/null
+++ b/made
@@ -0,0 +1,2 @@
+one
+two
--- exit code 0

"#]]);
    workspace.regreen(&["diff", "1.1", "1"]).shows(str![[r#"
diff --git a/made b/made
new file mode 100644
index 0000000..5626abf
--- /dev/null
+++ b/made
@@ -0,0 +1 @@
+one
diff --git a/specs/demo/.progress.md b/specs/demo/.progress.md
new file mode 100644
index 0000000..3c68cc6
--- /dev/null
+++ b/specs/demo/.progress.md
@@ -0,0 +1 @@
+- learnt a lot
--- exit code 0

"#]]);
    workspace.regreen(&["diff", "1.1", "2"]).shows(str![[r#"
diff --git a/good b/good
new file mode 100644
index 0000000..587be6b
--- /dev/null
+++ b/good
@@ -0,0 +1 @@
+x
diff --git a/made b/made
index 5626abf..814f4a4 100644
--- a/made
+++ b/made
@@ -1 +1,2 @@
 one
+two
--- exit code 0

"#]]);
    workspace.regreen(&["diff", "1.2"]).shows(str![[r#"
--- standard error
note: task 1.2 changed no file
--- exit code 0

"#]]);
    workspace.regreen(&["diff", "1.2", "1"]).shows(str![[r#"
--- standard error
note: attempt 1 of task 1.2 changed no file
--- exit code 0

"#]]);
}

#[test]
fn fixes_belong_to_the_task_that_they_repair() {
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n")
        .agent(
            "1.1:*) echo try >made; echo TASK_COMPLETE ;;
             1.1.1:*) echo x >good; echo TASK_COMPLETE ;;",
        )
        .has_run(&["--recovery-mode"], 0);
    workspace.regreen(&["diff", "1.1"]).shows(str![[r#"
diff --git a/good b/good
new file mode 100644
index 0000000..587be6b
--- /dev/null
+++ b/good
@@ -0,0 +1 @@
+x
diff --git a/made b/made
new file mode 100644
index 0000000..29deb4d
--- /dev/null
+++ b/made
@@ -0,0 +1 @@
+try
--- exit code 0

"#]]);
    workspace.regreen(&["diff", "1.1.1"]).shows(str![[r#"
diff --git a/good b/good
new file mode 100644
index 0000000..587be6b
--- /dev/null
+++ b/good
@@ -0,0 +1 @@
+x
--- exit code 0

"#]]);
}

#[test]
fn all_runs_count_since_the_task_was_last_done() {
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n")
        .agent("*) date +%N >>times; echo TASK_COMPLETE; date +%N >made ;;")
        .file("good", "")
        .has_run(&[], 0);
    fs::remove_file(workspace.path("good")).unwrap();
    workspace.regreen(&["retry", "1.1"]).shows(str![[r#"
reopened 1.1 and reset its attempts; run `regreen run` to try again
--- exit code 0

"#]]);
    let workspace = workspace
        .has_run(&["--max-task-iterations=1"], 1)
        .file("good", "")
        .file("made", "a person was here\n")
        .has_run(&[], 0);
    let printed = workspace.regreen(&["diff", "1.1"]);
    assert!(printed.stdout.contains("+++ b/times"), "{}", printed.stdout);
    // One old line, and two added ones.
    assert!(
        printed.stdout.contains("@@ -1 +1,3 @@"),
        "{}",
        printed.stdout
    );
    assert_eq!(
        printed.stderr,
        "note: made was changed by someone else between two attempts, and that is shown as well\n"
    );
    let runs = workspace.runs();
    let second = workspace.regreen(&["diff", "1.1", "--run", &runs[1]]);
    assert!(second.stdout.contains("@@ -1 +1,2 @@"), "{}", second.stdout);
    assert_eq!(second.stderr, "");
}

#[test]
fn a_diff_is_a_patch() {
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n  - **Verify**: `true`\n")
        .file("old", "one\ntwo\n")
        .committed("old")
        .agent("*) echo three >>old; printf 'no\\nline end' >new; echo TASK_COMPLETE ;;")
        .has_run(&[], 0);
    let output = workspace.command(&["diff", "1.1"]).output().unwrap();
    fs::write(workspace.path("patch"), output.stdout).unwrap();
    workspace.git(&["apply", "--reverse", "patch"]);
    assert_eq!(workspace.text("old"), "one\ntwo\n");
    assert!(!workspace.has("new"));
}

#[test]
fn without_git_there_is_nothing_to_show() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Make it\n  - **Verify**: `true`\n")
        .agent("*) echo x >made; echo TASK_COMPLETE ;;")
        .has_run(&[], 0);
    workspace.regreen(&["diff", "1.1"]).shows(str![[r#"
--- standard error
  × not a git repository, so regreen has no snapshots
  help: run `git init`, then run the task again: regreen takes snapshots before and after every attempt
--- exit code 2

"#]]);
    workspace.regreen(&["diff", "1.1", "1"]).shows(str![[r#"
--- standard error
  × not a git repository, so regreen has no snapshots
  help: run `git init`, then run the task again: regreen takes snapshots before and after every attempt
--- exit code 2

"#]]);
    // The number of files is still known.
    workspace.regreen(&["why", "1.1"]).shows(str![[r#"
    PASS  1.1 Make it

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    PASS  [TIME] attempt 1 · [MOMENT]
          exit code 0, signalled completion
          changed 1 file
          log: regreen log 1.1 1
          Verify passed
--- exit code 0

"#]]);
}

#[test]
fn snapshots_that_were_given_up_are_missed() {
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n  - **Verify**: `true`\n")
        .agent("*) echo x >made; echo TASK_COMPLETE ;;")
        .has_run(&[], 0);
    let kept = workspace.git(&["for-each-ref", "--format=%(refname)", "refs/regreen"]);
    for name in kept.lines() {
        workspace.git(&["update-ref", "-d", name]);
    }
    workspace.regreen(&["diff", "1.1"]).shows(str![[r#"
--- standard error
  × no snapshot of what task 1.1 changed
  help: the task ran outside git, or someone removed refs/regreen
--- exit code 2

"#]]);
    workspace.regreen(&["undo", "1.1"]).shows(str![[r#"
--- standard error
  × no snapshot of what task 1.1 changed
  help: the task ran outside git, or someone removed refs/regreen
--- exit code 2

"#]]);
}
