//! How regreen understands the task files that people write.

use regreen_documents::TaskFile;
use regreen_model::{Dialect, Task, TaskKind};

/// One line per row: id, box, kind, the task it fixes, title.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let rows: Vec<String> = TaskFile::read(text).tasks().iter().map(shown).collect();
    assert_eq!(rows, expected);
}

fn shown(task: &Task) -> String {
    let id = task.id.as_ref().map_or("-", |id| id.as_str());
    let done = if task.done { "x" } else { "." };
    let fix = task
        .fix_of
        .as_ref()
        .map(|key| format!(" fixes {key}"))
        .unwrap_or_default();
    format!("{id} {done} {}{fix}: {}", task.kind, task.title)
}

#[test]
fn every_verify_field_of_a_task_counts() {
    let file = TaskFile::read(
        "- [ ] 1.1 a\n  - **Verify**: `make`\n  - **Commit**: `feat: a`\n  - **Verify**:\n    ```sh\n    make test\n    ```\n  - **Verify**: `false` fails\n  - **Commit**: `feat: b`\n",
    );
    let row = file.rows().next().unwrap();
    let commands = file.verify_commands(row);
    let read: Vec<(&str, bool)> = commands
        .iter()
        .map(|command| (command.command.trim(), command.expects.is_some()))
        .collect();
    assert_eq!(
        read,
        [("make", false), ("make test", false), ("false", true)]
    );
    let fields = file.task(row).unwrap().fields;
    assert_eq!(fields.commit.as_deref(), Some("`feat: a`"));
}

#[test]
fn only_x_is_done_and_other_letters_are_not_boxes() {
    check(
        "- [ ] 1.1 a\n* [x] 1.2 b\n+ [X] 1.3 c\n1. [-] 1.4 d\n- [~] 1.5 e\n- [P] 1.6 f\n- [ ]1.7 g\n",
        &[
            "1.1 . task: a",
            "1.2 x task: b",
            "1.3 x task: c",
            "1.4 . task: d",
            "1.5 . task: e",
        ],
    );
}

#[test]
fn with_ids_rows_without_one_are_checklist_items() {
    check(
        "- [ ] 1.1 a\n  - [ ] part\n- [ ] 1.2 b\n\n## Done when\n- [ ] all green\n",
        &[
            "1.1 . task: a",
            "- . checklist: part",
            "1.2 . task: b",
            "- . checklist: all green",
        ],
    );
}

#[test]
fn without_ids_top_level_rows_are_numbered() {
    check(
        "- [x] a\n  - [ ] part\n- [ ] b\n\n# More\n\n- [ ] c\n",
        &[
            "1 x task: a",
            "- . checklist: part",
            "2 . task: b",
            "3 . task: c",
        ],
    );
}

#[test]
fn one_task_with_an_id_keeps_it() {
    check(
        "- [ ] 1.1 Run the project\n",
        &["1.1 . task: Run the project"],
    );
}

#[test]
fn words_that_look_like_ids_do_not_make_a_numbering() {
    check(
        "- [ ] E2E login\n- [ ] S3 bucket\n- [ ] S3 policy\n- [ ] Deploy\n",
        &[
            "1 . task: E2E login",
            "S3 . task: bucket",
            "S3 . task: policy",
            "2 . task: Deploy",
        ],
    );
}

#[test]
fn fixes_count_for_no_numbering() {
    check(
        "- [ ] Only task\n- [x] 1.1 [FIX 1] Fix: a\n- [ ] 1.2 [FIX 1] Fix: b\n- [ ] 1.2.1 [FIX 1.2] Fix: c\n",
        &[
            "1 . task: Only task",
            "1.1 x task fixes 1: Fix: a",
            "1.2 . task fixes 1: Fix: b",
            "1.2.1 . task fixes 1.2: Fix: c",
        ],
    );
}

