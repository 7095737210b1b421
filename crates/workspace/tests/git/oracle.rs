//! Snapshots are made path by path; git's own way of adding everything is the judge.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use proptest::prelude::*;
use regreen_workspace::Snapshots;

use crate::repo::{Repo, attempt, moment, quiet_env};

/// Something done to a work tree. Names are few, so that deeds meet.
#[derive(Clone, Debug)]
enum Deed {
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

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        5 => (name(), "[xy]{0,2}").prop_map(|(path, text)| Deed::Write(path, text)),
        2 => name().prop_map(Deed::Remove),
        1 => (name(), "[a-c]").prop_map(|(path, target)| Deed::Link(path, target)),
        1 => name().prop_map(Deed::Execute),
        2 => name().prop_map(Deed::Stage),
        1 => name().prop_map(Deed::Unstage),
        1 => Just(Deed::Commit),
        1 => name().prop_map(Deed::Force),
        2 => Just(Deed::Snapshot),
    ]
}

/// Does what can be done; the rest of the world does not mind either.
fn act(repo: &Repo, deed: &Deed) {
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
    match deed {
        Deed::Write(path, text) => {
            if clear(path) {
                fs::write(repo.path(path), text).unwrap();
            }
        }
        Deed::Remove(path) => drop(clear(path)),
        Deed::Link(path, target) => {
            if clear(path) {
                repo.link(target, path);
            }
        }
        Deed::Execute(path) => {
            if repo
                .path(path)
                .symlink_metadata()
                .is_ok_and(|found| found.is_file())
            {
                let executable = fs::Permissions::from_mode(0o755);
                fs::set_permissions(repo.path(path), executable).unwrap();
            }
        }
        Deed::Stage(path) => quietly(&["add", "-A", "--", path]),
        Deed::Unstage(path) => quietly(&["rm", "-r", "-q", "--cached", "--", path]),
        Deed::Commit => quietly(&["commit", "-q", "-m", "x"]),
        Deed::Force(path) => quietly(&["add", "-A", "-f", "--", path]),
        Deed::Snapshot => {}
    }
}

/// The tree that `git add -A` makes of a copy of the user's index.
fn judged(repo: &Repo) -> String {
    let index = repo.scratch().join("judge-index");
    let _ = fs::remove_file(&index);
    // An index as old as the files it is compared with is read again by git.
    let _ = fs::copy(repo.path(".git/index"), &index);
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(args).current_dir(repo.root()).envs(quiet_env());
        let output = git.env("GIT_INDEX_FILE", &index).output().unwrap();
        assert!(output.status.success(), "{args:?} {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    if index.exists() {
        // The copy is newer than the original: forget what it claims to know.
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
        deeds in proptest::collection::vec(deed(), 1..20),
    ) {
        let repo = Repo::unborn();
        repo.write(".gitignore", &ignored);
        let mut snapshots = repo.snapshots();
        for deed in &deeds {
            act(&repo, deed);
            if matches!(deed, Deed::Snapshot) {
                let found = snapshot(&repo, &mut snapshots);
                prop_assert_eq!(found, judged(&repo), "{:?}", repo.status());
            }
        }
        prop_assert_eq!(snapshot(&repo, &mut snapshots), judged(&repo), "{:?}", repo.status());
    }
}
