use regreen_redaction::Masks;
use regreen_supervisor::{Chunk, Stdin};

use crate::check::{run, spec, start};

#[test]
fn both_streams_arrive_apart() {
    let run = run(spec(&["print-both"]));
    assert_eq!(run.stdout, "to stdout");
    assert_eq!(run.stderr, "to stderr");
    assert_eq!((run.ended.stdout_bytes, run.ended.stderr_bytes), (9, 9));
}

#[test]
fn what_an_observer_may_store_is_masked() {
    let key = format!("sk-ant-{}", "a1B2".repeat(12));
    let mut spec = spec(&["cat"]);
    spec.masks = Some(Masks::new(["hunter2hunter2"]));
    spec.stdin = Stdin::Bytes(format!("a {key} b hunter2hunter2 c ghp_").into_bytes());
    let run = run(spec);
    assert_eq!(run.stdout, "a ***anthropic-key*** b ***secret*** c ghp_");
    assert!(run.ended.stdout_bytes > run.stdout.len() as u64);
}

#[test]
fn fifty_runs_leave_no_zombie_and_no_open_file() {
    let open_files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let once = || {
        let running = start(spec(&["exit", "0"]));
        running.wait(&mut |_: Chunk<'_>| {}).unwrap()
    };
    once();
    let before = open_files();
    for _ in 0..50 {
        once();
    }
    assert_eq!(open_files(), before);
    // There is nothing to wait for: no child is left, dead or alive.
    let children = rustix::process::wait(rustix::process::WaitOptions::NOHANG);
    assert_eq!(children.unwrap_err(), rustix::io::Errno::CHILD);
}
