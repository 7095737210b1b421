use std::fs::File;
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::output::Output;
use crate::workspace::Workspace;

/// Long enough even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A run in progress.
#[derive(Debug)]
pub struct BackgroundRun<'w> {
    workspace: &'w Workspace,
    child: Child,
}

impl Workspace {
    /// Starts a run, and returns once the agent has written this note.
    pub fn start(&self, flags: &[&str], note: &str) -> BackgroundRun<'_> {
        let agent = self.agent_flag();
        let file = |name: &str| Stdio::from(File::create(self.note_path(name)).unwrap());
        let child = self
            .command(&["run", "--agent", &agent])
            .args(flags)
            .arg("--json")
            .stdout(file("stdout"))
            .stderr(file("stderr"))
            .spawn()
            .unwrap();
        wait_until(|| self.has_note(note));
        BackgroundRun {
            workspace: self,
            child,
        }
    }
}

impl BackgroundRun<'_> {
    /// Returns the process id of regreen.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends regreen a signal, such as `INT`.
    pub fn signal(&self, name: &str) {
        send_signal(name, self.pid());
    }

    /// Waits for the run to end.
    pub fn wait(mut self) -> Output {
        let status = wait_for_exit(&mut self.child, || self.workspace.note("stdout"));
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| self.workspace.note(name));
        self.workspace.events(&process::Output {
            status,
            stdout: stdout.into(),
            stderr: stderr.into(),
        })
    }
}

/// Waits for a process to exit; kills it and panics if it takes too long.
#[track_caller]
pub(crate) fn wait_for_exit(child: &mut Child, printed: impl Fn() -> String) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if began.elapsed() > PATIENCE {
            send_signal("KILL", child.id());
            panic!("the run does not end: {}", printed());
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal. Returns whether the process exists.
pub fn send_signal(name: &str, pid: u32) -> bool {
    let command = format!("kill -{name} {pid}");
    let mut sh = Command::new("sh");
    let status = sh.args(["-c", &command]).stderr(Stdio::null()).status();
    status.unwrap().success()
}

/// Waits until a condition holds; panics if it never does.
#[track_caller]
pub fn wait_until(condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "it does not happen");
        thread::sleep(Duration::from_millis(10));
    }
}
