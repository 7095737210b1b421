use regreen_test_support::Workspace;

use crate::{go, json, patient};

#[test]
fn a_run_is_listed_with_what_it_does_from_any_folder() {
    let workspace = patient();
    let elsewhere = Workspace::new();
    let run = workspace.start(&[], "working");
    let mut ps = elsewhere.command(&["ps", "--json"]);
    ps.env("XDG_STATE_HOME", workspace.outside().join("state"));
    let listed: serde_json::Value = serde_json::from_slice(&ps.output().unwrap().stdout).unwrap();
    let first = &listed[0];
    assert_eq!(first["state"], "running", "{listed}");
    assert_eq!(first["spec"], "demo");
    assert_eq!(first["process"], run.pid());
    assert_eq!(first["task"]["id"], "1.1");
    assert_eq!(first["activity"]["what"], "attempt");
    workspace
        .regreen(&["ps"])
        .exits(0)
        .mentions("RUN  demo · ")
        .mentions("1.1 First · attempt 1 for ");
    go(&workspace);
    assert_eq!(run.wait().code, Some(0));
    workspace
        .regreen(&["ps"])
        .exits(0)
        .mentions("DONE  demo · ");
}

#[test]
fn a_run_that_was_killed_is_told_with_how_to_go_on() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    run.signal("KILL");
    assert_eq!(run.wait().code, None);
    assert_eq!(json(&workspace, &["ps", "--json"])[0]["state"], "killed");
    workspace
        .regreen(&["ps"])
        .exits(0)
        .mentions("FAIL  demo · ")
        .mentions("killed; `regreen run` resumes it");
}

#[test]
fn without_runs_nothing_is_listed_or_created() {
    let workspace = Workspace::new();
    workspace
        .regreen(&["ps"])
        .exits(0)
        .prints("no runs; `regreen run` starts one\n");
    assert!(!workspace.outside().join("state").exists());
}

#[test]
fn a_workspace_that_is_gone_is_forgotten() {
    let workspace = patient();
    go(&workspace);
    workspace.run(&[]).exits(0);
    std::fs::remove_dir_all(workspace.path(".regreen")).unwrap();
    assert_eq!(json(&workspace, &["ps", "--json"]), serde_json::json!([]));
    let records = workspace.outside().join("state/regreen/runs");
    assert_eq!(std::fs::read_dir(records).unwrap().count(), 0);
}

#[test]
fn the_current_task_needs_no_name() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    workspace.regreen(&["log"]).exits(0).mentions("at it");
    workspace.regreen(&["why"]).exits(0).mentions("1.1 First");
    go(&workspace);
    assert_eq!(run.wait().code, Some(0));
    workspace.regreen(&["why"]).exits(0).mentions("1.2 Second");
}

#[test]
fn a_followed_log_ends_with_its_attempt() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    let mut log = workspace.command(&["log", "--follow"]);
    let log = log.stdout(std::process::Stdio::piped()).spawn().unwrap();
    go(&workspace);
    let output = log.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "at it\nTASK_COMPLETE\n"
    );
    assert_eq!(run.wait().code, Some(0));
}
