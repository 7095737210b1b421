//! Makes every single call of every operation fail, or be the last one.

use std::cell::Cell;
use std::fs;
use std::io;

use regreen_workspace::{
    Call, CallOutcome, CreateFileError, Disk, FaultyDisk, RealDisk, create_file, move_aside,
};
use rustix::io::Errno;

use crate::folder::{DONE, Folder, OPEN, ticked, version};

const ERRORS: [Errno; 6] = [
    Errno::IO,
    Errno::NOSPC,
    Errno::ACCESS,
    Errno::INVAL,
    Errno::NOENT,
    Errno::EXIST,
];

#[derive(Debug, Clone, Copy)]
enum Fault {
    Fail(Errno),
    Stop,
}

impl Fault {
    fn all() -> impl Iterator<Item = Fault> {
        ERRORS.into_iter().map(Fault::Fail).chain([Fault::Stop])
    }

    fn verdict(self) -> CallOutcome {
        match self {
            Fault::Fail(errno) => CallOutcome::Fail(io::Error::from(errno)),
            Fault::Stop => CallOutcome::Stop,
        }
    }

    fn at(self, place: usize, call: Call) -> CallOutcome {
        if call.index == place {
            self.verdict()
        } else {
            CallOutcome::Pass
        }
    }
}

/// Counts the calls of an operation without faults.
fn count_calls(operation: impl FnOnce(&dyn Disk)) -> usize {
    let disk = FaultyDisk::new(RealDisk, |_| CallOutcome::Pass);
    operation(&disk);
    disk.calls()
}

#[test]
fn a_fault_at_any_call_of_an_edit_leaves_the_old_or_the_new_text() {
    let calls = count_calls(|disk| drop(Folder::in_memory().tick(disk).unwrap()));
    assert!(calls > 15, "only {calls} calls are covered");
    for place in 0..calls {
        for fault in Fault::all() {
            let folder = Folder::in_memory();
            let _ = folder.tick(&FaultyDisk::new(RealDisk, |call| fault.at(place, call)));
            let text = folder.text();
            assert!(
                text == OPEN || text == DONE,
                "{fault:?} at call {place}: {text:?}"
            );
            let edited = folder.tick(&RealDisk).unwrap();
            assert!(edited.recovered.is_empty(), "{fault:?} at call {place}");
            assert_eq!(folder.text(), DONE);
            assert_eq!(folder.names(), ["tasks.md"], "{fault:?} at call {place}");
        }
    }
}

#[test]
fn an_edit_that_reports_success_was_made() {
    for place in 0..40 {
        for fault in Fault::all() {
            let folder = Folder::in_memory();
            let disk = FaultyDisk::new(RealDisk, |call| fault.at(place, call));
            if folder.tick(&disk).is_ok() {
                assert_eq!(folder.text(), DONE, "{fault:?} at call {place}");
            }
        }
    }
}

#[test]
fn a_save_at_any_call_survives_a_fault_at_any_other_call() {
    let mut saves_displaced = 0;
    for fault in [Fault::Fail(Errno::IO), Fault::Stop] {
        for save_at in 0..45 {
            for place in 0..60 {
                saves_displaced += usize::from(save_survives(fault, save_at, place));
            }
        }
    }
    println!("saves put back after a fault: {saves_displaced}");
    assert!(
        saves_displaced > 0,
        "no trial reached the crash this is about"
    );
}

/// Returns whether recovery had to restore the save.
fn save_survives(fault: Fault, save_at: usize, place: usize) -> bool {
    let folder = Folder::in_memory();
    let saved = Cell::new(false);
    let disk = FaultyDisk::new(RealDisk, |call: Call| {
        if call.index == save_at {
            folder.save(&version(1));
            saved.set(true);
        }
        fault.at(place, call)
    });
    let _ = folder.tick(&disk);
    let standing = if saved.get() {
        version(1)
    } else {
        OPEN.to_owned()
    };
    let edited = folder.tick(&RealDisk).unwrap();
    let trial = format!("{fault:?} at call {place}, save at call {save_at}");
    assert_eq!(folder.text(), ticked(&standing), "{trial}");
    assert_eq!(folder.names(), ["tasks.md"], "{trial}");
    !edited.recovered.is_empty()
}

#[test]
fn two_saves_and_a_crash_at_any_calls_lose_nothing() {
    let mut kept = 0;
    for first in 11..20 {
        for second in first + 1..30 {
            for place in second..34 {
                kept += usize::from(two_saves_survive([first, second], place));
            }
        }
    }
    println!("saves kept aside: {kept}");
}

/// Returns whether one of the saves was kept under another name.
fn two_saves_survive(saves: [usize; 2], stop_at: usize) -> bool {
    let folder = Folder::in_memory();
    let last = Cell::new(None);
    let disk = FaultyDisk::new(RealDisk, |call: Call| {
        if saves.contains(&call.index) {
            folder.save(&version(call.index));
            last.set(Some(call.index));
        }
        Fault::Stop.at(stop_at, call)
    });
    let _ = folder.tick(&disk);
    drop(folder.tick(&RealDisk).unwrap());
    let trial = format!("saves at {saves:?}, stop at {stop_at}");
    assert!(!folder.has_temps(), "{trial}");
    let last = last.get().map_or(OPEN.to_owned(), version);
    let kept = folder.kept_aside();
    assert!(
        folder.text() == ticked(&last) || kept.contains(&last),
        "{trial}: the last save is gone; {:?}",
        folder.text()
    );
    !kept.is_empty()
}

#[test]
fn a_fault_at_any_call_leaves_a_complete_new_file_or_none() {
    let calls = count_calls(|disk| {
        let folder = Folder::in_memory();
        create_file(disk, &folder.path("state.json"), "{}\n").unwrap();
    });
    for place in 0..calls {
        for fault in Fault::all() {
            let folder = Folder::in_memory();
            let path = folder.path("state.json");
            let disk = FaultyDisk::new(RealDisk, |call| fault.at(place, call));
            let _ = create_file(&disk, &path, "{}\n");
            if let Ok(text) = fs::read_to_string(&path) {
                assert_eq!(text, "{}\n", "{fault:?} at call {place}");
            }
            match create_file(&RealDisk, &path, "{}\n") {
                Ok(recovered) => assert!(recovered.is_empty()),
                Err(CreateFileError::AlreadyExists { .. }) => {}
                Err(error) => panic!("{fault:?} at call {place}: {error}"),
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n");
            assert_eq!(folder.names(), ["state.json", "tasks.md"]);
        }
    }
}

#[test]
fn a_fault_at_any_call_never_loses_a_file_moved_aside() {
    let calls = count_calls(|disk| {
        drop(move_aside(disk, &Folder::in_memory().tasks()).unwrap());
    });
    for place in 0..calls {
        for fault in Fault::all() {
            let folder = Folder::in_memory();
            fs::write(folder.path("tasks.md.corrupt-1"), "an older one").unwrap();
            let disk = FaultyDisk::new(RealDisk, |call| fault.at(place, call));
            let _ = move_aside(&disk, &folder.tasks());
            let _ = move_aside(&RealDisk, &folder.tasks());
            assert!(!folder.tasks().exists(), "{fault:?} at call {place}");
            let kept = fs::read_to_string(folder.path("tasks.md.corrupt-1")).unwrap();
            assert_eq!(kept, "an older one", "{fault:?} at call {place}");
            let holders = folder
                .names()
                .iter()
                .filter(|name| fs::read_to_string(folder.path(name)).unwrap() == OPEN)
                .count();
            assert_eq!(holders, 1, "{fault:?} at call {place}");
        }
    }
}
