//! Bytes that changed on the disk.

use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use regreen_model::{ChoiceKind, PersonChoice};
use regreen_store::{
    Attempt, CommandSeq, FailureRow, IssuedCommand, OpenError, Run, RunError, Snapshot, Step,
    StepNo, Store, StoreError,
};
use rusqlite::Connection;

use crate::fixture::{Folder, NOON, begin, fill, green, snapshot, step, task};

/// The data that resuming depends on.
#[derive(Clone, Debug, PartialEq)]
struct Journal {
    runs: Vec<Run>,
    steps: Vec<Vec<Step>>,
    owed: Vec<Vec<IssuedCommand>>,
    choices: Vec<PersonChoice>,
}

/// The data that people look at.
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
    let mut choices = store.choices("login")?;
    choices.extend(store.choices("search")?);
    Ok(Journal {
        runs,
        steps,
        owed,
        choices,
    })
}

fn history(store: &Store, journal: &Journal) -> Result<History, RunError> {
    let mut attempts = Vec::new();
    for run in &journal.runs {
        attempts.extend(store.attempts_in_run(&run.id)?);
    }
    let failures = store.last_failures(0, None, usize::MAX)?;
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
    matches!(error, RunError::Store(StoreError::Damaged(_)))
}

/// Whatever can be read is correct; everything else is reported as damaged.
fn assert_right_or_damaged(bytes: &[u8]) {
    let folder = Folder::new();
    fs::write(folder.file(), bytes).unwrap();
    let mut store = match Store::open(&folder.file(), NOON) {
        Ok(store) => store,
        Err(OpenError::Store(StoreError::Damaged(_))) => return,
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
        let _ = store.end_run(&run.id, &green());
    }
    let _ = store.choose("login", &task("1.3"), ChoiceKind::Skip, NOON);
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
    assert_eq!(ORIGINAL.journal.choices.len(), 9);
    assert_eq!(ORIGINAL.journal.runs[2].end, Some(green()));
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

/// Returns the file with one change, as someone with a database tool would make it.
fn changed(sql: &str) -> Folder {
    let folder = Folder::new();
    fs::write(folder.file(), &ORIGINAL.bytes).unwrap();
    let raw = Connection::open(folder.file()).unwrap();
    assert_eq!(raw.execute(sql, []).unwrap(), 1);
    folder
}

#[test]
fn a_name_that_leads_to_another_run_is_noticed() {
    // The second run in the index of names: its name, then its number.
    let (entry, number) = (b"20251116-120000-02\x02", 18);
    let mut places = ORIGINAL.bytes.windows(entry.len());
    let place = places.position(|w| w == entry).unwrap() + number;
    let mut bytes = ORIGINAL.bytes.clone();
    bytes[place] = 3;
    let folder = Folder::new();
    fs::write(folder.file(), bytes).unwrap();
    let run = &ORIGINAL.journal.runs[1].id;
    let error = folder.open().steps(run, StepNo::NONE).unwrap_err();
    assert!(is_damage(&error), "{error:?}");
}

#[test]
fn an_end_that_moved_to_another_run_is_noticed() {
    let folder = changed("UPDATE run_ends SET run = 2");
    let error = folder.open().unfinished_run("login").unwrap_err();
    assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
}

#[test]
fn a_command_listed_as_pending_in_place_of_another_is_noticed() {
    let folder = Folder::new();
    let mut store = folder.open();
    let first = begin(&mut store, "login");
    let asked = [step(1), step(2)].map(|step| step.commands[0].clone());
    let two = Step {
        commands: asked.into(),
        ..step(1)
    };
    store.append(&first, &two, &[]).unwrap();
    let answer = Step {
        commands: vec![],
        ..step(2)
    };
    store.append(&first, &answer, &[]).unwrap();
    let owed = store.outstanding(&first).unwrap();
    assert_eq!(owed[0].seq, CommandSeq(2));
    store.close().unwrap();
    let raw = Connection::open(folder.file()).unwrap();
    raw.execute("UPDATE owed SET seq = 1", []).unwrap();
    drop(raw);
    let error = folder.open().outstanding(&first).unwrap_err();
    assert!(is_damage(&error), "{error:?}");
}

/// Returns the offsets of page headers that mark their page as one with rows.
fn page_headers() -> impl Iterator<Item = usize> {
    let bytes = &ORIGINAL.bytes;
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let begins = (0..bytes.len()).step_by(size);
    let headers = begins.map(|begin| if begin == 0 { 100 } else { begin });
    headers.filter(|at| matches!(ORIGINAL.bytes[*at], 2 | 5 | 10 | 13))
}

#[test]
fn a_page_that_says_it_is_empty_is_damage_or_makes_no_difference() {
    let mut pages = 0;
    for at in page_headers() {
        for length in [2, 4] {
            let mut bytes = ORIGINAL.bytes.clone();
            bytes[at + 3..at + 3 + length].fill(0);
            assert_right_or_damaged(&bytes);
        }
        pages += 1;
    }
    assert!(pages > 20, "{pages}");
}

#[test]
fn a_page_that_lost_its_last_row_is_damage_or_makes_no_difference() {
    for at in page_headers() {
        let mut bytes = ORIGINAL.bytes.clone();
        let count = u16::from_be_bytes([bytes[at + 3], bytes[at + 4]]);
        let fewer = count.saturating_sub(1).to_be_bytes();
        bytes[at + 3..at + 5].copy_from_slice(&fewer);
        assert_right_or_damaged(&bytes);
    }
}

/// Set `PROPTEST_CASES` for a longer run.
fn cases() -> u32 {
    ProptestConfig::default().cases.max(300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

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
