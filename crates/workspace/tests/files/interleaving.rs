//! Someone saves right before any of regreen's calls.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;

use proptest::prelude::*;
use regreen_workspace::{
    Call, CallOutcome, EditFileError, FaultyDisk, MAX_REFUSALS, Operation, RealDisk,
};

use crate::folder::{DONE, Folder, OPEN, ticked, version};

/// More than the number of calls in an edit with two refusals.
const CALLS: usize = 56;

/// How the other program saves.
#[derive(Debug, Clone, Copy)]
enum Saving {
    ByRename,
    InPlace,
}

impl Saving {
    fn save(self, folder: &Folder, text: &str) {
        match self {
            Saving::ByRename => folder.save(text),
            Saving::InPlace => fs::write(folder.tasks(), text).unwrap(),
        }
    }
}

/// Edits while someone saves before the given calls, then repeats the edit as the next step would.
/// In the end, the last save must be there with the edit on top.
fn check(places: &BTreeSet<usize>, saving: Saving) {
    let folder = Folder::in_memory();
    let last = Cell::new(None);
    let disk = FaultyDisk::new(RealDisk, |call: Call| {
        if places.contains(&call.index) {
            saving.save(&folder, &version(call.index));
            last.set(Some(call.index));
        }
        CallOutcome::Pass
    });
    match folder.tick(&disk) {
        Ok(edited) => assert!(edited.recovered.is_empty()),
        Err(EditFileError::Contended { .. }) => assert!(places.len() >= MAX_REFUSALS as usize),
        Err(error) => panic!("{places:?} {saving:?}: {error}"),
    }
    let expected = last.get().map_or(OPEN.to_owned(), version);
    let standing = folder.text();
    assert!(
        standing == expected || standing == ticked(&expected),
        "{places:?} {saving:?}: {standing:?}"
    );
    drop(folder.tick(&RealDisk).unwrap());
    assert_eq!(folder.text(), ticked(&expected), "{places:?} {saving:?}");
    assert_eq!(folder.names(), ["tasks.md"], "{places:?} {saving:?}");
}

#[test]
fn a_save_before_any_call_is_kept_with_the_edit_on_top() {
    for place in 0..CALLS {
        check(&BTreeSet::from([place]), Saving::ByRename);
        check(&BTreeSet::from([place]), Saving::InPlace);
    }
}

#[test]
fn the_last_of_two_saves_before_any_calls_is_kept_with_the_edit_on_top() {
    for first in 0..CALLS {
        for second in first + 1..CALLS {
            check(&BTreeSet::from([first, second]), Saving::ByRename);
        }
    }
}

/// A save in place takes two steps, and the file is empty in between.
#[test]
fn a_save_in_place_may_start_and_end_at_any_calls() {
    for begin in 0..24 {
        for end in begin + 1..30 {
            let folder = Folder::in_memory();
            let open = RefCell::new(None);
            let disk = FaultyDisk::new(RealDisk, |call: Call| {
                if call.index == begin {
                    *open.borrow_mut() = Some(File::create(folder.tasks()).unwrap());
                }
                if call.index == end {
                    finish(&open);
                }
                CallOutcome::Pass
            });
            drop(folder.tick(&disk).unwrap());
            finish(&open);
            drop(folder.tick(&RealDisk).unwrap());
            let begun = disk.calls() > begin;
            let expected = if begun {
                ticked(&version(1))
            } else {
                DONE.to_owned()
            };
            assert_eq!(folder.text(), expected, "from call {begin} to {end}");
        }
    }
}

/// The program opened the old file in time, and writes after it has lost its name.
#[test]
fn a_late_write_to_the_displaced_file_is_detected() {
    let folder = Folder::in_memory();
    let open = RefCell::new(None);
    let disk = FaultyDisk::new(RealDisk, |call: Call| {
        match call.operation {
            Operation::CheckWritable if open.borrow().is_none() => {
                let file = File::options().write(true).open(folder.tasks());
                *open.borrow_mut() = Some(file.unwrap());
            }
            Operation::SyncFolder => finish(&open),
            _ => {}
        }
        CallOutcome::Pass
    });
    let edited = folder.tick(&disk).unwrap();
    assert_eq!(edited.refusals, 1);
    assert_eq!(folder.text(), ticked(&version(1)));
    assert_eq!(folder.names(), ["tasks.md"]);
}

fn finish(open: &RefCell<Option<File>>) {
    if let Some(mut file) = open.borrow_mut().take() {
        file.write_all(version(1).as_bytes()).unwrap();
    }
}

/// The control: the same script makes the usual way of writing lose a save.
#[test]
fn a_plain_rename_loses_a_save_between_reading_and_renaming() {
    let folder = Folder::in_memory();
    let read = folder.text();
    folder.save(&version(1));
    folder.save(&ticked(&read));
    assert_eq!(folder.text(), DONE);
}

#[test]
fn regreen_gives_up_after_three_refusals() {
    let folder = Folder::in_memory();
    let count = Cell::new(0);
    let disk = FaultyDisk::new(RealDisk, |call: Call| {
        if call.operation == Operation::CheckWritable {
            count.set(count.get() + 1);
            folder.save(&version(count.get()));
        }
        CallOutcome::Pass
    });
    let error = folder.tick(&disk).unwrap_err();
    assert!(
        matches!(&error, EditFileError::Contended { path } if *path == folder.tasks()),
        "{error}"
    );
    assert_eq!(folder.text(), version(count.get()));
    assert_eq!(folder.names(), ["tasks.md"]);
}

#[test]
fn endless_saves_end_the_edit_and_the_last_one_is_kept() {
    let folder = Folder::in_memory();
    let count = Cell::new(0);
    let disk = FaultyDisk::new(RealDisk, |call: Call| {
        if call.operation == Operation::Exchange {
            count.set(count.get() + 1);
            folder.save(&version(count.get()));
        }
        CallOutcome::Pass
    });
    assert!(matches!(folder.tick(&disk), Err(EditFileError::Step(_))));
    drop(folder.tick(&RealDisk).unwrap());
    assert!(!folder.has_temps());
    assert_eq!(folder.kept_aside(), [version(count.get())]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_last_of_any_number_of_saves_is_kept(
        places in prop::collection::btree_set(0_usize..110, 0..12),
        in_place in any::<bool>(),
    ) {
        check(&places, if in_place { Saving::InPlace } else { Saving::ByRename });
    }
}