#[test]
fn in_a_list_without_ids_a_fix_belongs_to_the_nearest_original_above() {
    // Someone added a row above: the first row is now the second.
    check(
        "- [ ] New\n- [ ] Old first\n- [ ] 1.1 [FIX 1] Fix: a\n- [ ] Old second\n",
        &[
            "1 . task: New",
            "2 . task: Old first",
            "1.1 . task fixes 2: Fix: a",
            "3 . task: Old second",
        ],
    );
}

#[test]
fn only_top_level_rows_have_positions_that_a_fix_can_name() {
    let text = "- [ ] a\n  - [ ] a part\n- [ ] b\n- [ ] 2.1 [FIX TARGET] Fix: x\n";
    for (target, fixes) in [("2", Some("2")), ("3", None)] {
        let file = TaskFile::read(text.replace("TARGET", target));
        let fix = file.tasks().pop().and_then(|fix| fix.fix_of);
        let fixed = fix.as_ref().map(|key| key.id.as_str());
        assert_eq!(fixed, fixes, "[FIX {target}]");
    }
}

#[test]
fn a_fix_of_nothing_is_an_ordinary_task() {
    let text = "- [ ] 1.1 a\n- [ ] 1.2 [FIX] b\n- [ ] 1.3 [FIX 9.9] c\n- [ ] 1.4 [FIX 1.4] d\n";
    check(
        text,
        &[
            "1.1 . task: a",
            "1.2 . task: b",
            "1.3 . task: c",
            "1.4 . task: d",
        ],
    );
    let lines: Vec<usize> = TaskFile::read(text)
        .warnings()
        .iter()
        .map(|w| w.line)
        .collect();
    assert_eq!(lines, [3, 4]);
}

#[test]
fn fixes_of_each_other_do_not_go_round_in_circles() {
    let file =
        TaskFile::read("- [ ] 1.1 a\n- [ ] 2.1 [FIX 2.2] b\n- [ ] 2.2 [FIX 2.1] c\n- [ ] 1.2 d\n");
    assert!(file.tasks().iter().all(|task| task.depth <= 1));
}

#[test]
fn duplicate_ids_are_warned_about_and_a_fix_takes_the_nearest_above() {
    let file =
        TaskFile::read("- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.1 again\n- [ ] 1.1.1 [FIX 1.1] Fix: x\n");
    let fix = file.tasks().pop().unwrap();
    assert_eq!(
        fix.fix_of.map(|key| (key.occurrence, key.title)),
        Some((1, "again".into()))
    );
    assert_eq!(file.warnings()[0].line, 3);
    assert_eq!(
        file.warnings()[0].message,
        "the id 1.1 is also used on line 1"
    );
}

#[test]
fn rows_with_tasks_below_them_are_groups() {
    check(
        "- [ ] 1. Set up\n  - [x] 1.1 a\n  - [ ]* 1.2 b\n- [ ]* 2. Tests\n  - [ ] 2.1 c\n- [ ] 3. Ship\n  - [ ] note\n",
        &[
            "1 . group: Set up",
            "1.1 x task: a",
            "1.2 . optional: b",
            "2 . group: Tests",
            "2.1 . optional: c",
            "3 . task: Ship",
            "- . checklist: note",
        ],
    );
}

#[test]
fn a_fix_below_its_task_makes_no_group() {
    check(
        "- [ ] 1.1 a\n  - [ ] 1.1.1 [FIX 1.1] Fix: x\n- [ ] 1.2 b\n",
        &[
            "1.1 . task: a",
            "1.1.1 . task fixes 1.1: Fix: x",
            "1.2 . task: b",
        ],
    );
}

#[test]
fn a_block_ends_at_the_next_row_heading_or_break() {
    let file = TaskFile::read(
        "- [ ] 1.1 a\n  text\n\nmore text\n\n- [ ] 1.2 b\n  ```\n# no heading\n  ```\n## Next\n- [ ] 1.3 c\n\n---\nend\n",
    );
    let blocks: Vec<&str> = file.rows().filter_map(|row| file.block(row)).collect();
    assert_eq!(
        blocks,
        [
            "- [ ] 1.1 a\n  text\n\nmore text",
            "- [ ] 1.2 b\n  ```\n# no heading\n  ```",
            "- [ ] 1.3 c",
        ]
    );
}

