//! What leaves the machine is up to a person, and what others pushed is theirs.

use crate::github::{check, failed};
use crate::project::{Project, TEST_LOG};

fn red_then_green(look: crate::github::Look) -> Vec<crate::github::FakeCheck> {
    match (look.is_base, look.push) {
        (false, 0) => vec![failed("test", TEST_LOG)],
        _ => vec![check("test", "success")],
    }
}

#[test]
fn nothing_is_pushed_unless_a_person_allows_it() {
    let project = Project::new(red_then_green).fixing("echo good fixed >src.txt");
    project
        .run(&["--create"])
        .exits(3)
        .mentions("`feature` has commits that are not on origin");
    project
        .workspace
        .git(&["push", "--quiet", "origin", "feature"]);
    let head = project.head();
    project
        .run(&["--create"])
        .exits(3)
        .mentions("expected 'fixed', got 'good'")
        .mentions("a fix needs a push, which is not allowed");
    assert_eq!(project.remote_head("feature"), head);
    assert_eq!(project.head(), head);
}

#[test]
fn a_repository_may_not_allow_pushes() {
    let project = Project::new(red_then_green);
    std::fs::write(project.workspace.path("regreen.toml"), "ci.push = true\n").unwrap();
    let output = project.run(&["--create"]).exits(2);
    let refusal = "a repository may not set `ci.push`";
    assert!(output.stderr.contains(refusal), "{}", output.stderr);
}

#[test]
fn an_agent_can_not_push_for_a_person() {
    let project = Project::new(red_then_green);
    let mut command = project.command(&["--create", "--allow-push"]);
    let output = command.env("REGREEN_KEEPER", "run:1.1").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(project.github.count(""), 0);
}

#[test]
fn the_default_branch_is_never_pushed_to() {
    let project = Project::new(red_then_green);
    project.workspace.git(&["switch", "--quiet", "main"]);
    let before = project.remote_head("main");
    let project = Project {
        workspace: project.workspace.committed("more"),
        ..project
    };
    let output = project.run_all(&[]).exits(2);
    assert!(
        output.stderr.contains("never pushes to it"),
        "{}",
        output.stderr
    );
    assert_eq!(project.remote_head("main"), before);
}

/// Two commits that someone else pushes from another clone.
const SOMEONE_ELSE: &str = "\
    remote=$(git remote get-url origin)
    git clone --quiet --branch feature \"$remote\" \"$notes/other\"
    for n in 1 2; do
      git -C \"$notes/other\" -c user.name=o -c user.email=o@example.com \\
        commit --quiet --allow-empty -m \"theirs $n\"
      git -C \"$notes/other\" push --quiet origin feature
    done
    echo good fixed >src.txt";

#[test]
fn two_pushes_by_someone_else_are_never_overwritten() {
    let project = Project::new(red_then_green).fixing(SOMEONE_ELSE);
    project
        .run_all(&[])
        .exits(3)
        .mentions("someone else has changed origin/feature")
        .mentions("nothing was overwritten");
    let remote = project.remote().display().to_string();
    let log = project
        .workspace
        .git(&["--git-dir", &remote, "log", "--format=%s", "feature"]);
    assert!(
        log.starts_with("theirs 2\ntheirs 1\nthe feature\n"),
        "{log}"
    );
    // Once they are here as well, it goes on.
    project
        .workspace
        .git(&["pull", "--quiet", "--rebase", "origin", "feature"]);
    project.run_all(&[]).exits(0);
    assert_eq!(project.remote_head("feature"), project.head());
}

#[test]
fn a_branch_that_was_moved_back_is_not_moved_forward_again() {
    let project = Project::new(|_| vec![check("test", "success")]);
    project.run_all(&[]).exits(0);
    let remote = project.remote().display().to_string();
    let main = project.remote_head("main");
    project.workspace.git(&[
        "--git-dir",
        &remote,
        "update-ref",
        "refs/heads/feature",
        &main,
    ]);
    project.run_all(&[]).exits(3).mentions("someone else");
    assert_eq!(project.remote_head("feature"), main);
}
