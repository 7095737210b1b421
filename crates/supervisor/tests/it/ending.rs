use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use regreen_supervisor::{EndReason, Exit, Handle, ProcessSpec};

use crate::check::{LONG, Nest, SOON, run, run_with, spec, start, testchild};

fn brood(nest: &Nest, then: &str) -> ProcessSpec {
    spec(&["brood", nest.path(), then])
}

/// For [`run_with`]: ends the run when the child reports that it is ready.
fn cancel_when_ready(handle: &Handle, stdout: &str) {
    if stdout.contains("ready") {
        handle.end(EndReason::Cancelled);
    }
}

#[test]
fn daemons_are_gone_when_the_program_exits() {
    let nest = Nest::new();
    let start = Instant::now();
    let ended = run(brood(&nest, "exit")).ended;
    assert_eq!(nest.alive(), [0; 0], "wait returned too early");
    nest.assert_deserted();
    assert_eq!(ended.exit, Exit::Exited(0));
    assert_eq!(ended.reason, EndReason::Normal);
    assert_eq!((ended.leftovers_ended, ended.unended), (2, 0));
    assert!(start.elapsed() < LONG / 2, "held up by the open pipe");
}

#[test]
fn daemons_are_gone_when_the_program_crashes() {
    let nest = Nest::new();
    let ended = run(brood(&nest, "fail")).ended;
    assert_eq!(ended.exit, Exit::Signalled(6));
    nest.assert_deserted();
}

#[test]
fn daemons_are_gone_when_the_run_is_cancelled() {
    let nest = Nest::new();
    let ended = run_with(brood(&nest, "sleep"), cancel_when_ready).ended;
    assert_eq!(ended.reason, EndReason::Cancelled);
    assert_eq!(ended.exit, Exit::Signalled(15));
    assert_eq!(ended.leftovers_ended, 2);
    nest.assert_deserted();
}

#[test]
fn daemons_are_gone_when_the_time_is_over() {
    let nest = Nest::new();
    let mut spec = brood(&nest, "sleep");
    spec.limits.hard = Duration::from_secs(3);
    let ended = run(spec).ended;
    assert_eq!(ended.reason, EndReason::HardLimit);
    assert!(ended.duration >= Duration::from_secs(3));
    nest.assert_deserted();
}

#[test]
fn daemons_are_gone_when_the_run_is_dropped() {
    let nest = Nest::new();
    let running = start(brood(&nest, "sleep"));
    nest.wait_until_full();
    drop(running);
    assert_eq!(nest.alive(), [0; 0]);
}

#[test]
fn daemons_are_gone_soon_after_regreen_is_killed() {
    let nest = Nest::new();
    let mut owner = Command::new(testchild())
        .args(["own", nest.path(), "owner"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    nest.wait_until_full();
    owner.kill().unwrap();
    owner.wait().unwrap();
    nest.assert_deserted();
}

#[test]
fn a_program_that_ignores_the_request_is_killed_after_the_grace() {
    let started = Instant::now();
    let ended = run_with(spec(&["stubborn"]), cancel_when_ready).ended;
    assert_eq!(ended.exit, Exit::Signalled(9));
    assert!(ended.duration >= Duration::from_millis(300));
    assert!(started.elapsed() < LONG / 2);
}

#[test]
fn a_program_that_ends_when_asked_is_not_made_to_wait_for_the_grace() {
    let mut spec = spec(&["sleep", "60000"]);
    spec.limits.grace = LONG;
    let running = start(spec);
    let handle = running.handle();
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        handle.end(EndReason::Cancelled);
        handle.end(EndReason::HardLimit);
        Instant::now()
    });
    let ended = running.wait(&mut |_: regreen_supervisor::Chunk<'_>| {});
    let cancelled = canceller.join().unwrap();
    assert!(cancelled.elapsed() < SOON);
    let ended = ended.unwrap();
    assert_eq!(ended.exit, Exit::Signalled(15));
    assert_eq!(ended.reason, EndReason::Cancelled);
}

#[test]
fn a_run_cancelled_before_it_is_waited_for_ends_at_once() {
    let running = start(spec(&["sleep", "60000"]));
    running.handle().end(EndReason::Cancelled);
    let started = Instant::now();
    let ended = running.wait(&mut |_: regreen_supervisor::Chunk<'_>| {});
    assert_eq!(ended.unwrap().reason, EndReason::Cancelled);
    assert!(started.elapsed() < LONG / 2);
}

#[test]
fn a_program_cannot_end_its_keeper_by_asking() {
    for signal in ["1", "2", "3", "15"] {
        let run = run(spec(&["kill-parent", signal]));
        assert_eq!(run.stdout.trim(), "still here");
        assert_eq!(run.ended.exit, Exit::Exited(0));
    }
}

#[test]
fn killing_the_whole_group_does_not_reach_the_keeper() {
    let mut spec = spec(&[]);
    spec.argv = ["sh", "-c", "sleep 60 & kill -9 0"]
        .map(Into::into)
        .to_vec();
    let ended = run(spec).ended;
    assert_eq!(ended.exit, Exit::Signalled(9));
}
