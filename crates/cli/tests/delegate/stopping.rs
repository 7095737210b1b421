//! Somebody asks to stop.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use regreen_test_support::Workspace;

const PATIENCE: Duration = Duration::from_secs(60);

fn wait_until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "it does not come");
        thread::sleep(Duration::from_millis(10));
    }
}

fn signal(name: &str, pid: &str) -> bool {
    let mut kill = Command::new("sh");
    let kill = kill.args(["-c", &format!("kill -{name} {pid}")]);
    kill.stderr(Stdio::null()).status().unwrap().success()
}

#[test]
fn the_child_ends_and_the_exit_code_says_why() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let workspace =
            Workspace::new().child_agent("*) sleep 300 & echo $! >\"$notes/pid\"; wait ;;");
        let child = workspace
            .command(&["--prompt", "Do it."])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until(|| workspace.has_note("pid") && workspace.note("pid").ends_with('\n'));
        assert!(signal(name, &child.id().to_string()));
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
        let pid = workspace.note("pid").trim().to_owned();
        wait_until(|| !signal("0", &pid));
    }
}

#[test]
fn an_attempt_that_nobody_saw_the_end_of_was_interrupted() {
    let workspace = Workspace::new().child_agent("*) echo >\"$notes/begun\"; sleep 300 ;;");
    let mut child = workspace
        .command(&["--prompt", "Do it."])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| workspace.has_note("begun"));
    let told = workspace.regreen(&["failures"]);
    assert_eq!(told.stdout, "nothing has failed\n");
    child.kill().unwrap();
    child.wait().unwrap();
    let told = workspace.regreen(&["failures"]);
    assert!(
        told.stdout.contains("attempt 1  interrupted\n"),
        "{}",
        told.stdout
    );
}
