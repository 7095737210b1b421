//! The next task, and how much of its budget is used.

use std::collections::{BTreeMap, BTreeSet};

use regreen_documents::{FixRecord, Next, Pick, StateDocument, TaskFile};
use regreen_model::{NextStep, PlanQuery, TaskId};

#[track_caller]
fn check(text: &str, pick: &Pick, expected: &str) {
    let file = TaskFile::read(text);
    let id = |row| {
        file.key(row)
            .map(|key| key.id.to_string())
            .unwrap_or_default()
    };
    let next = match file.next(pick) {
        Next::Run(row) => id(row),
        Next::CloseGroup(row) => format!("close {}", id(row)),
        Next::Nothing => "nothing".to_owned(),
    };
    assert_eq!(next, expected, "{text}");
}

#[test]
fn the_first_open_original_is_next() {
    let pick = Pick::default();
    check("- [x] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n", &pick, "1.2");
    check("- [x] 1.1 a\n- [~] 1.2 b\n", &pick, "1.2");
    check("- [x] 1.1 a\n- [x] 1.2 b\n- [ ] note\n", &pick, "nothing");
    check("", &pick, "nothing");
}

#[test]
fn its_deepest_and_latest_open_fix_comes_first() {
    let text = "- [ ] 1.1 a\n- [ ] 1.1.1 [FIX 1.1] x\n- [ ] 1.1.1.1 [FIX 1.1.1] y\n- [ ] 1.1.2 [FIX 1.1] z\n- [ ] 1.2 b\n";
    check(text, &Pick::default(), "1.1.1.1");
    let text = text.replace("- [ ] 1.1.1.1", "- [x] 1.1.1.1");
    check(&text, &Pick::default(), "1.1.2");
}

#[test]
fn an_open_fix_of_a_done_original_is_a_task_of_its_own() {
    let text = "- [x] 1.3 a\n  - **Verify**: `true`\n- [ ] 1.4 [FIX 1.3] b\n- [ ] 1.5 c\n";
    check(text, &Pick::default(), "1.4");
    let file = TaskFile::read(text);
    assert_eq!(file.open_originals(false), 2);
    let NextStep::Task(picked) = file.plan_status(&PlanQuery::default()).next else {
        panic!("nothing is picked");
    };
    assert!(!picked.is_fix(), "its own Verify decides");
    check(&text.replace("[ ] 1.4", "[x] 1.4"), &Pick::default(), "1.5");
}

#[test]
fn a_fix_with_another_verify_than_its_task_is_known() {
    let text =
        "- [ ] 1.3 a\n  - **Verify**: `make`\n- [ ] 1.3.1 [FIX 1.3] b\n  - **Verify**: `CHECK`\n";
    for (check, is_own) in [("make", false), ("test -f fixed", true)] {
        let file = TaskFile::read(text.replace("CHECK", check));
        let NextStep::Task(picked) = file.plan_status(&PlanQuery::default()).next else {
            panic!("nothing is picked");
        };
        assert!(picked.is_fix());
        assert_eq!(picked.has_own_verify, is_own, "{check}");
    }
}

#[test]
fn after_a_limit_the_original_comes_before_its_fixes() {
    let text = "- [ ] 1.1 a\n- [ ] 1.1.1 [FIX 1.1] x\n";
    let file = TaskFile::read(text);
    let original = file.key(file.rows().next().unwrap()).unwrap();
    let pick = Pick {
        originals_first: BTreeSet::from([original]),
        ..Pick::default()
    };
    check(text, &pick, "1.1");
}

#[test]
fn skipped_tasks_are_passed_over() {
    let text = "- [ ] 1.1 a\n- [ ] 1.1.1 [FIX 1.1] x\n- [ ] 1.2 b\n";
    let file = TaskFile::read(text);
    let first = file.key(file.rows().next().unwrap()).unwrap();
    let pick = Pick {
        passed_over: BTreeSet::from([first]),
        ..Pick::default()
    };
    check(text, &pick, "1.2");
}

#[test]
fn a_skipped_fix_leaves_its_task_to_be_run() {
    let text = "- [ ] 1.1 a\n- [ ] 1.1.1 [FIX 1.1] x\n- [ ] 1.1.2 [FIX 1.1] y\n";
    let file = TaskFile::read(text);
    let fixes: Vec<_> = file
        .rows()
        .skip(1)
        .filter_map(|row| file.key(row))
        .collect();
    let pick = |skipped: &[_]| Pick {
        passed_over: skipped.iter().cloned().collect(),
        ..Pick::default()
    };
    check(text, &pick(&[]), "1.1.2");
    check(text, &pick(&fixes[1..]), "1.1.1");
    check(text, &pick(&fixes), "1.1");
}

#[test]
fn optional_rows_run_only_when_asked_for() {
    let text = "- [ ]* 1.1 a\n- [ ] 1.2 b\n";
    check(text, &Pick::default(), "1.2");
    let pick = Pick {
        include_optional: true,
        ..Pick::default()
    };
    check(text, &pick, "1.1");
}

