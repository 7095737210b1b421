use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use regreen_workspace::{
    AttemptSpan, Call, CallOutcome, FaultyDisk, RealDisk, Snapshots, UndoOutcome,
};

use crate::commits::paths;
use crate::repo::{Repo, around, assert_untouched, rel};

fn spans(snapshots: &Snapshots) -> Vec<AttemptSpan> {
    AttemptSpan::of(&snapshots.git().snapshots(Some("r1")).unwrap())
}

fn undo(snapshots: &mut Snapshots) -> UndoOutcome {
    let spans = spans(snapshots);
    snapshots.undo(&RealDisk, &spans, &BTreeSet::new()).unwrap()
}

fn restored(names: &[&str]) -> UndoOutcome {
    UndoOutcome::Restored {
        paths: names.iter().map(|name| rel(name)).collect(),
        kept: Vec::new(),
    }
}

fn conflicts(undone: UndoOutcome) -> Vec<String> {
    match undone {
        UndoOutcome::Conflicts(conflicts) => conflicts.iter().map(ToString::to_string).collect(),
        other @ UndoOutcome::Restored { .. } => panic!("{other:?}"),
    }
}

/// Makes every kind of change in one attempt.
fn everything(repo: &Repo) {
    repo.write("edited", "other");
    repo.remove("gone");
    fs::remove_dir_all(repo.path("dir")).unwrap();
    repo.write("dir", "a file now");
    repo.remove("file");
    repo.write("file/now/a-dir", "x");
    repo.remove("to-link");
    repo.link("/etc", "to-link");
    fs::set_permissions(repo.path("run"), fs::Permissions::from_mode(0o644)).unwrap();
    repo.write("new/deep\nname/file", "new");
    repo.write("unknown", "after");
}

fn prepared() -> (Repo, Snapshots) {
    let repo = Repo::with(&["edited", "gone", "dir/a", "dir/b", "file", "to-link", "run"]);
    fs::set_permissions(repo.path("run"), fs::Permissions::from_mode(0o755)).unwrap();
    repo.commit_all("executable");
    repo.write("unknown", "before");
    let snapshots = repo.snapshots();
    (repo, snapshots)
}

/// Returns content, mode and path of every file of the work tree.
fn contents(repo: &Repo) -> Vec<(std::path::PathBuf, u32, Vec<u8>)> {
    let files = repo.fingerprint().into_iter();
    files
        .filter(|(path, _)| !path.starts_with(repo.path(".git")))
        .map(|(path, (mode, _, _, content))| (path, mode, content))
        .collect()
}

#[test]
fn every_change_of_an_attempt_is_undone() {
    let (repo, mut snapshots) = prepared();
    let before = contents(&repo);
    let index = fs::read(repo.path(".git/index")).unwrap();
    around(&repo, &mut snapshots, 1, everything);
    assert_ne!(contents(&repo), before);
    assert_eq!(
        undo(&mut snapshots),
        restored(&[
            "dir",
            "dir/a",
            "dir/b",
            "edited",
            "file",
            "file/now/a-dir",
            "gone",
            "new/deep\nname/file",
            "run",
            "to-link",
            "unknown",
        ])
    );
    assert_eq!(contents(&repo), before);
    assert!(!repo.path("new").exists());
    assert_eq!(fs::read(repo.path(".git/index")).unwrap(), index);
    assert_eq!(undo(&mut snapshots), restored(&[]));
    let left: Vec<_> = fs::read_dir(repo.scratch()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "only the index stays: {left:?}");
}

#[test]
fn an_undo_keeps_commits_and_can_be_inspected() {
    let (repo, mut snapshots) = prepared();
    around(&repo, &mut snapshots, 1, |repo| {
        repo.write("edited", "other");
        repo.git(&["commit", "-qam", "the agent's"]);
    });
    let head = repo.head();
    assert_eq!(undo(&mut snapshots), restored(&["edited"]));
    assert_eq!(repo.head(), head);
    assert_eq!(repo.status(), " M edited\n?? unknown\n");
}

#[test]
fn several_attempts_are_undone_to_before_the_first() {
    let (repo, mut snapshots) = prepared();
    let before = contents(&repo);
    around(&repo, &mut snapshots, 1, |repo| repo.write("edited", "1"));
    around(&repo, &mut snapshots, 2, |repo| {
        repo.write("edited", "2");
        repo.write("more", "2");
    });
    assert_eq!(undo(&mut snapshots), restored(&["edited", "more"]));
    assert_eq!(contents(&repo), before);
}

#[test]
fn nothing_is_undone_if_a_later_change_would_be_lost() {
    let (repo, mut snapshots) = prepared();
    around(&repo, &mut snapshots, 1, everything);
    repo.write("edited", "by a person, later");
    repo.write("dir-later", "unrelated");
    let untouched = repo.fingerprint();
    assert_eq!(
        conflicts(undo(&mut snapshots)),
        ["edited was changed after the task"]
    );
    assert_untouched(&repo, &untouched);
}

#[test]
fn an_edit_between_two_attempts_is_kept() {
    let (repo, mut snapshots) = prepared();
    around(&repo, &mut snapshots, 1, |repo| repo.write("edited", "1"));
    repo.write("edited", "by a person");
    around(&repo, &mut snapshots, 2, |repo| repo.write("edited", "2"));
    assert_eq!(
        conflicts(undo(&mut snapshots)),
        ["edited was changed by someone else between two attempts"]
    );
    let except = paths(&["edited"]);
    let spans = spans(&snapshots);
    let undone = snapshots.undo(&RealDisk, &spans, &except).unwrap();
    assert_eq!(undone, restored(&[]));
    assert_eq!(repo.read("edited"), "2");
}

