//! Which fix belongs to which task, according to three files.

use std::collections::{BTreeMap, BTreeSet};

use regreen_documents::{StateDocument, TaskFile};
use regreen_model::Task;

/// Fixes by the task that they fix.
type Fixes = BTreeMap<String, Vec<String>>;

/// Returns everything that is wrong once every task has passed; `state` is empty if none was kept.
pub(crate) fn complaints(tasks: &str, state: &str, progress: &str) -> Vec<String> {
    let tasks = TaskFile::read(tasks).tasks();
    let fixes = fixes(&tasks);
    let mut complaints: Vec<String> = tasks
        .iter()
        .filter_map(|task| oddity(task, &tasks, progress))
        .collect();
    if !state.is_empty() && fixes != fixes_in_state(state) {
        complaints.push(format!("the rows have {fixes:?}, and the state is {state}"));
    }
    let expected: BTreeSet<String> = fixes.iter().map(history_line).collect();
    let found = lines_with(progress, "- Task ");
    if found.len() != expected.len() || !found.iter().all(|line| expected.contains(line)) {
        complaints.push(format!("the history is {found:?}, the rows have {fixes:?}"));
    }
    complaints
}

/// Finds a row that is open or duplicated, a fix without a task, or a row not recorded exactly
/// once.
fn oddity(task: &Task, all: &[Task], progress: &str) -> Option<String> {
    let id = task.id.as_ref().unwrap();
    let namesakes = all.iter().filter(|other| other.id == task.id).count();
    let is_called_fix = task.title.starts_with("Fix: ");
    let recorded = lines_with(progress, &format!("- [x] {id} ")).len();
    let is_odd =
        !task.done || namesakes != 1 || is_called_fix != task.fix_of.is_some() || recorded != 1;
    is_odd.then(|| {
        format!("row {id} is there {namesakes} times, recorded {recorded} times: {task:?}")
    })
}

fn fixes(tasks: &[Task]) -> Fixes {
    let mut fixes = Fixes::new();
    for task in tasks {
        if let (Some(id), Some(parent)) = (&task.id, &task.fix_of) {
            let of_parent = fixes.entry(parent.id.to_string()).or_default();
            of_parent.push(id.to_string());
        }
    }
    fixes
}

fn fixes_in_state(state: &str) -> Fixes {
    let (state, _) = StateDocument::read(state).unwrap();
    let map = state.fix_task_map().into_iter();
    map.map(|(task, record)| (task, record.fix_task_ids))
        .collect()
}

fn history_line((task, fixes): (&String, &Vec<String>)) -> String {
    let count = match fixes.len() {
        1 => "1 fix".to_owned(),
        n => format!("{n} fixes"),
    };
    let names = fixes.join(", ");
    format!("- Task {task}: {count} attempted ({names}) - Final: PASS")
}

fn lines_with(text: &str, beginning: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.starts_with(beginning));
    lines.map(str::to_owned).collect()
}

const TASKS: &str = "- [x] 1.1 One\n- [x] 1.1.1 [FIX 1.1] Fix: it\n- [x] 1.2 Two\n";
const STATE: &str = r#"{"fixTaskMap":{"1.1":{"attempts":1,"fixTaskIds":["1.1.1"]}}}"#;
const PROGRESS: &str = "## Completed Tasks\n- [x] 1.1.1 Fix: it\n- [x] 1.1 One\n- [x] 1.2 Two\n\n\
     ## Fix Task History\n- Task 1.1: 1 fix attempted (1.1.1) - Final: PASS\n";

#[test]
fn every_loss_or_duplicate_is_reported() {
    assert_eq!(complaints(TASKS, STATE, PROGRESS), [""; 0]);
    let fix = "- [x] 1.1.1 [FIX 1.1] Fix: it\n";
    let line = "- Task 1.1: 1 fix attempted (1.1.1) - Final: PASS\n";
    for tasks in [
        TASKS.replace(fix, &fix.repeat(2)),
        TASKS.replace(fix, ""),
        TASKS.replace("[FIX 1.1]", "[FIX 1.9]"),
        TASKS.replace("[x] 1.2", "[ ] 1.2"),
    ] {
        assert!(!complaints(&tasks, STATE, PROGRESS).is_empty(), "{tasks}");
    }
    for progress in [
        PROGRESS.replace(line, &line.repeat(2)),
        PROGRESS.replace(line, ""),
        PROGRESS.replace("- [x] 1.2 Two\n", ""),
        PROGRESS.replace(
            "- [x] 1.2 Two\n",
            "- [x] 1.2 Two\n- [x] 1.2 Two - abc1234\n",
        ),
    ] {
        assert!(
            !complaints(TASKS, STATE, &progress).is_empty(),
            "{progress}"
        );
    }
    let state = STATE.replace("\"1.1.1\"", "\"1.1.1\",\"1.1.2\"");
    assert!(!complaints(TASKS, &state, PROGRESS).is_empty());
}
