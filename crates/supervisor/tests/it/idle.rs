use std::time::Duration;

use regreen_supervisor::{Chunk, EndReason, Exit, Observer, ProcessSpec};

use crate::check::{run, spec, start};

const IDLE: Duration = Duration::from_millis(800);

fn watched(words: &[&str]) -> ProcessSpec {
    let mut spec = spec(words);
    spec.limits.idle = Some(IDLE);
    spec
}

#[test]
fn silent_and_not_working_is_idle() {
    let ended = run(watched(&["sleep", "60000"])).ended;
    assert_eq!(ended.reason, EndReason::IdleLimit);
    assert_eq!(ended.exit, Exit::Signalled(15));
    assert!(ended.duration >= IDLE);
}

#[test]
fn silent_but_working_is_not_idle() {
    let ended = run(watched(&["burn", "2500"])).ended;
    assert_eq!(ended.reason, EndReason::Normal);
    assert_eq!(ended.exit, Exit::Exited(0));
}

#[test]
fn a_descendant_that_works_silently_is_not_idle() {
    let mut spec = watched(&[]);
    let script = "setsid \"$0\" burn 2500";
    spec.argv = [
        "sh".into(),
        "-c".into(),
        script.into(),
        crate::check::testchild().into(),
    ]
    .to_vec();
    assert_eq!(run(spec).ended.reason, EndReason::Normal);
}

#[test]
fn not_working_but_writing_is_not_idle() {
    let ended = run(watched(&["tick", "15", "100"])).ended;
    assert_eq!(ended.reason, EndReason::Normal);
}

#[test]
fn silent_while_files_change_is_not_idle() {
    struct Files(u32);
    impl Observer for Files {
        fn output(&mut self, _: Chunk<'_>) {}
        fn files_changed(&mut self) -> bool {
            self.0 += 1;
            true
        }
    }
    let mut files = Files(0);
    let running = start(watched(&["sleep", "2000"]));
    let ended = running.wait(&mut files).unwrap();
    assert_eq!(ended.reason, EndReason::Normal);
    assert!(files.0 > 0);
}
