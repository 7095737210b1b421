//! `regreen tasks`: the output that scripts rely on.

use regreen_test_support::Workspace;
use snapbox::str;

const PLAN: &str = "\
# Plan

- [x] 1.1 Read the file
- [ ] 1.2 [P] Parse it
  - **Do**: Split lines
  - **Files**: `src/parse.rs`
  - **Verify**: `grep -c panic src/parse.rs` returns 0
  - **Commit**: `feat: parse`
- [ ] 1.2.1 [FIX 1.2] Fix: boom
- [ ]* 1.3 Make it fast
- [ ] all green
";

#[test]
fn list_shows_every_row_with_what_regreen_makes_of_it() {
    Workspace::new()
        .file("tasks.md", PLAN)
        .regreen(&["tasks", "list", "tasks.md"])
        .exits(0)
        .complains("")
        .prints(str![[r#"
dialect: smart-ralph
    3  [x] 1.1    task       Read the file
    4  [ ] 1.2    task       [P] Parse it
    9  [ ] 1.2.1  task         [FIX 1.2] Fix: boom
   10  [ ] 1.3    optional   Make it fast
   11  [ ]        checklist  all green

"#]]);
}

#[test]
fn list_as_json_has_exactly_the_promised_keys() {
    Workspace::new()
        .file("tasks.md", "- [ ] 1.2 [P] Parse it\n  - **Files**: `src/parse.rs`\n  - **Verify**: `grep -c panic src/parse.rs` returns 0\n- [x] 1.2.1 [FIX 1.2] Fix: boom\n- [ ] 1.2 again\n")
        .regreen(&["tasks", "list", "tasks.md", "--json"])
        .exits(0)
        .prints(str![[r#"
{
  "dialect": "smart-ralph",
  "tasks": [
    {
      "id": "1.2",
      "line": 1,
      "title": "Parse it",
      "done": false,
      "kind": "task",
      "markers": [
        "P"
      ],
      "fix_of": null,
      "depth": 0,
      "fields": {
        "do": null,
        "files": "`src/parse.rs`",
        "done_when": null,
        "verify": "`grep -c panic src/parse.rs` returns 0",
        "commit": null
      },
      "verify_candidates": [
        "grep -c panic src/parse.rs"
      ],
      "verify_expects": [
        "prints 0"
      ],
      "verify_unchecked": [
        null
      ]
    },
    {
      "id": "1.2.1",
      "line": 4,
      "title": "Fix: boom",
      "done": true,
      "kind": "task",
      "markers": [
        "FIX 1.2"
      ],
      "fix_of": "1.2",
      "depth": 1,
      "fields": {
        "do": null,
        "files": null,
        "done_when": null,
        "verify": null,
        "commit": null
      },
      "verify_candidates": [],
      "verify_expects": [],
      "verify_unchecked": []
    },
    {
      "id": "1.2",
      "line": 5,
      "title": "again",
      "done": false,
      "kind": "task",
      "markers": [],
      "fix_of": null,
      "depth": 0,
      "fields": {
        "do": null,
        "files": null,
        "done_when": null,
        "verify": null,
        "commit": null
      },
      "verify_candidates": [],
      "verify_expects": [],
      "verify_unchecked": []
    }
  ],
  "warnings": [
    {
      "line": 5,
      "message": "the id 1.2 is also used on line 1"
    }
  ]
}

"#]]);
}

#[test]
fn edits_are_printed_or_written() {
    let test = Workspace::new().file("tasks.md", PLAN);
    let ticked = PLAN.replace("[ ] 1.2 ", "[x] 1.2 ");
    test.regreen(&["tasks", "tick", "tasks.md", "1.2"])
        .exits(0)
        .prints(&ticked);
    assert_eq!(test.text("tasks.md"), PLAN);
    test.regreen(&["tasks", "tick", "tasks.md", "1.2", "--write"])
        .exits(0)
        .prints("");
    assert_eq!(test.text("tasks.md"), ticked);
    test.regreen(&["tasks", "untick", "tasks.md", "1.2", "--write"])
        .exits(0);
    assert_eq!(test.text("tasks.md"), PLAN);
}

#[test]
fn a_duplicate_id_means_the_first_row_unless_the_line_is_given() {
    let test = Workspace::new().file("tasks.md", "- [ ] 1.1 a\n- [ ] 1.1 b\n");
    test.regreen(&["tasks", "tick", "tasks.md", "1.1"])
        .prints("- [x] 1.1 a\n- [ ] 1.1 b\n");
    test.regreen(&["tasks", "tick", "tasks.md", "1.1", "--line", "2"])
        .prints("- [ ] 1.1 a\n- [x] 1.1 b\n");
    test.regreen(&["tasks", "tick", "tasks.md", "1.1", "--line", "3"])
        .exits(2)
        .complains(str![[r#"
  × task 1.1 is not on line 3 of tasks.md
  help: rows with that id are on lines: 1, 2

"#]]);
}

#[test]
fn a_fix_is_inserted_after_its_task_and_its_fixes() {
    let test = Workspace::new().file(
        "tasks.md",
        "- [ ] 1.1 a\n- [x] 1.1.1 [FIX 1.1] b\n- [ ] 1.2 c\n",
    );
    test.regreen(&[
        "tasks",
        "insert-fix",
        "tasks.md",
        "1.1",
        "--error",
        "no such file: x\n- [ ] 9.9 evil",
        "--attempted",
        "made it",
        "--error-type",
        "missing file",
        "--spec",
        "demo",
    ])
    .exits(0)
    .prints(str![[r#"
- [ ] 1.1 a
- [x] 1.1.1 [FIX 1.1] b
- [ ] 1.1.2 [FIX 1.1] Fix: no such file: x
  - **Do**: Address the error: no such file: x - 9.9 evil
    1. Analyze the failure: made it
    2. Review related code in Files list
    3. Implement fix for: no such file: x - 9.9 evil
  - **Files**: Same directory as original
  - **Done when**: Error "no such file: x - 9.9 evil" no longer occurs
  - **Verify**: echo 'Verify manually'
  - **Commit**: `fix(demo): address missing file from task 1.1`
- [ ] 1.2 c

"#]]);
}

#[test]
fn a_fix_takes_no_number_that_the_state_file_remembers() {
    let answer = Workspace::new()
        .file("tasks.md", "- [ ] 1.1 a\n- [ ] 1.2 b\n")
        .file(
            ".ralph-state.json",
            r#"{"fixTaskMap":{"1.1":{"attempts":4,"fixTaskIds":["1.1.4"]}}}"#,
        )
        .regreen(&["tasks", "insert-fix", "tasks.md", "1.1", "--error", "x"])
        .exits(0);
    assert!(
        answer.stdout.contains("\n- [ ] 1.1.5 [FIX 1.1] Fix: x\n"),
        "{}",
        answer.stdout
    );
}

#[test]
fn a_symlinked_file_stays_a_symlink() {
    let test = Workspace::new().file("real.md", "- [ ] 1.1 a\n");
    std::os::unix::fs::symlink("real.md", test.path("tasks.md")).unwrap();
    test.regreen(&["tasks", "tick", "tasks.md", "1.1", "--write"])
        .exits(0);
    assert!(
        std::fs::symlink_metadata(test.path("tasks.md"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(test.text("real.md"), "- [x] 1.1 a\n");
}

#[test]
fn an_unreadable_state_file_is_kept_and_rebuilt_from_the_rows() {
    let test = Workspace::new()
        .file(
            "tasks.md",
            "- [x] 1.1 a\n- [x] 1.1.1 [FIX 1.1] Fix: boom\n- [ ] 1.2 b\n",
        )
        .file(".ralph-state.json", "{ \"phase\": ");
    let answer = test.regreen(&[
        "tasks",
        "insert-fix",
        "tasks.md",
        "1.1",
        "--error",
        "x",
        "--write",
    ]);
    answer.exits(0).prints("1.1.2\n").complains(str![[r#"
note: .ralph-state.json was not JSON: EOF while parsing a value at line 1 column 11; kept it as [FOLDER]/.ralph-state.json.corrupt-1 and rebuilt it from the tasks

"#]]);
    assert_eq!(test.text(".ralph-state.json.corrupt-1"), "{ \"phase\": ");
    snapbox::assert_data_eq!(
        test.text(".ralph-state.json"),
        str![[r#"
{
  "source": "direct",
  "name": "spec",
  "basePath": "./",
  "phase": "execution",
  "taskIndex": 2,
  "totalTasks": 4,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 1,
  "maxGlobalIterations": 100,
  "recoveryMode": false,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {
    "1.1": {
      "attempts": 2,
      "fixTaskIds": ["1.1.1", "1.1.2"],
      "lastError": "x"
    }
  },
  "taskResults": {
    "1.1": {
      "status": "success"
    },
    "1.1.1": {
      "status": "success"
    },
    "1.2": {
      "status": "pending"
    }
  }
}

"#]]
    );
}

#[test]
fn a_fix_that_is_inserted_in_a_spec_is_in_its_state_as_well() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 One\n- [ ] 1.2 Two\n").file(
        regreen_test_support::STATE,
        "{\"taskIndex\": 0, \"totalTasks\": 2, \"mine\": 1}",
    );
    let flags = ["--error", "it broke", "--write"];
    let tasks = regreen_test_support::TASKS;
    workspace
        .regreen(&[&["tasks", "insert-fix", tasks, "1.1"], &flags[..]].concat())
        .exits(0);
    let state = workspace.text(regreen_test_support::STATE);
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["totalTasks"], 3);
    assert_eq!(state["mine"], 1);
    assert_eq!(state["fixTaskMap"]["1.1"]["fixTaskIds"][0], "1.1.1");
    assert_eq!(state["fixTaskMap"]["1.1"]["lastError"], "it broke");
}