#[test]
fn fields_are_read_inline_as_lists_and_as_code() {
    let file = TaskFile::read(
        "- [ ] 1.1 a\n  - **Do**:\n    1. one\n    2. two\n       - **Verify**: nested, not mine\n  * **Files:** `src/a.rs`\n  - **Done when**\n    all is well\n  - **Verify**:\n    ```sh\n    make\n\n      test\n    ```\n  - **Commit**: `feat: a`\n  - _Requirements: 1.1_\n- [ ] 1.2 b\n  - **Verify**: `true`\n",
    );
    let fields = &file.tasks()[0].fields;
    assert_eq!(
        fields.action.as_deref(),
        Some("1. one\n2. two\n   - **Verify**: nested, not mine")
    );
    assert_eq!(fields.files.as_deref(), Some("`src/a.rs`"));
    assert_eq!(fields.done_when.as_deref(), Some("all is well"));
    assert_eq!(fields.verify.as_deref(), Some("```sh\nmake\n\n  test\n```"));
    assert_eq!(fields.commit.as_deref(), Some("`feat: a`"));
    assert_eq!(file.tasks()[1].fields.verify.as_deref(), Some("`true`"));
    assert_eq!(file.tasks()[1].fields.files, None);
}

#[test]
fn without_a_do_field_the_code_blocks_below_the_row_are_what_to_do() {
    let file = TaskFile::read(
        "- [ ] 1.1 a\n  ```sh\n  make\n  ```\n  Then:\n  ```bash\n  make test\n  ```\n  - **Verify**:\n    ```sh\n    true\n    ```\n- [ ] 1.2 b\n  ```sh\n  x\n  ```\n  - **Do**: y\n",
    );
    let action = |at: usize| file.tasks()[at].fields.action.clone();
    assert_eq!(
        action(0).as_deref(),
        Some("```sh\nmake\n```\n```bash\nmake test\n```")
    );
    assert_eq!(action(1).as_deref(), Some("y"));
    let file = TaskFile::read(
        "- [ ] 1.1 a\n\n  ```sh\n  make\n  ```\n\nTo roll back:\n```sh\nrm -rf out\n```\n- [ ] 1.2 b\n- a note\n  ```sh\n  x\n  ```\n",
    );
    let fields = |at: usize| file.tasks()[at].fields.action.clone();
    assert_eq!(fields(0).as_deref(), Some("```sh\nmake\n```"));
    assert_eq!(fields(1), None, "not part of the row");
}

#[test]
fn a_groups_fields_are_not_those_of_its_tasks() {
    let file = TaskFile::read("- [ ] 1. a\n  - [ ] 1.1 b\n    - **Verify**: `false`\n");
    assert_eq!(file.tasks()[0].kind, TaskKind::Group);
    assert_eq!(file.tasks()[0].fields.verify, None);
    assert_eq!(file.tasks()[1].fields.verify.as_deref(), Some("`false`"));
}

#[test]
fn dialects_are_recognised() {
    for (text, dialect) in [
        (
            "- [ ] 1.1 a\n  - **Do**: x\n  - **Verify**: `y`\n",
            Dialect::SmartRalph,
        ),
        ("- [ ] T001 [P] [US1] a\n- [ ] T002 b\n", Dialect::SpecKit),
        (
            "## 1. Setup\n\n- [ ] 1.1 a\n- [ ] 1.2 b\n",
            Dialect::OpenSpec,
        ),
        (
            "- [ ] 1. a\n  - [ ] 1.1 b\n    - _Requirements: 1.1_\n",
            Dialect::Kiro,
        ),
        // Only a heading that begins with a number is one of theirs.
        ("1. Setup\n\n- [ ] 1.1 a\n- [ ] 1.2 b\n", Dialect::Plain),
        ("## Setup\n\n- [ ] 1.1 a\n- [ ] 1.2 b\n", Dialect::Plain),
        ("## 2 days\n\n- [ ] 1.1 a\n- [ ] 1.2 b\n", Dialect::Plain),
        ("## . a\n\n- [ ] 1.1 a\n- [ ] 1.2 b\n", Dialect::Plain),
        ("- [ ] a\n- [ ] b\n", Dialect::Plain),
        ("", Dialect::Plain),
    ] {
        assert_eq!(TaskFile::read(text).dialect(), dialect, "{text}");
    }
}

