//! The user's work beside the tasks: what an agent takes along is kept, and named with the way back.

use std::fs;

use regreen_test_support::{Output, Workspace};

const ONE: &str = "- [ ] 1.1 Make a
  - **Verify**: `test -f a`
";

/// A repository with uncommitted work in `code`, `staged` and `notes`.
fn with_uncommitted_work() -> Workspace {
    let workspace = Workspace::in_git(ONE)
        .file("code", "first\n")
        .committed("code")
        .file("code", "mine\n")
        .file("staged", "mine\n")
        .file("notes", "mine\n");
    workspace.git(&["add", "staged"]);
    workspace
}

/// An agent does this beside its task.
fn run(workspace: Workspace, harm: &str) -> (Workspace, Output) {
    let workspace = workspace.agent(&format!("1.1:*) {harm}; touch a; echo TASK_COMPLETE ;;"));
    let ran = workspace.run_as_text(&[]);
    (workspace, ran)
}

/// The command after \"to get it back\" or \"to get them back\".
fn way_back(ran: &Output) -> String {
    let found = ran.stdout.split_once(" back: ");
    let command = found.and_then(|(_, command)| command.lines().next());
    command.unwrap_or_default().to_owned()
}

fn type_in(workspace: &Workspace, command: &str) {
    let command = command.replace("[RUN]", &workspace.runs()[0]);
    let words = shell_words::split(&command).unwrap();
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    workspace.git(&words);
}

#[test]
fn uncommitted_work_that_is_thrown_away_is_named_with_the_command_that_brings_it_back() {
    for harm in [
        "git reset -q --hard",
        "git checkout -q -- .",
        "git clean -fdq",
        "git stash -uq",
    ] {
        let (workspace, ran) = run(with_uncommitted_work(), harm);
        let ran = ran
            .mentions("your uncommitted changes were thrown away during attempt 1 of task 1.1")
            .exits(0);
        type_in(&workspace, &way_back(&ran));
        for file in ["code", "notes"] {
            assert_eq!(workspace.text(file), "mine\n", "{harm}");
        }
    }
}

#[test]
fn uncommitted_work_that_an_agent_commits_is_named() {
    let (_, ran) = run(with_uncommitted_work(), "git add -A; git commit -qm all");
    ran.mentions(
        "your uncommitted changes were committed during attempt 1 of task 1.1: code, notes, staged",
    )
    .exits(0);
}

#[test]
fn a_stash_a_branch_and_a_tag_that_an_agent_takes_away_can_be_brought_back() {
    let lost = [
        (
            "git stash pop -q",
            "your newest stash was removed or replaced",
            "refs/stash",
        ),
        (
            "git branch -q -D feature",
            "the branch feature was deleted",
            "refs/heads/feature",
        ),
        (
            "git tag -d v1 >/dev/null",
            "the tag v1 was deleted",
            "refs/tags/v1",
        ),
    ];
    for (harm, message, reference) in lost {
        let workspace = Workspace::in_git(ONE)
            .file("code", "first\n")
            .committed("code");
        workspace.git(&["tag", "v1"]);
        workspace.git(&["checkout", "-q", "-b", "feature"]);
        workspace.git(&["commit", "-q", "--allow-empty", "-m", "feature"]);
        workspace.git(&["checkout", "-q", "-"]);
        fs::write(workspace.path("code"), "stashed\n").unwrap();
        workspace.git(&["stash", "push", "-q"]);
        let before = workspace.git(&["rev-parse", reference]);
        let (workspace, ran) = run(workspace, harm);
        let ran = ran.mentions(message).exits(0);
        workspace.git(&["reflog", "expire", "--expire=now", "--all"]);
        workspace.git(&["gc", "-q", "--prune=now"]);
        type_in(&workspace, &way_back(&ran));
        assert_eq!(workspace.git(&["rev-parse", reference]), before, "{harm}");
    }
}

#[test]
fn an_attempt_that_leaves_the_users_work_alone_says_nothing_of_it() {
    let (_, ran) = run(with_uncommitted_work(), "git stash -q; git stash pop -q");
    ran.omits("uncommitted changes were")
        .omits(" back: ")
        .exits(0);
}
