use std::process::Command;
use std::time::Duration;

use regreen_supervisor::{Chunk, EndReason, Exit, Keepers, ProcessEnd, ProcessSpec};

use crate::check::{Nest, eventually, is_alive, spec, testchild};

/// Returns what a program prints about its keeper, and how it ended.
fn run(keepers: &Keepers, spec: ProcessSpec) -> (String, ProcessEnd) {
    let mut said = Vec::new();
    let running = keepers.spawn(spec).unwrap();
    let ended = running
        .wait(&mut |chunk: Chunk<'_>| said.extend_from_slice(chunk.bytes))
        .unwrap();
    (String::from_utf8(said).unwrap(), ended)
}

fn shell(script: &str) -> ProcessSpec {
    let mut spec = spec(&[]);
    spec.argv = vec!["sh".into(), "-c".into(), script.into()];
    spec
}

fn keeper_of_next(keepers: &Keepers) -> i32 {
    let (keeper, _) = run(keepers, shell("echo $PPID"));
    keeper.trim().parse().unwrap()
}

#[test]
fn a_keeper_with_nothing_left_to_keep_takes_the_next_program() {
    let keepers = Keepers::new(testchild());
    let first = keeper_of_next(&keepers);
    assert_eq!(keeper_of_next(&keepers), first);
    drop(keepers);
    assert!(!is_alive(first));
}

#[test]
fn programs_at_the_same_time_have_keepers_of_their_own() {
    let keepers = Keepers::new(testchild());
    let inner = keepers.clone();
    let mut keepers_seen = Vec::new();
    let outer = keepers.spawn(shell("echo $PPID; cat")).unwrap();
    outer
        .wait(&mut |chunk: Chunk<'_>| {
            let keeper = std::str::from_utf8(chunk.bytes).unwrap().trim();
            keepers_seen = vec![keeper.parse().unwrap(), keeper_of_next(&inner)];
        })
        .unwrap();
    assert_ne!(keepers_seen[0], keepers_seen[1]);
}

#[test]
fn nothing_of_one_program_reaches_the_next_of_the_same_keeper() {
    let keepers = Keepers::new(testchild());
    let nest = Nest::new();
    let mut first = spec(&["brood", nest.path(), "exit"]);
    first.env = vec![("ONLY_HERE".into(), Some("1".into()))];
    let (_, ended) = run(&keepers, first);
    assert_eq!(ended.leftovers_ended, 2);
    nest.assert_deserted();
    let mut second = shell("pwd; echo ${ONLY_HERE-unset}");
    second.cwd = "/usr".into();
    let (said, ended) = run(&keepers, second);
    assert_eq!(said, "/usr\nunset\n");
    assert_eq!((ended.exit, ended.leftovers_ended), (Exit::Exited(0), 0));
    let other = Command::new(testchild()).arg("open-files").output();
    let (open_files, _) = run(&keepers, spec(&["open-files"]));
    assert_eq!(open_files.as_bytes(), other.unwrap().stdout);
}

#[test]
fn a_program_that_cannot_be_started_does_not_spoil_its_keeper() {
    let keepers = Keepers::new(testchild());
    let first = keeper_of_next(&keepers);
    let mut missing = spec(&[]);
    missing.argv = vec!["/no/such/program".into()];
    assert!(run(&keepers, missing).1.exit.is_not_found());
    assert_eq!(keeper_of_next(&keepers), first);
}

#[test]
fn a_run_that_is_cancelled_as_it_ends_does_not_disturb_the_next() {
    let keepers = Keepers::new(testchild());
    for _ in 0..20 {
        let running = keepers.spawn(spec(&["print", "1"])).unwrap();
        let handle = running.handle();
        // The program has ended by now, or is about to.
        let cancel = &mut |_: Chunk<'_>| handle.end(EndReason::Cancelled);
        running.wait(cancel).unwrap();
        let (said, ended) = run(&keepers, shell("sleep 0.01; echo whole"));
        assert_eq!((said.as_str(), ended.exit), ("whole\n", Exit::Exited(0)));
    }
}

#[test]
fn a_keeper_that_was_killed_while_it_waited_is_replaced() {
    let keepers = Keepers::new(testchild());
    let first = keeper_of_next(&keepers);
    let kill = Command::new("kill")
        .args(["-9", &first.to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert!(eventually(|| !is_alive(first)));
    assert_ne!(keeper_of_next(&keepers), first);
}

#[test]
fn a_keepers_earlier_program_is_not_progress_of_the_next_one() {
    let keepers = Keepers::new(testchild());
    run(&keepers, spec(&["burn", "1000"]));
    let mut idle = spec(&["sleep", "60000"]);
    idle.limits.idle = Some(Duration::from_millis(400));
    let (_, ended) = run(&keepers, idle);
    assert_eq!(ended.reason, EndReason::IdleLimit);
}
