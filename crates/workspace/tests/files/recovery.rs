//! Recovery of each kind of leftover.

use std::fs;

use regreen_workspace::{
    Call, CallOutcome, FaultyDisk, Operation, RealDisk, RecoveredLeftover, recover_leftovers,
};

use crate::folder::{DONE, Folder, OPEN, version};

/// Ends the process right before the given call of the exchange phase, after a user's save right
/// before the exchange itself.
fn killed_after_displacing_a_save() -> Folder {
    let folder = Folder::new();
    let exchanged = std::cell::Cell::new(false);
    let disk = FaultyDisk::new(RealDisk, |call: Call| {
        if exchanged.get() {
            return CallOutcome::Stop;
        }
        if call.operation == Operation::Exchange {
            folder.save(&version(1));
            exchanged.set(true);
        }
        CallOutcome::Pass
    });
    assert!(folder.tick(&disk).is_err());
    assert_eq!(folder.text(), DONE);
    folder
}

#[test]
fn a_save_displaced_by_a_killed_process_is_put_back() {
    let folder = killed_after_displacing_a_save();
    let recovered = recover_leftovers(&RealDisk, &folder.tasks()).unwrap();
    assert!(
        matches!(recovered.as_slice(), [RecoveredLeftover::PutBack { path }] if path.ends_with("tasks.md")),
        "{recovered:?}"
    );
    assert_eq!(folder.text(), version(1));
    assert_eq!(folder.names(), ["tasks.md"]);
}

#[test]
fn a_displaced_save_is_kept_aside_if_there_is_a_newer_one() {
    let folder = killed_after_displacing_a_save();
    folder.save(&version(2));
    fs::write(folder.path("tasks.md.saved-1"), "an older one").unwrap();
    let edited = folder.tick(&RealDisk).unwrap();
    assert!(
        matches!(
            edited.recovered.as_slice(),
            [RecoveredLeftover::KeptAside { path }] if path.ends_with("tasks.md.saved-2")
        ),
        "{:?}",
        edited.recovered
    );
    assert_eq!(folder.kept_aside(), ["an older one".to_owned(), version(1)]);
    assert_eq!(folder.names().len(), 3);
}

#[test]
fn a_displaced_save_is_kept_aside_if_the_file_was_removed() {
    let folder = killed_after_displacing_a_save();
    fs::remove_file(folder.tasks()).unwrap();
    let recovered = recover_leftovers(&RealDisk, &folder.tasks()).unwrap();
    assert!(matches!(
        recovered.as_slice(),
        [RecoveredLeftover::KeptAside { .. }]
    ));
    assert_eq!(folder.kept_aside(), [version(1)]);
}

#[test]
fn recovery_may_itself_be_killed_at_any_call() {
    for stop_at in 0..20 {
        let folder = killed_after_displacing_a_save();
        let disk = FaultyDisk::new(RealDisk, |call: Call| {
            if call.index == stop_at {
                CallOutcome::Stop
            } else {
                CallOutcome::Pass
            }
        });
        let _ = recover_leftovers(&disk, &folder.tasks());
        drop(recover_leftovers(&RealDisk, &folder.tasks()).unwrap());
        assert_eq!(folder.text(), version(1), "stop at call {stop_at}");
        assert_eq!(folder.names(), ["tasks.md"], "stop at call {stop_at}");
    }
}

#[test]
fn a_leftover_that_cannot_be_handled_is_reported_and_stays() {
    let folder = killed_after_displacing_a_save();
    let disk = FaultyDisk::new(RealDisk, |call: Call| match call.operation {
        Operation::Exchange => CallOutcome::Fail(std::io::ErrorKind::PermissionDenied.into()),
        _ => CallOutcome::Pass,
    });
    let recovered = recover_leftovers(&disk, &folder.tasks()).unwrap();
    assert!(matches!(
        recovered.as_slice(),
        [RecoveredLeftover::Stuck { .. }]
    ));
    assert!(folder.has_temps());
}

#[test]
fn files_with_similar_names_are_left_alone() {
    let folder = Folder::new();
    let theirs = [
        ".tasks.md.regreen-notes",
        ".tasks.md.swp",
        "tasks.md.saved-1",
    ];
    for name in theirs {
        fs::write(folder.path(name), "theirs").unwrap();
    }
    let recovered = recover_leftovers(&RealDisk, &folder.tasks()).unwrap();
    assert!(recovered.is_empty());
    assert_eq!(folder.names().len(), 4);
    assert_eq!(folder.text(), OPEN);
}
