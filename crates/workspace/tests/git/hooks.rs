use std::io;
use std::sync::{Arc, Mutex};

use regreen_workspace::{CommitError, Git, GitCall, GitReply, GitRunner, PlainRunner};

use crate::commits::{commit, committed, made, request};
use crate::repo::{Repo, around, quiet_env};

#[test]
fn a_refusing_hook_is_quoted_and_changes_nothing() {
    for hook in ["pre-commit", "commit-msg", "prepare-commit-msg"] {
        let repo = Repo::with(&["a", "user"]);
        repo.hook(hook, "echo 'lint: line 3'; echo 'and more' >&2; exit 9");
        repo.write("user", "staged");
        repo.git(&["add", "user"]);
        repo.write("a", "x");
        repo.write("new", "x");
        // Git keeps the message of a commit, whether or not it was made.
        let untouched = || {
            let mut files = repo.fingerprint();
            files.remove(&repo.path(".git/COMMIT_EDITMSG"));
            files
        };
        let before = untouched();
        let request = request(&repo, &["a", "new"]);
        for _ in 0..2 {
            match repo.open().commit(&request, &repo.scratch()) {
                Err(CommitError::Refused { output }) => {
                    assert_eq!(output, "lint: line 3\nand more", "{hook}");
                }
                other => panic!("{hook}: {other:?}"),
            }
            assert!(untouched() == before, "{hook}");
        }
    }
}

#[test]
fn hooks_see_exactly_the_commit_in_their_usual_environment() {
    let repo = Repo::with(&["a.txt", "user.txt"]);
    repo.write("user.txt", "staged");
    repo.git(&["add", "user.txt"]);
    repo.write("a.txt", "x");
    repo.write("new.txt", "x");
    repo.hook(
        "pre-commit",
        "git diff --cached --name-only -- '*.txt' > .regreen/seen; env >> .regreen/seen",
    );
    made(&commit(&repo, &request(&repo, &["a.txt", "new.txt"])));
    let seen = repo.read(".regreen/seen");
    assert!(seen.starts_with("a.txt\nnew.txt\n"), "{seen}");
    assert!(!seen.contains("user.txt"));
    for variable in ["GIT_LITERAL_PATHSPECS", "LC_ALL=C\n", "GIT_OPTIONAL_LOCKS"] {
        assert!(!seen.contains(variable), "{variable}");
    }
}

#[test]
fn a_hook_may_change_what_is_committed() {
    let repo = Repo::with(&["a", "user"]);
    repo.write("user", "staged");
    repo.git(&["add", "user"]);
    repo.write("a", "x");
    repo.hook(
        "pre-commit",
        "echo formatted > a; echo generated > gen; git add a gen",
    );
    repo.hook("commit-msg", "echo 'Change-Id: 7' >> \"$1\"");
    let asked = request(&repo, &["a"]);
    made(&commit(&repo, &asked));
    assert_eq!(committed(&repo), "M a\nA gen\n");
    let head = repo.head().unwrap();
    assert_eq!(repo.content_in(&head, "a"), "formatted\n");
    assert_eq!(repo.status(), "M  user\n");
    // The message isn't the requested one, and the commit is still found.
    let again = commit(&repo, &asked);
    assert!(matches!(
        again.outcome,
        regreen_workspace::CommitOutcome::AlreadyMade(_)
    ));
}

#[test]
fn a_hook_may_change_files_without_committing_them() {
    let repo = Repo::with(&["a"]);
    repo.write("a", "x");
    repo.hook("pre-commit", "echo later > a");
    made(&commit(&repo, &request(&repo, &["a"])));
    assert_eq!(repo.content_in(&repo.head().unwrap(), "a"), "x");
    assert_eq!(repo.status(), " M a\n");
}

#[test]
fn a_hook_after_the_commit_may_amend_it() {
    let repo = Repo::with(&["a"]);
    repo.write("a", "x");
    repo.hook(
        "post-commit",
        "test -e .git/amended && exit 0; touch .git/amended; git commit -q --amend -m amended",
    );
    let done = commit(&repo, &request(&repo, &["a"]));
    assert_eq!(Some(&made(&done).oid), repo.head().as_ref());
    assert_eq!(repo.git(&["log", "-1", "--format=%s"]), "amended\n");
}

/// Records the calls that it runs.
#[derive(Debug)]
struct Noting {
    inner: PlainRunner,
    seen: Mutex<Vec<GitCall>>,
}

impl GitRunner for Noting {
    fn run(&self, call: &GitCall) -> io::Result<GitReply> {
        self.seen.lock().unwrap().push(call.clone());
        self.inner.run(call)
    }
}

#[test]
fn only_commits_use_the_hook_runner() {
    let repo = Repo::with(&["a"]);
    repo.write("a", "x");
    let noting = Arc::new(Noting {
        inner: PlainRunner::with_env(quiet_env()),
        seen: Mutex::default(),
    });
    let git: Git = repo
        .open()
        .with_hook_runner(Arc::clone(&noting) as Arc<dyn GitRunner>);
    git.commit(&request(&repo, &["a"]), &repo.scratch())
        .unwrap();
    let seen = noting.seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    let call = seen.first().unwrap();
    assert!(call.args.iter().any(|arg| arg == "commit"));
    assert!(
        !call
            .args
            .iter()
            .any(|arg| arg == "--no-verify" || arg == "-m")
    );
    assert_eq!(call.stdin, b"feat: it\n");
}

#[test]
fn git_is_asked_what_it_has_committed_only_if_a_hook_has_replaced_it() {
    let repo = Repo::with(&["a"]);
    repo.hook("pre-commit", "echo '[main 1234567] not this one'");
    let calls_after_commit = |text: &str| {
        repo.write("a", text);
        let noting = Arc::new(Noting {
            inner: PlainRunner::with_env(quiet_env()),
            seen: Mutex::default(),
        });
        let git = Git::open_with(
            repo.open().root(),
            Arc::clone(&noting) as Arc<dyn GitRunner>,
        )
        .unwrap();
        let report = git
            .commit(&request(&repo, &["a"]), &repo.scratch())
            .unwrap();
        let short = repo.git(&["log", "-1", "--format=%h"]);
        assert_eq!(made(&report).short, short.trim());
        let seen = noting.seen.lock().unwrap();
        let is_call = |call: &GitCall, name: &str| call.args.iter().any(|arg| arg == name);
        let at = seen
            .iter()
            .position(|call| is_call(call, "commit"))
            .unwrap();
        seen.iter()
            .skip(at + 1)
            .filter(|call| is_call(call, "log"))
            .count()
    };
    assert_eq!(calls_after_commit("x"), 0);
    repo.hook(
        "post-commit",
        "test -e .git/amended && exit 0; touch .git/amended; git commit -q --amend -m amended",
    );
    assert_eq!(calls_after_commit("y"), 1);
}

#[test]
fn snapshots_run_no_hooks() {
    let repo = Repo::with(&["a"]);
    for hook in ["reference-transaction", "post-index-change", "pre-commit"] {
        repo.hook(hook, &format!("echo {hook} >>.regreen/ran"));
    }
    let mut snapshots = repo.snapshots();
    around(&repo, &mut snapshots, 1, |repo| repo.write("a", "x"));
    assert!(!repo.path(".regreen/ran").exists());
    made(&commit(&repo, &request(&repo, &["a"])));
    let ran = repo.read(".regreen/ran");
    assert!(ran.contains("pre-commit\n"), "{ran}");
}
