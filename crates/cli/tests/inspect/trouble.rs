//! An unusable journal.

use std::fs;

use rusqlite::Connection;
use snapbox::str;

use regreen_test_support::Workspace;

fn done() -> Workspace {
    Workspace::with_tasks("- [ ] 1.1 Make it\n  - **Verify**: `true`\n")
        .agent("*) echo TASK_COMPLETE ;;")
        .has_run(&[], 0)
}

const DATABASE: &str = ".regreen/regreen.db";

#[test]
fn a_damaged_journal_is_reported_with_the_way_out() {
    let workspace = done();
    let bytes = fs::read(workspace.path(DATABASE)).unwrap();
    fs::write(workspace.path(DATABASE), &bytes[..bytes.len() / 2]).unwrap();
    let output = workspace.regreen(&["status"]);
    assert_eq!(output.code, Some(78), "{}", output.stderr);
    fs::write(workspace.path(DATABASE), "no database ".repeat(500)).unwrap();
    workspace.regreen(&["status"]).shows(str![[r#"
--- standard error
  × cannot use [FOLDER]/.regreen/regreen.db: the journal is damaged: file is not a database
  help: move it away, then run this command again; the task file and the state file are enough to resume
        mkdir -p .regreen/damaged && mv .regreen/regreen.db* .regreen/damaged
--- exit code 78

"#]]);
    for look in [
        ["why", "1.1"],
        ["log", "1.1"],
        ["diff", "1.1"],
        ["skip", "1.1"],
    ] {
        assert_eq!(workspace.regreen(&look).code, Some(78), "{look:?}");
    }
}

#[test]
fn damage_inside_is_found_when_it_is_read() {
    let workspace = done();
    let raw = Connection::open(workspace.path(DATABASE)).unwrap();
    raw.execute_batch("UPDATE attempts SET agent = 'another'")
        .unwrap();
    raw.close().unwrap();
    workspace.regreen(&["log", "1.1"]).shows(str![[r#"
--- standard error
  × the journal is damaged: a row of attempts does not match its checksum
  help: move the file away and start again; the task file and the state file are enough to resume
--- exit code 78

"#]]);
}

#[test]
fn a_journal_without_read_permission_is_reported() {
    let workspace = done();
    let raw = Connection::open(workspace.path(DATABASE)).unwrap();
    raw.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE tally SET runs = runs",
    )
    .unwrap();
    workspace.regreen(&["status"]).shows(str![[r#"
--- standard error
  × cannot use [FOLDER]/.regreen/regreen.db: another process is writing to the journal
  help: wait until the other process ends, then try again
--- exit code 78

"#]]);
}

#[test]
fn a_journal_of_a_later_version_is_left_alone() {
    let workspace = done();
    let raw = Connection::open(workspace.path(DATABASE)).unwrap();
    raw.execute_batch(
        "INSERT INTO schema_history VALUES (99, '9.4.1', 0); PRAGMA user_version = 99",
    )
    .unwrap();
    raw.close().unwrap();
    workspace.regreen(&["why", "1.1"]).shows(str![[r#"
--- standard error
  × cannot use [FOLDER]/.regreen/regreen.db: the journal has version 99, written by regreen 9.4.1; this regreen supports version 5 and older
  help: use that version of regreen, or a newer one
--- exit code 78

"#]]);
}
