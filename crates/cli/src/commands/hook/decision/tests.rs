use snapbox::{assert_data_eq, str};

use super::*;

const TASKS: &str = "\
## Phase 1
- [x] 1.1 One
  - **Do**: x
- [ ] 1.2 Two
  - **Do**: y

  - **Verify**: `true`

- [ ] 1.3 Three

## Phase 2
- [ ] 2.1 [P] Four
- [ ] 2.2 [P] Five
  - **Do**: z
- [ ] 2.3 Six
";

fn context(state: &str, tasks: &str) -> StopContext {
    StopContext {
        spec: "login".to_owned(),
        shown: "specs/login".to_owned(),
        state: StateDocument::read(state).map(|(state, _)| state),
        tasks: Some(TaskFile::read(tasks)),
        has_progress: true,
        is_stalled: false,
        says_all_is_done: false,
        record: None,
        stops: 0,
        work: String::new(),
    }
}

fn reason(context: &StopContext) -> String {
    match decide(context) {
        StopDecision::Continue { reason, .. } => reason,
        other => format!("{other:?}"),
    }
}

#[test]
fn open_tasks_keep_a_session_going_with_the_current_one_only() {
    let state = r#"{"phase":"execution","taskIndex":1,"totalTasks":6,"taskIteration":2,"globalIteration":7}"#;
    let context = context(state, TASKS);
    assert_data_eq!(
        reason(&context),
        str![[r#"
Continue spec: login (Task 2/6, Iter 7)

## State
Path: specs/login | Index: 1 | Iteration: 2/5 | Recovery: false

## Current Task
- [ ] 1.2 Two
  - **Do**: y

  - **Verify**: `true`

## How to continue
1. Read specs/login/.ralph-state.json to see where the spec stands.
2. Delegate the task above as your instructions say: to spec-executor, rows marked [VERIFY] to qa-engineer.
3. When it signals completion, verify it yourself, tick its box, and update the state file.
4. If it fails, count the attempt in taskIteration and try again.
5. When specs/login/tasks.md has no open boxes left, finish as your instructions say.
"#]]
    );
    let StopDecision::Continue { message, .. } = decide(&context) else {
        panic!("it goes on");
    };
    assert_eq!(message, "regreen: iteration 7, task 2/6");
}

#[test]
fn neighbours_that_may_run_together_are_shown_together() {
    let state = r#"{"phase":"execution","taskIndex":3,"totalTasks":6,"recoveryMode":true}"#;
    assert_data_eq!(
        reason(&context(state, TASKS)),
        str![[r#"
Continue spec: login (Task 4/6, Iter 1)

## State
Path: specs/login | Index: 3 | Iteration: 1/5 | Recovery: true

## Current Task Group (PARALLEL): start all of these at once
- [ ] 2.1 [P] Four
- [ ] 2.2 [P] Five
  - **Do**: z

## How to continue
1. Read specs/login/.ralph-state.json to see where the spec stands.
2. Delegate the task above as your instructions say: to spec-executor, rows marked [VERIFY] to qa-engineer.
3. When it signals completion, verify it yourself, tick its box, and update the state file.
4. If it fails, count the attempt in taskIteration and try again, or add a fix task below it.
5. When specs/login/tasks.md has no open boxes left, finish as your instructions say.
"#]]
    );
    let rows = |count: usize| (1..=count).map(|n| format!("- [ ] T00{n} [P] t{n}\n"));
    let many: String = rows(7).collect();
    let state = r#"{"phase":"execution","totalTasks":7}"#;
    let shown = reason(&context(state, &many));
    assert!(shown.contains("T005") && !shown.contains("T006"), "{shown}");
}

#[test]
fn the_word_that_would_end_the_session_is_in_no_text() {
    for (_, state, tasks) in kept_going() {
        let reason = reason(&context(state, tasks));
        assert!(!reason.contains("ALL_TASKS_COMPLETE"), "{reason}");
        assert!(reason.len() > 100 && !reason.contains("{{"), "{reason}");
    }
}

fn kept_going() -> [(&'static str, &'static str, &'static str); 6] {
    [
        (
            "tasks are left",
            r#"{"phase":"execution","totalTasks":6}"#,
            TASKS,
        ),
        (
            "the count is wrong",
            r#"{"phase":"execution","taskIndex":6,"totalTasks":6}"#,
            TASKS,
        ),
        ("the state is not JSON", "{\"phase\":", TASKS),
        ("quick mode", r#"{"phase":"design","quickMode":true}"#, ""),
        (
            "quick mode approves its own phases",
            r#"{"phase":"design","quickMode":true,"awaitingApproval":true}"#,
            "",
        ),
        (
            "all rows are ticked, but the index is below the total",
            r#"{"phase":"execution","taskIndex":1,"totalTasks":2}"#,
            "- [x] 1.1 One\n- [x] 1.2 Two\n",
        ),
    ]
}

#[test]
fn a_session_that_got_nothing_done_or_says_that_all_is_done_may_stop() {
    for (why, state, tasks) in kept_going() {
        let again = StopContext {
            is_stalled: true,
            ..context(state, tasks)
        };
        assert_eq!(decide(&again), StopDecision::Stop, "{why}");
        let done = StopContext {
            says_all_is_done: true,
            ..context(state, tasks)
        };
        let said = "[ralph-specum] ALL_TASKS_COMPLETE detected in the transcript";
        let expected = StopDecision::StopWithMessage(said.to_owned());
        assert_eq!(decide(&done), expected, "{why}");
    }
}

#[test]
fn without_open_tasks_a_session_may_stop() {
    for state in [
        "{}",
        r#"{"phase":"design","totalTasks":6}"#,
        r#"{"phase":7}"#,
    ] {
        assert_eq!(
            decide(&context(state, TASKS)),
            StopDecision::Stop,
            "{state}"
        );
    }
    let done = TASKS.replace("[ ]", "[x]");
    let state = r#"{"phase":"execution","taskIndex":6,"totalTasks":6}"#;
    assert_eq!(decide(&context(state, &done)), StopDecision::Stop);
    let approval = r#"{"phase":"execution","totalTasks":6,"awaitingApproval":true}"#;
    let said = "[ralph-specum] awaitingApproval=true: the session may stop for a person";
    assert_eq!(
        decide(&context(approval, TASKS)),
        StopDecision::StopWithMessage(said.to_owned())
    );
    let nothing = r#"{"phase":"execution"}"#;
    assert_eq!(decide(&context(nothing, "")), StopDecision::Stop);
}

#[test]
fn at_the_limit_it_says_so_and_lets_go() {
    let state =
        r#"{"phase":"execution","totalTasks":6,"globalIteration":5,"maxGlobalIterations":5}"#;
    let said = "ERROR: Maximum global iterations (5) reached.";
    let review = "Review .progress.md for failure patterns.";
    assert_eq!(
        decide(&context(state, TASKS)),
        StopDecision::StopWithMessage(format!("{said} {review}"))
    );
    let without_progress = StopContext {
        has_progress: false,
        ..context(state, TASKS)
    };
    assert_eq!(
        decide(&without_progress),
        StopDecision::StopWithMessage(said.to_owned())
    );
}

#[test]
fn a_count_that_is_wrong_does_not_end_the_work() {
    let state = r#"{"phase":"execution","taskIndex":6,"totalTasks":6}"#;
    let shown = reason(&context(state, TASKS));
    assert!(shown.contains("has 5 unchecked items"), "{shown}");
    let one = TASKS.replace("[ ]", "[x]").replacen("[x]", "[ ]", 1);
    let shown = reason(&context(state, &one));
    assert!(shown.contains("has 1 unchecked item."), "{shown}");
    // The state has no count yet, so the tasks in the file count.
    let uncounted = reason(&context(r#"{"phase":"execution"}"#, TASKS));
    assert!(
        uncounted.starts_with("Continue spec: login (Task 1/6, Iter 1)"),
        "{uncounted}"
    );
}

#[test]
fn an_open_fix_comes_first_and_a_ticked_row_is_passed_over() {
    let tasks = "- [ ] 1.1 One\n- [ ] 1.1.1 [FIX 1.1] Fix: it\n- [ ] 1.2 Two\n";
    let state = r#"{"phase":"execution","taskIndex":0,"totalTasks":3}"#;
    let shown = reason(&context(state, tasks));
    assert!(
        shown.contains("\n- [ ] 1.1.1 [FIX 1.1] Fix: it\n\n##"),
        "{shown}"
    );
    let ticked = tasks.replace("- [ ] 1.1", "- [x] 1.1");
    let shown = reason(&context(state, &ticked));
    assert!(shown.contains("\n- [ ] 1.2 Two\n\n##"), "{shown}");
}

#[test]
fn a_missing_task_file_is_reported() {
    let state = r#"{"phase":"execution","totalTasks":6}"#;
    let gone = StopContext {
        tasks: None,
        ..context(state, "")
    };
    assert!(reason(&gone).contains("read tasks.md"));
}

#[test]
fn a_corrupt_state_is_named_with_the_ways_out() {
    assert_data_eq!(
        reason(&context("{\"phase\":", TASKS)),
        str![[r#"
ERROR: Corrupt state file at specs/login/.ralph-state.json: not JSON: EOF while parsing a value at line 1 column 9.

The progress of the spec is unknown. Recovery options:
1. Start executing the spec again, which rebuilds the file from tasks.md; or run `regreen run login`, which moves the file aside and continues.
2. Cancel the spec.
"#]]
    );
}
