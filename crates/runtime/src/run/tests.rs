use std::fs;

use regreen_engine::Decision;
use regreen_model::Event;
use regreen_workspace::Spec;

use super::*;

/// A run that was killed when this had been stored, and nothing of it said.
fn killed_after(outcome: RunOutcome) -> (tempfile::TempDir, Places) {
    let root = tempfile::tempdir().unwrap();
    let tasks = root.path().join("specs/demo/tasks.md");
    fs::create_dir_all(tasks.parent().unwrap()).unwrap();
    fs::write(&tasks, "- [ ] 1.1 One\n").unwrap();
    let name = "demo".to_owned();
    let places = Places::new(root.path(), Spec { name, tasks });
    make_own_folder(&places.root).unwrap();
    let opened = reopen_or_begin(open_store(&places.root).unwrap(), &places).unwrap();
    assert_eq!(opened.untold, None);
    let mut journal = opened.journal;
    let started = Event::RunStarted {
        run: journal.run.to_string(),
        config: RunConfig::default(),
        after_limit: false,
    };
    let decision = Decision {
        events: vec![started, Event::RunEnded { outcome }],
        commands: Vec::new(),
    };
    let input = Input::Noticed { messages: vec![] };
    let appended = journal.append(clock::now(), &input, None, &decision, &[]);
    appended.unwrap();
    (root, places)
}

#[test]
fn an_end_that_nobody_was_told_of_is_told_by_the_next_run() {
    let message = "ERROR: Max retries reached for task 1.1 after 5 attempts".to_owned();
    let (_root, places) = killed_after(RunOutcome::Limit { message });
    let opened = reopen_or_begin(open_store(&places.root).unwrap(), &places).unwrap();
    let untold = opened.untold.unwrap();
    assert!(
        untold.ends_with(
            "before it could say so: ERROR: Max retries reached for task 1.1 after 5 attempts"
        ),
        "{untold}"
    );
    assert!(opened.state.run.is_empty(), "another run begins");
    // It has been told then.
    drop(opened.journal);
    let opened = reopen_or_begin(open_store(&places.root).unwrap(), &places).unwrap();
    assert_eq!(opened.untold, None);
}

#[test]
fn a_pause_that_nobody_was_told_of_goes_on() {
    let why = "task 1.1: it could not be split".to_owned();
    let (_root, places) = killed_after(RunOutcome::NeedsPerson { why });
    let opened = reopen_or_begin(open_store(&places.root).unwrap(), &places).unwrap();
    assert_eq!(opened.untold, None);
    assert!(!opened.state.run.is_empty());
}
