//! Compares snapshots, which are made path by path, with `git add -A`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use proptest::prelude::*;
use regreen_workspace::Snapshots;

use crate::repo::{Repo, attempt, moment, quiet_env};

/// A change to a work tree. There are few names, so that changes interact.
#[derive(Clone, Debug)]
enum Edit {
    Write(String, String),
    Remove(String),
    Link(String, String),
    Execute(String),
    Stage(String),
    Unstage(String),
    Force(String),
    Commit,
    Snapshot,
}

fn name() -> impl Strategy<Value = String> {
    "[a-c](/[a-c]){0,2}"
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        5 => (name(), "[xy]{0,2}").prop_map(|(path, text)| Edit::Write(path, text)),
        2 => name().prop_map(Edit::Remove),
        1 => (name(), "[a-c]").prop_map(|(path, target)| Edit::Link(path, target)),
        1 => name().prop_map(Edit::Execute),
        2 => name().prop_map(Edit::Stage),
        1 => name().prop_map(Edit::Unstage),
        1 => Just(Edit::Commit),
        1 => name().prop_map(Edit::Force),
        2 => Just(Edit::Snapshot),
    ]
}

/// Makes the change if it is possible.
fn act(repo: &Repo, edit: &Edit) {
    let quietly = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(args).current_dir(repo.root()).envs(quiet_env());
        git.output().unwrap();
    };
    let clear = |path: &str| {
        let place = repo.path(path);
        if place.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            fs::remove_dir_all(&place).unwrap();
        } else {
            let _ = fs::remove_file(&place);
        }
        fs::create_dir_all(place.parent().unwrap()).is_ok()
    };
    match edit {
        Edit::Write(path, text) => {
            if clear(path) {
                fs::write(repo.path(path), text).unwrap();
            }
        }
        Edit::Remove(path) => drop(clear(path)),
        Edit::Link(path, target) => {
            if clear(path) {
                repo.link(target, path);
            }
        }
        Edit::Execute(path) => {
            if repo
                .path(path)
                .symlink_metadata()
                .is_ok_and(|found| found.is_file())
            {
                let executable = fs::Permissions::from_mode(0o755);
                fs::set_permissions(repo.path(path), executable).unwrap();
            }
        }
        Edit::Stage(path) => quietly(&["add", "-A", "--", path]),
        Edit::Unstage(path) => quietly(&["rm", "-r", "-q", "--cached", "--", path]),
        Edit::Commit => quietly(&["commit", "-q", "-m", "x"]),
        Edit::Force(path) => quietly(&["add", "-A", "-f", "--", path]),
        Edit::Snapshot => {}
    }
}

/// Returns the tree that `git add -A` makes of a copy of the user's index.
fn added_by_git(repo: &Repo) -> String {
    let index = repo.scratch().join("judge-index");
    let _ = fs::remove_file(&index);
    // Git rereads files that aren't older than the index.
    let _ = fs::copy(repo.path(".git/index"), &index);
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(args).current_dir(repo.root()).envs(quiet_env());
        let output = git.env("GIT_INDEX_FILE", &index).output().unwrap();
        assert!(output.status.success(), "{args:?} {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    if index.exists() {
        // The copy is newer than the original: discard its stat data.
        git(&["update-index", "-q", "--really-refresh"]);
    }
    git(&["add", "-A", "--", ":/", ":(exclude,top).regreen"]);
    git(&["write-tree"]).trim().to_owned()
}

fn snapshot(repo: &Repo, snapshots: &mut Snapshots) -> String {
    let snapshot = snapshots.take_before(&attempt(1), moment()).unwrap();
    assert_eq!(snapshot.warnings, []);
    let tree = format!("{}^{{tree}}", snapshot.oid);
    repo.git(&["rev-parse", &tree]).trim().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_snapshot_is_what_git_would_add(
        ignored in "[a-c]|z",
        edits in proptest::collection::vec(edit(), 1..20),
    ) {
        let repo = Repo::unborn();
        repo.write(".gitignore", &ignored);
        let mut snapshots = repo.snapshots();
        for edit in &edits {
            act(&repo, edit);
            if matches!(edit, Edit::Snapshot) {
                let found = snapshot(&repo, &mut snapshots);
                prop_assert_eq!(found, added_by_git(&repo), "{:?}", repo.status());
            }
        }
        prop_assert_eq!(snapshot(&repo, &mut snapshots), added_by_git(&repo), "{:?}", repo.status());
    }
}
