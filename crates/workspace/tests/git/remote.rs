//! Pushes that overwrite nothing, and merges that leave nothing half-done.

use std::path::PathBuf;

use regreen_workspace::{Git, MergeOutcome, Oid, Push, PushOutcome};

use crate::repo::{Repo, rel, run_git};

/// A repository with a branch `feature`, and a bare one beside it as `origin`.
fn with_remote() -> (Repo, PathBuf) {
    let repo = Repo::with(&["a"]);
    let remote = repo.beside("remote.git");
    let shown = remote.display().to_string();
    repo.git(&["init", "-q", "--bare", "-b", "main", &shown]);
    repo.git(&["remote", "add", "origin", &shown]);
    repo.git(&["push", "-q", "origin", "main"]);
    repo.git(&["switch", "-q", "-c", "feature"]);
    (repo, remote)
}

fn commit(repo: &Repo, file: &str, text: &str) -> Oid {
    repo.write(file, text);
    repo.commit_all(text);
    repo.head().unwrap()
}

fn push(git: &Git, commit: &Oid, expected: Option<&Oid>) -> PushOutcome {
    let push = Push {
        remote: "origin",
        branch: "feature",
        commit,
        expected,
    };
    git.push(&push).unwrap()
}

#[test]
fn a_push_goes_forward_from_where_the_branch_is_expected() {
    let (repo, _remote) = with_remote();
    let git = repo.open();
    assert_eq!(git.remote_head("origin", "feature").unwrap(), None);
    let first = commit(&repo, "b", "1");
    assert_eq!(push(&git, &first, None), PushOutcome::Pushed);
    let second = commit(&repo, "b", "2");
    assert_eq!(push(&git, &second, Some(&first)), PushOutcome::Pushed);
    assert_eq!(git.remote_head("origin", "feature").unwrap(), Some(second));
}

#[test]
fn a_branch_that_is_elsewhere_is_left_alone() {
    let (repo, remote) = with_remote();
    let git = repo.open();
    let first = commit(&repo, "b", "1");
    push(&git, &first, None);
    let theirs = commit(&repo, "b", "theirs");
    push(&git, &theirs, Some(&first));
    repo.git(&["reset", "-q", "--hard", first.as_str()]);
    let ours = commit(&repo, "b", "ours");
    // Someone pushed after we looked; the branch exists although we didn't know; history was rewritten.
    for expected in [Some(&first), None, Some(&theirs)] {
        assert_eq!(
            push(&git, &ours, expected),
            PushOutcome::Moved,
            "{expected:?}"
        );
    }
    let there = run_git(&remote, &["rev-parse", "feature"]);
    assert_eq!(there.trim(), theirs.as_str());
}

#[test]
fn a_branch_whose_name_ends_the_same_is_another() {
    let (repo, _remote) = with_remote();
    let git = repo.open();
    repo.git(&["push", "-q", "origin", "HEAD:refs/heads/refs/heads/feature"]);
    assert_eq!(git.remote_head("origin", "feature").unwrap(), None);
}

#[test]
fn a_merge_with_conflicts_is_taken_back_and_one_without_is_committed() {
    let (repo, _remote) = with_remote();
    let git = repo.open();
    repo.git(&["switch", "-q", "main"]);
    commit(&repo, "a", "main");
    repo.git(&["push", "-q", "origin", "main"]);
    repo.git(&["switch", "-q", "feature"]);
    let ours = commit(&repo, "a", "feature");
    let base = git.fetch_branch("origin", "main").unwrap();
    let merged = git.merge(&base, "Merge main").unwrap();
    assert_eq!(merged, MergeOutcome::Conflicts([rel("a")].into()));
    assert_eq!(git.head().unwrap(), Some(ours));
    assert_eq!(repo.status(), "");
    repo.git(&["checkout", "-q", "HEAD~", "--", "a"]);
    repo.git(&["commit", "-q", "-m", "back"]);
    assert_eq!(
        git.merge(&base, "Merge main").unwrap(),
        MergeOutcome::Merged
    );
    assert_eq!(
        git.merge(&base, "Merge main").unwrap(),
        MergeOutcome::UpToDate
    );
    assert!(git.contains(&git.head().unwrap().unwrap(), &base));
}

#[test]
fn the_files_of_a_folder_are_read_from_a_commit() {
    let (repo, _remote) = with_remote();
    let git = repo.open();
    let then = commit(&repo, ".github/workflows/ci.yml", "then");
    commit(&repo, ".github/workflows/ci.yml", "now");
    let texts = |commit| git.texts_in(commit, ".github/workflows").unwrap();
    assert_eq!(texts(&then), ["then"]);
    let none = git.texts_in(&then, ".gitlab").unwrap();
    assert!(none.is_empty());
}
