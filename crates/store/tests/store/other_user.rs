//! Permissions, which root does not feel: as root, each test runs itself again as nobody.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;

use regreen_store::{Fault, OpenError, Store};

use crate::again::{again, assert_passed, prepared};
use crate::folder::{Folder, NOON};
use crate::sample::fill;

const NOBODY: u32 = 65534;

fn as_ordinary_user(folder: &Folder) {
    inner_as_ordinary_user("other_user::inner_not_writable", folder);
}

fn inner_as_ordinary_user(inner: &str, folder: &Folder) {
    let mut command = again(inner, &folder.file());
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
    }
    match command.output() {
        Err(error) => println!("skipped: cannot run as an ordinary user: {error}"),
        Ok(output) => assert_passed(&output),
    }
}

fn give_to_nobody(path: &Path) {
    if rustix::process::geteuid().is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_that_is_not_writable_is_told_for_a_new_file() {
    let folder = Folder::new();
    set_mode(folder.file().parent().unwrap(), 0o555);
    as_ordinary_user(&folder);
}

#[test]
fn a_folder_that_is_not_writable_is_told_for_a_file_that_is() {
    let folder = Folder::new();
    fill(&mut folder.open());
    give_to_nobody(&folder.file());
    set_mode(folder.file().parent().unwrap(), 0o555);
    as_ordinary_user(&folder);
    set_mode(folder.file().parent().unwrap(), 0o755);
    folder.open().check().unwrap();
}

#[test]
fn a_file_that_is_not_writable_is_told() {
    let folder = Folder::new();
    fill(&mut folder.open());
    give_to_nobody(folder.file().parent().unwrap());
    set_mode(&folder.file(), 0o444);
    as_ordinary_user(&folder);
}

#[test]
fn what_may_not_be_written_can_be_read() {
    let folder = Folder::new();
    fill(&mut folder.open());
    set_mode(folder.file().parent().unwrap(), 0o555);
    inner_as_ordinary_user("other_user::inner_readable", &folder);
    set_mode(folder.file().parent().unwrap(), 0o755);
}

#[test]
fn what_may_not_be_written_can_be_read_while_its_owner_writes() {
    let folder = Folder::new();
    let mut writer = folder.open();
    fill(&mut writer);
    for name in folder.names() {
        set_mode(&folder.path(&name), 0o644);
    }
    set_mode(folder.file().parent().unwrap(), 0o555);
    inner_as_ordinary_user("other_user::inner_readable", &folder);
    set_mode(folder.file().parent().unwrap(), 0o755);
}

#[test]
fn what_a_killed_owner_left_can_be_read() {
    let folder = Folder::new();
    let mut store = folder.open();
    fill(&mut store);
    let left = Folder::new();
    for name in folder.names() {
        fs::copy(folder.path(&name), left.path(&name)).unwrap();
    }
    set_mode(left.file().parent().unwrap(), 0o555);
    inner_as_ordinary_user("other_user::inner_readable", &left);
    set_mode(left.file().parent().unwrap(), 0o755);
}

#[test]
fn what_may_not_be_read_is_told() {
    let folder = Folder::new();
    fill(&mut folder.open());
    set_mode(folder.file().parent().unwrap(), 0o700);
    if rustix::process::geteuid().is_root() {
        inner_as_ordinary_user("other_user::inner_not_readable", &folder);
    }
}

#[test]
#[ignore = "inner half"]
fn inner_readable() {
    let Some(path) = prepared() else { return };
    let store = Store::open_to_read(&path, NOON).unwrap().unwrap();
    store.check().unwrap();
    assert!(!store.runs(9).unwrap().is_empty());
}

#[test]
#[ignore = "inner half"]
fn inner_not_readable() {
    let Some(path) = prepared() else { return };
    let error = Store::open_to_read(&path, NOON).unwrap_err();
    assert!(matches!(error, OpenError::NotReadable(_)), "{error:?}");
}

#[test]
#[ignore = "inner half"]
fn inner_not_writable() {
    let Some(path) = prepared() else { return };
    let error = Store::open(&path, NOON).unwrap_err();
    assert!(
        matches!(error, OpenError::Fault(Fault::NotWritable)),
        "{error:?}"
    );
}
