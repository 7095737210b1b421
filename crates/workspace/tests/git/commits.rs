use std::collections::BTreeSet;
use std::fs;

use regreen_workspace::{
    CommitError, CommitOutcome, CommitReport, CommitRequest, GitError, NewCommit, RelPath,
    SkipReason,
};

use crate::repo::{Repo, assert_untouched, rel};

pub(crate) fn paths(names: &[&str]) -> BTreeSet<RelPath> {
    names.iter().map(|name| rel(name)).collect()
}

/// Requests a commit of these paths on top of HEAD.
pub(crate) fn request(repo: &Repo, names: &[&str]) -> CommitRequest {
    CommitRequest {
        key: "r1/1.3/7".to_owned(),
        message: "feat: it".to_owned(),
        paths: paths(names),
        leave_alone: BTreeSet::new(),
        spec_files: BTreeSet::new(),
        parent: repo.head(),
    }
}

pub(crate) fn commit(repo: &Repo, request: &CommitRequest) -> CommitReport {
    repo.open().commit(request, &repo.scratch()).unwrap()
}

pub(crate) fn commit_error(repo: &Repo, request: &CommitRequest) -> CommitError {
    repo.open().commit(request, &repo.scratch()).unwrap_err()
}

#[track_caller]
pub(crate) fn made(committed: &CommitReport) -> &NewCommit {
    match &committed.outcome {
        CommitOutcome::Made(made) => made,
        other => panic!("{other:?}"),
    }
}

/// Returns what a commit changed, one line per path.
pub(crate) fn committed(repo: &Repo) -> String {
    let show = ["show", "--format=", "--name-status", "--no-renames", "HEAD"];
    repo.git(&show).replace('\t', " ")
}

#[test]
fn exactly_the_requested_paths_are_committed() {
    let repo = Repo::with(&["edited", "gone", "users", "users-gone", "both"]);
    repo.write("users", "staged by the user");
    repo.write("users-new", "staged by the user");
    repo.git(&["add", "users", "users-new"]);
    repo.git(&["rm", "-q", "users-gone"]);
    repo.write("users", "edited on");
    repo.write("unknown", "unknown");
    repo.write("edited", "by the agent");
    repo.remove("gone");
    repo.write("new/file", "by the agent");
    repo.write("both", "staged by the agent");
    repo.git(&["add", "both"]);
    repo.write("both", "and edited on");

    let done = commit(
        &repo,
        &request(&repo, &["edited", "gone", "new/file", "both"]),
    );
    let made = made(&done);
    assert_eq!(committed(&repo), "M both\nM edited\nD gone\nA new/file\n");
    assert_eq!(repo.head().as_ref(), Some(&made.oid));
    assert!(made.short.len() >= 7 && made.oid.as_str().starts_with(&made.short));
    assert_eq!(made.index_behind, None);
    assert_eq!(
        repo.status(),
        "MM users\nD  users-gone\nA  users-new\n?? unknown\n"
    );
    let head = repo.head().unwrap();
    assert_eq!(repo.content_in(&head, "both"), "and edited on");
    assert_eq!(repo.git(&["show", ":users"]), "staged by the user");
}

#[test]
fn staged_neighbours_are_not_committed() {
    let repo = Repo::with(&["a"]);
    repo.write("a", "other");
    repo.write("user", "x");
    repo.git(&["add", "-N", "user"]);
    made(&commit(&repo, &request(&repo, &["a"])));
    assert_eq!(committed(&repo), "M a\n");
    assert_eq!(repo.status(), " A user\n");
}

#[test]
fn dirty_files_are_skipped_except_the_specs_own() {
    let repo = Repo::with(&["code", "dirty", "specs/x/tasks.md"]);
    for path in ["code", "dirty", "specs/x/tasks.md"] {
        repo.write(path, "changed");
    }
    let mut asked = request(&repo, &["code", "dirty"]);
    asked.leave_alone = paths(&["dirty", "specs/x/tasks.md", "clean-now"]);
    asked.spec_files = paths(&["specs/x/tasks.md", "specs/x/.progress.md"]);
    let done = commit(&repo, &asked);
    made(&done);
    assert_eq!(committed(&repo), "M code\nM specs/x/tasks.md\n");
    let left: Vec<_> = done
        .skipped
        .iter()
        .map(|one| (&one.path, one.why))
        .collect();
    assert_eq!(left, [(&rel("dirty"), SkipReason::DirtyBefore)]);
    assert_eq!(repo.status(), " M dirty\n");
}

#[test]
fn ignored_files_and_nested_repositories_are_not_committed() {
    let repo = Repo::with(&["a"]);
    repo.write(".gitignore", "specs/\n");
    repo.write("specs/x/tasks.md", "ignored by choice");
    repo.write("inner/file", "x");
    crate::repo::run_git(&repo.path("inner"), &["init", "-q"]);
    let mut asked = request(&repo, &["inner", ".gitignore", "specs/x/tasks.md"]);
    asked.spec_files = paths(&["specs/x/tasks.md"]);
    let done = commit(&repo, &asked);
    made(&done);
    assert_eq!(committed(&repo), "A .gitignore\n");
    let left: Vec<String> = done.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(
        left,
        ["inner was not committed: it is a separate repository"]
    );
}

