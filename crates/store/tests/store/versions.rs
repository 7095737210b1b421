//! Files from other versions.

use std::collections::BTreeMap;

use regreen_store::{HistoryRow, OpenError, RunId, StepNo, Store, StoreError};
use rusqlite::Connection;

use crate::fixture::{Folder, NOON, begin, begun, ended, failed, green, snapshot, step};

const VERSION_1: &str = include_str!("../fixtures/v1.sql");
const VERSION_2: &str = include_str!("../fixtures/v2.sql");
const VERSION_3: &str = include_str!("../fixtures/v3.sql");
const VERSION_4: &str = include_str!("../fixtures/v4.sql");

fn old_file(sql: &str) -> Folder {
    let folder = Folder::new();
    let raw = Connection::open(folder.file()).unwrap();
    raw.execute_batch(sql).unwrap();
    folder
}

#[test]
fn a_file_of_version_1_is_updated_and_keeps_everything() {
    let folder = old_file(VERSION_1);
    let mut store = folder.open();
    store.check().unwrap();
    let run = store.unfinished_run("login").unwrap().unwrap();
    assert_eq!(run, RunId::named("20251116-120000"));
    let steps = store.steps(&run, StepNo::NONE).unwrap();
    let steps: Vec<_> = steps.map(|s| s.unwrap()).collect();
    assert_eq!(steps, (1..=6).map(step).collect::<Vec<_>>());
    assert_eq!(store.latest_snapshot(&run).unwrap(), Some(snapshot(6)));
    let attempt = HistoryRow::Attempt(begun(&run, "1.3", 1));
    store.append(&run, &step(7), &[attempt]).unwrap();
    store.close().unwrap();
    folder.open().check().unwrap();
}

#[test]
fn a_file_of_version_2_is_updated_and_keeps_everything() {
    let folder = old_file(VERSION_2);
    let mut store = folder.open();
    store.check().unwrap();
    let runs = store.runs(9).unwrap();
    let ends: Vec<_> = runs.iter().map(|run| run.end.clone()).collect();
    assert_eq!(ends, [None, Some(green())]);
    let run = store.unfinished_run("login").unwrap().unwrap();
    let attempts = store.attempts_in_run(&run).unwrap();
    assert_eq!(attempts, [ended(&run, "1.3", 1)]);
    let failures = store.failures_in_run(&run).unwrap();
    assert_eq!(failures, [failed(&run, "1.3", 1)]);
    assert_eq!(store.choices("login").unwrap(), []);
    store.append(&run, &step(4), &[]).unwrap();
    store.end_run(&run, &green()).unwrap();
    begin(&mut store, "login");
    store.close().unwrap();
    let store = folder.open();
    store.check().unwrap();
    assert_eq!(store.runs(9).unwrap().len(), 3);
}

#[test]
fn a_file_of_version_3_is_updated_and_keeps_everything() {
    let folder = old_file(VERSION_3);
    let store = folder.open();
    store.check().unwrap();
    let runs = store.runs(9).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(store.failures_in_run(&runs[0].id).unwrap().len(), 1);
    assert_eq!(store.choices("specs/login/tasks.md").unwrap().len(), 1);
    assert_eq!(store.delegations_since(0).unwrap(), []);
}

#[test]
fn a_file_of_version_4_is_updated_and_finds_the_events_of_its_tasks() {
    let folder = old_file(VERSION_4);
    let store = folder.open();
    store.check().unwrap();
    let run = store.runs(9).unwrap().remove(0).id;
    assert_eq!(store.delegations_since(0).unwrap().len(), 1);
    let named = store.all_tasks_named("specs/login/tasks.md").unwrap();
    let task = named.iter().find(|task| task.title == "Write it").unwrap();
    let events = store.events_naming(&run, std::slice::from_ref(task));
    let all = store.events(&run, StepNo::NONE).unwrap();
    let all: Vec<_> = all.map(Result::unwrap).collect();
    assert_eq!(events.unwrap(), all);
}

#[test]
fn an_older_file_is_read_as_it_will_be_and_stays_as_it_is() {
    for sql in [VERSION_1, VERSION_2, VERSION_3, VERSION_4] {
        let folder = old_file(sql);
        let bytes = std::fs::read(folder.file()).unwrap();
        let store = Store::open_read_only(&folder.file(), NOON)
            .unwrap()
            .unwrap();
        store.check().unwrap();
        let runs = store.runs(9).unwrap();
        assert_eq!(folder.names(), ["regreen.db"]);
        assert_eq!(std::fs::read(folder.file()).unwrap(), bytes);
        assert_eq!(folder.open().runs(9).unwrap(), runs);
    }
}

#[test]
fn a_file_records_what_updated_it_and_when() {
    let folder = old_file(VERSION_1);
    folder.open().close().unwrap();
    let raw = Connection::open(folder.file()).unwrap();
    let history: String = raw
        .query_row(
            "SELECT group_concat(version || ' ' || applied_ms, ', ') FROM schema_history",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(
        history,
        format!("1 1763200000000, 2 {NOON}, 3 {NOON}, 4 {NOON}, 5 {NOON}")
    );
}

/// Returns the names and definitions of everything in a file.
fn shape(raw: &Connection) -> BTreeMap<String, Option<String>> {
    raw.prepare("SELECT name, sql FROM sqlite_schema")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

#[test]
fn tables_of_older_versions_keep_their_shape() {
    let folder = Folder::new();
    folder.open().close().unwrap();
    let new = shape(&Connection::open(folder.file()).unwrap());
    let versions = [
        (VERSION_1, "steps"),
        (VERSION_2, "failures"),
        (VERSION_3, "choices"),
        (VERSION_4, "delegations"),
    ];
    for (sql, table) in versions {
        let old = shape(&Connection::open(old_file(sql).file()).unwrap());
        assert!(old.contains_key(table));
        for (name, sql) in old {
            assert_eq!(new.get(&name), Some(&sql), "{name}");
        }
    }
}

#[test]
fn a_newer_file_is_refused_naming_who_wrote_it_and_is_not_touched() {
    let folder = Folder::new();
    folder.open().close().unwrap();
    let raw = Connection::open(folder.file()).unwrap();
    raw.execute_batch(
        "INSERT INTO schema_history VALUES (99, '9.4.1', 0); PRAGMA user_version = 99;
         CREATE TABLE of_the_future (a)",
    )
    .unwrap();
    drop(raw);
    let error = Store::open(&folder.file(), NOON).unwrap_err();
    assert!(
        matches!(&error, OpenError::Newer { found: 99, regreen, .. } if regreen == "9.4.1"),
        "{error:?}"
    );
    let error = Store::open_read_only(&folder.file(), NOON).unwrap_err();
    assert!(
        matches!(error, OpenError::Newer { found: 99, .. }),
        "{error:?}"
    );
    let raw = Connection::open(folder.file()).unwrap();
    assert!(shape(&raw).contains_key("of_the_future"));
}

#[test]
fn a_version_that_only_the_header_knows_is_damage() {
    for version in [0, 1, 7] {
        let folder = Folder::new();
        folder.open().close().unwrap();
        let raw = Connection::open(folder.file()).unwrap();
        raw.pragma_update(None, "user_version", version).unwrap();
        drop(raw);
        let error = Store::open(&folder.file(), NOON).unwrap_err();
        assert!(
            matches!(error, OpenError::Store(StoreError::Damaged(_))),
            "{version}: {error:?}"
        );
    }
}
