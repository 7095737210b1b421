//! Any text can be read as a task file, and every edit does what is meant or is refused.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use regreen_documents::{Change, EditError, InsertPosition, RowId, TaskFile};
use regreen_model::{FixOrigin, NewTask, Task};

/// Each row costs several readings of the whole text.
const MAX_ROWS: usize = 24;

fuzz_target!(|text: &str| {
    let file = TaskFile::read(text);
    assert_eq!(file.text(), text);
    for row in file.rows().take(MAX_ROWS) {
        let task = file.task(row).expect("a row has a task");
        assert!(file.block(row).is_some_and(|block| text.contains(block)));
        assert_eq!(file.row_on_line(task.line), Some(row));
        if let Some(key) = file.key(row) {
            assert_eq!(file.resolve(&key), Some(row));
            check_box(&file, row, &task);
            check_fix(&file, row, &task);
        } else {
            assert_eq!(file.tick(row).err(), Some(EditError::Checklist));
        }
    }
});

/// Setting the box the other way changes one byte; back again restores the text.
fn check_box(file: &TaskFile, row: RowId, task: &Task) {
    let set = |file: &TaskFile, done| {
        if done {
            file.tick(row)
        } else {
            file.untick(row)
        }
    };
    let Ok(Change::Edited(changed)) = set(file, !task.done) else {
        panic!("line {} is not changed", task.line);
    };
    let (before, after) = (file.text().as_bytes(), changed.text().as_bytes());
    assert_eq!(before.len(), after.len());
    let differing: Vec<usize> = (0..before.len())
        .filter(|at| before[*at] != after[*at])
        .collect();
    assert_eq!(differing.len(), 1);
    let Ok(Change::Edited(restored)) = set(&changed, task.done) else {
        panic!("line {} is not changed back", task.line);
    };
    // `[X]`, `[-]` and `[~]` come back as `[x]` and `[ ]`.
    let restored = restored.text().as_bytes();
    assert!(restored == before || b"X-~".contains(&before[differing[0]]));
    assert!((0..before.len()).all(|at| at == differing[0] || before[at] == restored[at]));
}

/// A fix is exactly one row more, or it is refused and nothing happens.
fn check_fix(file: &TaskFile, row: RowId, task: &Task) {
    let Some(id) = &task.id else { return };
    let Some(fix_id) = file.next_fix_id(row, &BTreeMap::new()) else {
        return;
    };
    let origin = FixOrigin {
        error: file.text().to_owned(),
        attempted_fix: task.title.clone(),
        ..FixOrigin::default()
    };
    let fix = NewTask::fix(fix_id.clone(), id, task, &origin);
    match file.insert(&fix, InsertPosition::After(row)) {
        Ok(Change::Edited(edited)) => check_inserted(file, &edited, &fix),
        Ok(Change::Unchanged) => panic!("a free id is in use: {fix_id}"),
        Err(EditError::Refused(_)) => {}
        Err(error) => panic!("{error}"),
    }
}

fn check_inserted(before: &TaskFile, after: &TaskFile, fix: &NewTask) {
    assert_eq!(after.rows().count(), before.rows().count() + 1);
    let added = after
        .rows_with_id(&fix.id)
        .next()
        .expect("the fix has its id");
    assert!(after.fixed_by(added).is_some());
    let (old, new) = (before.text().as_bytes(), after.text().as_bytes());
    let common = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    assert!(
        new.ends_with(&old[common..]),
        "bytes around the fix have changed"
    );
}
