//! A state file that can be read keeps what it says, whatever regreen writes into it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regreen_documents::{StateDocument, TaskResult};
use regreen_model::TaskId;

fuzz_target!(|text: &str| {
    let Ok((mut state, _)) = StateDocument::read(text) else {
        return;
    };
    let untouched = state.to_text();
    let (again, _) = StateDocument::read(&untouched).expect("what was written can be read");
    assert_eq!(again.to_text(), untouched, "writing again changes nothing");

    let task = TaskId::parse("1.3").expect("an id");
    state.set_task_index(7);
    state.set_total_tasks(9);
    state.set_task_result(&task, TaskResult::Success);
    state.record_fix(&task, &task.child(1), text);
    state.set_modifications(&task, 2);
    let written = state.to_text();
    let (mut read, _) = StateDocument::read(&written).expect("what was written can be read");
    assert_eq!((read.task_index(), read.total_tasks()), (7, 9));
    assert_eq!(read.task_result(&task), Some(TaskResult::Success));
    assert_eq!(read.modifications(&task), 2);
    assert!(read.fix_task_map().contains_key(task.as_str()));
    read.set_task_index(7);
    assert_eq!(read.to_text(), written);
});
