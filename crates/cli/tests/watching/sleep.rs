//! Time asleep, and keeping the machine awake.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use regreen_test_support::{Workspace, send_signal, wait_until};

use crate::{Detached, go, json, patient};

const USER_FILE: &str = "user/.config/regreen/config.toml";

fn detach(workspace: &Workspace, flags: &[&str]) -> u32 {
    let agent = workspace.agent_flag();
    let arguments = [&["run", "--detach", "--agent", &agent], flags].concat();
    workspace.regreen(&arguments).exits(0);
    wait_until(|| workspace.has_note("working"));
    let process = json(workspace, &["ps", "--json"])[0]["process"].as_u64();
    u32::try_from(process.unwrap()).unwrap()
}

fn state(workspace: &Workspace) -> serde_json::Value {
    json(workspace, &["ps", "--json"])[0]["state"].clone()
}

#[test]
fn time_asleep_is_reported_and_counts_for_no_limit() {
    let workspace = Detached(patient());
    let pid = detach(&workspace, &["--timeout", "4s", "--max-time", "20s"]);
    send_signal("STOP", pid);
    thread::sleep(Duration::from_secs(7));
    send_signal("CONT", pid);
    thread::sleep(Duration::from_secs(1));
    go(&workspace);
    wait_until(|| state(&workspace) == "done");
    workspace
        .regreen(&["report"])
        .exits(0)
        .mentions("asleep for ")
        .mentions("that counts neither as work nor as waiting");
    let spent = &json(&workspace, &["ps", "--json"])[0]["spent"]["time_ms"];
    assert!(spent.as_u64().unwrap() < 5_000, "{spent}");
}

/// An agent that works until it may go on, and a lock that notes its process.
fn inhibited(lock: &str) -> Workspace {
    patient()
        .program("systemd-inhibit", lock)
        .file(USER_FILE, "inhibit = true\n")
}

#[test]
fn the_machine_is_kept_awake_until_the_run_ends_even_if_it_is_killed() {
    for is_killed in [false, true] {
        let workspace = patient();
        let path = workspace.note_path("lock").display().to_string();
        let lock = format!("echo $$ \"$@\" >{path}.part; mv {path}.part {path}; exec sleep 1000");
        let workspace = workspace
            .program("systemd-inhibit", &lock)
            .file(USER_FILE, "inhibit = true\n");
        let workspace = Detached(workspace);
        let pid = detach(&workspace, &[]);
        wait_until(|| workspace.has_note("lock"));
        let held = workspace.note("lock");
        assert!(
            held.contains("--what=idle:sleep") && held.contains("infinity"),
            "{held}"
        );
        let process = held.split_whitespace().next().unwrap().to_owned();
        let exists = || Path::new("/proc").join(&process).exists();
        assert!(exists());
        if is_killed {
            send_signal("KILL", pid);
        } else {
            go(&workspace);
        }
        wait_until(|| !exists());
    }
}

#[test]
fn a_machine_that_cannot_be_kept_awake_is_said_once() {
    let workspace = Detached(inhibited("echo 'Failed to connect to bus' >&2; exit 1"));
    let _pid = detach(&workspace, &[]);
    go(&workspace);
    wait_until(|| state(&workspace) == "done");
    let folder = fs::read_dir(workspace.path(".regreen/detached")).unwrap();
    let log = folder.map(|entry| entry.unwrap().path()).next().unwrap();
    let said = fs::read_to_string(log).unwrap();
    let notice = "the machine may fall asleep: systemd-inhibit: Failed to connect to bus";
    let times = said.matches(notice).count();
    assert!(times >= 1, "{said}");
}

#[test]
fn nothing_is_started_unless_the_user_asks_for_it() {
    let workspace = patient();
    let note = workspace.note_path("lock").display().to_string();
    let workspace = Detached(workspace.program("systemd-inhibit", &format!("touch {note}")));
    let _pid = detach(&workspace, &[]);
    go(&workspace);
    wait_until(|| state(&workspace) == "done");
    assert!(!workspace.has_note("lock"));
    let workspace = patient().file("regreen.toml", "inhibit = true\n");
    workspace
        .regreen(&["run"])
        .exits(2)
        .mentions("it decides whether your machine may sleep");
}
