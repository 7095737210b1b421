//! Runs, and people's choices outside of them.

use regreen_model::{ChoiceKind, PersonChoice};
use regreen_store::{NewRun, RunEnd, RunError, RunId};
use rusqlite::Connection;

use crate::fixture::{Folder, NOON, begin, green, step, task};

#[test]
fn a_run_is_named_after_its_second_and_no_two_share_a_name() {
    let folder = Folder::new();
    let mut store = folder.open();
    let ids: Vec<_> = (0..3).map(|_| begin(&mut store, "login")).collect();
    let names: Vec<_> = ids.iter().map(RunId::as_str).collect();
    assert_eq!(
        names,
        [
            "20251116-120000",
            "20251116-120000-02",
            "20251116-120000-03"
        ]
    );
    assert!(ids.is_sorted());
    let later = NewRun {
        spec: "login".to_owned(),
        started_ms: NOON + 1999,
        tree: None,
    };
    let later = store.begin_run(&later).unwrap();
    assert_eq!(later.as_str(), "20251116-120001");
    assert!(ids.iter().all(|id| *id < later));
}

#[test]
fn runs_that_start_in_two_work_trees_at_once_have_different_names() {
    let folder = Folder::new();
    let mut store = folder.open();
    let new = NewRun {
        spec: "login".to_owned(),
        started_ms: NOON,
        tree: Some("login".to_owned()),
    };
    let ids = [(); 2].map(|()| store.begin_run(&new).unwrap());
    let names = ids.each_ref().map(RunId::as_str);
    assert_eq!(
        names,
        ["20251116-120000-in-login", "20251116-120000-in-login-02"]
    );
}

#[test]
fn the_newest_run_of_a_spec_is_unfinished_until_it_ends() {
    let folder = Folder::new();
    let mut store = folder.open();
    assert_eq!(store.unfinished_run("login").unwrap(), None);
    let abandoned = begin(&mut store, "login");
    let other = begin(&mut store, "search");
    assert_eq!(store.unfinished_run("login").unwrap(), Some(abandoned));
    let newest = begin(&mut store, "login");
    assert_eq!(store.unfinished_run("login").unwrap(), Some(newest.clone()));
    store.end_run(&newest, &green()).unwrap();
    assert_eq!(store.unfinished_run("login").unwrap(), None);
    assert_eq!(store.unfinished_run("search").unwrap(), Some(other));
}

#[test]
fn a_run_ends_once() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    store.end_run(&run, &green()).unwrap();
    store.end_run(&run, &green()).unwrap();
    let red = RunEnd {
        exit_code: Some(1),
        ..green()
    };
    let error = store.end_run(&run, &red).unwrap_err();
    assert!(matches!(error, RunError::Ended(id) if id == run));
    assert_eq!(store.run(&run).unwrap().end, Some(green()));
    let nobody = RunId::named("nobody");
    let error = store.end_run(&nobody, &green()).unwrap_err();
    assert!(matches!(error, RunError::NoSuchRun(id) if id == nobody));
}

#[test]
fn runs_are_listed_newest_first() {
    let folder = Folder::new();
    let mut store = folder.open();
    let first = begin(&mut store, "login");
    let second = begin(&mut store, "search");
    store.append(&first, &step(1), &[]).unwrap();
    store.end_run(&first, &green()).unwrap();
    let runs = store.runs(10).unwrap();
    let ids: Vec<_> = runs.iter().map(|run| &run.id).collect();
    assert_eq!(ids, [&second, &first]);
    assert_eq!((runs[0].last_step.0, runs[1].last_step.0), (0, 1));
    assert_eq!(runs[1].end, Some(green()));
    assert_eq!(runs[0].spec, "search");
    assert_eq!(store.runs(1).unwrap().len(), 1);
    assert_eq!(store.runs(0).unwrap().len(), 0);
}

#[test]
fn choices_of_a_spec_come_back_in_order_and_no_two_share_a_number() {
    let folder = Folder::new();
    let mut store = folder.open();
    let said = [
        ("login", "1.3", ChoiceKind::Skip),
        ("search", "1.3", ChoiceKind::Done),
        ("login", "1.3", ChoiceKind::Retry),
        ("login", "1.10", ChoiceKind::Done),
    ];
    let mut numbers = Vec::new();
    for (spec, id, what) in said {
        numbers.push(store.choose(spec, &task(id), what, NOON).unwrap());
    }
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    store.close().unwrap();
    let store = folder.open();
    let expected = [0, 2, 3].map(|at| PersonChoice {
        number: numbers[at],
        task: task(said[at].1),
        what: said[at].2,
    });
    assert_eq!(store.choices("login").unwrap(), expected);
    assert_eq!(store.choices("search").unwrap().len(), 1);
    assert_eq!(store.choices("nobody's").unwrap(), []);
    store.check().unwrap();
}

#[test]
fn a_choice_is_never_changed_or_removed() {
    let folder = Folder::new();
    let mut store = folder.open();
    let number = store.choose("login", &task("1.3"), ChoiceKind::Skip, NOON);
    assert_eq!(number.unwrap(), 1);
    store.close().unwrap();
    let raw = Connection::open(folder.file()).unwrap();
    for sql in ["UPDATE choices SET what = 'done'", "DELETE FROM choices"] {
        let error = raw.execute(sql, []).unwrap_err();
        assert_eq!(error.to_string(), "choices are journaled");
    }
}

#[test]
fn a_choice_that_vanished_is_missed() {
    let folder = Folder::new();
    let mut store = folder.open();
    for id in ["1.3", "1.4"] {
        store
            .choose("login", &task(id), ChoiceKind::Skip, NOON)
            .unwrap();
    }
    store.close().unwrap();
    let raw = Connection::open(folder.file()).unwrap();
    raw.execute_batch("DROP TRIGGER choices_never_vanish; DELETE FROM choices WHERE number = 2")
        .unwrap();
    drop(raw);
    let store = folder.open();
    for error in [
        store.choices("login").unwrap_err(),
        store.choices("search").unwrap_err(),
        store.check().unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "the journal is damaged: 2 choices were made, but 1 are listed"
        );
    }
}