#[test]
fn a_group_is_closed_when_its_required_rows_are_done() {
    let open = "- [ ] 1. g\n  - [x] 1.1 a\n  - [ ] 1.2 b\n  - [ ]* 1.3 c\n- [ ] 2. h\n";
    check(open, &Pick::default(), "1.2");
    check(
        &open.replace("[ ] 1.2", "[x] 1.2"),
        &Pick::default(),
        "close 1",
    );
}

#[test]
fn a_fix_of_a_group_comes_before_closing_it() {
    let text = "- [ ] 1. g\n  - [x] 1.1 a\n- [ ] 1.2 [FIX 1] Fix: x\n- [ ] 2. h\n";
    check(text, &Pick::default(), "1.2");
    check(
        &text.replace("[ ] 1.2", "[x] 1.2"),
        &Pick::default(),
        "close 1",
    );
}

#[test]
fn the_index_does_not_move_while_fixes_run() {
    let file = TaskFile::read(
        "- [x] 1.1 a\n- [ ] g\n- [ ]* 1.2 o\n- [ ] 1.3 b\n- [ ] 1.3.1 [FIX 1.3] x\n- [ ] 1.4 c\n",
    );
    let rows: Vec<_> = file.rows().collect();
    assert_eq!(file.runnable(false), 4);
    assert_eq!(file.runnable(true), 5);
    assert_eq!(file.index_of(rows[3], false), 1);
    assert_eq!(file.index_of(rows[4], false), 1);
    assert_eq!(file.index_of(rows[5], false), 3);
}

fn record(ids: &[&str]) -> FixRecord {
    FixRecord {
        fix_task_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        ..FixRecord::default()
    }
}

#[test]
fn deleting_a_fix_row_refunds_nothing() {
    let file = TaskFile::read("- [ ] 1.1 a\n- [ ] 1.1.3 [FIX 1.1] x\n- [ ] 1.2 b\n");
    let task = file.rows().next().unwrap();
    let map = BTreeMap::from([
        ("1.1".to_owned(), record(&["1.1.1", "1.1.2", "1.1.3"])),
        ("1.1.1".to_owned(), record(&["1.1.1.1"])),
    ]);
    let budget = file.fix_budget(task, &map).unwrap();
    assert_eq!((budget.depth, budget.fixes, budget.root_fixes), (0, 3, 4));
    assert_eq!(file.next_fix_id(task, &map).unwrap().as_str(), "1.1.4");
}

#[test]
fn losing_the_state_refunds_nothing_either() {
    let file = TaskFile::read(
        "- [ ] 1.1 a\n- [x] 1.1.1 [FIX 1.1] x\n- [x] 1.1.1.1 [FIX 1.1.1] y\n- [ ] 1.1.2 [FIX 1.1] z\n- [ ] 1.2 b\n",
    );
    let rows: Vec<_> = file.rows().collect();
    let map = BTreeMap::new();
    let budget = file.fix_budget(rows[0], &map).unwrap();
    assert_eq!((budget.depth, budget.fixes, budget.root_fixes), (0, 2, 3));
    let budget = file.fix_budget(rows[2], &map).unwrap();
    assert_eq!((budget.depth, budget.fixes, budget.root_fixes), (2, 0, 3));
    let rebuilt = StateDocument::from_tasks(&file).fix_task_map();
    assert_eq!(rebuilt["1.1"].fix_task_ids, ["1.1.1", "1.1.2"]);
    assert_eq!(rebuilt["1.1.1"].fix_task_ids, ["1.1.1.1"]);
}

#[test]
fn forgiven_fixes_are_refunded_and_later_ones_count() {
    let text = "- [ ] 1.1 a\n- [x] 1.1.1 [FIX 1.1] x\n- [x] 1.1.1.1 [FIX 1.1.1] y\n- [ ] 1.1.2 [FIX 1.1] z\n- [ ] 1.2 b\n";
    let file = TaskFile::read(text);
    let rows: Vec<_> = file.rows().collect();
    let id = |id: &str| TaskId::parse(id).unwrap();
    // It makes no difference whether the state file knows the fixes or only the rows do.
    for mut state in [StateDocument::default(), StateDocument::from_tasks(&file)] {
        state.set_modifications(&id("1.1"), 3);
        state.forgive(&id("1.1"), None, 2);
        state.forgive(&id("1.1.1"), None, 1);
        let (state, warnings) = StateDocument::read(&state.to_text()).unwrap();
        assert_eq!(warnings, []);
        assert_eq!(state.modifications(&id("1.1")), 0);
        let map = state.fix_task_map();
        let budget = file.fix_budget(rows[0], &map).unwrap();
        assert_eq!((budget.fixes, budget.root_fixes), (0, 0));
        assert_eq!(file.fixes_made(rows[0], &map), 2);
        assert_eq!(file.next_fix_id(rows[0], &map).unwrap(), id("1.1.3"));
        let more = TaskFile::read(text.replace("- [ ] 1.2", "- [ ] 1.1.3 [FIX 1.1] w\n- [ ] 1.2"));
        let budget = more.fix_budget(more.rows().next().unwrap(), &map).unwrap();
        assert_eq!((budget.fixes, budget.root_fixes), (1, 1));
    }
}

