//! Looking at a file without leaving a trace.

use std::fs;

use regreen_store::{Fault, OpenError, StepNo, Store};

use crate::folder::{Folder, NOON};
use crate::sample::{begin, fill, step};

fn read(folder: &Folder) -> Store {
    Store::open_to_read(&folder.file(), NOON).unwrap().unwrap()
}

#[test]
fn where_there_is_no_file_none_is_made() {
    let folder = Folder::new();
    let nowhere = folder.path("nowhere/regreen.db");
    for path in [folder.file(), nowhere] {
        assert!(Store::open_to_read(&path, NOON).unwrap().is_none());
    }
    assert_eq!(folder.names(), <[&str; 0]>::default());
}

#[test]
fn a_closed_file_is_read_without_making_another() {
    let folder = Folder::new();
    fill(&mut folder.open());
    let bytes = fs::read(folder.file()).unwrap();
    let runs = folder.open().runs(9).unwrap();
    let store = read(&folder);
    assert_eq!(folder.names(), ["regreen.db"]);
    assert_eq!(store.runs(9).unwrap(), runs);
    store.check().unwrap();
    drop(store);
    assert_eq!(folder.names(), ["regreen.db"]);
    assert_eq!(fs::read(folder.file()).unwrap(), bytes);
}

#[test]
fn an_empty_file_has_no_runs() {
    let folder = Folder::new();
    fs::write(folder.file(), "").unwrap();
    assert_eq!(read(&folder).runs(9).unwrap(), []);
    assert_eq!(fs::read(folder.file()).unwrap(), b"");
}

#[test]
fn whoever_writes_is_seen_and_not_disturbed() {
    let folder = Folder::new();
    let mut writer = folder.open();
    let run = begin(&mut writer, "login");
    writer.append(&run, &step(1), &[]).unwrap();
    let reader = read(&folder);
    let mut seen = reader.steps(&run, StepNo::NONE).unwrap();
    assert_eq!(seen.next().unwrap().unwrap(), step(1));
    writer.append(&run, &step(2), &[]).unwrap();
    assert_eq!(reader.run(&run).unwrap().last_step, StepNo(2));
}

#[test]
fn who_begins_to_write_in_a_file_that_is_being_read_succeeds() {
    let folder = Folder::new();
    fill(&mut folder.open());
    let reader = read(&folder);
    let before = reader.runs(9).unwrap();
    let mut writer = folder.open();
    begin(&mut writer, "login");
    assert_eq!(reader.runs(9).unwrap(), before);
    assert_eq!(read(&folder).runs(9).unwrap().len(), before.len() + 1);
}

#[test]
fn what_a_killed_process_left_in_its_log_is_read_and_stays_there() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    store.append(&run, &step(1), &[]).unwrap();
    let left = Folder::new();
    for name in ["regreen.db", "regreen.db-wal"] {
        fs::copy(folder.path(name), left.path(name)).unwrap();
    }
    let log = fs::read(left.path("regreen.db-wal")).unwrap();
    assert!(!log.is_empty());
    assert_eq!(read(&left).run(&run).unwrap().last_step, StepNo(1));
    assert_eq!(fs::read(left.path("regreen.db-wal")).unwrap(), log);
    assert!(left.open().was_left_open());
}

#[test]
fn a_damaged_file_is_told() {
    let folder = Folder::new();
    fs::write(folder.file(), "this is no database ".repeat(99)).unwrap();
    let error = Store::open_to_read(&folder.file(), NOON).unwrap_err();
    assert!(
        matches!(error, OpenError::Fault(Fault::Damaged(_))),
        "{error:?}"
    );
}
