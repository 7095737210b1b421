//! Killed at any moment, the same command goes on.

use std::process::Child;

use regreen_test_support::{TASKS, send_signal, wait_until};

use crate::github::{check, failed};
use crate::project::{Project, TEST_LOG};

fn kill(mut child: Child) {
    send_signal("KILL", child.id());
    child.wait().unwrap();
}

#[test]
fn a_wait_that_was_killed_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let done = folder.path().join("done");
    let seen = done.clone();
    let project = Project::new(move |look| {
        let is_done = look.is_base || seen.exists();
        vec![check(
            "test",
            if is_done { "success" } else { "in_progress" },
        )]
    });
    let flags = ["--create", "--allow-push"];
    let child = project.start(&flags, "first");
    wait_until(|| project.workspace.note("first").contains("1 running: test"));
    kill(child);
    std::fs::write(done, "").unwrap();
    project
        .run(&flags)
        .exits(0)
        .mentions("1 check passed")
        .omits("PUSH")
        .omits("opened");
    assert_eq!(project.github.count("POST /repos/ann/cart/pulls"), 1);
}

#[test]
fn a_fix_that_was_interrupted_is_made_once() {
    let project = Project::new(|look| match (look.is_base, look.push) {
        (false, 0) => vec![failed("test", TEST_LOG)],
        _ => vec![check("test", "success")],
    })
    .fixing(
        "if ! test -f \"$notes/began\"; then touch \"$notes/began\"; sleep 60; fi
         echo good fixed >src.txt",
    );
    let flags = ["--create", "--allow-push"];
    let child = project.start(&flags, "first");
    wait_until(|| project.workspace.has_note("began"));
    kill(child);
    project.run(&flags).exits(0).mentions("1 check passed");
    let plan = project.workspace.text(TASKS);
    assert_eq!(plan.matches("[FIX 1.1]").count(), 1, "{plan}");
    assert_eq!(project.remote_head("feature"), project.head());
}

#[test]
fn a_second_one_on_the_same_spec_is_refused() {
    let project = Project::new(|_| vec![check("test", "in_progress")]);
    let flags = ["--create", "--allow-push"];
    let child = project.start(&flags, "first");
    wait_until(|| project.workspace.note("first").contains("1 running: test"));
    let second = project.run(&flags).exits(2);
    assert!(
        second.stderr.contains("another `regreen ci` is at work"),
        "{}",
        second.stderr
    );
    kill(child);
}
