//! The user's other work: what an agent takes away is kept, and reported with the way back.

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

/// Runs an agent that also does this besides its task.
fn run(workspace: Workspace, harm: &str) -> (Workspace, Output) {
    let workspace = workspace.agent(&format!("1.1:*) {harm}; touch a; echo TASK_COMPLETE ;;"));
    let ran = workspace.run_as_text(&[]);
    (workspace, ran)
}

/// Returns the command after "to get it back" or "to get them back".
fn way_back(ran: &Output) -> String {
    let found = ran.stdout.split_once(" back: `");
    let command = found.and_then(|(_, command)| command.split('`').next());
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
fn uncommitted_work_that_is_overwritten_is_named_with_the_command_that_brings_it_back() {
    let harm = "git checkout -q -- code; echo agent >>code; echo agent >notes";
    let (workspace, ran) = run(with_uncommitted_work(), harm);
    let ran = ran
        .mentions(
            "your uncommitted changes were overwritten during attempt 1 of task 1.1: code, notes",
        )
        .exits(0);
    type_in(&workspace, &way_back(&ran));
    for file in ["code", "notes"] {
        assert_eq!(workspace.text(file), "mine\n");
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

/// No work tree and no commit has what was staged and then changed again.
#[test]
fn a_version_that_was_only_staged_can_be_brought_back() {
    for harm in [
        "git reset -q",
        "git add -A",
        "git add -A; git commit -qm mine",
    ] {
        let workspace = Workspace::in_git(ONE)
            .file("code", "first\n")
            .committed("code")
            .file("code", "only staged\n");
        workspace.git(&["add", "code"]);
        fs::write(workspace.path("code"), "first, edited on\n").unwrap();
        let (workspace, ran) = run(workspace, harm);
        let ran = ran
            .mentions("the staged version of code was replaced during attempt 1 of task 1.1")
            .exits(0);
        workspace.git(&["gc", "-q", "--prune=now"]);
        let command = way_back(&ran);
        let (command, _) = command.split_once(" >").unwrap();
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(workspace.git(&words), "only staged\n", "{harm}");
    }
}

/// Git has a reference for the newest stash only.
#[test]
fn every_stash_that_an_agent_removes_can_be_brought_back() {
    for (harm, lost) in [("git stash clear", 3), ("git stash drop -q stash@{2}", 1)] {
        let workspace = Workspace::in_git(ONE)
            .file("code", "first\n")
            .committed("code");
        for text in ["one", "two", "three"] {
            fs::write(workspace.path("code"), text).unwrap();
            workspace.git(&["stash", "push", "-q"]);
        }
        let (workspace, ran) = run(workspace, harm);
        let ran = ran.exits(0);
        let named = ran
            .stdout
            .matches("; to get it back: `git stash store ")
            .count();
        assert_eq!(named, lost, "{harm}: {}", ran.stdout);
        workspace.git(&["reflog", "expire", "--expire=now", "--all"]);
        workspace.git(&["gc", "-q", "--prune=now"]);
        type_in(&workspace, &way_back(&ran));
        workspace.git(&["stash", "pop", "-q"]);
    }
}

#[test]
fn files_that_are_too_large_for_snapshots_are_named_before_and_when_they_vanish() {
    let workspace = Workspace::in_git(ONE);
    let large = fs::File::create(workspace.path("large")).unwrap();
    large.set_len(110 * 1024 * 1024).unwrap();
    let (_, ran) = run(workspace, "rm large");
    ran.mentions("large is too large")
        .mentions("large was removed during attempt 1 of task 1.1, and no snapshot has it")
        .exits(0);
}

#[test]
fn an_attempt_that_leaves_the_users_work_alone_says_nothing_of_it() {
    let (_, ran) = run(with_uncommitted_work(), "git stash -q; git stash pop -q");
    ran.omits("uncommitted changes were")
        .omits(" back: ")
        .exits(0);
}