#[test]
fn staged_additions_and_removals_of_ignored_files_are_committed() {
    let repo = Repo::with(&["built.log", "also.log", "f"]);
    repo.write(".gitignore", "*.log\n");
    repo.write("forced.log", "x");
    repo.git(&["add", "-f", ".gitignore", "forced.log"]);
    repo.git(&["rm", "-q", "--cached", "built.log", "also.log"]);
    let asked = request(&repo, &[".gitignore", "built.log", "forced.log"]);
    made(&commit(&repo, &asked));
    assert_eq!(
        committed(&repo),
        "A .gitignore\nD built.log\nA forced.log\n"
    );
    assert_eq!(repo.status(), "D  also.log\n");
    assert_eq!(repo.read("built.log"), "built.log");
}

#[test]
fn unchanged_paths_make_no_commit() {
    let repo = Repo::with(&["a", "b"]);
    repo.write("a", "by the agent");
    repo.commit_all("the agent's own");
    repo.write("b", "the user's");
    repo.git(&["add", "b"]);
    let untouched = repo.fingerprint();
    let asked = request(&repo, &["a", "made-and-removed"]);
    let done = commit(&repo, &asked);
    assert_eq!(done.outcome, CommitOutcome::NothingToCommit);
    assert_untouched(&repo, &untouched);
}

#[test]
fn only_what_the_agent_did_not_commit_is_committed() {
    let repo = Repo::with(&["a", "b"]);
    repo.write("a", "by the agent");
    repo.commit_all("the agent's own");
    repo.write("b", "left");
    made(&commit(&repo, &request(&repo, &["a", "b"])));
    assert_eq!(committed(&repo), "M b\n");
}

#[test]
fn a_message_is_sanitized() {
    let repo = Repo::with(&["a"]);
    repo.git(&["config", "commit.cleanup", "strip"]);
    repo.git(&["config", "commit.template", "/nonexistent"]);
    repo.git(&["config", "i18n.commitEncoding", "ISO-8859-1"]);
    repo.write("a", "x");
    let mut asked = request(&repo, &["a"]);
    asked.message = "--amend: grün\r\n\r\n#42 stays\0\u{1b}[2J\n\n\n".to_owned();
    made(&commit(&repo, &asked));
    assert_eq!(
        repo.git(&["log", "-1", "--format=%B", "--encoding=UTF-8"]),
        "--amend: grün\n\n#42 stays[2J\n\n"
    );
    repo.write("a", "y");
    let mut asked = request(&repo, &["a"]);
    asked.message = "\0 \n".to_owned();
    let error = commit_error(&repo, &asked);
    assert!(matches!(error, CommitError::NoMessage));
}

#[test]
fn a_repeated_request_makes_one_commit() {
    let repo = Repo::with(&["a"]);
    repo.write("a", "x");
    let asked = request(&repo, &["a"]);
    let first = made(&commit(&repo, &asked)).clone();
    for later in ["", "the agent went on", "and on"] {
        if !later.is_empty() {
            repo.write("a", later);
        }
        let untouched = repo.fingerprint();
        let again = commit(&repo, &asked);
        assert_eq!(again.outcome, CommitOutcome::AlreadyMade(first.clone()));
        assert_untouched(&repo, &untouched);
        // Others may commit on top of it.
        repo.write("other", later);
        repo.git(&["add", "other"]);
        repo.git(&["commit", "-qm", "other", "--allow-empty"]);
    }
}

#[test]
fn a_crash_between_head_and_index_is_repaired() {
    let repo = Repo::with(&["a", "gone", "user"]);
    repo.write("a", "x");
    repo.write("new", "x");
    repo.remove("gone");
    repo.write("user", "staged");
    repo.git(&["add", "user"]);
    let asked = request(&repo, &["a", "gone", "new"]);
    let index = fs::read(repo.path(".git/index")).unwrap();
    made(&commit(&repo, &asked));
    // As if the process had ended right after HEAD moved.
    fs::write(repo.path(".git/index"), index).unwrap();
    assert_ne!(repo.status(), "M  user\n");
    let again = commit(&repo, &asked);
    assert!(matches!(again.outcome, CommitOutcome::AlreadyMade(_)));
    assert_eq!(repo.status(), "M  user\n");
}

#[test]
fn the_root_commit_is_found_again() {
    let repo = Repo::unborn();
    repo.write("a", "x");
    let asked = request(&repo, &["a"]);
    assert_eq!(asked.parent, None);
    let first = made(&commit(&repo, &asked)).clone();
    let again = commit(&repo, &asked);
    assert_eq!(again.outcome, CommitOutcome::AlreadyMade(first));
}

