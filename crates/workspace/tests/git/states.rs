//! Snapshots and commits in every state of a repository.

use std::fs;

use regreen_workspace::{
    CommitError, CommitOutcome, Git, InProgress, PlainRunner, SnapshotLimits, Snapshots,
};

use crate::commits::{commit, commit_error, committed, made, request};
use crate::repo::{
    Repo, around, assert_untouched, attempt, changes, check_attempt, moment, quiet_env, run_git,
};

/// Checks that an edit, a new file and a removed one are detected.
fn check_snapshots(repo: &Repo, edited: &str, gone: &str) {
    let mut snapshots = repo.snapshots();
    let (before, after) = around(repo, &mut snapshots, 1, |repo| {
        repo.write(edited, "an edit");
        repo.write("zz-new", "new");
        repo.remove(gone);
    });
    let mut expected = vec![
        format!("M {edited}"),
        format!("D {gone}"),
        "A zz-new".into(),
    ];
    expected.sort_by(|a, b| a[2..].cmp(&b[2..]));
    assert_eq!(changes(snapshots.git(), &before, &after), expected);
}

#[test]
fn before_the_first_commit() {
    let repo = Repo::unborn();
    repo.write("a", "a");
    repo.write("b", "b");
    check_snapshots(&repo, "a", "b");
    made(&commit(&repo, &request(&repo, &["a", "zz-new"])));
    assert_eq!(repo.status(), "");
}

#[test]
fn what_is_staged_before_the_first_commit_stays_staged() {
    let repo = Repo::unborn();
    repo.write("mine", "staged");
    repo.git(&["add", "mine"]);
    repo.write("mine", "edited on");
    repo.write("a", "a");
    made(&commit(&repo, &request(&repo, &["a"])));
    assert_eq!(committed(&repo), "A a\n");
    assert_eq!(repo.status(), "AM mine\n");
    assert_eq!(repo.git(&["show", ":mine"]), "staged");
}

/// Git has a reference for the newest stash only.
#[test]
fn every_stash_that_is_removed_is_found() {
    let repo = Repo::with(&["a"]);
    for text in ["one", "two", "three"] {
        repo.write("a", text);
        repo.git(&["stash", "push", "-q"]);
    }
    let git = repo.open();
    let before = git.references().unwrap();
    let lost = |before: &regreen_workspace::References| {
        let lost = git.lost_references(before, Some("refs/heads/main"), &attempt(1));
        let lost = lost.unwrap();
        lost.iter()
            .map(regreen_workspace::LostReference::shown)
            .collect::<Vec<_>>()
    };
    assert!(lost(&before).is_empty());
    repo.git(&["stash", "drop", "-q", "stash@{2}"]);
    assert_eq!(lost(&before), ["one of your stashes was removed"]);
    let before = git.references().unwrap();
    repo.git(&["stash", "drop", "-q"]);
    assert_eq!(lost(&before), ["your newest stash was removed or replaced"]);
}

#[test]
fn with_a_detached_head() {
    let repo = Repo::with(&["a", "b"]);
    repo.git(&["checkout", "-q", "--detach"]);
    check_snapshots(&repo, "a", "b");
    made(&commit(&repo, &request(&repo, &["a", "b", "zz-new"])));
    assert_eq!(repo.status(), "");
}

fn conflicting() -> Repo {
    let repo = Repo::with(&["a", "b", "c"]);
    repo.git(&["checkout", "-q", "-b", "other"]);
    repo.write("a", "theirs");
    repo.remove("b");
    repo.commit_all("theirs");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a", "ours");
    repo.write("b", "ours");
    repo.commit_all("ours");
    repo
}

#[test]
fn during_a_merge_rebase_cherry_pick_or_stash() {
    type Start = (&'static [&'static str], Option<InProgress>);
    let starts: [Start; 4] = [
        (&["merge", "-q", "other"], Some(InProgress::Merge)),
        (&["rebase", "-q", "other"], Some(InProgress::Rebase)),
        (&["cherry-pick", "other"], Some(InProgress::CherryPick)),
        (&["stash", "pop", "-q"], None),
    ];
    for (start, state) in starts {
        let repo = conflicting();
        if state.is_none() {
            repo.git(&["checkout", "-q", "-B", "stashing", "main~1"]);
            repo.write("a", "stashed");
            repo.git(&["stash", "push", "-q"]);
            repo.git(&["checkout", "-q", "main"]);
        }
        repo.git_that_stops(start);
        check_snapshots(&repo, "c", "a");
        let untouched = repo.fingerprint();
        let request = request(&repo, &["c", "zz-new"]);
        let error = commit_error(&repo, &request);
        match (&error, state) {
            (CommitError::InTheMiddleOf(found), Some(state))
                if *found == state || *found == InProgress::CherryPick => {}
            (CommitError::Unmerged { paths }, None) => assert_eq!(paths, &["a"]),
            _ => panic!("{start:?}: {error}"),
        }
        assert_untouched(&repo, &untouched);
    }
}

