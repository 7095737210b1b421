//! A process that is killed while it appends, and two processes at once.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use regreen_model::ChoiceKind;
use regreen_store::{AppendError, HistoryRow, RunId, StepNo, Store, StoreError};
use rusqlite::{Connection, TransactionBehavior};

use crate::fixture::{Folder, NOON, again, begin, ended, green, prepared, step, task};

const KILLS: u64 = 20;

fn spawn(folder: &Folder) -> (Child, BufReader<ChildStdout>) {
    let mut child = again("processes::inner_appends_for_ever", &folder.file())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

fn acknowledged(line: &str) -> Option<u64> {
    line.trim().strip_prefix("stored ")?.parse().ok()
}

/// Lets a process append for a moment, kills it, and returns the last step it reported as stored.
fn append_and_kill(folder: &Folder, moment: Duration) -> u64 {
    let (mut child, mut output) = spawn(folder);
    let mut last = None;
    while last.is_none() {
        let mut line = String::new();
        assert_ne!(
            output.read_line(&mut line).unwrap(),
            0,
            "it ended by itself"
        );
        last = acknowledged(&line);
    }
    // Read its output, so that the process never blocks on a full pipe.
    let rest = thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        lines.filter_map(|line| acknowledged(&line)).last()
    });
    thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    rest.join().unwrap().or(last).unwrap()
}

/// Everything reported as stored is there, plus at most one complete step.
fn assert_whole(folder: &Folder, run: &RunId, stored: u64) -> u64 {
    let store = folder.open();
    store.check().unwrap();
    let last = store.run(run).unwrap().last_step.0;
    assert!(
        last == stored || last == stored + 1,
        "{stored} were called stored, {last} are there"
    );
    let steps = store.steps(run, StepNo::NONE).unwrap();
    for (found, n) in steps.zip(1..) {
        assert_eq!(found.unwrap(), step(n));
    }
    let owed = store.outstanding(run).unwrap();
    assert_eq!(owed, step(last).commands);
    assert_eq!(store.attempts_in_run(run).unwrap().len() as u64, last);
    last
}

#[test]
fn killed_at_any_moment_no_stored_step_is_lost_and_none_is_half_there() {
    let folder = Folder::on_disk();
    let run = begin(&mut folder.open(), "login");
    let mut left_open = 0;
    for kill in 0..KILLS {
        // Spread over the duration of a few hundred appends, including checkpoints.
        let moment = Duration::from_micros(kill * 7919 % 90_000);
        let stored = append_and_kill(&folder, moment);
        let log = fs::metadata(folder.path("regreen.db-wal"));
        left_open += u64::from(log.is_ok_and(|log| log.len() > 0));
        assert_whole(&folder, &run, stored);
    }
    assert_eq!(left_open, KILLS, "every kill left a log to recover");
}

#[test]
#[ignore = "inner half"]
fn inner_appends_for_ever() {
    let Some(path) = prepared() else { return };
    let mut store = Store::open(&path, NOON).unwrap();
    let run = store.unfinished_run("login").unwrap().unwrap();
    let mut n = store.run(&run).unwrap().last_step.0;
    let mut output = std::io::stdout();
    loop {
        n += 1;
        let attempt = HistoryRow::Attempt(ended(&run, "1.3", n as u32));
        store.append(&run, &step(n), &[attempt]).unwrap();
        output
            .write_all(format!("stored {n}\n").as_bytes())
            .unwrap();
    }
}

/// Starts another process that is in the middle of a write until its input is closed.
fn busy_process(folder: &Folder) -> Child {
    let mut child = again("processes::inner_holds_the_file", &folder.file())
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
fn a_second_writer_gets_a_busy_error_and_readers_continue() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    store.append(&run, &step(1), &[]).unwrap();
    let mut other = busy_process(&folder);

    let begun = Instant::now();
    let error = store.append(&run, &step(2), &[]).unwrap_err();
    assert!(
        matches!(error, AppendError::Store(StoreError::Busy)),
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
fn a_journal_listed_during_a_write_is_not_called_damaged() {
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
