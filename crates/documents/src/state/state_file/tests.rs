use super::*;

fn id(token: &str) -> TaskId {
    TaskId::parse(token).unwrap_or_else(|| panic!("{token} is an id"))
}

fn read(text: &str) -> StateDocument {
    let (state, warnings) = StateDocument::read(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(warnings, []);
    state
}

#[test]
fn a_fix_is_recorded_as_other_tools_expect_it() {
    let mut state = read(
        r#"{
  "phase": "execution",
  "taskIndex": 2,
  "totalTasks": 10,
  "recoveryMode": true,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {
    "1.3": {
      "attempts": 1,
      "fixTaskIds": ["1.3.1"],
      "lastError": "File not found"
    }
  }
}
"#,
    );
    assert_eq!((state.task_index(), state.total_tasks()), (2, 10));
    assert!(state.recovery_mode());
    state.record_fix(
        &id("1.3"),
        &id("1.3.2"),
        "Syntax error in parser.ts line 42",
    );
    state.record_fix(&id("1.3"), &id("1.3.2"), "the same fix again");
    assert_eq!(
        state.to_text(),
        r#"{
  "phase": "execution",
  "taskIndex": 2,
  "totalTasks": 10,
  "recoveryMode": true,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {
    "1.3": {
      "attempts": 2,
      "fixTaskIds": ["1.3.1", "1.3.2"],
      "lastError": "Syntax error in parser.ts line 42"
    }
  }
}
"#
    );
}

#[test]
fn missing_keys_have_their_defaults() {
    let state = read("{}");
    assert_eq!(state.phase(), None);
    assert_eq!(
        (
            state.task_index(),
            state.task_iteration(),
            state.global_iteration()
        ),
        (0, 1, 1)
    );
    assert_eq!(
        (state.max_task_iterations(), state.max_global_iterations()),
        (5, 100)
    );
    assert_eq!((state.max_fix_tasks(), state.max_fix_depth()), (3, 3));
    assert!(!state.recovery_mode());
    assert!(state.fix_task_map().is_empty());
}

#[test]
fn wrong_types_are_reported_where_they_stand_and_not_touched() {
    let text = r#"{"taskIndex":"two","recoveryMode":"yes","maxTaskIterations":-1,"taskResults":[],"phase":7,"fixTaskMap":{"1.3":{"attempts":"x","fixTaskIds":["1.3.1",4]},"1.4":3},"other":1.50}"#;
    let (state, warnings) = StateDocument::read(text).unwrap();
    let found: Vec<String> = warnings
        .iter()
        .map(|w| format!("{}: {}", w.path, w.message))
        .collect();
    assert_eq!(
        found,
        [
            "taskIndex: expected a number, found text; using 0",
            "maxTaskIterations: expected a number, found a number regreen cannot use here; using 5",
            "recoveryMode: expected true or false, found text; using false",
            "taskResults: expected an object, found a list; using {}",
            "phase: expected text, found a number regreen cannot use here; using none",
            "fixTaskMap.1.3.fixTaskIds[1]: expected an id, found a number regreen cannot use here; ignored",
            "fixTaskMap.1.3.attempts: expected a number, found text; using 1",
            "fixTaskMap.1.4: expected an object, found a number regreen cannot use here; using no fixes",
        ]
    );
    assert_eq!(state.to_text(), text);
    assert_eq!(state.fix_task_map()["1.3"].count(), 1);
}

