use std::io::Cursor;

use regreen_store::{ImportError, Recording, RecordingError};

use crate::folder::Folder;
use crate::sample::{begin, step};

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
fn what_is_no_recording_is_refused() {
    assert!(matches!(recording(&[]), Err(RecordingError::Empty)));
    let newer = exported(0)[0].replace(r#""regreen_journal":1"#, r#""regreen_journal":2"#);
    let error = recording(&[newer]).unwrap_err();
    assert!(matches!(error, RecordingError::Newer { found: 2 }));
    let other = recording(&["{}".to_owned()]).unwrap_err();
    assert!(matches!(other, RecordingError::BadLine { line: 1, .. }));
}
