//! Steps, pending commands and snapshots.

use regreen_store::{
    AppendError, CommandSeq, HistoryRow, IssuedCommand, RunEnd, RunError, RunId, Snapshot,
    SnapshotError, Step, StepNo, Store,
};

use crate::fixture::{Folder, NOON, begin, begun, failed, payload, snapshot, step};

fn store_with(steps: u64) -> (Folder, Store, RunId) {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    for n in 1..=steps {
        store.append(&run, &step(n), &[]).unwrap();
    }
    (folder, store, run)
}

fn stored(store: &Store, run: &RunId) -> Vec<Step> {
    let steps = store.steps(run, StepNo::NONE).unwrap();
    steps.collect::<Result<_, _>>().unwrap()
}

fn owed(store: &Store, run: &RunId) -> Vec<u64> {
    let owed = store.outstanding(run).unwrap();
    owed.iter().map(|c| c.seq.0).collect()
}

#[test]
fn steps_come_back_as_they_were_after_reopening() {
    let (folder, store, run) = store_with(100);
    store.close().unwrap();
    let store = folder.open();
    assert_eq!(
        stored(&store, &run),
        (1..=100).map(step).collect::<Vec<_>>()
    );
    let later = store.steps(&run, StepNo(97)).unwrap();
    let numbers: Vec<_> = later.map(|s| s.unwrap().number.0).collect();
    assert_eq!(numbers, [98, 99, 100]);
    assert_eq!(store.steps(&run, StepNo(100)).unwrap().count(), 0);
}

#[test]
fn steps_that_the_disk_was_not_asked_for_stand_between_the_others() {
    let (folder, mut store, run) = store_with(1);
    store.append_unsynced(&run, &step(2), &[]).unwrap();
    let refused = store.append_unsynced(&run, &step(2), &[]);
    assert!(matches!(refused, Err(AppendError::OutOfOrder { .. })));
    store.append(&run, &step(3), &[]).unwrap();
    store.append_unsynced(&run, &step(4), &[]).unwrap();
    // As after a kill: the file is not closed.
    std::mem::forget(store);
    let store = folder.open();
    assert_eq!(stored(&store, &run), (1..=4).map(step).collect::<Vec<_>>());
}

#[test]
fn events_come_in_order_with_their_step_and_time() {
    let (_folder, store, run) = store_with(70);
    let events = store.events(&run, StepNo(68)).unwrap();
    let events: Vec<_> = events
        .map(|e| e.unwrap())
        .map(|e| (e.step.0, e.now_ms - NOON, e.event.kind))
        .collect();
    let expected = [
        (69, 69, "Happened".to_owned()),
        (69, 69, "Noted".to_owned()),
        (70, 70, "Happened".to_owned()),
        (70, 70, "Noted".to_owned()),
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_step_twice_or_after_a_gap_is_refused_and_leaves_no_trace() {
    let (_folder, mut store, run) = store_with(3);
    for wrong in [0, 1, 3, 5] {
        let error = store.append(&run, &step(wrong), &[]).unwrap_err();
        assert!(
            matches!(error, AppendError::OutOfOrder { last: StepNo(3), got, .. } if got.0 == wrong),
            "{error}"
        );
    }
    assert_eq!(stored(&store, &run).len(), 3);
    assert_eq!(owed(&store, &run), [3]);
    store.append(&run, &step(4), &[]).unwrap();
}

#[test]
fn pending_commands_are_those_issued_and_not_answered() {
    let (_folder, mut store, run) = store_with(2);
    let many = Step {
        answers: None,
        commands: [7, 5, 6]
            .map(|seq| IssuedCommand {
                seq: CommandSeq(seq),
                command: payload("DoIt", &seq.to_string()),
            })
            .into(),
        ..step(3)
    };
    store.append(&run, &many, &[]).unwrap();
    assert_eq!(owed(&store, &run), [2, 5, 6, 7]);
    let answer = Step {
        answers: Some(CommandSeq(6)),
        commands: vec![],
        ..step(4)
    };
    store.append(&run, &answer, &[]).unwrap();
    assert_eq!(owed(&store, &run), [2, 5, 7]);
    let commands = store.outstanding(&run).unwrap();
    assert_eq!(commands[1].command, payload("DoIt", "5"));
    store.check().unwrap();
}

#[test]
fn an_answer_to_no_pending_command_is_refused() {
    let (_folder, mut store, run) = store_with(2);
    for nothing in [1, 99] {
        let wrong = Step {
            answers: Some(CommandSeq(nothing)),
            ..step(3)
        };
        let error = store.append(&run, &wrong, &[]).unwrap_err();
        assert!(matches!(error, AppendError::NotPending(seq) if seq.0 == nothing));
    }
    assert_eq!(owed(&store, &run), [2]);
}

#[test]
fn a_command_cannot_be_issued_while_it_is_pending() {
    let (_folder, mut store, run) = store_with(2);
    let wrong = Step {
        answers: None,
        commands: step(2).commands,
        ..step(3)
    };
    let error = store.append(&run, &wrong, &[]).unwrap_err();
    assert!(matches!(error, AppendError::AlreadyPending(CommandSeq(2))));
    assert_eq!(stored(&store, &run).len(), 2);
}

#[test]
fn an_ended_or_unknown_run_takes_no_steps() {
    let (_folder, mut store, run) = store_with(2);
    let nobody = RunId::named("nobody");
    let error = store.append(&nobody, &step(1), &[]).unwrap_err();
    assert!(matches!(error, AppendError::Run(RunError::NoSuchRun(id)) if id == nobody));
    let end = RunEnd {
        ended_ms: NOON,
        outcome: "green".to_owned(),
        exit_code: Some(0),
    };
    store.end_run(&run, &end).unwrap();
    let error = store.append(&run, &step(3), &[]).unwrap_err();
    assert!(matches!(error, AppendError::Run(RunError::Ended(id)) if id == run));
}

#[test]
fn a_step_whose_history_is_refused_is_not_stored() {
    let (_folder, mut store, run) = store_with(2);
    let rows = [
        HistoryRow::Attempt(begun(&run, "1.1", 1)),
        HistoryRow::Failure(failed(&run, "1.2", 1)),
    ];
    let error = store.append(&run, &step(3), &rows).unwrap_err();
    assert!(matches!(error, AppendError::Record(_)), "{error}");
    assert_eq!(stored(&store, &run).len(), 2);
    assert_eq!(store.attempts_in_run(&run).unwrap(), []);
}

#[test]
fn runs_do_not_mix() {
    let (_folder, mut store, first) = store_with(5);
    let second = begin(&mut store, "login");
    store.append(&second, &step(1), &[]).unwrap();
    assert_eq!(stored(&store, &first).len(), 5);
    assert_eq!(stored(&store, &second), [step(1)]);
    assert_eq!(owed(&store, &first), [5]);
    assert_eq!(owed(&store, &second), [1]);
}

#[test]
fn the_file_itself_refuses_to_change_a_step() {
    let (folder, store, _run) = store_with(2);
    store.close().unwrap();
    let raw = rusqlite::Connection::open(folder.file()).unwrap();
    for sql in ["UPDATE steps SET now_ms = 0", "DELETE FROM steps"] {
        let error = raw.execute(sql, []).unwrap_err().to_string();
        assert_eq!(error, "the journal is append-only");
    }
}

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
