//! The ways to green.

use regreen_test_support::{TASKS, wait_until};

use crate::github::{check, failed};
use crate::project::{Project, TEST_LOG};

#[test]
fn green_at_once_is_pushed_and_reported() {
    let project = Project::new(|_| vec![check("test", "success")]);
    project
        .run_all(&[])
        .exits(0)
        .mentions("PUSH")
        .mentions("opened #7 https://github.com/ann/cart/pull/7")
        .mentions("1 check passed");
    assert_eq!(project.remote_head("feature"), project.head());
    assert_eq!(project.github.count("POST /repos/ann/cart/pulls"), 1);
}

#[test]
fn a_red_check_is_fixed_verified_here_pushed_and_green() {
    let project = Project::new(|look| match (look.is_base, look.push) {
        (true, _) => vec![check("test", "success")],
        (false, 0) => vec![failed("test", TEST_LOG)],
        (false, _) => vec![check("test", "success")],
    })
    .fixing("echo good fixed >src.txt");
    project
        .run_all(&[])
        .exits(0)
        .mentions("FAIL  test failed")
        .mentions("step: Run the tests")
        .mentions("expected 'fixed', got 'good'")
        .mentions("FIX  1.1.1 added: Fix: CI: test")
        .mentions("1 check passed")
        .mentions("fixes: 1");
    let plan = project.workspace.text(TASKS);
    assert!(
        plan.contains("- [x] 1.1.1 [FIX 1.1] Fix: CI: test"),
        "{plan}"
    );
    // The command of the workflow, as it stands at the base commit.
    assert!(plan.contains("- **Verify**: `sh check.sh`"), "{plan}");
    let prompt = project.workspace.note("1.1.1-1.prompt");
    assert!(prompt.contains("expected 'fixed', got 'good'"), "{prompt}");
    assert_eq!(project.remote_head("feature"), project.head());
    assert!(project.logs().contains("AssertionError"));
}

#[test]
fn trouble_of_the_network_runs_again_and_is_never_silently_green() {
    let log = "npm error network request to https://registry.npmjs.org/x failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org\n";
    let project = Project::new(move |look| match look.reruns {
        0 if !look.is_base => vec![failed("test", log), check("lint", "success")],
        _ => vec![check("test", "success"), check("lint", "success")],
    });
    let head = project.head();
    project
        .run_all(&[])
        .exits(0)
        .mentions("running again: test")
        .mentions("test is flaky: it passed when it ran again")
        .mentions("2 checks passed")
        .mentions("passed only when run again: test");
    assert_eq!(project.head(), head);
    // The log was saved before the rerun replaced it.
    assert!(project.logs().contains("EAI_AGAIN"));
}

#[test]
fn a_check_that_appears_late_is_waited_for() {
    let project = Project::new(|look| {
        let mut checks = vec![check("lint", "success")];
        if look.is_base || look.polls >= 12 {
            checks.push(check("test", "success"));
        }
        checks
    });
    project
        .run_all(&[])
        .exits(0)
        .mentions("1 not reported yet: test")
        .mentions("2 checks passed");
}

#[test]
fn a_server_that_is_down_for_a_moment_is_asked_again() {
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
    let mut child = project.start(&["--create", "--allow-push"], "out");
    wait_until(|| project.workspace.note("out").contains("1 running: test"));
    project.github.breaks(3);
    wait_until(|| project.github.is_mended());
    std::fs::write(done, "").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(project.workspace.note("out").contains("1 check passed"));
}
