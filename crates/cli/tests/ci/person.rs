//! What only a person can settle ends with exit code 3, and never green.

use crate::github::{check, failed};
use crate::project::{Project, TEST_LOG};

#[test]
fn a_cancelled_check_runs_again_twice_and_is_never_read_as_green() {
    let project = Project::new(|look| {
        let state = if look.is_base { "success" } else { "cancelled" };
        vec![check("test", state)]
    });
    project
        .run_all(&[])
        .exits(3)
        .mentions("test: the machine or a service failed again after all reruns");
    let reruns = "POST /repos/ann/cart/actions/runs/100/rerun-failed-jobs";
    assert_eq!(project.github.count(reruns), 2);
}

#[test]
fn four_of_fourteen_checks_are_not_green() {
    let project = Project::new(|look| {
        let reported = if look.is_base { 14 } else { 4 };
        let names = (1..=reported).map(|n| format!("job {n:02}"));
        names.map(|name| check(&name, "success")).collect()
    });
    project
        .run_all(&["--missing-after", "300ms"])
        .exits(3)
        .mentions("10 of 14 expected checks never reported: job 05");
}

#[test]
fn a_check_that_a_person_does_not_expect_is_not_waited_for() {
    let project = Project::new(|look| {
        if look.is_base {
            vec![check("test", "success"), check("deploy", "success")]
        } else {
            vec![check("test", "success")]
        }
    });
    project
        .run_all(&["--without", "deploy"])
        .exits(0)
        .mentions("1 check passed");
}

#[test]
fn no_check_at_all_is_not_green() {
    let project = Project::new(|_| Vec::new());
    project
        .run_all(&["--missing-after", "300ms"])
        .exits(3)
        .mentions("no check has reported anything for this commit");
}

#[test]
fn a_failure_of_the_base_branch_is_not_fixed_here() {
    let project = Project::new(|_| vec![failed("test", TEST_LOG)]);
    project
        .run_all(&[])
        .exits(3)
        .mentions("test: the base branch fails in the same way")
        .omits("1.1.1");
}

#[test]
fn a_failure_that_the_base_branch_has_differently_is_ours() {
    let other = "src/page.rs:3: error: cannot find value `x` in this scope\n";
    let project = Project::new(move |look| match (look.is_base, look.push) {
        (true, _) => vec![failed("test", other)],
        (false, 0) => vec![failed("test", TEST_LOG)],
        (false, _) => vec![check("test", "success")],
    })
    .fixing("echo good fixed >src.txt");
    project.run_all(&[]).exits(0).mentions("1.1.1 added");
}

#[test]
fn a_missing_secret_is_asked_for() {
    let log = "\
##[group]Run actions/publish@v1
with:
  token:
##[endgroup]
##[error]Input required and not supplied: token
";
    let project = Project::new(move |look| {
        if look.is_base {
            vec![check("publish", "success")]
        } else {
            vec![failed("publish", log)]
        }
    });
    project
        .run_all(&[])
        .exits(3)
        .mentions("publish: a secret, a permission or an approval is missing")
        .omits("1.1.1");
}

#[test]
fn what_ran_on_the_base_branch_and_is_skipped_here_proves_nothing() {
    let project = Project::new(|look| {
        let state = if look.is_base { "success" } else { "skipped" };
        vec![check("test", state), check("lint", "success")]
    });
    project
        .run_all(&[])
        .exits(3)
        .mentions("test: skipped, so it proves nothing");
}
