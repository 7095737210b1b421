//! Locks, pid files and ports.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use super::{git, remove_lock};
use crate::test_workspace::{TestWorkspace, failure};
use regreen_model::FailureKind;
use regreen_supervisor::Marker;

/// A child process that ends with the test.
struct Sleeper(Child);

impl Sleeper {
    fn start(workspace: &TestWorkspace, program: &str, args: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(args).current_dir(workspace.root());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// Starts a process with this marker in its environment.
    fn marked(workspace: &TestWorkspace, marker: Option<&str>) -> Self {
        let mut command = Command::new("sleep");
        command.arg("300").current_dir(workspace.root());
        command.env_remove(Marker::VARIABLE);
        command.envs(marker.map(|marker| (Marker::VARIABLE, marker)));
        Self(command.spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_of_a_live_process() {
    let workspace = TestWorkspace::new();
    let mut owner = Sleeper::start(&workspace, "sleep", &["300"]);
    workspace.write("run/app.pid", &owner.0.id().to_string());
    let workspace = workspace.begin();
    workspace.attack_repair(FailureKind::StaleLock, remove_lock("run/app.pid"));
    let line = format!("already running (pid {})", owner.0.id());
    workspace.attack_line(FailureKind::StaleLock, &line);
    assert!(owner.is_alive());
}

/// A person's own server: it runs in the workspace, a pid file names it, and the task starts
/// servers with the same command line.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_looks_like_the_tasks_own() {
    let mut workspace = TestWorkspace::new();
    workspace.commands = vec!["sleep 300 & echo $! > run/app.pid".to_owned()];
    for foreign_marker in [None, Some("another-run:1.1:1:00"), Some("")] {
        let mut server = Sleeper::marked(&workspace, foreign_marker);
        workspace.write("run/app.pid", &server.0.id().to_string());
        let line = format!("already running (pid {})", server.0.id());
        workspace.asked_about(&failure(FailureKind::StaleLock, &line, None));
        assert!(server.is_alive());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_port_of_a_server_that_looks_like_the_tasks_own() {
    let mut workspace = TestWorkspace::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|free| free.local_addr())
        .unwrap()
        .port();
    let serve = format!("python3 -m http.server {port} --bind 127.0.0.1");
    let mut server = Sleeper::start(&workspace, "sh", &["-c", &format!("exec {serve}")]);
    workspace.write("run/app.pid", &server.0.id().to_string());
    workspace.commands = vec![format!("{serve} & echo $! > run/app.pid")];
    let is_up = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    while server.is_alive() && !is_up() {
        std::thread::sleep(Duration::from_millis(20));
    }
    for line in [
        format!("OSError: [Errno 98] Address already in use: {port}"),
        "OSError: [Errno 98] Address already in use".to_owned(),
    ] {
        workspace.attack_line(FailureKind::PortInUse, &line);
    }
    assert!(server.is_alive() && is_up());
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_that_a_process_has_open() {
    let workspace = TestWorkspace::with(&[(".git/index.lock", "")]);
    let lock = workspace.root().join(".git/index.lock");
    let long_ago = SystemTime::now() - Duration::from_secs(7200);
    let held = fs::File::options().write(true).open(&lock).unwrap();
    held.set_modified(long_ago).unwrap();
    let workspace = workspace.begin();
    let removal = failure(
        FailureKind::StaleLock,
        "",
        Some(remove_lock(".git/index.lock")),
    );
    workspace.refused(&removal);
    // The same lock, now that no process has it open.
    drop(held);
    workspace.allowed(&removal);
}

#[test]
fn a_recent_lock_of_git() {
    let workspace = TestWorkspace::with(&[(".git/index.lock", ""), (".git/config", "")]).begin();
    workspace.attack_repair(FailureKind::StaleLock, remove_lock(".git/index.lock"));
    workspace.attack_repair(FailureKind::StaleLock, remove_lock(".git/config"));
}

#[test]
fn a_lock_file_that_locks_nothing() {
    let workspace =
        TestWorkspace::with(&[("Cargo.lock", "4194000"), ("notes.txt", "4194000")]).begin();
    workspace.attack_repair(FailureKind::StaleLock, remove_lock("Cargo.lock"));
}

/// Returns a pid without a process: that of a child that has exited.
fn dead_pid() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

#[test]
fn a_file_with_a_number_that_is_not_a_lock() {
    let dead = dead_pid();
    let workspace = TestWorkspace::with(&[
        ("notes.md", &format!("the process {dead} was slow\n")),
        ("data.json", &format!("{{\"pid\": {dead}}}")),
        ("rapid", &dead.to_string()),
        ("work.lock", &format!("{dead}\nand a day of work\n")),
        ("other.pid", &format!("pid {dead} on another host\n")),
        ("db/postmaster.pid", &dead.to_string()),
        ("far.pid", "2000000000"),
    ])
    .begin();
    for path in [
        "notes.md",
        "data.json",
        "rapid",
        "work.lock",
        "other.pid",
        "db/postmaster.pid",
        "far.pid",
    ] {
        workspace.attack_repair(FailureKind::StaleLock, remove_lock(path));
        let line = format!("could not lock {path}: process {dead} has it");
        workspace.attack_line(FailureKind::StaleLock, &line);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_that_git_tracks() {
    let workspace = TestWorkspace::with(&[("app.pid", &dead_pid().to_string())]);
    git(&workspace, &["init", "-q"]);
    let workspace = workspace.begin();
    let removal = failure(FailureKind::StaleLock, "", Some(remove_lock("app.pid")));
    workspace.allowed(&removal);
    git(&workspace, &["add", "app.pid"]);
    workspace.refused(&removal);
}

#[cfg(target_os = "linux")]
#[test]
fn a_reused_pid() {
    let workspace = TestWorkspace::new();
    let mut stranger = Sleeper::start(&workspace, "sleep", &["300"]);
    workspace.write("run/app.pid", &stranger.0.id().to_string());
    let file = fs::File::options()
        .write(true)
        .open(workspace.root().join("run/app.pid"))
        .unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600))
        .unwrap();
    drop(file);
    let workspace = workspace.begin();
    workspace.attack_repair(FailureKind::StaleLock, remove_lock("run/app.pid"));
    assert!(stranger.is_alive());
}

#[cfg(target_os = "linux")]
#[test]
fn a_port_of_a_foreign_process() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let workspace = TestWorkspace::new();
    // Even with a pid file that names the holder, which is the test itself and wasn't started by a
    // task.
    workspace.write("run/app.pid", &std::process::id().to_string());
    let workspace = workspace.begin();
    let line = format!("listen tcp 127.0.0.1:{port}: bind: address already in use");
    workspace.asked_about(&failure(FailureKind::PortInUse, &line, None));
}
