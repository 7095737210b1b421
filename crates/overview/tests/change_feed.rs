//! A change feed and real processes.
#![cfg(target_os = "linux")]

use std::process::Command;
use std::time::Duration;

use regreen_overview::{Change, ChangeFeed};

#[test]
fn of_several_processes_each_end_wakes_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut feed = ChangeFeed::new(folder.path()).unwrap();
    let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
    let mut other = Command::new("true").spawn().unwrap();
    assert!(feed.watch_process(std::process::id()));
    assert!(feed.watch_process(sleeper.id()));
    assert!(feed.watch_process(other.id()));
    other.wait().unwrap();
    let limit = Some(Duration::from_secs(10));
    assert_eq!(feed.wait(limit, &[]).unwrap(), Change::ProcessEnded);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert_eq!(feed.wait(limit, &[]).unwrap(), Change::ProcessEnded);
}
