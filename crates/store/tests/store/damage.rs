//! Bytes that changed on the disk.

use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use regreen_store::{
    Attempt, FailureRow, Fault, IssuedCommand, OpenError, Run, RunError, Snapshot, Step, StepNo,
    Store,
};

use crate::folder::{Folder, NOON};
use crate::sample::{fill, snapshot, step};

/// What resuming depends on.
#[derive(Clone, Debug, PartialEq)]
struct Journal {
    runs: Vec<Run>,
    steps: Vec<Vec<Step>>,
    owed: Vec<Vec<IssuedCommand>>,
}

/// What people look at.
#[derive(Clone, Debug, PartialEq)]
struct History {
    attempts: Vec<Attempt>,
    failures: Vec<FailureRow>,
}

struct Original {
    bytes: Vec<u8>,
    journal: Journal,
    history: History,
}

static ORIGINAL: LazyLock<Original> = LazyLock::new(|| {
    let folder = Folder::new();
    let mut store = folder.open();
    fill(&mut store);
    let journal = journal(&store).unwrap();
    let history = history(&store, &journal).unwrap();
    store.close().unwrap();
    let bytes = fs::read(folder.file()).unwrap();
    Original {
        bytes,
        journal,
        history,
    }
});

fn journal(store: &Store) -> Result<Journal, RunError> {
    let runs = store.runs(99)?;
    let mut steps = Vec::new();
    let mut owed = Vec::new();
    for run in &runs {
        let all = store.steps(&run.id, StepNo::NONE)?;
        steps.push(all.collect::<Result<_, _>>()?);
        owed.push(store.outstanding(&run.id)?);
    }
    Ok(Journal { runs, steps, owed })
}

fn history(store: &Store, journal: &Journal) -> Result<History, RunError> {
    let mut attempts = Vec::new();
    for run in &journal.runs {
        attempts.extend(store.attempts_in_run(&run.id)?);
    }
    let failures = store.failures_since(0)?;
    Ok(History { attempts, failures })
}

fn snapshots(store: &Store, journal: &Journal) -> Result<Vec<Snapshot>, RunError> {
    let mut found = Vec::new();
    for run in &journal.runs {
        found.extend(store.latest_snapshot(&run.id)?);
    }
    Ok(found)
}

fn is_damage(error: &RunError) -> bool {
    // A name that an index lost cannot be found any more; that, too, stops a run.
    matches!(
        error,
        RunError::Fault(Fault::Damaged(_)) | RunError::NoSuchRun(_)
    )
}

/// Whatever can be read is right; whatever is not is called damaged.
fn assert_right_or_damaged(bytes: &[u8]) {
    let folder = Folder::new();
    fs::write(folder.file(), bytes).unwrap();
    let mut store = match Store::open(&folder.file(), NOON) {
        Ok(store) => store,
        Err(OpenError::Fault(Fault::Damaged(_))) => return,
        Err(other) => panic!("{other:?}"),
    };
    match journal(&store) {
        Ok(found) => {
            assert_eq!(found, ORIGINAL.journal);
            assert_history(&store);
        }
        Err(error) => assert!(is_damage(&error), "{error:?}"),
    }
    // Writing to such a file may fail in any way but a panic.
    for run in &ORIGINAL.journal.runs {
        let _ = store.append(&run.id, &step(41), &[]);
        let _ = store.save_snapshot(&run.id, &snapshot(40));
    }
}

fn assert_history(store: &Store) {
    match history(store, &ORIGINAL.journal) {
        Ok(found) if found == ORIGINAL.history => {}
        Ok(found) => {
            let (attempts, failures) = (&ORIGINAL.history.attempts, &ORIGINAL.history.failures);
            assert!(found.attempts.iter().all(|a| attempts.contains(a)));
            assert!(found.failures.iter().all(|f| failures.contains(f)));
            assert!(store.check().is_err(), "rows vanished unnoticed");
        }
        Err(error) => assert!(is_damage(&error), "{error:?}"),
    }
    match snapshots(store, &ORIGINAL.journal) {
        Ok(found) => assert!(found.iter().all(|s| *s == snapshot(s.step.0))),
        Err(error) => assert!(is_damage(&error), "{error:?}"),
    }
}

#[test]
fn an_undamaged_file_is_read_as_it_was() {
    let folder = Folder::new();
    fs::write(folder.file(), &ORIGINAL.bytes).unwrap();
    let store = folder.open();
    store.check().unwrap();
    assert_eq!(journal(&store).unwrap(), ORIGINAL.journal);
    assert_eq!(ORIGINAL.journal.steps[0].len(), 40);
    assert_eq!(ORIGINAL.history.failures.len(), 30);
    let kept = snapshots(&store, &ORIGINAL.journal).unwrap();
    assert_eq!(kept, [snapshot(30), snapshot(30), snapshot(30)]);
}

#[test]
fn a_changed_letter_in_a_step_is_noticed() {
    let needle = b"step 25: ";
    let place = ORIGINAL.bytes.windows(needle.len());
    let place = place.into_iter().position(|w| w == needle).unwrap();
    let mut bytes = ORIGINAL.bytes.clone();
    bytes[place] = b'S';
    let folder = Folder::new();
    fs::write(folder.file(), bytes).unwrap();
    let error = journal(&folder.open()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the journal is damaged: a row of steps does not match its checksum"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_changed_anywhere_are_damage_or_make_no_difference(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..6),
    ) {
        let mut bytes = ORIGINAL.bytes.clone();
        for (place, change) in changes {
            let place = place.index(bytes.len());
            bytes[place] ^= change;
        }
        assert_right_or_damaged(&bytes);
    }

    #[test]
    fn bytes_changed_in_the_header_are_damage_or_make_no_difference(
        changes in prop::collection::vec((0_usize..100, 1_u8..), 1..4),
    ) {
        let mut bytes = ORIGINAL.bytes.clone();
        for (place, change) in changes {
            bytes[place] ^= change;
        }
        assert_right_or_damaged(&bytes);
    }

    #[test]
    fn a_stretch_of_zeros_is_damage_or_makes_no_difference(
        place in any::<prop::sample::Index>(),
        length in 1_usize..9000,
    ) {
        let mut bytes = ORIGINAL.bytes.clone();
        let begin = place.index(bytes.len());
        let end = (begin + length).min(bytes.len());
        bytes[begin..end].fill(0);
        assert_right_or_damaged(&bytes);
    }
}
