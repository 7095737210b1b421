use std::fs;
use std::path::Path;
use std::thread;

use regreen_store::{Fault, OpenError, Store};

use crate::folder::{Folder, NOON};
use crate::sample::{begin, fill, step};

fn damage(path: &Path) -> String {
    match Store::open(path, NOON).unwrap_err() {
        OpenError::Fault(Fault::Damaged(what)) => what,
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
fn a_log_without_its_file_is_no_hindrance() {
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
                Err(OpenError::Fault(Fault::Damaged(_))) | Ok(Err(Fault::Damaged(_)))
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
    assert_eq!(damage(&folder.file()), "it was not made by regreen");
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
