use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use regreen_model::ChoiceKind;
use regreen_store::{AppendError, Fault, StepNo, Store};
use rusqlite::{Connection, TransactionBehavior};

use crate::again::{again, prepared};
use crate::folder::{Folder, NOON};
use crate::sample::{begin, green, step, task};

/// Another process in the middle of a write, until its input is closed.
fn busy_process(folder: &Folder) -> Child {
    let mut child = again("two_processes::inner_holds_the_file", &folder.file())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let held = lines.map(Result::unwrap).any(|line| line.ends_with("held"));
    assert!(held, "the other process never got the file");
    child
}

#[test]
fn the_second_writer_is_told_that_the_file_is_busy_and_readers_go_on() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    store.append(&run, &step(1), &[]).unwrap();
    let mut other = busy_process(&folder);

    let begun = Instant::now();
    let error = store.append(&run, &step(2), &[]).unwrap_err();
    assert!(
        matches!(error, AppendError::Fault(Fault::Busy)),
        "{error:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
    let reader = Store::open(&folder.file(), NOON).unwrap();
    assert!(reader.was_left_open());
    assert_eq!(reader.steps(&run, StepNo::NONE).unwrap().count(), 1);

    drop(other.stdin.take());
    other.wait().unwrap();
    store.append(&run, &step(2), &[]).unwrap();
}

#[test]
#[ignore = "inner half"]
fn inner_holds_the_file() {
    let Some(path) = prepared() else { return };
    let mut raw = Connection::open(path).unwrap();
    let held = raw.transaction_with_behavior(TransactionBehavior::Immediate);
    std::io::stdout().write_all(b"held\n").unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    drop(held);
}

#[test]
fn a_step_that_another_process_stored_first_is_refused() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    let mut other = folder.open();
    other.append(&run, &step(1), &[]).unwrap();
    let error = store.append(&run, &step(1), &[]).unwrap_err();
    assert!(matches!(error, AppendError::OutOfOrder { .. }), "{error:?}");
    store.append(&run, &step(2), &[]).unwrap();
}

#[test]
fn what_is_listed_while_another_writes_is_never_called_damaged() {
    let folder = Folder::new();
    let mut writer = folder.open();
    thread::scope(|scope| {
        let writing = scope.spawn(move || {
            for _ in 0..100 {
                let run = begin(&mut writer, "login");
                for n in 1..=3 {
                    writer.append(&run, &step(n), &[]).unwrap();
                }
                writer.end_run(&run, &green()).unwrap();
                let what = ChoiceKind::Skip;
                writer.choose("login", &task("1.3"), what, NOON).unwrap();
            }
        });
        let reader = folder.open();
        while !writing.is_finished() {
            for run in reader.runs(1).unwrap() {
                reader.outstanding(&run.id).unwrap();
            }
            reader.choices("login").unwrap();
        }
        reader.check().unwrap();
    });
}
