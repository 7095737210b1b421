use std::fs;

use regreen_test_support::{Workspace, send_signal, wait_until};
use serde_json::Value;

use crate::{go, json, patient};

fn detach(workspace: &Workspace) -> u32 {
    let agent = workspace.agent_flag();
    workspace
        .regreen(&["run", "--detach", "--agent", &agent])
        .exits(0)
        .mentions("detached")
        .mentions("`regreen attach` shows it")
        .mentions(".regreen/detached/");
    wait_until(|| workspace.has_note("working"));
    let process = json(workspace, &["ps", "--json"])[0]["process"].as_u64();
    u32::try_from(process.unwrap()).unwrap()
}

fn newest(workspace: &Workspace) -> Value {
    json(workspace, &["ps", "--json"])[0].clone()
}

fn has_ended(workspace: &Workspace) -> bool {
    newest(workspace)["process"].is_null()
}

#[test]
fn a_detached_run_goes_on_through_hangups_and_suspensions() {
    let workspace = patient();
    let pid = detach(&workspace);
    send_signal("HUP", pid);
    send_signal("STOP", pid);
    send_signal("CONT", pid);
    go(&workspace);
    wait_until(|| has_ended(&workspace));
    assert_eq!(newest(&workspace)["state"], "done");
}

#[test]
fn a_detached_run_is_in_a_session_of_its_own() {
    let workspace = patient();
    let pid = detach(&workspace);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    let pid = pid.to_string();
    assert_eq!(
        (fields[2], fields[3]),
        (pid.as_str(), pid.as_str()),
        "{stat}"
    );
    workspace
        .regreen(&["stop"])
        .exits(0)
        .mentions("stopped spec demo");
    assert_eq!(newest(&workspace)["state"], "stopped");
}

#[test]
fn a_run_that_cannot_start_says_so_before_it_is_detached() {
    let workspace = patient();
    workspace
        .regreen(&[
            "run",
            "--detach",
            "--agent",
            "command:no-such-program-at-all",
        ])
        .exits(78)
        .mentions("no-such-program-at-all");
}

#[test]
fn the_command_to_resume_a_detached_run_is_not_detached() {
    let workspace = patient();
    let _pid = detach(&workspace);
    workspace.regreen(&["stop"]).exits(0);
    let folder = fs::read_dir(workspace.path(".regreen/detached")).unwrap();
    let log = folder.map(|entry| entry.unwrap().path()).next().unwrap();
    let said = fs::read_to_string(log).unwrap();
    assert!(said.contains("regreen run"), "{said}");
    assert!(!said.contains("--detach"), "{said}");
}
