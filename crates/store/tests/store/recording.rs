//! Recordings, and arbitrary runs compared with a plain list of their steps.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use proptest::prelude::*;
use regreen_store::{
    CommandSeq, ImportError, IssuedCommand, Recording, RecordingError, RunId, Snapshot, Step,
    StepNo, Store, StoredEvent, VersionedJson,
};

use crate::fixture::{Folder, NOON, begin, payload, step};

fn exported(steps: u64) -> Vec<String> {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    for n in 1..=steps {
        store.append(&run, &step(n), &[]).unwrap();
    }
    store.export(&run).unwrap().map(|l| l.unwrap()).collect()
}

fn recording(lines: &[String]) -> Result<Recording<Cursor<String>>, RecordingError> {
    Recording::read(Cursor::new(lines.join("\n")))
}

#[test]
fn a_recording_is_a_header_and_a_line_per_step() {
    let lines = exported(1);
    let regreen = env!("CARGO_PKG_VERSION");
    assert_eq!(
        lines[0],
        format!(
            r#"{{"regreen_journal":1,"run":"20251116-120000","spec":"login","regreen":"{regreen}","started_ms":1763294400000,"end":null}}"#
        )
    );
    assert_eq!(
        lines[1],
        r#"{"number":1,"now_ms":1763294400001,"answers":null,"input":{"kind":"Told","version":1,"body":{"text":"step 1: ä \"quoted\"\nx"}},"events":[{"kind":"Happened","version":1,"body":{"text":"step 1: ä \"quoted\"\nx"}},{"kind":"Noted","version":1,"body":{"text":""}}],"commands":[{"seq":1,"command":{"kind":"DoIt","version":1,"body":{"text":"step 1: ä \"quoted\"\nx"}}}]}"#
    );
}

#[test]
fn a_recording_can_be_read_without_a_store() {
    let recording = recording(&exported(3)).unwrap();
    assert_eq!(recording.header.spec, "login");
    let steps: Vec<_> = recording.map(|s| s.unwrap()).collect();
    assert_eq!(steps, (1..=3).map(step).collect::<Vec<_>>());
}

#[test]
fn an_imported_run_is_never_resumed() {
    let folder = Folder::new();
    let mut store = folder.open();
    let run = store.import(recording(&exported(3)).unwrap()).unwrap();
    assert_eq!(store.unfinished_run("login").unwrap(), None);
    let end = store.run(&run).unwrap().end.unwrap();
    assert_eq!((end.outcome.as_str(), end.exit_code), ("imported", None));
    let again = store.import(recording(&exported(3)).unwrap());
    assert!(matches!(again, Err(ImportError::Exists(id)) if id == run));
}

#[test]
fn a_recording_with_a_line_missing_or_broken_is_not_imported_at_all() {
    let folder = Folder::new();
    let mut store = folder.open();
    let mut gap = exported(5);
    gap.remove(3);
    let error = store.import(recording(&gap).unwrap()).unwrap_err();
    assert!(matches!(error, ImportError::Append(_)), "{error}");
    let mut broken = exported(5);
    broken[3].truncate(40);
    let error = store.import(recording(&broken).unwrap()).unwrap_err();
    assert!(
        matches!(
            error,
            ImportError::Recording(RecordingError::BadLine { line: 4, .. })
        ),
        "{error}"
    );
    assert_eq!(store.runs(9).unwrap(), []);
}

