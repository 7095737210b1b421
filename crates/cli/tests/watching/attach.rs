use std::fs::{self, File};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use regreen_test_support::{Workspace, send_signal, wait_until};

use crate::{go, patient};

/// Attaches in the background, and waits until it shows the current task.
fn attach(workspace: &Workspace) -> Child {
    let file = |name: &str| Stdio::from(File::create(workspace.note_path(name)).unwrap());
    let attach = workspace
        .command(&["attach", "--json"])
        .stdout(file("attached"))
        .stderr(file("attach.err"))
        .spawn()
        .unwrap();
    wait_until(|| workspace.note("attached").contains("attempt_started"));
    attach
}

#[test]
fn an_attached_view_follows_the_run_to_its_end() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    let mut attach = attach(&workspace);
    go(&workspace);
    assert_eq!(run.wait().code, Some(0));
    assert_eq!(attach.wait().unwrap().code(), Some(0));
    let shown = workspace.note("attached");
    assert!(
        shown.lines().last().unwrap().contains("run_ended"),
        "{shown}"
    );
    // A run that has ended is shown as well.
    workspace
        .regreen(&["attach"])
        .exits(0)
        .mentions("PASS")
        .mentions("ALL_TASKS_COMPLETE");
}

#[test]
fn nothing_that_happens_to_the_view_changes_the_run() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    for signal in ["KILL", "INT", "TERM"] {
        let mut attach = attach(&workspace);
        send_signal(signal, attach.id());
        let code = attach.wait().unwrap().code();
        assert_eq!(code, (signal != "KILL").then_some(0), "{signal}");
    }
    let said = workspace.note("attach.err");
    assert!(said.contains("detached; the run continues"), "{said}");
    go(&workspace);
    assert_eq!(run.wait().code, Some(0));
}

/// The live view hides what is typed, and must not leave the terminal like that.
#[test]
fn ctrl_c_leaves_the_live_view_and_the_run_goes_on() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    let mut command = workspace.command(&["attach", "--lines"]);
    command.env("TERM", "xterm");
    let mut session = workspace.terminal_session(command, (24, 80));
    session.sees("1.1 First");
    session.sees("attempt 1/5");
    session.signal("INT");
    session.sees("detached; the run continues");
    assert_eq!(session.ends().0, Some(0));
    // Times count from the start of the run.
    assert!(!session.shown().contains("d "), "{}", session.shown());
    go(&workspace);
    assert_eq!(run.wait().code, Some(0));
}

#[test]
fn a_run_that_is_killed_is_told_within_seconds() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    let mut attach = attach(&workspace);
    let began = Instant::now();
    run.signal("KILL");
    let code = attach.wait().unwrap().code();
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(code, Some(143));
    let said = workspace.note("attach.err");
    assert!(said.contains("the run was killed"), "{said}");
    assert!(said.contains("`regreen run` resumes it"), "{said}");
    drop(run);
    fs::write(workspace.note_path("go"), "").unwrap();
}

#[test]
fn a_view_of_a_run_changes_no_file() {
    let workspace = patient();
    go(&workspace);
    workspace.run(&[]).exits(0);
    let modified = || {
        let database = fs::metadata(workspace.path(".regreen/regreen.db")).unwrap();
        database.modified().unwrap()
    };
    let before = modified();
    workspace.regreen(&["attach"]).exits(0);
    assert_eq!(modified(), before);
}
