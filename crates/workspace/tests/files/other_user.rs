//! Permissions, which don't apply to root: as root, each test runs itself again as `nobody`.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use regreen_workspace::{
    EditFileError, EditReport, InPlaceReason, ReadError, RealDisk, WriteMethod, read_text,
};

use crate::folder::{DONE, Folder, OPEN, tick};

const PLACE: &str = "REGREEN_TEST_FILE_OF_ANOTHER_USER";
const NOBODY: u32 = 65534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn folder_of(folder: &Folder) -> PathBuf {
    folder.tasks().parent().unwrap().to_owned()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs the ignored test `inner` as an ordinary user on this folder's file.
fn as_ordinary_user(inner: &str, folder: &Folder) {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", &format!("other_user::{inner}"), "--ignored"])
        .env(PLACE, folder.tasks());
    if is_root() {
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
    }
    match command.output() {
        Err(error) => println!("skipped: cannot run as an ordinary user: {error}"),
        Ok(output) => {
            // A name that matches no test would succeed as well.
            let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
            assert!(output.status.success() && ran, "{output:#?}");
        }
    }
}

/// Returns the file that the outer half prepared; `None` if the inner half runs by itself.
fn prepared() -> Option<PathBuf> {
    env::var_os(PLACE).map(PathBuf::from)
}

fn give_to_nobody(path: &Path) {
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

#[test]
fn a_read_only_file_in_a_writable_folder_is_not_replaced() {
    let folder = Folder::new();
    give_to_nobody(&folder_of(&folder));
    give_to_nobody(&folder.tasks());
    set_mode(&folder.tasks(), 0o444);
    as_ordinary_user("inner_refused", &folder);
    assert_eq!(folder.text(), OPEN);
    assert_eq!(folder.names(), ["tasks.md"]);
}

#[test]
#[ignore = "inner half"]
fn inner_refused() {
    let Some(path) = prepared() else { return };
    let error = tick(&RealDisk, &path).unwrap_err();
    assert!(
        matches!(&error, EditFileError::PermissionDenied { path: named } if *named == path),
        "{error}"
    );
}

#[test]
fn a_file_in_a_read_only_folder_is_written_in_place() {
    let folder = Folder::new();
    give_to_nobody(&folder.tasks());
    set_mode(&folder_of(&folder), 0o555);
    as_ordinary_user("inner_in_place", &folder);
    set_mode(&folder_of(&folder), 0o755);
    assert_eq!(folder.text(), DONE);
}

#[test]
#[ignore = "inner half"]
fn inner_in_place() {
    let Some(path) = prepared() else { return };
    assert_written(
        tick(&RealDisk, &path),
        WriteMethod::InPlace(InPlaceReason::FolderNotWritable),
    );
}

fn assert_written(
    edited: Result<EditReport, EditFileError<std::convert::Infallible>>,
    written: WriteMethod,
) {
    assert_eq!(edited.unwrap().written, written);
}

#[test]
fn a_file_of_another_user_keeps_its_owner() {
    if !is_root() {
        println!("skipped: only root can prepare another user's file");
        return;
    }
    let folder = Folder::new();
    give_to_nobody(&folder_of(&folder));
    set_mode(&folder.tasks(), 0o666);
    as_ordinary_user("inner_keeps_owner", &folder);
    assert_eq!(folder.text(), DONE);
    assert_eq!(folder.names(), ["tasks.md"]);
}

#[test]
#[ignore = "inner half"]
fn inner_keeps_owner() {
    let Some(path) = prepared() else { return };
    assert_written(
        tick(&RealDisk, &path),
        WriteMethod::InPlace(InPlaceReason::AttributesCannotBeKept),
    );
}

#[test]
fn an_unreadable_file_is_reported() {
    let folder = Folder::new();
    give_to_nobody(&folder_of(&folder));
    set_mode(&folder.tasks(), 0o000);
    as_ordinary_user("inner_unreadable", &folder);
}

#[test]
#[ignore = "inner half"]
fn inner_unreadable() {
    let Some(path) = prepared() else { return };
    let error = read_text(&RealDisk, &path).unwrap_err();
    assert!(
        matches!(&error, ReadError::PermissionDenied { path: named } if *named == path),
        "{error}"
    );
}
