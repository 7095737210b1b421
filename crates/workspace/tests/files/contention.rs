//! An editor that keeps saving its buffer while regreen edits, in two unsynchronized threads.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use regreen_workspace::{EditFileError, RealDisk};

use crate::folder::{Folder, OPEN, save_by_rename, tick, ticked};

const TRIALS: u64 = 400;
const SAVES: u64 = 4;

#[derive(Debug, Default)]
struct Counts {
    saves_lost: usize,
    edits_lost: usize,
    edits_made_again: usize,
    refused: u32,
    contended: usize,
}

/// An editor whose buffer grows with each save, and which never rereads the file.
fn editor_saves(path: &Path, trial: u64, saved: &AtomicU64) {
    let mut buffer = OPEN.to_owned();
    for save in 0..SAVES {
        saved.store(save, Ordering::SeqCst);
        thread::sleep(pause(trial, save));
        buffer.push_str(&format!("\nnote {save} of trial {trial}\n"));
        save_by_rename(path, &buffer);
    }
}

/// Starts the edit shortly before one of the last two saves, where a loss would be permanent.
fn wait_for_the_last_saves(trial: u64, saved: &AtomicU64) {
    while saved.load(Ordering::SeqCst) < SAVES - 1 - trial % 2 {
        thread::yield_now();
    }
}

/// Returns a delay within the duration of an edit, the same in every run.
fn pause(trial: u64, save: u64) -> Duration {
    let mixed = (trial * 31 + save * 17).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    Duration::from_micros(mixed % 300)
}

fn last_note(trial: u64) -> String {
    format!("note {} of trial {trial}\n", SAVES - 1)
}

/// Runs the editor against `edit`, and returns what was lost in the end.
fn run_trials(edit: impl Fn(&Path, &mut Counts)) -> Counts {
    let mut counts = Counts::default();
    for trial in 0..TRIALS {
        let folder = Folder::new();
        let path = folder.tasks();
        let saved = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| editor_saves(&path, trial, &saved));
            wait_for_the_last_saves(trial, &saved);
            edit(&path, &mut counts);
        });
        counts.saves_lost += usize::from(!folder.text().contains(&last_note(trial)));
        counts.edits_made_again += usize::from(!folder.text().contains("[x]"));
        next_look(&path);
        counts.edits_lost += usize::from(!folder.text().contains("[x]"));
        assert_eq!(folder.names(), ["tasks.md"], "trial {trial}");
    }
    counts
}

/// Repeats pending edits, as regreen does before its next step.
fn next_look(path: &Path) {
    drop(tick(&RealDisk, path).unwrap());
}

fn edit_by_exchange(path: &Path, counts: &mut Counts) {
    loop {
        match tick(&RealDisk, path) {
            Ok(edited) => {
                counts.refused += edited.refusals;
                return;
            }
            Err(EditFileError::Contended { .. }) => counts.contended += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

fn edit_by_plain_rename(path: &Path, _: &mut Counts) {
    let text = ticked(&fs::read_to_string(path).unwrap());
    fs::rename(write_beside(path, &text), path).unwrap();
}

/// Renames the file after checking it once more.
fn edit_by_checked_rename(path: &Path, counts: &mut Counts) {
    let read = fs::read_to_string(path).unwrap();
    let beside = write_beside(path, &ticked(&read));
    if fs::read_to_string(path).unwrap() == read {
        fs::rename(beside, path).unwrap();
    } else {
        counts.refused += 1;
        fs::remove_file(beside).unwrap();
        edit_by_checked_rename(path, counts);
    }
}

fn write_beside(path: &Path, text: &str) -> PathBuf {
    let beside = path.with_extension("plain");
    let mut file = fs::File::create(&beside).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.sync_all().unwrap();
    beside
}

#[test]
fn no_save_and_no_edit_is_lost_against_an_editor() {
    let counts = run_trials(edit_by_exchange);
    println!("exchange, {TRIALS} trials: {counts:?}");
    assert_eq!(counts.saves_lost, 0);
    assert_eq!(counts.edits_lost, 0);
}

/// The control: common ways of writing lose saves in the same race.
#[test]
#[ignore = "a measurement that depends on timing"]
fn a_rename_loses_saves_against_an_editor() {
    let plain = run_trials(edit_by_plain_rename);
    let checked = run_trials(edit_by_checked_rename);
    println!("plain rename, {TRIALS} trials: {plain:?}");
    println!("checked rename, {TRIALS} trials: {checked:?}");
    assert!(plain.saves_lost > 0);
}