#[test]
fn an_invalid_recording_is_refused() {
    assert!(matches!(recording(&[]), Err(RecordingError::Empty)));
    let newer = exported(0)[0].replace(r#""regreen_journal":1"#, r#""regreen_journal":2"#);
    let error = recording(&[newer]).unwrap_err();
    assert!(matches!(error, RecordingError::Newer { found: 2 }));
    let other = recording(&["{}".to_owned()]).unwrap_err();
    assert!(matches!(other, RecordingError::BadLine { line: 1, .. }));
}

/// The form of a step: its texts, how many commands it issues, and which pending one it answers.
type Look = (Vec<String>, usize, Option<prop::sample::Index>);

fn look() -> impl Strategy<Value = Look> {
    let text = prop_oneof!["\\PC{0,40}", Just("\n\r\u{2028}\"\\".to_owned())];
    (
        prop::collection::vec(text, 0..5),
        0_usize..4,
        prop::option::of(any::<prop::sample::Index>()),
    )
}

fn steps(looks: Vec<Look>) -> Vec<Step> {
    let mut owed = BTreeSet::new();
    let mut next_seq = 0;
    let mut steps = Vec::new();
    for (number, (texts, commands, answer)) in (1..).zip(looks) {
        let all: Vec<_> = owed.iter().copied().collect();
        let answers = answer.filter(|_| !all.is_empty()).map(|i| *i.get(&all));
        answers.map(|seq| owed.remove(&seq));
        let issued: Vec<_> = (0..commands as u64)
            .map(|n| CommandSeq(next_seq + n))
            .collect();
        next_seq += commands as u64;
        owed.extend(issued.iter().copied());
        steps.push(Step {
            number: StepNo(number),
            now_ms: NOON + number as i64 * 3,
            answers,
            input: payload("Told", &texts.concat()),
            events: texts.iter().map(|text| payload("Happened", text)).collect(),
            commands: issued.into_iter().map(|seq| command(seq, &texts)).collect(),
        });
    }
    steps
}

fn command(seq: CommandSeq, texts: &[String]) -> IssuedCommand {
    IssuedCommand {
        seq,
        command: VersionedJson::new("DoIt", 3, &texts).unwrap(),
    }
}

fn owed(steps: &[Step]) -> Vec<IssuedCommand> {
    let mut owed = BTreeMap::new();
    for step in steps {
        step.answers.map(|seq| owed.remove(&seq));
        owed.extend(step.commands.iter().map(|c| (c.seq, c.clone())));
    }
    owed.into_values().collect()
}

/// A state that remembers everything that happened, in order.
fn fold(state: &mut Vec<String>, event: &StoredEvent) {
    let said: serde_json::Value = event.event.decode().unwrap();
    state.push(format!("{} {} {said}", event.step, event.now_ms));
}

fn folded(store: &Store, run: &RunId, mut state: Vec<String>, after: StepNo) -> Vec<String> {
    for event in store.events(run, after).unwrap() {
        fold(&mut state, &event.unwrap());
    }
    state
}

fn stored(store: &Store, run: &RunId) -> Vec<Step> {
    let steps = store.steps(run, StepNo::NONE).unwrap();
    steps.map(|s| s.unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_is_read_as_it_was_stored(looks in prop::collection::vec(look(), 0..40)) {
        let steps = steps(looks);
        let folder = Folder::new();
        let mut store = folder.open();
        let run = begin(&mut store, "login");
        for step in &steps {
            store.append(&run, step, &[]).unwrap();
        }
        store.close().unwrap();
        let store = folder.open();
        prop_assert_eq!(stored(&store, &run), &steps[..]);
        prop_assert_eq!(store.outstanding(&run).unwrap(), owed(&steps));
        store.check().unwrap();
    }

    #[test]
    fn a_snapshot_and_the_events_after_it_equal_all_events(
        looks in prop::collection::vec(look(), 1..40),
        every in 1_u64..9,
    ) {
        let folder = Folder::new();
        let mut store = folder.open();
        let run = begin(&mut store, "login");
        for step in steps(looks) {
            store.append(&run, &step, &[]).unwrap();
            if step.number.0 % every == 0 {
                let state = folded(&store, &run, vec![], StepNo::NONE);
                let state = VersionedJson::new("State", 1, &state).unwrap();
                let snapshot = Snapshot { step: step.number, state };
                store.save_snapshot(&run, &snapshot).unwrap();
            }
        }
        let from_scratch = folded(&store, &run, vec![], StepNo::NONE);
        let resumed = match store.latest_snapshot(&run).unwrap() {
            Some(found) => folded(&store, &run, found.state.decode().unwrap(), found.step),
            None => folded(&store, &run, vec![], StepNo::NONE),
        };
        prop_assert_eq!(resumed, from_scratch);
    }

    #[test]
    fn a_recording_is_the_same_run_in_another_store(looks in prop::collection::vec(look(), 0..40)) {
        let steps = steps(looks);
        let folder = Folder::new();
        let mut store = folder.open();
        let run = begin(&mut store, "login");
        for step in &steps {
            store.append(&run, step, &[]).unwrap();
        }
        let lines: Vec<_> = store.export(&run).unwrap().map(|l| l.unwrap()).collect();
        prop_assert_eq!(lines.len(), steps.len() + 1);
        let text = Cursor::new(lines.join("\n"));
        let elsewhere = Folder::new();
        let mut other = elsewhere.open();
        let imported = other.import(Recording::read(text).unwrap()).unwrap();
        prop_assert_eq!(&imported, &run);
        prop_assert_eq!(stored(&other, &imported), steps);
        let again: Vec<_> = other.export(&imported).unwrap().map(|l| l.unwrap()).collect();
        prop_assert_eq!(&again[1..], &lines[1..]);
    }
}
