use std::io::BufRead;
use std::time::Duration;

use regreen_supervisor::{EndReason, Exit, Marker, StraysEnded, end_strays, find_strays};

use crate::check::{Nest, run, run_with, spec};

const GRACE: Duration = Duration::from_millis(200);

#[test]
fn strays_of_a_killed_keeper_are_found_by_their_marker_and_ended() {
    let nest = Nest::new();
    let mut spec = spec(&["brood", nest.path(), "sleep"]);
    spec.marker = Marker::new("orphaned:1");
    let marker = spec.marker.clone();
    let mut found = Vec::new();
    let run = run_with(spec, |_, stdout| {
        if stdout.contains("ready") && found.is_empty() {
            found = find_strays(marker.as_str());
            // The program and its two daemons; the keeper itself has no marker.
            assert_eq!(found.len(), 3, "{found:?}");
            kill(parent_of(
                found[0].pid().min(found[1].pid()).min(found[2].pid()),
            ));
        }
    });
    assert_eq!(run.ended.exit, Exit::Unknown);
    assert_eq!(run.ended.leftovers_ended, 3);
    nest.assert_deserted();
    assert_eq!(find_strays(marker.as_str()), []);
}

#[test]
fn strays_of_a_dead_regreen_and_a_dead_keeper_are_ended_at_the_next_start() {
    let nest = Nest::new();
    let mut owner = std::process::Command::new(crate::check::testchild())
        .args(["own", nest.path(), "crashed:7"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Until the program has printed, the end of its keeper would end it too: it could no longer
    // print.
    wait_for_line(owner.stdout.as_mut().unwrap(), "ready");
    // A stopped owner can't clean up when its keeper is killed.
    signal(owner.id().cast_signed(), "STOP");
    let strays = find_strays("crashed:7:");
    let program = strays.iter().map(regreen_supervisor::Stray::pid).min();
    kill(parent_of(program.unwrap()));
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert_eq!(nest.alive().len(), 2);
    let ended = end_strays("crashed:7:", GRACE);
    assert_eq!(ended, StraysEnded { ended: 3, left: 0 });
    assert_eq!(nest.alive(), [0; 0]);
    assert_eq!(end_strays("crashed:7:", GRACE), StraysEnded::default());
}

#[test]
fn processes_of_another_run_are_not_strays() {
    let mut spec = spec(&["tick", "1", "300"]);
    spec.marker = Marker::new("run-a:12");
    let run = run_with(spec, |handle, _| {
        assert_eq!(find_strays("run-a:1:"), []);
        assert_eq!(find_strays("run-b"), []);
        assert_eq!(find_strays("run-a:12:").len(), 1);
        handle.end(EndReason::Cancelled);
    });
    assert_eq!(run.ended.reason, EndReason::Cancelled);
}

#[test]
fn a_program_that_kills_its_keeper_gains_nothing() {
    let ended = run(spec(&["kill-parent", "9"])).ended;
    assert_eq!(ended.exit, Exit::Unknown);
    assert_eq!(ended.unended, 0);
}

fn wait_for_line(output: &mut impl std::io::Read, wanted: &str) {
    let mut lines = std::io::BufReader::new(output).lines();
    assert!(
        lines.any(|line| line.unwrap() == wanted),
        "no line {wanted}"
    );
}

fn parent_of(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit(')').next().unwrap();
    fields
        .split_ascii_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

fn kill(pid: i32) {
    signal(pid, "KILL");
}

fn signal(pid: i32, name: &str) {
    let status = std::process::Command::new("kill")
        .args([format!("-{name}"), pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}
