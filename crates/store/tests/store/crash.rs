//! A process that is killed while it appends.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Stdio};
use std::thread;
use std::time::Duration;

use regreen_store::{HistoryRow, RunId, StepNo, Store};

use crate::again::{again, prepared};
use crate::folder::{Folder, NOON};
use crate::sample::{begin, ended, step};

const KILLS: u64 = 20;

fn spawn(folder: &Folder) -> (Child, BufReader<ChildStdout>) {
    let mut child = again("crash::inner_appends_for_ever", &folder.file())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

fn acknowledged(line: &str) -> Option<u64> {
    line.trim().strip_prefix("stored ")?.parse().ok()
}

/// Lets a process append for a moment, kills it, and says which step it last called stored.
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
    // A reader, so that the process never waits for a full pipe.
    let rest = thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        lines.filter_map(|line| acknowledged(&line)).last()
    });
    thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    rest.join().unwrap().or(last).unwrap()
}

/// Everything that was called stored is there, and at most one step more, whole.
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
        // Spread over what a few hundred appends take, with their checkpoints.
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
