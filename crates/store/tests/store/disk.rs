//! A full disk, and permissions, which don't apply to root: as root, each test runs itself again as
//! `nobody`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use regreen_store::{AppendError, OpenError, RunId, Step, StepNo, Store, StoreError};

use crate::fixture::{Folder, NOON, again, assert_passed, begin, fill, payload, prepared, step};

/// Runs `inner` with two megabytes of memory mounted at the folder, if that is allowed.
fn on_a_small_disk(inner: &str) {
    let folder = Folder::new();
    let itself = again(inner, &folder.file());
    let script = r#"mount -t tmpfs -o size=2m none "$(dirname "$REGREEN_TEST_STORE")" || exit 77
        exec "$0" "$@""#;
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "sh", "-c", script]);
    command.arg(itself.get_program()).args(itself.get_args());
    command.env("REGREEN_TEST_STORE", folder.file());
    match command.output() {
        Err(error) => println!("skipped: no unshare: {error}"),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            if said.contains("running 1 test") {
                assert!(output.status.success(), "{output:#?}");
            } else {
                println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }
}

fn large_step(n: u64) -> Step {
    Step {
        input: payload("Told", &"y".repeat(20_000)),
        ..step(n)
    }
}

fn fill_up(path: &Path) {
    let mut size = 1 << 21;
    let mut bytes = Vec::new();
    while size > 0 {
        bytes.resize(bytes.len() + size, 0);
        if fs::write(path, &bytes).is_err() {
            bytes.truncate(bytes.len() - size);
            size /= 2;
        }
    }
    let _ = fs::write(path, &bytes);
}

/// Appends until the disk is full, and returns how many steps were stored.
fn append_until_full(store: &mut Store, run: &RunId) -> u64 {
    for n in 1..10_000 {
        match store.append(run, &large_step(n), &[]) {
            Ok(()) => {}
            Err(AppendError::Store(StoreError::DiskFull)) => return n - 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    panic!("the disk never filled up");
}

fn assert_holds(store: &Store, run: &RunId, count: u64) {
    store.check().unwrap();
    let steps = store.steps(run, StepNo::NONE).unwrap();
    let steps: Vec<_> = steps.map(|s| s.unwrap()).collect();
    assert_eq!(steps, (1..=count).map(large_step).collect::<Vec<_>>());
}

#[test]
fn a_full_disk_is_reported_and_stored_steps_stay_readable() {
    on_a_small_disk("disk::inner_fills_up");
}

#[test]
#[ignore = "inner half"]
fn inner_fills_up() {
    let Some(path) = prepared() else { return };
    let ballast = path.with_file_name("ballast");
    let mut store = Store::open(&path, NOON).unwrap();
    let run = begin(&mut store, "login");
    fs::write(&ballast, [0; 300_000]).unwrap();
    let stored = append_until_full(&mut store, &run);
    assert!(stored > 10, "{stored}");
    assert_holds(&store, &run, stored);
    // A later process can read it too, with the disk still full.
    let later = Store::open(&path, NOON).unwrap();
    assert_holds(&later, &run, stored);
    drop(later);
    // Once there is space again, the same step is stored without reopening the file.
    fs::remove_file(&ballast).unwrap();
    store.append(&run, &large_step(stored + 1), &[]).unwrap();
    assert_holds(&store, &run, stored + 1);
    store.close().unwrap();
    let store = Store::open(&path, NOON).unwrap();
    assert_holds(&store, &run, stored + 1);
}

#[test]
fn a_new_file_on_a_full_disk_is_reported() {
    on_a_small_disk("disk::inner_is_full");
}

#[test]
#[ignore = "inner half"]
fn inner_is_full() {
    let Some(path) = prepared() else { return };
    let ballast = path.with_file_name("ballast");
    fill_up(&ballast);
    let error = Store::open(&path, NOON).unwrap_err();
    assert!(
        matches!(error, OpenError::Store(StoreError::DiskFull)),
        "{error:?}"
    );
    fs::remove_file(&ballast).unwrap();
    Store::open(&path, NOON).unwrap().check().unwrap();
}

const NOBODY: u32 = 65534;

fn as_ordinary_user(folder: &Folder) {
    inner_as_ordinary_user("disk::inner_not_writable", folder);
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
fn a_folder_that_is_not_writable_is_reported_for_a_new_file() {
    let folder = Folder::new();
    set_mode(folder.file().parent().unwrap(), 0o555);
    as_ordinary_user(&folder);
}

#[test]
fn a_folder_that_is_not_writable_is_reported_for_a_file_that_is() {
    let folder = Folder::new();
    fill(&mut folder.open());
    give_to_nobody(&folder.file());
    set_mode(folder.file().parent().unwrap(), 0o555);
    as_ordinary_user(&folder);
    set_mode(folder.file().parent().unwrap(), 0o755);
    folder.open().check().unwrap();
}

#[test]
fn a_file_that_is_not_writable_is_reported() {
    let folder = Folder::new();
    fill(&mut folder.open());
    give_to_nobody(folder.file().parent().unwrap());
    set_mode(&folder.file(), 0o444);
    as_ordinary_user(&folder);
}

#[test]
fn a_read_only_journal_can_be_read() {
    let folder = Folder::new();
    fill(&mut folder.open());
    set_mode(folder.file().parent().unwrap(), 0o555);
    inner_as_ordinary_user("disk::inner_readable", &folder);
    set_mode(folder.file().parent().unwrap(), 0o755);
}

#[test]
fn a_read_only_journal_can_be_read_while_its_owner_writes() {
    let folder = Folder::new();
    let mut writer = folder.open();
    fill(&mut writer);
    for name in folder.names() {
        set_mode(&folder.path(&name), 0o644);
    }
    set_mode(folder.file().parent().unwrap(), 0o555);
    inner_as_ordinary_user("disk::inner_readable", &folder);
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
    inner_as_ordinary_user("disk::inner_readable", &left);
    set_mode(left.file().parent().unwrap(), 0o755);
}

#[test]
fn an_unreadable_journal_is_reported() {
    let folder = Folder::new();
    fill(&mut folder.open());
    set_mode(folder.file().parent().unwrap(), 0o700);
    if rustix::process::geteuid().is_root() {
        inner_as_ordinary_user("disk::inner_not_readable", &folder);
    }
}

#[test]
#[ignore = "inner half"]
fn inner_readable() {
    let Some(path) = prepared() else { return };
    let store = Store::open_read_only(&path, NOON).unwrap().unwrap();
    store.check().unwrap();
    assert!(!store.runs(9).unwrap().is_empty());
}

#[test]
#[ignore = "inner half"]
fn inner_not_readable() {
    let Some(path) = prepared() else { return };
    let error = Store::open_read_only(&path, NOON).unwrap_err();
    assert!(matches!(error, OpenError::NotReadable(_)), "{error:?}");
}

#[test]
#[ignore = "inner half"]
fn inner_not_writable() {
    let Some(path) = prepared() else { return };
    let error = Store::open(&path, NOON).unwrap_err();
    assert!(
        matches!(error, OpenError::Store(StoreError::NotWritable)),
        "{error:?}"
    );
}
