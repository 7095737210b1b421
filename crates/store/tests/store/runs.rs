use regreen_store::{NewRun, RunEnd, RunError, RunId};

use crate::folder::{Folder, NOON};
use crate::sample::{begin, green, step};

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
    };
    let later = store.begin_run(&later).unwrap();
    assert_eq!(later.as_str(), "20251116-120001");
    assert!(ids.iter().all(|id| *id < later));
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
