//! Bad input: the problem, its place, and how to fix it.

use regreen_test_support::Workspace;
use snapbox::str;

#[test]
fn a_missing_file() {
    Workspace::new()
        .regreen(&["tasks", "list", "no.md"])
        .exits(2)
        .prints("")
        .complains(str![[r#"
  × no.md does not exist
  help: check the path

"#]]);
}

#[test]
fn a_folder_instead_of_a_file() {
    Workspace::new()
        .file("specs/a/tasks.md", "")
        .regreen(&["tasks", "list", "specs/a"])
        .exits(2)
        .complains(str![[r#"
  × specs/a is a folder, not a file
  help: name a file in it, for example specs/a/tasks.md

"#]]);
}

#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let test = Workspace::new().file("tasks.md", "- [ ] 1.1 a\n");
    let nobody = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(test.path("tasks.md"), nobody).unwrap();
    if std::fs::read(test.path("tasks.md")).is_ok() {
        return; // The superuser may read everything.
    }
    test.regreen(&["tasks", "list", "tasks.md"])
        .exits(2)
        .complains(str![[r#"
  × cannot read tasks.md: permission denied
  help: run `chmod u+r tasks.md` to allow it

"#]]);
}

#[test]
fn text_that_is_not_utf8_names_the_byte() {
    Workspace::new()
        .file("tasks.md", b"- [ ] 1.1 a\n- [ ] 1.2 caf\xe9\n")
        .regreen(&["lint", "tasks.md"])
        .exits(2)
        .complains(str![[r#"
  × [FOLDER]/tasks.md is not UTF-8 text: line 2 has an invalid byte (at offset 25)
  help: convert the file to UTF-8, for example: iconv -f latin1 -t utf-8 OLD > NEW

"#]]);
}

#[test]
fn an_empty_file_is_read_and_has_no_tasks() {
    let test = Workspace::new().file("tasks.md", "");
    test.regreen(&["tasks", "list", "tasks.md"])
        .exits(0)
        .prints("dialect: plain\n");
    test.regreen(&["tasks", "tick", "tasks.md", "1"])
        .exits(2)
        .complains(str![[r#"
  × task 1 not found in tasks.md
  help: the file has no tasks; run `regreen lint FILE` to see how regreen reads it

"#]]);
}

#[test]
fn a_file_of_one_huge_line_is_read() {
    let huge = format!("- [ ] 1.1 {}", "x".repeat(20_000_000));
    let test = Workspace::new().file("tasks.md", &huge);
    let answer = test
        .regreen(&["tasks", "tick", "tasks.md", "1.1", "--write"])
        .exits(0);
    assert_eq!(answer.stderr, "");
    assert_eq!(test.text("tasks.md"), huge.replacen("[ ]", "[x]", 1));
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let test = Workspace::new().file("tasks.md", "- [ ] 1.1 a\n");
    let mut permissions = std::fs::metadata(test.path("tasks.md"))
        .unwrap()
        .permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(test.path("tasks.md"), permissions).unwrap();
    if std::fs::OpenOptions::new()
        .append(true)
        .open(test.path("tasks.md"))
        .is_ok()
    {
        return; // The superuser may write everything.
    }
    test.regreen(&["tasks", "tick", "tasks.md", "1.1", "--write"])
        .exits(2)
        .complains(str![[r#"
  × cannot write tasks.md: permission denied
  help: run `chmod u+w tasks.md` to allow it

"#]]);
}

#[test]
fn an_unknown_task_lists_the_known_ones() {
    let test = Workspace::new().file("tasks.md", "- [ ] 1.1 a\n- [ ] 1.2 b\n");
    test.regreen(&["tasks", "tick", "tasks.md", "1.3"])
        .exits(2)
        .complains(str![[r#"
  × task 1.3 not found in tasks.md
  help: known tasks: 1.1, 1.2

"#]]);
    test.regreen(&["tasks", "tick", "tasks.md", "first"])
        .exits(2)
        .complains(str![[r#"
  × invalid task id `first`
  help: ids look like 1.3, T012, V4 or US-001; run `regreen tasks list FILE` to list the ids in a file

"#]]);
}

#[test]
fn an_unknown_spec_lists_the_known_ones() {
    let test = Workspace::new()
        .file("specs/a/tasks.md", "")
        .file("specs/b/tasks.md", "");
    test.regreen(&["lint", "c"]).exits(2).complains(str![[r#"
  × spec or task file c not found
  help: choose one of these: a, b

"#]]);
    test.regreen(&["lint"]).exits(2).complains(str![[r#"
  × several specs found, and none is selected
  help: choose one of these: a, b

"#]]);
    Workspace::new()
        .regreen(&["lint"])
        .exits(2)
        .complains(str![[r#"
  × no spec found in [FOLDER]
  help: run `regreen init NAME` to create one

"#]]);
}

#[test]
fn bad_usage_exits_2() {
    let answer = Workspace::new().regreen(&["tasks", "tick"]).exits(2);
    assert!(
        answer.stderr.contains("Usage: regreen tasks tick"),
        "{}",
        answer.stderr
    );
}
