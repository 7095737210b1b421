//! Stopping a delegation.

use std::process::Stdio;

use regreen_test_support::{Workspace, send_signal, wait_until};

#[test]
fn the_child_ends_and_the_exit_code_says_why() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let workspace =
            Workspace::new().child_agent("*) sleep 300 & echo $! >\"$notes/pid\"; wait ;;");
        let child = workspace
            .delegate_command(&["--prompt", "Do it."])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until(|| workspace.has_note("pid") && workspace.note("pid").ends_with('\n'));
        assert!(send_signal(name, child.id()));
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
        let pid = workspace.note("pid").trim().parse().unwrap();
        wait_until(|| !send_signal("0", pid));
    }
}

#[test]
fn an_attempt_whose_end_was_not_seen_was_interrupted() {
    let workspace = Workspace::new().child_agent("*) echo >\"$notes/begun\"; sleep 300 ;;");
    let mut child = workspace
        .delegate_command(&["--prompt", "Do it."])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| workspace.has_note("begun"));
    let printed = workspace.regreen(&["failures"]);
    assert_eq!(printed.stdout, "    PASS  nothing has failed\n");
    child.kill().unwrap();
    child.wait().unwrap();
    let printed = workspace.regreen(&["failures"]);
    assert!(
        printed
            .stdout
            .contains("attempt 1\n          interruption\n"),
        "{}",
        printed.stdout
    );
}