#[test]
fn a_forgiven_fix_makes_up_for_no_later_one_when_its_row_is_removed() {
    let id = |id: &str| TaskId::parse(id).unwrap();
    let file = TaskFile::read(
        "- [ ] 1.1 a\n- [x] 1.1.1 [FIX 1.1] x\n- [x] 1.1.2 [FIX 1.1] y\n- [ ] 1.2 b\n",
    );
    let mut state = StateDocument::default();
    // regreen was killed before it could save the second fix.
    state.record_fix(&id("1.1"), &id("1.1.1"), "boom");
    state.forgive_all(&file, &[file.rows().next().unwrap()]);
    state.record_fix(&id("1.1"), &id("1.1.3"), "boom");
    let file = TaskFile::read("- [ ] 1.1 a\n- [ ] 1.2 b\n");
    let row = file.rows().next().unwrap();
    let budget = file.fix_budget(row, &state.fix_task_map()).unwrap();
    assert_eq!((budget.fixes, budget.root_fixes), (1, 1));
    assert_eq!(budget.last_error, "boom");
}

#[test]
fn trying_one_of_two_tasks_with_one_id_again_refunds_nothing_to_the_other() {
    let text = "- [ ] 1.1 a\n- [ ] 1.1.1 [FIX 1.1] x\n- [ ] 1.1 b\n- [ ] 1.2 c\n";
    let mut state = StateDocument::from_tasks(&TaskFile::read(text));
    // It makes no difference whether the row of the fix is still there.
    for text in [text, "- [ ] 1.1 a\n- [ ] 1.1 b\n- [ ] 1.2 c\n"] {
        let file = TaskFile::read(text);
        let rows: Vec<_> = file.rows().collect();
        let (a, b) = (rows[0], rows[rows.len() - 2]);
        let fixes = |row, state: &StateDocument| {
            let budget = file.fix_budget(row, &state.fix_task_map()).unwrap();
            (budget.fixes, budget.root_fixes)
        };
        state.forgive_all(&file, &[b]);
        let (state, warnings) = StateDocument::read(&state.to_text()).unwrap();
        assert_eq!(warnings, []);
        assert_eq!(fixes(a, &state), (1, 1));
        assert_eq!(fixes(b, &state), (0, 0));
        let mut state = state;
        state.forgive_all(&file, &[a]);
        assert_eq!(fixes(a, &state), (0, 0));
    }
}

#[test]
fn a_map_that_goes_round_in_circles_is_counted_once() {
    let file = TaskFile::read("- [ ] 1.1 a\n- [ ] 1.2 b\n");
    let map = BTreeMap::from([
        ("1.1".to_owned(), record(&["1.1.1"])),
        ("1.1.1".to_owned(), record(&["1.1"])),
    ]);
    assert_eq!(
        file.fix_budget(file.rows().next().unwrap(), &map)
            .unwrap()
            .root_fixes,
        2
    );
}

#[test]
fn a_new_fix_takes_no_number_that_a_row_has() {
    // The parts of a group are numbered as its fixes would be.
    let file = TaskFile::read("- [ ] 1. a\n  - [ ] 1.1 b\n  - [ ] 1.2 c\n  - [ ] 1.10 d\n");
    let rows: Vec<_> = file.rows().collect();
    let id = |row| file.next_fix_id(row, &BTreeMap::new()).unwrap();
    assert_eq!(id(rows[0]), TaskId::parse("1.11").unwrap());
    assert_eq!(id(rows[1]), TaskId::parse("1.1.1").unwrap());
}

#[test]
fn a_task_is_asked_for_with_its_fixes_and_with_what_stands_below_it() {
    let file = TaskFile::read(
        "- [ ] 1. a\n  - [ ] 1.1 b\n  - [ ]* 1.2 c\n- [ ] 2. d\n- [ ] 2.1 [FIX 2] e\n- [ ] 10. f\n",
    );
    let asked = |id: &str| {
        let id = TaskId::parse(id).unwrap();
        let rows = file.rows().filter(|row| file.belongs_to(*row, &id));
        let ids: Vec<String> = rows
            .filter_map(|row| Some(file.key(row)?.id.to_string()))
            .collect();
        (ids.join(" "), file.open_rows_of(&id, false))
    };
    assert_eq!(asked("1"), ("1 1.1 1.2".to_owned(), 2));
    assert_eq!(asked("1.1"), ("1.1".to_owned(), 1));
    assert_eq!(asked("2"), ("2 2.1".to_owned(), 1));
    // A fix runs with its task; requested by itself, it only counts as open.
    assert_eq!(asked("2.1"), (String::new(), 1));
}