#[test]
fn numbers_keep_their_form_unless_they_change() {
    let mut state =
        read(r#"{"taskIndex":2.0,"totalTasks":1e1,"x":1.50,"y":12345678901234567890123}"#);
    assert_eq!((state.task_index(), state.total_tasks()), (2, 10));
    state.set_task_index(2);
    state.set_total_tasks(11);
    assert_eq!(
        state.to_text(),
        r#"{"taskIndex":2.0,"totalTasks":11,"x":1.50,"y":12345678901234567890123}"#
    );
}

#[test]
fn the_layout_of_the_file_is_kept() {
    for text in [
        "{\"a\":1}",
        "{\n\t\"a\": 1\n}",
        "\u{FEFF}{\r\n    \"a\": [\r\n        2\r\n    ]\r\n}\r\n",
        "{\n  \"a\": [1, \"x]\"],\n  \"b\": {},\n  \"c\": []\n}\n",
    ] {
        assert_eq!(read(text).to_text(), text);
    }
}

#[test]
fn results_are_objects_and_keep_what_other_tools_wrote() {
    let mut state = read(r#"{"taskResults":{"1.1":{"status":"pending","error":null}}}"#);
    state.set_task_result(&id("1.1"), TaskResult::Success);
    state.set_task_result(&id("1.2"), TaskResult::Failed);
    assert_eq!(state.task_result(&id("1.1")), Some(TaskResult::Success));
    assert_eq!(
        state.to_text(),
        r#"{"taskResults":{"1.1":{"status":"success","error":null},"1.2":{"status":"failed"}}}"#
    );
}

#[test]
fn modification_requests_are_counted() {
    let mut state = read(r#"{"modificationMap":{"1.1":{"count":1,"modifications":[]}}}"#);
    state.set_modifications(&id("1.1"), 2);
    state.set_modifications(&id("1.2"), 1);
    assert_eq!(
        (
            state.modifications(&id("1.1")),
            state.modifications(&id("1.2")),
            state.modifications(&id("1.3"))
        ),
        (2, 1, 0)
    );
    assert!(
        state
            .to_text()
            .contains(r#""1.1":{"count":2,"modifications":[]}"#)
    );
}

#[test]
fn a_state_must_be_a_json_object() {
    for text in ["", "{", "[]", "3", "{\"a\":1}}", "phase: execution"] {
        assert!(StateDocument::read(text).is_err(), "{text}");
    }
    assert_eq!(
        StateDocument::read("[]").unwrap_err().to_string(),
        "JSON, but not an object"
    );
}

#[test]
fn the_layout_survives_with_any_line_ending() {
    for eol in ["\n", "\r\n", "\r"] {
        let text =
            "{\n\t\"phase\": \"execution\",\n\t\"x\": [\n\t\t1.50\n\t]\n}\n".replace('\n', eol);
        assert_eq!(StateDocument::read(&text).unwrap().0.to_text(), text);
    }
    // Mixed line endings become one kind; a uniform file stays as it is.
    let (mixed, _) = StateDocument::read("{\"a\": 1,\r \"b\": 2\n}").unwrap();
    let written = mixed.to_text();
    assert_eq!(StateDocument::read(&written).unwrap().0.to_text(), written);
}

#[test]
fn a_count_at_its_limit_does_not_wrap() {
    let text = r#"{"fixTaskMap": {"1.3": {"attempts": 4294967295}}}"#;
    let (mut state, _) = StateDocument::read(text).unwrap();
    let task = TaskId::parse("1.3").unwrap();
    state.record_fix(&task, &task.child(1), "boom");
    assert_eq!(state.fix_task_map()["1.3"].attempts, u32::MAX);
}

#[test]
fn limits_are_taken_from_another_version_and_nothing_else() {
    let before = read("{\n  \"maxTaskIterations\": 7,\n  \"note\": 1\n}\n");
    let mut after = read(
        "{\n  \"recoveryMode\": true,\n  \"maxFixTasksPerOriginal\": 50,\n  \"maxTaskIterations\": 99,\n  \"note\": 2\n}\n",
    );
    let names = after.take_limits_of(&before);
    assert_eq!(
        names,
        [
            "maxTaskIterations",
            "maxFixTasksPerOriginal",
            "recoveryMode"
        ]
    );
    assert_eq!(
        after.to_text(),
        "{\n  \"maxTaskIterations\": 7,\n  \"note\": 2\n}\n"
    );
    assert!(after.take_limits_of(&before).is_empty());
}
