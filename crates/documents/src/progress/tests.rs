use super::*;

fn id(token: &str) -> TaskId {
    TaskId::parse(token).unwrap_or_else(|| panic!("{token} is an id"))
}

fn history(task: &str, fixes: u32, outcome: HealingOutcome) -> FixHistory {
    FixHistory {
        task: id(task),
        fixes: (1..=fixes).map(|n| id(task).child(n)).collect(),
        outcome,
    }
}

const BEFORE: &str = "## Completed Tasks
- [x] 1.1 Task A - abc123
- [x] 1.2 Task B - def456

## Learnings
- Some learning
";

#[test]
fn the_history_is_created_before_the_learnings() {
    let after = ProgressFile::read(BEFORE).fix_history(&history("1.2", 2, HealingOutcome::Pass));
    assert_eq!(
        after.text(),
        "## Completed Tasks
- [x] 1.1 Task A - abc123
- [x] 1.2 Task B - def456

## Fix Task History
- Task 1.2: 2 fixes attempted (1.2.1, 1.2.2) - Final: PASS

## Learnings
- Some learning
"
    );
}

#[test]
fn the_history_has_one_line_per_task_changed_in_place() {
    let progress = ProgressFile::default()
        .fix_history(&history("1.3", 1, HealingOutcome::MaxLimit))
        .fix_history(&history("2.1", 1, HealingOutcome::Pass))
        .fix_history(&history("3.4", 3, HealingOutcome::MaxLimit))
        .fix_history(&history("1.3", 2, HealingOutcome::Pass));
    assert_eq!(
        progress.text(),
        "## Fix Task History
- Task 1.3: 2 fixes attempted (1.3.1, 1.3.2) - Final: PASS
- Task 2.1: 1 fix attempted (2.1.1) - Final: PASS
- Task 3.4: 3 fixes attempted (3.4.1, 3.4.2, 3.4.3) - Final: FAIL (max limit)
"
    );
}

#[test]
fn completed_tasks_are_appended_to_the_section_there_is() {
    let after = ProgressFile::read(BEFORE).completed(&id("1.3"), "Task C", Some("0123abc"));
    assert_eq!(
        after.text(),
        BEFORE.replace("def456\n", "def456\n- [x] 1.3 Task C - 0123abc\n")
    );
    let short = ProgressFile::read("## Completed\r\n\r\n# End").completed(&id("V4"), "Check", None);
    assert_eq!(short.text(), "## Completed\r\n- [x] V4 Check\r\n\r\n# End");
}

#[test]
fn a_line_that_is_there_is_not_written_twice() {
    let once = ProgressFile::read(BEFORE).completed(&id("1.3"), "Task C", Some("0123abc"));
    assert_eq!(once.completed(&id("1.3"), "Task C", Some("0123abc")), once);
}

#[test]
fn a_missing_section_goes_where_people_look_for_it() {
    let after =
        ProgressFile::read("# ProgressFile\n\n## Learnings\n- x").completed(&id("1.1"), "A", None);
    assert_eq!(
        after.text(),
        "# ProgressFile\n\n## Completed Tasks\n- [x] 1.1 A\n\n## Learnings\n- x"
    );
    let after = ProgressFile::read("# ProgressFile").completed(&id("1.1"), "A", None);
    assert_eq!(
        after.text(),
        "# ProgressFile\n\n## Completed Tasks\n- [x] 1.1 A"
    );
    let after = ProgressFile::read("").completed(&id("1.1"), "A", None);
    assert_eq!(after.text(), "## Completed Tasks\n- [x] 1.1 A\n");
}

#[test]
fn headings_in_code_are_not_sections() {
    let text = "```\n## Learnings\n```\n## Learnings\n";
    let after = ProgressFile::read(text).fix_history(&history("1.1", 1, HealingOutcome::Pass));
    assert!(
        after
            .text()
            .starts_with("```\n## Learnings\n```\n## Fix Task History\n")
    );
}

#[test]
fn a_hostile_title_is_one_line() {
    let after = ProgressFile::default().completed(&id("1.1"), "a\n## Learnings\n- [ ] 9.9 x", None);
    assert_eq!(
        after.text(),
        "## Completed Tasks\n- [x] 1.1 a ## Learnings - 9.9 x\n"
    );
}

#[test]
fn a_task_that_is_open_again_is_not_listed_as_completed() {
    let after = ProgressFile::read(BEFORE).reopened(&id("1.1"));
    assert_eq!(
        after.text(),
        BEFORE.replace("- [x] 1.1 Task A - abc123\n", "")
    );
    let twice = "## Completed\r\n- [x] 1.1 A - 1\r\n- [x] 1.1 A - 2\r\n- [x] 1.10 B\r\n";
    let after = ProgressFile::read(twice).reopened(&id("1.1"));
    assert_eq!(after.text(), "## Completed\r\n- [x] 1.10 B\r\n");
    let elsewhere = "## Learnings\n- [x] 1.1 is a line of people's\n";
    assert_eq!(
        ProgressFile::read(elsewhere).reopened(&id("1.1")).text(),
        elsewhere
    );
}

#[test]
fn lines_that_were_lost_are_added_again_and_the_others_stay() {
    let done = [
        ("1.1", "Task A", Some("abc123")),
        ("1.2", "Task B", Some("def456")),
        ("1.3", "Task C", None),
    ];
    let all = done.map(|(task, title, commit)| CompletedLine::new(&id(task), title, commit));
    let lost = ProgressFile::read(BEFORE.replace("- [x] 1.2 Task B - def456\n", ""));
    let after = lost.all_completed(&all);
    assert_eq!(
        after.text(),
        BEFORE.replace("def456\n", "def456\n- [x] 1.3 Task C\n")
    );
    assert_eq!(after.all_completed(&all), after);
}

#[test]
fn a_file_without_anything_says_how_the_task_failed_last() {
    let failed = |kind| ProgressFile::default().or_failed(&id("1.3"), kind);
    let missing = failed(Some(FailureKind::MissingFile));
    assert_eq!(
        missing.text(),
        "## Learnings\n- Task 1.3 failed: missing file\n"
    );
    assert_eq!(failed(None).text(), "## Learnings\n- Task 1.3 failed\n");
    let before = ProgressFile::read(BEFORE);
    assert_eq!(before.clone().or_failed(&id("1.3"), None), before);
}

#[test]
fn learnings_are_the_lines_below_their_heading() {
    let text = "# P\n## Learnings\n\n- one\n### Deep\n  two\n## Next\n- x\n";
    assert_eq!(
        ProgressFile::read(text).learnings(),
        ["- one", "### Deep", "two"]
    );
    assert_eq!(ProgressFile::read("# P\n").learnings(), Vec::<&str>::new());
}
