//! Permissions and owners, which don't apply to root: as root, each test runs itself again as
//! `nobody`.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use regreen_workspace::{
    CommitRequest, Git, GitError, OmissionReason, PlainRunner, SkipReason, SnapshotLimits,
    Snapshots,
};

use crate::commits::paths;
use crate::repo::{Repo, attempt, moment, quiet_env, run_git};

const PLACE: &str = "REGREEN_TEST_REPOSITORY_OF_ANOTHER_USER";
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn as_ordinary_user(inner: &str, repo: &Repo) {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", &format!("other_user::{inner}"), "--ignored"])
        .env(PLACE, repo.root());
    if is_root() {
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
    }
    match command.output() {
        Err(error) => println!("skipped: cannot run as an ordinary user: {error}"),
        Ok(output) => {
            let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
            assert!(output.status.success() && ran, "{output:#?}");
        }
    }
}

/// Returns the folder that the outer half prepared; `None` if the inner half runs by itself.
fn prepared() -> Option<PathBuf> {
    env::var_os(PLACE).map(PathBuf::from)
}

fn give_to_nobody(path: &Path) {
    if !is_root() {
        return;
    }
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_to_nobody(&entry.unwrap().path());
        }
    }
}

fn let_everybody_in(repo: &Repo) {
    let folder = repo.root().parent().unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
}

fn open(root: &Path) -> Result<Git, GitError> {
    Git::open_with(root, Arc::new(PlainRunner::with_env(quiet_env())))
}

#[test]
fn unreadable_files_are_left_out_and_reported() {
    let repo = Repo::with(&["f", "was-readable"]);
    repo.write("secret", "x");
    repo.write("was-readable", "changed");
    for path in ["secret", "was-readable"] {
        fs::set_permissions(repo.path(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    give_to_nobody(repo.root());
    let_everybody_in(&repo);
    as_ordinary_user("inner_unreadable", &repo);
}

#[test]
#[ignore = "the inner half of another test"]
fn inner_unreadable() {
    let Some(root) = prepared() else { return };
    let git = open(&root).unwrap();
    let scratch = root.join(".regreen");
    let mut snapshots = Snapshots::new(git.clone(), &scratch, SnapshotLimits::default());
    let snapshot = snapshots.take_before(&attempt(1), moment()).unwrap();
    let listed = run_git(&root, &["ls-tree", "--name-only", snapshot.oid.as_str()]);
    assert_eq!(listed, "f\nwas-readable\n");
    let why: Vec<OmissionReason> = snapshot
        .warnings
        .iter()
        .map(|warning| warning.why)
        .collect();
    assert_eq!(
        why,
        [OmissionReason::Unreadable, OmissionReason::Unreadable]
    );

    let request = CommitRequest {
        key: "k".to_owned(),
        message: "m".to_owned(),
        paths: paths(&["secret"]),
        leave_alone: paths(&[]),
        spec_files: paths(&[]),
        parent: git.head().unwrap(),
    };
    let left = git.commit(&request, &scratch).unwrap().skipped;
    let why: Vec<SkipReason> = left.iter().map(|one| one.why).collect();
    assert_eq!(why, [SkipReason::Unreadable]);
}

#[test]
fn a_repository_of_another_user_is_refused_with_the_fix() {
    if !is_root() {
        println!("skipped: only root has a repository that is another user's");
        return;
    }
    let repo = Repo::with(&["f"]);
    let_everybody_in(&repo);
    as_ordinary_user("inner_dubious", &repo);
}

#[test]
#[ignore = "the inner half of another test"]
fn inner_dubious() {
    let Some(root) = prepared() else { return };
    let error = open(&root).unwrap_err();
    assert!(
        matches!(error, GitError::DubiousOwnership { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("safe.directory"));
}
