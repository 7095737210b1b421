//! Attempts, failures and delegations.

use regreen_model::TaskId;
use regreen_store::{Attempt, Delegation, FailureRow, HistoryRow, RecordError, Store, StoreError};
use rusqlite::Connection;

use crate::fixture::{Folder, NOON, begin, begun, ended, failed, failure};

fn attempt(attempt: Attempt) -> HistoryRow {
    HistoryRow::Attempt(attempt)
}

fn id(id: &str) -> TaskId {
    TaskId::parse(id).unwrap()
}

fn numbers(attempts: &[Attempt]) -> Vec<u32> {
    attempts.iter().map(|a| a.key.number).collect()
}

#[test]
fn an_attempt_is_stored_when_it_begins_and_completed_when_it_ends() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    store.record(&[attempt(begun(&run, "1.3", 1))]).unwrap();
    assert_eq!(
        store.attempts_in_run(&run).unwrap(),
        [begun(&run, "1.3", 1)]
    );
    store.record(&[attempt(ended(&run, "1.3", 1))]).unwrap();
    assert_eq!(
        store.attempts_in_run(&run).unwrap(),
        [ended(&run, "1.3", 1)]
    );
}

#[test]
fn an_attempt_began_when_it_was_first_recorded() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    let first = begun(&run, "1.3", 1);
    let verified = Attempt {
        started_ms: first.started_ms + 5000,
        verify: Some("green".to_owned()),
        ..first.clone()
    };
    let second = Attempt {
        started_ms: first.started_ms + 2000,
        ..begun(&run, "1.3.1", 1)
    };
    let rows = [first.clone(), second.clone(), verified];
    store.record(&rows.map(HistoryRow::Attempt)).unwrap();
    let in_order = store.attempts_in_run(&run).unwrap();
    let starts: Vec<i64> = in_order.iter().map(|a| a.started_ms).collect();
    assert_eq!(starts, [first.started_ms, second.started_ms]);
}

#[test]
fn recording_again_changes_nothing() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    let rows = [
        attempt(begun(&run, "1.3", 1)),
        attempt(ended(&run, "1.3", 1)),
        HistoryRow::Failure(failed(&run, "1.3", 1)),
    ];
    store.record(&rows).unwrap();
    // All rows at once, then each alone and in any order, including the start after the end.
    store.record(&rows).unwrap();
    for row in rows.iter().rev() {
        store.record(std::slice::from_ref(row)).unwrap();
    }
    assert_eq!(
        store.attempts_in_run(&run).unwrap(),
        [ended(&run, "1.3", 1)]
    );
    assert_eq!(
        store.failures_in_run(&run).unwrap(),
        [failed(&run, "1.3", 1)]
    );
}

fn two_runs(store: &mut Store) {
    for spec in ["login", "search"] {
        let run = begin(store, spec);
        for n in 1..=3 {
            let rows = [
                attempt(ended(&run, "1.1", n)),
                attempt(ended(&run, "1.10", n)),
                HistoryRow::Failure(failed(&run, "1.1", n)),
            ];
            store.record(&rows).unwrap();
        }
    }
    let again = begin(store, "login");
    store.record(&[attempt(begun(&again, "1.1", 1))]).unwrap();
}

#[test]
fn the_story_of_a_task_covers_all_runs_of_its_spec_only() {
    let folder = Folder::new();
    let mut store = folder.open();
    two_runs(&mut store);
    let story = store.attempts_of_task("login", &id("1.1")).unwrap();
    assert_eq!(numbers(&story), [1, 2, 3, 1]);
    assert!(story.iter().all(|a| a.key.task.id == id("1.1")));
    let story = store.attempts_of_task("search", &id("1.10")).unwrap();
    assert_eq!(numbers(&story), [1, 2, 3]);
    let failures = store.failures_of_task("login", &id("1.1")).unwrap();
    assert_eq!(failures.len(), 3);
    assert_eq!(store.failures_of_task("login", &id("1.10")).unwrap(), []);
}

