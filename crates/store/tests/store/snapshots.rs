use regreen_store::{Snapshot, SnapshotError, StepNo};

use crate::folder::Folder;
use crate::sample::{begin, payload, snapshot, step};

#[test]
fn the_last_two_snapshots_are_kept() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    assert_eq!(store.latest_snapshot(&run).unwrap(), None);
    for n in 1..=9 {
        store.append(&run, &step(n), &[]).unwrap();
        if n % 3 == 0 {
            store.save_snapshot(&run, &snapshot(n)).unwrap();
        }
    }
    assert_eq!(store.latest_snapshot(&run).unwrap(), Some(snapshot(9)));
    store.close().unwrap();
    let raw = rusqlite::Connection::open(folder.file()).unwrap();
    let kept: String = raw
        .query_row("SELECT group_concat(step) FROM snapshots", [], |r| r.get(0))
        .unwrap();
    assert_eq!(kept, "6,9");
}

#[test]
fn saving_the_same_step_again_keeps_the_newer_state() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    store.append(&run, &step(1), &[]).unwrap();
    store.save_snapshot(&run, &snapshot(1)).unwrap();
    let newer = Snapshot {
        step: StepNo(1),
        state: payload("State", "newer"),
    };
    store.save_snapshot(&run, &newer).unwrap();
    assert_eq!(store.latest_snapshot(&run).unwrap(), Some(newer));
}

#[test]
fn the_state_after_a_step_that_is_not_there_is_refused() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    store.append(&run, &step(1), &[]).unwrap();
    let error = store.save_snapshot(&run, &snapshot(2)).unwrap_err();
    assert!(matches!(error, SnapshotError::NoSuchStep { step, .. } if step.0 == 2));
}

#[test]
fn a_damaged_snapshot_gives_way_to_the_one_before() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    for n in 1..=2 {
        store.append(&run, &step(n), &[]).unwrap();
        store.save_snapshot(&run, &snapshot(n)).unwrap();
    }
    store.close().unwrap();
    let raw = rusqlite::Connection::open(folder.file()).unwrap();
    let sql = "UPDATE snapshots SET state = replace(state, 'after 2', 'after 3')";
    raw.execute(sql, []).unwrap();
    drop(raw);
    let store = folder.open();
    assert_eq!(store.latest_snapshot(&run).unwrap(), Some(snapshot(1)));
}
