//! Things that look like files: pipes, devices, folders, sockets and endless files, at every path
//! that regreen reads. One attack per line.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use regreen_test_support::{Output, Workspace};

const TASKS: &str = "- [ ] 1.1 Add a file\n  - **Verify**: `true`\n";
const AGENT: &str = "command:sh agent.sh";
/// regreen must have exited by then, however slow the machine is.
const PATIENCE: Duration = Duration::from_secs(20);
/// In kilobytes of address space, most of which is never used.
const MEMORY: &str = "2000000";

#[derive(Clone, Copy, Debug)]
enum Sort {
    Pipe,
    Device,
    Folder,
    Socket,
    Huge,
}
use Sort::{Device, Folder, Huge, Pipe, Socket};

const ALL: [Sort; 5] = [Pipe, Device, Folder, Socket, Huge];

fn make(test: &Workspace, path: &str, sort: Sort) -> Option<UnixListener> {
    let path = test.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(&path);
    match sort {
        Pipe => {
            let status = std::process::Command::new("mkfifo").arg(&path).status();
            assert!(status.unwrap().success());
        }
        Device => symlink("/dev/zero", &path).unwrap(),
        Folder => fs::create_dir(&path).unwrap(),
        Socket => return Some(UnixListener::bind(&path).unwrap()),
        Huge => File::create(&path).unwrap().set_len(1 << 30).unwrap(),
    }
    None
}

fn workspace() -> Workspace {
    Workspace::with_tasks(TASKS).file("agent.sh", "echo x > x.txt\necho TASK_COMPLETE\n")
}

/// Runs a command with bounded memory; fails if it does not exit on its own.
fn ends(test: &Workspace, arguments: &[&str], what: &str) -> Output {
    let regreen = test.command(arguments);
    let mut limited = std::process::Command::new("sh");
    limited
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")])
        .arg(regreen.get_program())
        .args(regreen.get_args())
        .current_dir(test.path("."))
        .env("HOME", test.path("user"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = limited.spawn().unwrap();
    wait(&mut child, what);
    test.output(&child.wait_with_output().unwrap())
}

fn wait(child: &mut Child, what: &str) {
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        let is_late = Instant::now() > until;
        if is_late {
            let _ = child.kill();
        }
        assert!(!is_late, "{what}: still running");
        thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn attack(path: &str, sorts: &[Sort], arguments: &[&str], code: i32, mentions: &str) {
    for sort in sorts {
        let test = workspace();
        let _socket = make(&test, path, *sort);
        let what = format!("{path} as {sort:?}, {arguments:?}");
        let output = ends(&test, arguments, &what);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(output.code, Some(code), "{what}: {said}");
        assert!(said.contains(mentions), "{what}: {said}");
    }
}

#[test]
fn a_substituted_process_is_a_pipe_and_nothing_has_to_be_moved() {
    let test = workspace();
    let regreen = test.command(&[]);
    let run = |command: &str| {
        let mut shell = std::process::Command::new("bash");
        shell
            .args(["-c", command, "bash"])
            .arg(regreen.get_program());
        let output = shell.current_dir(test.path(".")).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}");
        String::from_utf8(output.stderr).unwrap()
    };
    let said = run("\"$1\" tasks list <(printf -- '- [ ] 1.1 It\n')");
    assert!(said.contains("is a named pipe, not a file"), "{said}");
    assert!(said.contains("help: name a regular file"), "{said}");
    let said = run("\"$1\" replay /dev/null");
    assert!(said.contains("/dev/null is a device"), "{said}");
    assert!(said.contains("help: name a regular file"), "{said}");
}

const RUN: &[&str] = &["run", "demo", "--agent", AGENT];

#[test]
fn the_task_file() {
    let path = "specs/demo/tasks.md";
    for command in [
        RUN,
        &["lint", "demo"],
        &["status", "demo"],
        &["tasks", "list", "specs/demo/tasks.md"],
    ] {
        attack(path, &ALL, command, 2, "specs/demo/tasks.md");
    }
}

#[test]
fn the_state_file() {
    attack(
        "specs/demo/.ralph-state.json",
        &ALL,
        RUN,
        2,
        ".ralph-state.json",
    );
}

#[test]
fn the_configuration() {
    attack("regreen.toml", &ALL, RUN, 2, "regreen.toml");
    attack("regreen.toml", &ALL, &["config"], 2, "regreen.toml");
}

#[test]
fn the_journal() {
    attack(
        ".regreen/regreen.db",
        &[Pipe, Device, Folder, Socket],
        RUN,
        78,
        "regreen.db",
    );
    attack(
        ".regreen/regreen.db",
        &[Pipe, Device, Folder, Socket],
        &["status", "demo"],
        78,
        "regreen.db",
    );
}

#[test]
fn secrets_of_the_workspace() {
    attack(".env", &ALL, RUN, 0, "1.1");
    attack(".env", &ALL, &["status", "demo"], 0, "1.1");
}

#[test]
fn manifests_and_the_name_of_the_current_spec() {
    for path in [
        "requirements.txt",
        "package.json",
        "Cargo.toml",
        "specs/.current-spec",
    ] {
        attack(path, &ALL, RUN, 0, "1.1");
    }
}

#[test]
fn a_log_to_explain() {
    attack(
        "build.log",
        &[Pipe, Device, Folder, Socket],
        &["explain", "build.log"],
        2,
        "build.log",
    );
}

#[test]
fn the_prompt_of_a_delegation() {
    let delegate = &["delegate", "--agent", AGENT, "--prompt-file", "prompt.md"];
    attack("prompt.md", &ALL, delegate, 2, "prompt.md");
}