#[test]
fn without_a_reflog_the_message_identifies_the_commit() {
    let repo = Repo::with(&["a"]);
    repo.git(&["config", "core.logAllRefUpdates", "false"]);
    fs::remove_dir_all(repo.path(".git/logs")).unwrap();
    repo.write("a", "x");
    let asked = request(&repo, &["a"]);
    let first = made(&commit(&repo, &asked)).clone();
    let again = commit(&repo, &asked);
    assert_eq!(again.outcome, CommitOutcome::AlreadyMade(first));
}

/// Once a fix is committed, HEAD is past the last attempt of its task.
#[test]
fn a_commit_is_found_again_though_others_came_before_it() {
    for reflog in ["true", "false"] {
        let repo = Repo::with(&["a"]);
        repo.git(&["config", "core.logAllRefUpdates", reflog]);
        if reflog == "false" {
            fs::remove_dir_all(repo.path(".git/logs")).unwrap();
        }
        let asked = request(&repo, &["a"]);
        repo.git(&["commit", "-qm", "a fix", "--allow-empty"]);
        repo.write("a", "x");
        let first = made(&commit(&repo, &asked)).clone();
        repo.write("a", "the agent went on");
        let again = commit(&repo, &asked);
        assert_eq!(again.outcome, CommitOutcome::AlreadyMade(first), "{reflog}");
    }
}

#[test]
fn commits_with_the_same_message_are_distinct() {
    let repo = Repo::with(&["a"]);
    for content in ["one", "two"] {
        repo.write("a", content);
        let mut asked = request(&repo, &["a"]);
        asked.key = format!("r1/{content}");
        made(&commit(&repo, &asked));
    }
    assert_eq!(repo.git(&["rev-list", "--count", "HEAD"]), "3\n");
}

#[test]
fn foreign_commits_are_accepted_but_another_branch_is_not() {
    let repo = Repo::with(&["a", "b"]);
    repo.write("a", "x");
    let asked = request(&repo, &["a"]);
    repo.write("b", "the user's");
    repo.git(&["commit", "-qm", "the user's", "b"]);
    made(&commit(&repo, &asked));
    assert_eq!(committed(&repo), "M a\n");

    repo.write("a", "y");
    let mut asked = request(&repo, &["a"]);
    asked.key.push_str("/next");
    repo.git(&["checkout", "-q", "--orphan", "elsewhere"]);
    repo.git(&["commit", "-qm", "another history", "--allow-empty"]);
    let error = commit_error(&repo, &asked);
    assert!(matches!(error, CommitError::HeadMoved { .. }), "{error}");
}

#[test]
fn a_missing_identity_is_reported_with_the_fix() {
    let repo = Repo::with(&["a"]);
    repo.git(&["config", "--unset", "user.name"]);
    repo.git(&["config", "--unset", "user.email"]);
    repo.git(&["config", "user.useConfigOnly", "true"]);
    repo.write("a", "x");
    let untouched = repo.fingerprint();
    let error = commit_error(&repo, &request(&repo, &["a"]));
    assert!(matches!(error, CommitError::NoIdentity { .. }), "{error}");
    assert!(error.to_string().contains("git config --global user.email"));
    assert_untouched(&repo, &untouched);
}

#[test]
fn commits_are_signed_if_configured() {
    let repo = Repo::with(&["a"]);
    repo.git(&["config", "commit.gpgsign", "true"]);
    repo.git(&["config", "gpg.program", "false"]);
    repo.write("a", "x");
    let error = commit_error(&repo, &request(&repo, &["a"]));
    assert!(
        matches!(error, CommitError::Git(GitError::Failed { .. })),
        "{error}"
    );
    assert!(error.to_string().contains("sign"));
}

#[test]
fn a_locked_index_does_not_prevent_the_commit() {
    let repo = Repo::with(&["a"]);
    repo.write("a", "x");
    let asked = request(&repo, &["a"]);
    fs::write(repo.path(".git/index.lock"), "").unwrap();
    let done = commit(&repo, &asked);
    assert!(made(&done).index_behind.is_some());
    assert_eq!(committed(&repo), "M a\n");
    fs::remove_file(repo.path(".git/index.lock")).unwrap();
    let again = commit(&repo, &asked);
    assert!(matches!(
        again.outcome,
        CommitOutcome::AlreadyMade(NewCommit {
            index_behind: None,
            ..
        })
    ));
    assert_eq!(repo.status(), "");
}

#[test]
fn the_content_at_commit_time_is_committed() {
    let repo = Repo::with(&["a", "dir/b"]);
    repo.write("a", "by the agent");
    let asked = request(&repo, &["a", "dir/b", "dir", "-f", "li\nne"]);
    repo.write("a", "and then by the user");
    fs::remove_dir_all(repo.path("dir")).unwrap();
    repo.link("a", "dir");
    repo.write("-f", "x");
    repo.write("li\nne", "x");
    made(&commit(&repo, &asked));
    assert_eq!(
        committed(&repo),
        "A -f\nM a\nA dir\nD dir/b\nA \"li\\nne\"\n"
    );
    let head = repo.head().unwrap();
    assert_eq!(repo.content_in(&head, "a"), "and then by the user");
    assert_eq!(repo.status(), "");
}
