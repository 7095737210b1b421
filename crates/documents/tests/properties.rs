//! Properties that hold for every text, wherever it comes from.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use regreen_documents::{
    Change, EditError, FixHistory, HealingOutcome, InsertPosition, ProgressFile, RowId,
    StateDocument, TaskFile, TaskResult,
};
use regreen_model::{Fields, FixOrigin, NewTask, Task, TaskId};

/// Set `PROPTEST_CASES` for a longer run.
fn cases() -> u32 {
    ProptestConfig::default().cases.max(512)
}

/// Lines as people and agents write them: rows, and everything that can get in their way.
fn line() -> impl Strategy<Value = String> {
    let indent = prop_oneof![4 => Just(""), 3 => Just("  "), 1 => Just("    "), 1 => Just("\t"), 1 => Just("      ")];
    let bullet = prop_oneof![
        Just("- "),
        Just("* "),
        Just("+ "),
        Just("1. "),
        Just("2) "),
        Just("-\t")
    ];
    let mark = prop_oneof![
        Just("[ ] "),
        Just("[x] "),
        Just("[X] "),
        Just("[-] "),
        Just("[ ]* "),
        Just("[P] "),
        Just("")
    ];
    let head = prop_oneof![
        Just("1.1 "),
        Just("1.2 "),
        Just("1.10 "),
        Just("1.1.1 [FIX 1.1] "),
        Just("1.1.2 [FIX 1.1] "),
        Just("T001 [P] "),
        Just("**2.1** "),
        Just("V4 [VERIFY] "),
        Just("[FIX 1.2] "),
        Just("1. "),
        Just("")
    ];
    let row = (indent.clone(), bullet, mark, head, "[a-z`*\\[\\] ]{0,12}")
        .prop_map(|(i, b, m, h, t)| format!("{i}{b}{m}{h}{t}"));
    let other = prop_oneof![
        Just(String::new()),
        Just("## Phase".into()),
        Just("---".into()),
        Just("===".into()),
        Just("```".into()),
        Just("  ```sh".into()),
        Just("    ```".into()),
        Just("~~~".into()),
        Just("<!--".into()),
        Just("-->".into()),
        Just("  - **Verify**: `make test` returns 0".into()),
        Just("  - **Do**:".into()),
        Just("  - **Files**: a, b".into()),
        Just("text".into()),
        Just("> - [ ] quoted".into()),
        Just("      deep".into()),
        "\\PC{0,20}",
    ];
    prop_oneof![3 => row, 2 => (indent, other).prop_map(|(i, o)| format!("{i}{o}"))]
}

