//! The index that leads from a task to its events.

use regreen_model::TaskKey;
use regreen_store::{RunId, Step, StepNo, Store, StoredEvent, VersionedJson};
use serde_json::json;

use crate::fixture::{Folder, begin, green, step, task};

const STEPS: u64 = 100;

/// The `n`th step of a run, with an event that names a task: each task is named in 40 steps.
fn naming(n: u64) -> Step {
    let body = json!({ "event": "named", "of": [{ "task": task_at(n) }] });
    let event = VersionedJson::new("event", 1, &body).unwrap();
    Step {
        events: vec![event],
        ..step(n)
    }
}

fn task_at(n: u64) -> TaskKey {
    task(&format!("1.{}", n / 40 + 1))
}

fn filled(store: &mut Store) -> RunId {
    let run = begin(store, "login");
    for n in 1..=STEPS {
        store.append(&run, &naming(n), &[]).unwrap();
    }
    run
}

fn steps(events: &[StoredEvent]) -> Vec<u64> {
    events.iter().map(|event| event.step.0).collect()
}

fn steps_naming(store: &Store, run: &RunId, id: &str) -> Vec<u64> {
    steps(&store.events_naming(run, &[task(id)]).unwrap())
}

#[test]
fn the_events_around_those_that_name_a_task_are_found() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = filled(&mut store);
    // Named in the steps 1 to 39, 40 to 79, and 80 to 100; steps come by 32.
    let last: Vec<u64> = (97..=100).collect();
    let first: Vec<u64> = (1..=96).chain(last.clone()).collect();
    assert_eq!(steps_naming(&store, &run, "1.1"), first);
    assert_eq!(
        steps_naming(&store, &run, "1.2"),
        (33..=100).collect::<Vec<_>>()
    );
    assert_eq!(
        steps_naming(&store, &run, "1.3"),
        (65..=100).collect::<Vec<_>>()
    );
    assert_eq!(steps_naming(&store, &run, "9"), last);
}

#[test]
fn what_is_found_is_what_is_stored() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = filled(&mut store);
    let all = store.events(&run, StepNo(64)).unwrap();
    let all: Vec<_> = all.map(Result::unwrap).collect();
    assert_eq!(store.events_naming(&run, &[task("1.3")]).unwrap(), all);
}

#[test]
fn the_last_steps_of_a_run_are_indexed_when_it_ends() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = filled(&mut store);
    store.end_run(&run, &green()).unwrap();
    assert_eq!(steps_naming(&store, &run, "9"), [0; 0]);
    assert_eq!(
        steps_naming(&store, &run, "1.3"),
        (65..=100).collect::<Vec<_>>()
    );
}

#[test]
fn tasks_of_a_spec_are_listed_whether_they_are_indexed_or_not() {
    let folder = Folder::new();
    let mut store = folder.open();
    let other = begin(&mut store, "search");
    store.append(&other, &naming(1), &[]).unwrap();
    let run = filled(&mut store);
    let late = Step {
        number: StepNo(STEPS + 1),
        ..naming(400)
    };
    store
        .append(
            &run,
            &Step {
                answers: None,
                ..late
            },
            &[],
        )
        .unwrap();
    let named = ["1.1", "1.2", "1.3", "1.11"].map(task);
    let mut found = store.all_tasks_named("login").unwrap();
    found.sort();
    let mut expected = named.to_vec();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(store.all_tasks_named("search").unwrap(), [task("1.1")]);
    assert_eq!(store.all_tasks_named("gone").unwrap(), []);
}

#[test]
fn a_task_is_found_by_its_id_and_by_its_title() {
    let folder = Folder::new();
    let mut store = folder.open();
    filled(&mut store);
    let by = |id: &str, title| store.tasks_named("login", &task(id).id, title).unwrap();
    assert_eq!(by("1.2", None), [task("1.2")]);
    assert_eq!(by("7", Some("Task 1.1")), [task("1.1")]);
    assert_eq!(by("1.3", Some("Task 1.1")), [task("1.1"), task("1.3")]);
    assert_eq!(by("7", None), []);
}

#[test]
fn an_imported_run_is_indexed() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = filled(&mut store);
    let lines: Result<Vec<String>, _> = store.export(&run).unwrap().collect();
    let text = lines.unwrap().join("\n");
    let other = Folder::new();
    let mut copy = other.open();
    let recording = regreen_store::Recording::read(text.as_bytes()).unwrap();
    copy.import(recording).unwrap();
    assert_eq!(steps_naming(&copy, &run, "9"), [0; 0]);
    assert_eq!(
        steps_naming(&copy, &run, "1.2"),
        steps_naming(&store, &run, "1.2")
    );
}
