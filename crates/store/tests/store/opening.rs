//! Opening a file for writing and only for reading.

use std::path::Path;
use std::{fs, thread};

use regreen_store::{OpenError, StepNo, Store, StoreError};

use crate::fixture::{Folder, NOON, begin, fill, step};

fn damage(path: &Path) -> String {
    match Store::open(path, NOON).unwrap_err() {
        OpenError::Store(StoreError::Damaged(what)) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_file_is_made_and_leaves_nothing_beside_it_when_closed() {
    let folder = Folder::new();
    let store = folder.open();
    assert!(!store.was_left_open());
    store.check().unwrap();
    store.close().unwrap();
    assert_eq!(folder.names(), ["regreen.db"]);
}

#[test]
fn an_empty_file_is_a_new_one() {
    let folder = Folder::new();
    fs::write(folder.file(), "").unwrap();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    store.append(&run, &step(1), &[]).unwrap();
    store.close().unwrap();
    assert_eq!(folder.open().runs(9).unwrap().len(), 1);
}

#[test]
fn a_log_without_its_file_is_ignored() {
    let folder = Folder::new();
    fs::write(folder.path("regreen.db-wal"), [7; 5000]).unwrap();
    let store = folder.open();
    assert_eq!(store.runs(9).unwrap(), []);
    store.check().unwrap();
}

#[test]
fn a_missing_folder_is_named() {
    let folder = Folder::new();
    let path = folder.path("nowhere/regreen.db");
    let error = Store::open(&path, NOON).unwrap_err();
    assert!(matches!(&error, OpenError::NoFolder { path: named } if *named == path));
}

#[test]
fn text_or_a_broken_header_is_damage() {
    let folder = Folder::new();
    fs::write(
        folder.file(),
        "this is no database, whatever its name ".repeat(99),
    )
    .unwrap();
    damage(&folder.file());
    fs::remove_file(folder.file()).unwrap();
    fill(&mut folder.open());
    let mut bytes = fs::read(folder.file()).unwrap();
    bytes[..16].copy_from_slice(b"not SQLite 3 any");
    fs::write(folder.file(), bytes).unwrap();
    damage(&folder.file());
}

#[test]
fn a_file_cut_short_is_damage() {
    let folder = Folder::new();
    fill(&mut folder.open());
    let bytes = fs::read(folder.file()).unwrap();
    for keep in [50, 100, 4096, bytes.len() / 2] {
        fs::write(folder.file(), &bytes[..keep]).unwrap();
        let found = Store::open(&folder.file(), NOON).map(|store| store.check());
        assert!(
            matches!(
                found,
                Err(OpenError::Store(StoreError::Damaged(_))) | Ok(Err(StoreError::Damaged(_)))
            ),
            "cut at {keep}: {found:?}"
        );
    }
}

#[test]
fn another_programs_database_is_left_alone() {
    let folder = Folder::new();
    let raw = rusqlite::Connection::open(folder.file()).unwrap();
    raw.execute_batch("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)")
        .unwrap();
    drop(raw);
    assert_eq!(damage(&folder.file()), "it was not created by regreen");
    let raw = rusqlite::Connection::open(folder.file()).unwrap();
    let rows: u32 = raw
        .query_row("SELECT count(*) FROM theirs", [], |r| r.get(0))
        .unwrap();
    assert_eq!(rows, 1);
}

#[test]
fn a_copy_holds_everything_and_overwrites_nothing() {
    let folder = Folder::new();
    let mut store = folder.open();
    fill(&mut store);
    let place = folder.path("copy.db");
    store.copy_to(&place).unwrap();
    assert!(store.copy_to(&place).is_err());
    let copy = Store::open(&place, NOON).unwrap();
    copy.check().unwrap();
    assert_eq!(copy.runs(9).unwrap(), store.runs(9).unwrap());
}

#[test]
fn many_may_open_a_file_that_is_not_there_yet() {
    for _ in 0..10 {
        let folder = Folder::new();
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| folder.open().check().unwrap());
            }
        });
    }
}

fn read(folder: &Folder) -> Store {
    Store::open_read_only(&folder.file(), NOON)
        .unwrap()
        .unwrap()
}

#[test]
fn a_missing_file_is_not_created() {
    let folder = Folder::new();
    let nowhere = folder.path("nowhere/regreen.db");
    for path in [folder.file(), nowhere] {
        assert!(Store::open_read_only(&path, NOON).unwrap().is_none());
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
fn an_empty_file_that_is_only_read_has_no_runs_and_stays_empty() {
    let folder = Folder::new();
    fs::write(folder.file(), "").unwrap();
    assert_eq!(read(&folder).runs(9).unwrap(), []);
    assert_eq!(fs::read(folder.file()).unwrap(), b"");
}

#[test]
fn a_writer_is_noticed_and_not_disturbed() {
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
fn a_writer_may_start_while_the_file_is_being_read() {
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
fn a_damaged_file_is_reported() {
    let folder = Folder::new();
    fs::write(folder.file(), "this is no database ".repeat(99)).unwrap();
    let error = Store::open_read_only(&folder.file(), NOON).unwrap_err();
    assert!(
        matches!(error, OpenError::Store(StoreError::Damaged(_))),
        "{error:?}"
    );
}
