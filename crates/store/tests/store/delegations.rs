use regreen_store::{Delegation, Fault};
use rusqlite::Connection;

use crate::folder::{Folder, NOON};

fn begun(id: &str, number: u32, at_ms: i64) -> Delegation {
    Delegation {
        id: id.to_owned(),
        number,
        at_ms,
        agent: "claude".to_owned(),
        prompt_kind: "first".to_owned(),
        prompt: "Add \"auth\"\nä".to_owned(),
        timeout_ms: 300_000,
        log: format!(".regreen/delegations/{id}/{number}.log"),
        ..Delegation::default()
    }
}

fn failed(id: &str, number: u32, at_ms: i64) -> Delegation {
    Delegation {
        outcome: Some("failed".to_owned()),
        duration_ms: Some(300_012),
        category: Some("timeout".to_owned()),
        kind: Some("timeout_with_progress".to_owned()),
        message: Some("Child timed out after 300s".to_owned()),
        files: vec!["a, b".to_owned(), "c".to_owned()],
        tried: Some("tried again within 600s".to_owned()),
        helped: Some(false),
        ..begun(id, number, at_ms)
    }
}

#[test]
fn a_delegation_is_stored_when_it_begins_and_completed_when_more_is_known() {
    let folder = Folder::new();
    let mut store = folder.open();
    store.record_delegation(&begun("child-1", 1, NOON)).unwrap();
    assert_eq!(
        store.delegations_since(NOON).unwrap(),
        [begun("child-1", 1, NOON)]
    );
    store
        .record_delegation(&failed("child-1", 1, NOON))
        .unwrap();
    store
        .record_delegation(&begun("child-1", 2, NOON + 5))
        .unwrap();
    store
        .record_delegation(&begun("child-0", 1, NOON - 5))
        .unwrap();
    store.check().unwrap();
    assert_eq!(
        store.delegations_since(NOON).unwrap(),
        [failed("child-1", 1, NOON), begun("child-1", 2, NOON + 5)]
    );
    assert_eq!(store.delegations_since(0).unwrap().len(), 3);
}

#[test]
fn a_changed_row_is_noticed() {
    let folder = Folder::new();
    let mut store = folder.open();
    store
        .record_delegation(&failed("child-1", 1, NOON))
        .unwrap();
    store.close().unwrap();
    let raw = Connection::open(folder.file()).unwrap();
    raw.execute("UPDATE delegations SET helped = 1", ())
        .unwrap();
    drop(raw);
    let store = folder.open();
    let damaged = |found: Result<(), Fault>| matches!(found, Err(Fault::Damaged(_)));
    assert!(damaged(store.delegations_since(0).map(drop)));
    assert!(damaged(store.check()));
}