#[test]
fn byte_order_marks_tabs_and_line_endings_do_not_matter() {
    check(
        "\u{FEFF}- [ ] 1.1 a\r\n\t- [ ] 1.2 b\r\n- [x] 1.3 c",
        &["1.1 . group: a", "1.2 . task: b", "1.3 x task: c"],
    );
}

#[test]
fn a_key_finds_its_row_after_people_have_edited_the_file() {
    let before = TaskFile::read("- [ ] a\n- [ ] b\n");
    let b = before.key(before.rows().nth(1).unwrap()).unwrap();
    let after = TaskFile::read("- [ ] new\n- [ ] a\n- [ ] b\n");
    assert_eq!(after.resolve(&b), after.row_on_line(3));
    assert_eq!(TaskFile::read("- [ ] a\n- [ ] c\n").resolve(&b), None);

    let before = TaskFile::read("- [ ] 1.1 a\n- [ ] 1.1 b\n");
    let b = before.key(before.rows().nth(1).unwrap()).unwrap();
    let after = TaskFile::read("- [ ] 1.1 b\n- [ ] 1.2 c\n");
    assert_eq!(after.resolve(&b), after.row_on_line(1));
    assert_eq!(TaskFile::read("- [ ] 1.2 c\n").resolve(&b), None);
    assert_eq!(
        TaskFile::read("- [ ] 1.1 a\n- [ ] 1.2 c\n").resolve(&b),
        None
    );

    let before = TaskFile::read("- [ ] 1.1 a\n- [ ] 1.2 b\n");
    let a = before.key(before.rows().next().unwrap()).unwrap();
    let renamed = TaskFile::read("- [ ] 1.1 better\n- [ ] 1.2 b\n");
    assert_eq!(renamed.resolve(&a), renamed.row_on_line(1));
}

#[test]
fn a_row_without_text_can_be_ticked() {
    let file = TaskFile::read("- [ ] 1.1 a\n- [ ]\n- [ ] b\n");
    assert_eq!(
        file.tasks()[1].id.as_ref().map(ToString::to_string),
        Some("1".into())
    );
    let ticked = file
        .tick(file.row_on_line(2).unwrap())
        .unwrap()
        .into_file(file);
    assert_eq!(ticked.text(), "- [ ] 1.1 a\n- [x]\n- [ ] b\n");
}

#[test]
fn a_heading_inside_a_task_belongs_to_it() {
    let file = TaskFile::read("- [ ] 1.1 a\n  ### Details\n  - **Verify**: `true`\n- [ ] 1.2 b\n");
    assert_eq!(file.tasks()[0].fields.verify.as_deref(), Some("`true`"));
}

#[test]
fn rows_that_were_nearly_written_are_warned_about() {
    let file = TaskFile::read(
        "- [ ] 1.1 a\n- [] 1.2 b\n- [ ]1.3 c\n-[ ] 1.4 d\n- [P] note\n- [x](link)\n",
    );
    let lines: Vec<usize> = file.warnings().iter().map(|w| w.line).collect();
    assert_eq!(lines, [2, 3, 4]);
}

#[test]
fn a_fix_without_an_id_is_not_a_task_and_takes_no_number() {
    check(
        "- [ ] a\n- [ ] [FIX 1] own\n- [ ] b\n",
        &["1 . task: a", "- . checklist: own", "2 . task: b"],
    );
}

#[test]
fn rows_that_fix_nothing_count_like_any_other() {
    check(
        "- [ ] 1.1 [FIX 9.9] a\n- [ ] 1.2 [FIX 8.8] b\n- [ ] note\n",
        &["1.1 . task: a", "1.2 . task: b", "- . checklist: note"],
    );
}
