//! What would stop a run later is found before anything is created.

use regreen_test_support::{Output, Workspace};

const PLAN: &str = "- [ ] 1.1 Write it\n  - **Verify**: `true`\n  - **Commit**: `feat: it`\n";

#[track_caller]
fn check_refused(workspace: &Workspace, output: &Output, said: &str) {
    assert_eq!(output.code, Some(78), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains(said), "{}", output.stderr);
    assert!(!workspace.path(".regreen").exists());
    assert!(!workspace.path("started").exists());
}

fn project() -> Workspace {
    Workspace::in_git(PLAN).agent("*) touch started; echo TASK_COMPLETE ;;")
}

#[test]
fn an_unfinished_merge_or_rebase_is_found_before_the_first_attempt() {
    let workspace = project();
    let head = workspace.git(&["rev-parse", "HEAD"]);
    let workspace = workspace.file(".git/MERGE_HEAD", head);
    check_refused(
        &workspace,
        &workspace.run_as_text(&[]),
        "git is in the middle of a merge",
    );
    // Without commits, it doesn't matter.
    assert_eq!(workspace.run_as_text(&["--commit=never"]).code, Some(0));
    let workspace = project().file(".git/rebase-merge/done", "");
    check_refused(
        &workspace,
        &workspace.run_as_text(&[]),
        "git is in the middle of a rebase",
    );
}

#[test]
fn a_missing_identity_is_found_before_the_first_attempt() {
    let workspace = project();
    for (key, value) in [("user.name", ""), ("user.email", "")] {
        workspace.git(&["config", key, value]);
    }
    workspace.git(&["config", "user.useConfigOnly", "true"]);
    check_refused(
        &workspace,
        &workspace.run_as_text(&[]),
        "git does not know who is committing",
    );
}

#[test]
fn a_missing_agent_is_found_before_the_first_attempt() {
    let workspace = project();
    let output = workspace.regreen(&["run", "--agent=command:no-such-agent"]);
    check_refused(
        &workspace,
        &output,
        "`no-such-agent` is not installed or not in PATH",
    );
}