fn text() -> impl Strategy<Value = String> {
    let eol = prop_oneof![3 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    let start = prop_oneof![4 => Just(""), 1 => Just("\u{FEFF}")];
    (
        prop::collection::vec(line(), 0..24),
        eol,
        any::<bool>(),
        start,
    )
        .prop_map(|(lines, eol, last, start)| {
            let end = if last { eol } else { "" };
            format!("{start}{}{end}", lines.join(eol))
        })
}

/// A plan with phases, whose tasks have fields, parts, code and notes.
fn plan() -> impl Strategy<Value = String> {
    let ids = prop_oneof![Just("1."), Just("T00"), Just("")];
    let bullet = prop_oneof![3 => Just("-"), 1 => Just("*"), 1 => Just("1.")];
    let eol = prop_oneof![3 => Just("\n"), 1 => Just("\r\n")];
    let part = prop_oneof![
        Just("- **Do**: one\n- **Verify**: `make test` returns 0"),
        Just("- **Do**:\n  1. one\n  2. two\n- **Files**:\n  - a.rs\n  - [ ] b.rs"),
        Just("- **Verify**:\n  ```sh\n  make\n\n  # test\n  ```"),
        Just("- [ ] part\n- [x] other part"),
        Just("```\n- [ ] 9.9 no task\n```"),
        Just("text that goes on"),
        Just(""),
    ];
    let task = (
        part,
        any::<bool>(),
        0_usize..3,
        prop_oneof![4 => Just(""), 1 => Just("A note.\n\n"), 1 => Just("## Phase\n\n")],
    );
    (ids, bullet, eol, prop::collection::vec(task, 1..8)).prop_map(|(ids, bullet, eol, tasks)| {
        let mut text = String::from("# Plan\n\n");
        for (at, (part, done, gap, after)) in tasks.into_iter().enumerate() {
            let id = if ids.is_empty() {
                String::new()
            } else {
                format!("{ids}{} ", at + 1)
            };
            text += &format!("{bullet} [{}] {id}Task\n", if done { 'x' } else { ' ' });
            let indent = " ".repeat(bullet.len() + 1);
            for line in part.lines() {
                text += &if line.is_empty() {
                    "\n".to_owned()
                } else {
                    format!("{indent}{line}\n")
                };
            }
            text += &"\n".repeat(gap);
            text += after;
        }
        text.replace('\n', eol)
    })
}

fn tasks_of(file: &TaskFile) -> Vec<(RowId, Task)> {
    file.rows()
        .filter_map(|row| Some((row, file.task(row)?)))
        .collect()
}

/// Only the rows themselves, because a field may contain the text of other rows.
fn heads(mut tasks: Vec<Task>) -> Vec<Task> {
    for task in &mut tasks {
        task.fields = Fields::default();
    }
    tasks
}

/// The contents of a task, without its line number.
fn without_line(mut task: Task) -> Task {
    task.line = 0;
    task
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn any_text_can_be_read_and_its_blocks_are_its_own(text in any::<String>()) {
        let file = TaskFile::read(text.as_str());
        prop_assert_eq!(file.text(), text);
        for (row, task) in tasks_of(&file) {
            prop_assert!(file.block(row).is_some(), "{task:?}");
        }
    }

    #[test]
    fn a_tick_changes_one_byte_and_unticking_restores_the_file(text in text()) {
        let file = TaskFile::read(text.as_str());
        for (row, task) in tasks_of(&file).into_iter().filter(|(_, task)| task.id.is_some() && !task.done) {
            let Ok(Change::Edited(ticked)) = file.tick(row) else { panic!("{task:?} in {text:?}") };
            let changed = text.bytes().zip(ticked.text().bytes()).filter(|(a, b)| a != b).count();
            prop_assert_eq!((changed, ticked.text().len()), (1, text.len()));
            let mut expected = file.tasks();
            expected[tasks_of(&file).iter().position(|(r, _)| *r == row).unwrap()].done = true;
            prop_assert_eq!(heads(ticked.tasks()), heads(expected));
            let read = TaskFile::read(ticked.text());
            prop_assert_eq!(ticked.tasks(), read.tasks());
            prop_assert_eq!(ticked.warnings(), read.warnings());
            prop_assert_eq!(ticked.dialect(), read.dialect());
            prop_assert!(matches!(ticked.tick(row), Ok(Change::Unchanged)));
            let unticked = ticked.untick(row).unwrap().into_file(ticked);
            prop_assert_eq!(unticked.text().replace("[-]", "[ ]"), text.replace("[-]", "[ ]"));
        }
    }

    #[test]
    fn in_a_plan_as_people_write_them_no_edit_is_refused(text in plan(), error in "\\PC{0,80}") {
        let file = TaskFile::read(text.as_str());
        for (row, task) in tasks_of(&file).into_iter().filter(|(_, task)| task.id.is_some()) {
            let fix_id = file.next_fix_id(row, &BTreeMap::new()).unwrap();
            let origin = FixOrigin { error: error.clone(), ..FixOrigin::default() };
            let fix = NewTask::fix(fix_id, &task.id.clone().unwrap(), &task, &origin);
            let once = file.insert(&fix, InsertPosition::After(row)).unwrap().into_file(file.clone());
            prop_assert!(matches!(once.insert(&fix, InsertPosition::After(row)), Ok(Change::Unchanged)));
            let again = once.next_fix_id(row, &BTreeMap::new()).unwrap();
            let second = NewTask { id: again, ..fix };
            let twice = once.insert(&second, InsertPosition::After(row)).unwrap().into_file(once);
            prop_assert_eq!(twice.tasks().len(), file.tasks().len() + 2, "{}", twice.text());
        }
    }

    #[test]
    fn an_id_finds_only_rows_of_that_id(text in text()) {
        let file = TaskFile::read(text.as_str());
        for (row, task) in tasks_of(&file) {
            let Some(id) = task.id else { continue };
            let found: Vec<RowId> = file.rows_with_id(&id).collect();
            prop_assert!(found.contains(&row));
            prop_assert!(found.iter().all(|row| file.key(*row).is_some_and(|key| key.id == id)));
            prop_assert_eq!(file.resolve(&file.key(row).unwrap()), Some(row));
        }
    }

    #[test]
    fn a_state_file_keeps_what_it_does_not_know(
        keys in prop::collection::btree_map("[a-zA-Z]{1,8}", json_value(), 0..6),
        index in 0_u32..50,
        pretty in any::<bool>(),
    ) {
        let members: Vec<String> = keys.iter().map(|(key, value)| format!("\"x{key}\": {value}")).collect();
        let text = if pretty {
            format!("{{\n    {}\n}}\n", members.join(",\n    "))
        } else {
            format!("{{{}}}", members.join(","))
        };
        let (mut state, warnings) = StateDocument::read(&text).unwrap();
        prop_assert_eq!(warnings, vec![]);
        let task = TaskId::parse("1.3").unwrap();
        state.set_task_index(index);
        state.record_fix(&task, &task.child(1), "boom");
        state.set_task_result(&task, TaskResult::Failed);
        let written = state.to_text();
        let (again, warnings) = StateDocument::read(&written).unwrap();
        prop_assert_eq!(warnings, vec![]);
        prop_assert_eq!(again.task_index(), index);
        prop_assert_eq!(again.fix_task_map()["1.3"].count(), 1);
        prop_assert_eq!(again.task_result(&task), Some(TaskResult::Failed));
        prop_assert_eq!(again.to_text(), written.clone(), "writing again changes nothing");
        for (key, value) in &keys {
            let spelled = written.replace(['\n', ' '], "");
            prop_assert!(spelled.contains(&format!("\"x{key}\":{}", value.replace(' ', ""))), "{key} {value} in {written}");
        }
    }

    #[test]
    fn a_progress_file_keeps_every_line_it_had(text in progress_text(), fixes in 1_u32..4) {
        let task = TaskId::parse("1.3").unwrap();
        let before = ProgressFile::read(text.as_str());
        let history = FixHistory {
            task: task.clone(),
            fixes: (1..=fixes).map(|n| task.child(n)).collect(),
            outcome: HealingOutcome::Pass,
        };
        let after = before.completed(&task, "Add parser", Some("abc1234")).fix_history(&history);
        prop_assert_eq!(after.completed(&task, "Add parser", Some("abc1234")).fix_history(&history), after.clone());
        let mut kept = after.text().lines().filter(|line| !line.starts_with("- Task 1.3: "));
        for line in text.lines().filter(|line| !line.starts_with("- Task 1.3: ")) {
            prop_assert!(kept.any(|other| other == line), "{line:?} of {text:?} in {after:?}");
        }
        let line = history.to_string();
        prop_assert!(after.text().lines().any(|other| other == line));
    }
}

/// The results of inserting fixes for all rows of a text.
#[derive(Default)]
struct Inserts {
    made: Cell<u32>,
    refused: Cell<u32>,
}

/// If no position leaves every other row unchanged, nothing is written; but usually there is one.
#[test]
fn a_fix_is_one_row_more_and_every_other_row_stays() {
    let error = "\\PC{0,80}|(\\n|- \\[ \\] 9.9 x|```|<!--|#|`){0,6}";
    let inserts = Inserts::default();
    TestRunner::new(ProptestConfig::with_cases(cases()))
        .run(&(text(), error), |(text, error)| {
            check_fixes(&text, &error, &inserts)
        })
        .unwrap();
    let (made, refused) = (inserts.made.get(), inserts.refused.get());
    assert!(refused * 500 < made, "{refused} refused, {made} made");
}

fn check_fixes(text: &str, error: &str, inserts: &Inserts) -> Result<(), TestCaseError> {
    let file = TaskFile::read(text);
    for (row, task) in tasks_of(&file) {
        let Some(id) = task.id.clone() else { continue };
        let fix_id = file.next_fix_id(row, &BTreeMap::new()).unwrap();
        let origin = FixOrigin {
            error: error.to_owned(),
            ..FixOrigin::default()
        };
        let fix = NewTask::fix(fix_id.clone(), &id, &task, &origin);
        match file.insert(&fix, InsertPosition::After(row)) {
            Ok(Change::Edited(edited)) => {
                inserts.made.set(inserts.made.get() + 1);
                check_fix(&file, &edited, (&fix_id, &id))?;
            }
            // Text that was understood only in part may be in the way, or a row that already claims
            // to fix the new one.
            Err(EditError::Refused(_))
                if !file.warnings().is_empty() || text.contains(&format!("[FIX {fix_id}]")) => {}
            Err(EditError::Refused(_)) => inserts.refused.set(inserts.refused.get() + 1),
            other => panic!("{other:?} for {id} in {text:?}"),
        }
    }
    Ok(())
}

fn check_fix(
    file: &TaskFile,
    edited: &TaskFile,
    (fix_id, id): (&TaskId, &TaskId),
) -> Result<(), TestCaseError> {
    let mut tasks = edited.tasks();
    let is_fix = |task: &Task| task.id.as_ref() == Some(fix_id);
    let new = tasks.remove(tasks.iter().position(is_fix).unwrap());
    prop_assert_eq!(new.fix_of.map(|key| key.id), Some(id.clone()));
    let before: Vec<Task> = heads(file.tasks()).into_iter().map(without_line).collect();
    let after: Vec<Task> = heads(tasks).into_iter().map(without_line).collect();
    prop_assert_eq!(after, before);
    // All old bytes are still there, in order, around one new piece.
    let (old, new) = (file.text().as_bytes(), edited.text().as_bytes());
    let common = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len() - common;
    prop_assert_eq!(&old[common..], &new[new.len() - rest..]);
    Ok(())
}

/// JSON values as other tools write them, on one line.
fn json_value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1".to_owned()),
        Just("1.0".to_owned()),
        Just("1.50".to_owned()),
        Just("-0".to_owned()),
        Just("12345678901234567890123".to_owned()),
        Just("0.1".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("[]".to_owned()),
        Just("{\"b\":1,\"a\":[2.0,\"x\"]}".to_owned()),
        "[a-z]{0,8}".prop_map(|text| format!("\"{text}\"")),
    ]
}

fn progress_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("## Completed Tasks"),
        Just("## Completed"),
        Just("- [x] 1.1 Task A - abc123"),
        Just("## Fix Task History"),
        Just("- Task 1.3: 1 fix attempted (1.3.1) - Final: PASS"),
        Just("- Task 1.30: 1 fix attempted (1.30.1) - Final: PASS"),
        Just("## Learnings"),
        Just("- a lesson"),
        Just(""),
        Just("# ProgressFile"),
        Just("text"),
        Just("### Detail"),
    ];
    (prop::collection::vec(line, 0..12), any::<bool>())
        .prop_map(|(lines, last)| lines.join("\n") + if last { "\n" } else { "" })
}