#[test]
fn in_a_second_work_tree() {
    let repo = Repo::with(&["a", "b"]);
    let other = repo.beside("second");
    repo.git(&["worktree", "add", "-q", other.to_str().unwrap()]);
    fs::create_dir(other.join(".regreen")).unwrap();
    fs::write(other.join("a"), "other").unwrap();
    let untouched = repo.fingerprint();
    let runner = std::sync::Arc::new(PlainRunner::with_env(quiet_env()));
    let git = Git::open_with(&other, runner).unwrap();
    let scratch = other.join(".regreen");
    let mut snapshots = Snapshots::new(git.clone(), &scratch, SnapshotLimits::default());
    let snapshot = snapshots.take_before(&attempt(1), moment()).unwrap();
    assert_eq!(repo.content_in(&snapshot.oid, "a"), "other");
    assert_untouched(&repo, &untouched);

    let mut asked = request(&repo, &["a"]);
    asked.parent = git.head().unwrap();
    let made = git.commit(&asked, &scratch).unwrap();
    assert!(matches!(made.outcome, CommitOutcome::Made(_)));
    assert_eq!(run_git(&other, &["log", "--format=%s", "-1"]), "feat: it\n");
    assert_eq!(
        run_git(&other, &["status", "--porcelain", ":!.regreen"]),
        ""
    );
    assert_eq!(repo.git(&["log", "--format=%s", "-1"]), "base\n");
}

#[test]
fn with_submodules() {
    let library = Repo::with(&["lib"]);
    let repo = Repo::with(&["a", "b"]);
    let url = library.root().to_str().unwrap();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        url,
        "sub",
    ];
    repo.git(&add);
    repo.commit_all("sub");
    let mut snapshots = repo.snapshots();
    let (before, after) = around(&repo, &mut snapshots, 1, |repo| {
        repo.write("sub/new", "inside");
        repo.write("a", "other");
    });
    assert_eq!(changes(snapshots.git(), &before, &after), ["M a"]);
    let (before, after) = around(&repo, &mut snapshots, 2, |repo| {
        let sub = repo.path("sub");
        run_git(&sub, &["add", "-A"]);
        let commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q"];
        run_git(&sub, &[&commit[..], &["-m", "inside"]].concat());
    });
    assert_eq!(changes(snapshots.git(), &before, &after), ["M sub"]);
    made(&commit(&repo, &request(&repo, &["a", "sub"])));
    assert_eq!(repo.status(), "");
}

#[test]
fn with_a_sparse_checkout() {
    for style in ["--cone", "--no-cone", "--sparse-index"] {
        let repo = Repo::with(&["in/a", "in/b", "out/c", "top"]);
        repo.git(&["sparse-checkout", "set", style, "in"]);
        assert!(!repo.path("out").exists());
        let after = check_attempt(&repo, &["M in/a", "A out/new"], |repo| {
            repo.write("in/a", "other");
            repo.write("out/new", "outside");
        });
        assert!(repo.files_of(&after.oid).contains(&"out/c".to_owned()));
        made(&commit(&repo, &request(&repo, &["in/a", "out/new"])));
        let head = repo.head().unwrap();
        assert!(
            repo.files_of(&head).contains(&"out/c".to_owned()),
            "{style}"
        );
        assert!(repo.files_of(&head).contains(&"out/new".to_owned()));
        assert_eq!(repo.status(), "", "{style}");
    }
}

#[test]
fn with_interfering_settings() {
    let settings: [&[(&str, &str)]; 7] = [
        &[("core.autocrlf", "true"), ("core.safecrlf", "true")],
        &[("core.autocrlf", "input")],
        &[("core.fsmonitor", "true"), ("core.untrackedCache", "true")],
        &[
            ("core.splitIndex", "true"),
            ("splitIndex.maxPercentChange", "0"),
        ],
        &[("core.logAllRefUpdates", "always"), ("index.version", "4")],
        &[
            ("core.quotePath", "true"),
            ("status.showUntrackedFiles", "no"),
        ],
        &[
            ("index.skipHash", "true"),
            ("core.ignoreStat", "true"),
            ("gc.auto", "1"),
        ],
    ];
    for setting in settings {
        let repo = Repo::with(&["a", "b", "c/d"]);
        for (name, value) in setting {
            repo.git(&["config", name, value]);
        }
        repo.write("a", "lf\n");
        repo.write("c/d", "crlf\r\n");
        repo.git(&[
            "-c",
            "core.safecrlf=false",
            "commit",
            "-aqm",
            "line endings",
        ]);
        check_snapshots(&repo, "a", "b");
        repo.write("a", "one line\r\n");
        repo.write("c/d", "one line\r\n");
        made(&commit(
            &repo,
            &request(&repo, &["a", "b", "c/d", "zz-new"]),
        ));
        let head = repo.head().unwrap();
        let files = repo.files_of(&head);
        assert_eq!(files, ["a", "c/d", "zz-new"], "{setting:?}");
    }
}

#[test]
fn with_sha256_object_names() {
    let repo = Repo::with(&["a", "b"]);
    fs::remove_dir_all(repo.path(".git")).unwrap();
    repo.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    repo.git(&["config", "user.name", "Ann"]);
    repo.git(&["config", "user.email", "ann@example.org"]);
    repo.commit_all("base");
    check_snapshots(&repo, "a", "b");
    made(&commit(&repo, &request(&repo, &["a", "b"])));
    assert_eq!(repo.head().unwrap().as_str().len(), 64);
}

#[test]
fn in_a_folder_with_a_hostile_name() {
    let repo = Repo::unborn_in("-line\nbreak \"$(x)\" ü");
    repo.write("a", "a");
    repo.write("b", "b");
    check_snapshots(&repo, "a", "b");
    made(&commit(&repo, &request(&repo, &["a", "zz-new"])));
}