#[test]
fn failures_since_a_time_include_that_time() {
    let folder = Folder::new();
    let mut store = folder.open();
    two_runs(&mut store);
    let since = store.last_failures(NOON + 2500, None, 9).unwrap();
    let times: Vec<_> = since.iter().map(|f| f.at_ms - NOON).collect();
    assert_eq!(times, [2500, 2500, 3500, 3500]);
    assert_eq!(store.last_failures(NOON + 3501, None, 9).unwrap(), []);
}

#[test]
fn a_failure_comes_back_whole() {
    let folder = Folder::new();
    let mut store = folder.open();
    two_runs(&mut store);
    let found: Vec<FailureRow> = store.last_failures(0, None, 9).unwrap();
    assert_eq!(found[0].failure().unwrap(), failure("no such file: a.txt"));
    assert_eq!(found[0].category, "tool_error");
    assert_eq!(found[0].kind, "missing_file");
}

#[test]
fn a_failure_needs_its_attempt() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    let orphan = HistoryRow::Failure(failed(&run, "1.3", 1));
    let error = store.record(&[orphan]).unwrap_err();
    assert!(matches!(error, RecordError::NoSuchAttempt(_)));
    assert_eq!(
        error.to_string(),
        format!("attempt 1 of task 1.3 in run {run} not found")
    );
}

#[test]
fn rows_with_the_same_id_differ_by_occurrence_and_title() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    let first = begun(&run, "1.3", 1);
    let mut second = begun(&run, "1.3", 1);
    second.key.task.occurrence = 1;
    let mut renamed = begun(&run, "1.3", 1);
    renamed.key.task.title = "Renamed".to_owned();
    let rows = [first, second, renamed].map(attempt);
    store.record(&rows).unwrap();
    assert_eq!(store.attempts_in_run(&run).unwrap().len(), 3);
}

fn delegated(id: &str, number: u32, at_ms: i64) -> Delegation {
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

fn failed_delegation(id: &str, number: u32, at_ms: i64) -> Delegation {
    Delegation {
        outcome: Some("failed".to_owned()),
        duration_ms: Some(300_012),
        category: Some("timeout".to_owned()),
        kind: Some("timeout_with_progress".to_owned()),
        message: Some("Child timed out after 300s".to_owned()),
        files: vec!["a, b".to_owned(), "c".to_owned()],
        tried: Some("tried again within 600s".to_owned()),
        helped: Some(false),
        ..delegated(id, number, at_ms)
    }
}

#[test]
fn a_delegation_is_stored_when_it_begins_and_completed_when_more_is_known() {
    let folder = Folder::new();
    let mut store = folder.open();
    store
        .record_delegation(&delegated("child-1", 1, NOON))
        .unwrap();
    assert_eq!(
        store.delegations_since(NOON).unwrap(),
        [delegated("child-1", 1, NOON)]
    );
    store
        .record_delegation(&failed_delegation("child-1", 1, NOON))
        .unwrap();
    store
        .record_delegation(&delegated("child-1", 2, NOON + 5))
        .unwrap();
    store
        .record_delegation(&delegated("child-0", 1, NOON - 5))
        .unwrap();
    store.check().unwrap();
    assert_eq!(
        store.delegations_since(NOON).unwrap(),
        [
            failed_delegation("child-1", 1, NOON),
            delegated("child-1", 2, NOON + 5)
        ]
    );
    assert_eq!(store.delegations_since(0).unwrap().len(), 3);
}

#[test]
fn a_changed_row_of_a_delegation_is_noticed() {
    let folder = Folder::new();
    let mut store = folder.open();
    store
        .record_delegation(&failed_delegation("child-1", 1, NOON))
        .unwrap();
    store.close().unwrap();
    let raw = Connection::open(folder.file()).unwrap();
    raw.execute("UPDATE delegations SET helped = 1", ())
        .unwrap();
    drop(raw);
    let store = folder.open();
    let damaged = |found: Result<(), StoreError>| matches!(found, Err(StoreError::Damaged(_)));
    assert!(damaged(store.delegations_since(0).map(drop)));
    assert!(damaged(store.check()));
}