#[test]
fn a_file_that_no_snapshot_holds_is_never_overwritten() {
    let (repo, mut snapshots) = prepared();
    around(&repo, &mut snapshots, 1, |repo| {
        repo.git(&["rm", "-q", "gone"]);
        fs::remove_dir_all(repo.path("dir")).unwrap();
    });
    repo.write(".gitignore", "gone\ndir\n");
    repo.write("gone", "a person's, ignored");
    repo.write("dir", "a person's, ignored");
    let untouched = repo.fingerprint();
    let told = conflicts(undo(&mut snapshots));
    assert_eq!(
        told,
        [
            "gone is not part of the snapshots",
            "dir/a was replaced by something else",
            "dir/b was replaced by something else",
        ]
    );
    assert_untouched(&repo, &untouched);
}

#[test]
fn a_folder_with_a_users_file_stays() {
    let (repo, mut snapshots) = prepared();
    around(&repo, &mut snapshots, 1, |repo| {
        repo.remove("file");
        repo.write("file/x", "x");
    });
    repo.write("file/persons", "x");
    let told = conflicts(undo(&mut snapshots));
    assert_eq!(told, ["file was replaced by something else"]);
    repo.remove("file/persons");
    assert_eq!(undo(&mut snapshots), restored(&["file", "file/x"]));
    assert_eq!(repo.read("file"), "file");
}

#[test]
fn a_nested_repository_stays() {
    let (repo, mut snapshots) = prepared();
    around(&repo, &mut snapshots, 1, |repo| {
        repo.write("inner/x", "x");
        let inner = repo.path("inner");
        crate::repo::run_git(&inner, &["init", "-q"]);
        let commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit"];
        crate::repo::run_git(
            &inner,
            &[&commit[..], &["-qm", "x", "--allow-empty"]].concat(),
        );
    });
    assert_eq!(
        conflicts(undo(&mut snapshots)),
        ["inner is a separate repository"]
    );
}

/// Restores what `prepared` created, without regreen.
fn reset(repo: &Repo) {
    for entry in fs::read_dir(repo.root()).unwrap().flatten() {
        let path = entry.path();
        if path.ends_with(".git") || path.ends_with(".regreen") {
            continue;
        }
        if path.symlink_metadata().unwrap().is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    repo.git(&["checkout", "-q", "-f", "HEAD", "--", "."]);
    repo.write("unknown", "before");
}

#[test]
fn an_undo_killed_at_any_call_can_be_repeated() {
    let (repo, mut snapshots) = prepared();
    let before = contents(&repo);
    around(&repo, &mut snapshots, 1, everything);
    let spans = spans(&snapshots);
    let mut killed_at = 0;
    loop {
        let disk = FaultyDisk::new(RealDisk, |call: Call| {
            if call.index == killed_at {
                CallOutcome::Stop
            } else {
                CallOutcome::Pass
            }
        });
        let done = snapshots.undo(&disk, &spans, &BTreeSet::new()).is_ok();
        // Another process completes it.
        let mut others = repo.snapshots();
        let second = others.undo(&RealDisk, &spans, &BTreeSet::new()).unwrap();
        assert!(
            matches!(second, UndoOutcome::Restored { .. }),
            "{killed_at}: {second:?}"
        );
        assert_eq!(contents(&repo), before, "{killed_at}");
        if done {
            break;
        }
        // Leftovers of the killed process would add calls to the next one.
        fs::remove_dir_all(repo.scratch()).unwrap();
        fs::create_dir(repo.scratch()).unwrap();
        everything(&repo);
        killed_at += 1;
    }
    assert!(killed_at > 10);
}

#[test]
fn a_save_at_any_call_of_an_undo_is_not_lost() {
    let (repo, mut snapshots) = prepared();
    around(&repo, &mut snapshots, 1, everything);
    let spans = spans(&snapshots);
    for path in ["edited", "new/deep\nname/file", "gone"] {
        let mut moment = 0;
        loop {
            reset(&repo);
            everything(&repo);
            let disk = FaultyDisk::new(RealDisk, |call: Call| {
                if call.index == moment {
                    repo.write(path, "saved just now");
                }
                CallOutcome::Pass
            });
            let undone = snapshots.undo(&disk, &spans, &BTreeSet::new()).unwrap();
            if disk.calls() <= moment {
                break;
            }
            assert_eq!(
                repo.read(path),
                "saved just now",
                "{path} {moment}: {undone:?}"
            );
            moment += 1;
        }
        assert!(moment > 10);
    }
}

#[test]
fn a_repeated_task_can_be_undone_again() {
    let repo = Repo::with(&["f"]);
    let mut snapshots = repo.snapshots();
    around(&repo, &mut snapshots, 1, |repo| {
        repo.write("f", "first");
        repo.write("new", "first");
    });
    assert_eq!(undo(&mut snapshots), restored(&["f", "new"]));
    around(&repo, &mut snapshots, 2, |repo| {
        repo.write("f", "second");
        repo.write("new", "second");
    });
    let spans = spans(&snapshots);
    let changed = snapshots.git().task_changes(&spans, &BTreeSet::new());
    let changed: Vec<String> = changed
        .unwrap()
        .iter()
        .map(|change| format!("{} {}", change.path, change.between))
        .collect();
    assert_eq!(changed, ["f false", "new false"]);
    assert_eq!(undo(&mut snapshots), restored(&["f", "new"]));
}

#[test]
fn an_index_of_an_earlier_guard_is_not_kept_for_a_repository_without_one() {
    let repo = Repo::with(&["f"]);
    let mut snapshots = repo.snapshots();
    snapshots.guard_head().unwrap();
    let copy = repo.scratch().join("guarded-index");
    assert!(copy.exists());
    repo.remove(".git/index");
    snapshots.guard_head().unwrap();
    assert!(!copy.exists());
}
