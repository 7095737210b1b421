//! `regreen init` and `regreen use`: what Claude Code's Stop hook needs.

use regreen_test_support::Workspace;

#[test]
fn a_session_is_kept_going_for_a_spec_that_is_used_but_not_for_one_that_is_only_there() {
    let workspace = Workspace::new();
    workspace.regreen(&["init", "login"]).exits(0);
    assert_eq!(workspace.text("specs/.current-spec"), "login\n");
    hook(&workspace).prints("");
    workspace
        .regreen(&["use", "login"])
        .exits(0)
        .prints("login is the current spec (specs/login/tasks.md)\nRun it with: regreen run\n");
    hook(&workspace).mentions("Continue spec: login (Task 1/2, Iter 1)");
    // Creating another spec does not make it the current one.
    workspace.regreen(&["init", "logout"]).exits(0);
    assert_eq!(workspace.text("specs/.current-spec"), "login\n");
    workspace.regreen(&["use", "logout"]).exits(0);
    hook(&workspace).mentions("Continue spec: logout");
}

#[test]
fn specs_in_other_folders_are_used_by_their_way() {
    let workspace = Workspace::new()
        .file("specs/README.md", "")
        .file("packages/api/specs/orders/tasks.md", "- [ ] 1.1 Write it\n")
        .file(
            ".claude/ralph-specum.local.md",
            "---\nspecs_dirs: [\"./specs\", \"./packages/api/specs\"]\n---\n",
        );
    workspace.regreen(&["use", "orders"]).exits(0);
    let current = workspace.text("specs/.current-spec");
    assert_eq!(current, "./packages/api/specs/orders\n");
    hook(&workspace).mentions("Continue spec: orders");
    workspace.regreen(&["status"]).exits(0).mentions("orders");
}

fn hook(workspace: &Workspace) -> regreen_test_support::Output {
    use std::io::Write as _;
    use std::process::Stdio;
    let folder = std::fs::canonicalize(workspace.path(".")).unwrap();
    let input = format!(r#"{{"cwd":"{}","session_id":"s"}}"#, folder.display());
    let mut child = workspace
        .command(&["hook", "stop"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    workspace.output(&child.wait_with_output().unwrap())
}
