//! Other ends, for scripts.

use std::os::unix::fs::symlink;

use regreen_test_support::{send_signal, wait_until};
use serde_json::Value;

use crate::github::{check, failed};
use crate::project::{Project, TEST_LOG};

#[test]
fn a_limit_ends_with_exit_code_1() {
    let project = Project::new(|look| {
        if look.is_base {
            vec![check("test", "success")]
        } else {
            vec![failed("test", TEST_LOG)]
        }
    });
    project
        .run_all(&["--max-cycles", "0"])
        .exits(1)
        .mentions("not green after 0 fixes, which is the limit");
}

#[test]
fn a_fix_that_does_not_pass_here_is_not_pushed() {
    let project = Project::new(|look| {
        if look.is_base {
            vec![check("test", "success")]
        } else {
            vec![failed("test", TEST_LOG)]
        }
    })
    .fixing("echo good again >src.txt");
    project
        .run_all(&["--max-task-iterations", "1"])
        .exits(1)
        .mentions("fix 1.1.1 did not pass, so nothing was pushed");
    let remote = project.remote().display().to_string();
    let log = project
        .workspace
        .git(&["--git-dir", &remote, "log", "--format=%s", "feature"]);
    assert!(log.starts_with("the feature\n"), "{log}");
}

#[test]
fn a_stopped_wait_has_the_exit_code_of_the_signal() {
    let project = Project::new(|_| vec![check("test", "in_progress")]);
    let mut child = project.start(&["--create", "--allow-push"], "out");
    wait_until(|| project.workspace.note("out").contains("1 running: test"));
    send_signal("INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_branch_without_a_pull_request_is_named() {
    let project = Project::new(|_| vec![check("test", "success")]);
    let output = project.run(&["--allow-push"]).exits(2);
    assert!(output.stderr.contains("--create"), "{}", output.stderr);
}

#[test]
fn events_and_the_end_are_json_for_scripts() {
    let project = Project::new(|_| vec![check("test", "success")]);
    let output = project.run_all(&["--json"]).exits(0);
    let lines: Vec<Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["event"], "pushed");
    assert_eq!(lines[1]["event"], "pull_request");
    let end = lines.last().unwrap();
    assert_eq!(end["outcome"], "green");
    assert_eq!((&end["passed"], &end["exit_code"]), (&1.into(), &0.into()));
}

#[test]
fn a_missing_gh_is_named_with_a_way_out() {
    let project = Project::new(|_| vec![check("test", "success")]);
    let folder = project.workspace.note_path("only-git");
    std::fs::create_dir(&folder).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let git = std::env::split_paths(&path).map(|folder| folder.join("git"));
    symlink(
        git.into_iter().find(|git| git.exists()).unwrap(),
        folder.join("git"),
    )
    .unwrap();
    let mut command = project.command(&["--create"]);
    let output = command.env("PATH", &folder).output().unwrap();
    let output = project.workspace.output(&output).exits(78);
    assert!(
        output.stderr.contains("gh is not installed"),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("apt-get install gh"),
        "{}",
        output.stderr
    );
}
