//! What people decide at other terminals while a run is at work.

use std::fs;

use regreen_test_support::{Workspace, send_signal, wait_until};

use crate::{Detached, go, json};

/// Three tasks, the first of which needs a person. The second waits until the test lets it go on.
fn workspace() -> Workspace {
    Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Do**: 1. `test -f ready`\n  - **Verify**: `test -f ready`\n\
         - [ ] 1.2 Second\n  - **Do**: 1. `sh wait.sh`\n  - **Verify**: `true`\n\
         - [ ] 1.3 Third\n  - **Do**: 1. `true`\n  - **Verify**: `test -f third`\n",
    )
}

const KEEP_GOING: [&str; 5] = ["run", "--recovery-mode", "--agent", "shell", "--keep-going"];

/// Lets the second task wait.
fn with_wait(workspace: Workspace) -> Workspace {
    let script = format!(
        "touch {}; while ! test -f {}; do sleep 0.02; done\n",
        workspace.note_path("working").display(),
        workspace.note_path("go").display()
    );
    workspace.file("wait.sh", script)
}

fn detached() -> Detached {
    let detached = Detached(with_wait(workspace()));
    let arguments = [&KEEP_GOING[..], &["--detach"]].concat();
    detached.regreen(&arguments).exits(0);
    wait_until(|| detached.has_note("working"));
    detached
}

fn state(workspace: &Workspace) -> String {
    let newest = json(workspace, &["ps", "--json"])[0].clone();
    newest["state"].as_str().unwrap_or_default().to_owned()
}

fn is_waiting(workspace: &Workspace) -> bool {
    json(workspace, &["ps", "--json"])[0]["activity"]["what"] == "asking"
}

/// Returns what the detached run has printed.
fn output(workspace: &Workspace) -> String {
    let folder = fs::read_dir(workspace.path(".regreen/detached")).unwrap();
    let logs = folder.map(|entry| entry.unwrap().path());
    logs.map(|log| fs::read_to_string(log).unwrap()).collect()
}

#[test]
fn a_task_that_was_set_aside_is_done_in_the_same_run_once_someone_answers() {
    let workspace = detached();
    fs::write(workspace.path("ready"), "").unwrap();
    workspace
        .regreen(&["answer", "1.1", "retry"])
        .exits(0)
        .mentions("takes it as soon as its current step has ended");
    // 1.3 needs a person as well.
    go(&workspace);
    let asked = || json(&workspace, &["questions", "--json"])[0]["task"].clone();
    wait_until(|| asked() == "1.3" && is_waiting(&workspace));
    assert_eq!(state(&workspace), "needs_person");
    fs::write(workspace.path("third"), "").unwrap();
    workspace
        .regreen(&["answer", "1.3", "retry"])
        .exits(0)
        .mentions("continues");
    wait_until(|| state(&workspace) == "done");
    let output = output(&workspace);
    assert!(output.contains("for your answers: 1.3"), "{output}");
}

#[test]
fn a_run_at_work_carries_out_what_people_decide_elsewhere() {
    let workspace = detached();
    workspace
        .regreen(&["done", "1.1"])
        .exits(0)
        .mentions("told the run: done 1.1");
    workspace
        .regreen(&["skip", "1.3"])
        .exits(0)
        .mentions("told the run: skip 1.3");
    // Nothing changes in the plan while an agent works on it.
    assert!(
        workspace.text("specs/demo/tasks.md").contains("- [ ] 1.1"),
        "{}",
        workspace.text("specs/demo/tasks.md")
    );
    go(&workspace);
    wait_until(|| state(&workspace) == "failed");
    let tasks = workspace.text("specs/demo/tasks.md");
    assert!(
        tasks.contains("- [x] 1.1") && tasks.contains("- [ ] 1.3"),
        "{tasks}"
    );
    let output = output(&workspace);
    assert!(output.contains("SKIP  1.3 Third"), "{output}");
}

#[test]
fn a_waiting_run_notices_a_tick_in_the_plan() {
    let workspace = detached();
    workspace.regreen(&["skip", "1.3"]).exits(0);
    go(&workspace);
    wait_until(|| is_waiting(&workspace));
    workspace
        .regreen(&["tasks", "tick", "--write", "specs/demo/tasks.md", "1.1"])
        .exits(0);
    wait_until(|| state(&workspace) == "failed");
}

#[test]
fn a_run_waits_for_answers_only_as_long_as_it_is_told() {
    let workspace = with_wait(workspace());
    go(&workspace);
    let arguments = [&KEEP_GOING[..], &["--wait-for-answers", "200ms"]].concat();
    let ended = workspace.regreen(&arguments);
    ended.exits(3).mentions("for your answers until ");
    let arguments = ["run", "--wait-for-answers", "1s"];
    workspace
        .regreen(&arguments)
        .exits(2)
        .mentions("--keep-going");
}

#[test]
fn what_was_decided_survives_the_death_of_the_run() {
    let workspace = detached();
    fs::write(workspace.path("ready"), "").unwrap();
    workspace.regreen(&["answer", "1.1", "retry"]).exits(0);
    workspace.regreen(&["skip", "1.3"]).exits(0);
    let process = json(&workspace, &["ps", "--json"])[0]["process"].clone();
    send_signal("KILL", u32::try_from(process.as_u64().unwrap()).unwrap());
    wait_until(|| state(&workspace) == "killed");
    go(&workspace);
    let resumed = workspace.regreen(&KEEP_GOING);
    assert!(
        resumed.stdout.contains("SKIP  1.3 Third"),
        "{}",
        resumed.stdout
    );
    let tasks = workspace.text("specs/demo/tasks.md");
    assert!(
        tasks.contains("- [x] 1.1") && tasks.contains("- [x] 1.2"),
        "{tasks}"
    );
    workspace
        .regreen(&["questions"])
        .exits(0)
        .prints("no open questions\n");
}

#[test]
fn a_waiting_run_stops_when_it_is_told_to() {
    for arguments in [&["stop"][..], &["stop", "--after-task"]] {
        let workspace = detached();
        go(&workspace);
        wait_until(|| is_waiting(&workspace));
        workspace.regreen(arguments).exits(0);
        wait_until(|| state(&workspace) == "stopped");
    }
}

#[test]
fn a_decision_elsewhere_settles_the_question_at_a_terminal() {
    let workspace = with_wait(workspace());
    go(&workspace);
    let mut session = workspace.on_terminal(&["--agent", "shell", "--recovery-mode"]);
    session.sees("What now?");
    workspace
        .regreen(&["skip", "1.3"])
        .exits(0)
        .mentions("told the run");
    workspace
        .regreen(&["skip", "1.1"])
        .exits(0)
        .mentions("told the run");
    assert_eq!(session.ends().0, Some(1));
    assert!(
        workspace.text("specs/demo/tasks.md").contains("- [x] 1.2"),
        "{}",
        workspace.text("specs/demo/tasks.md")
    );
}
