use regreen_model::{ChoiceKind, PersonChoice};
use rusqlite::Connection;

use crate::folder::{Folder, NOON};
use crate::sample::task;

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
