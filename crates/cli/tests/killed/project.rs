//! A project with tasks to do, and runs of regreen in it.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tempfile::TempDir;

use crate::processes::Notes;

pub(crate) const SPEC: &str = "specs/k";

/// A plan, and an agent for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanKind {
    /// Twenty tasks, some of which fail at first, without recovery.
    Twenty,
    /// Tasks that need fixes, fixes of fixes, and rows that the agent requests.
    Healing,
}

impl PlanKind {
    pub(crate) fn agent(self) -> &'static str {
        match self {
            Self::Twenty => include_str!("agent.sh"),
            Self::Healing => include_str!("healing_agent.sh"),
        }
    }

    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Twenty => &[],
            Self::Healing => &["--recovery-mode", "--keep-state"],
        }
    }

    /// Every other task has its own commit; if fixes are committed too, every task does.
    pub(crate) fn plan(self) -> String {
        let tasks = match self {
            Self::Twenty => 20,
            Self::Healing => 8,
        };
        let mut plan = "# Tasks\n".to_owned();
        for n in 1..=tasks {
            let _ = write!(
                plan,
                "\n- [ ] 1.{n} Task number {n}\n  - **Verify**: `\"$NOTES/verify\" 1.{n}`\n"
            );
            if n % 2 == 1 || self == Self::Healing {
                let _ = writeln!(plan, "  - **Commit**: `feat: task {n}`");
            }
        }
        plan
    }
}

/// Whether the project is in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Git,
    Plain,
}

/// A plan, and the kind of project that it runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) work: PlanKind,
    pub(crate) kind: Kind,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {:?}", self.work, self.kind)
    }
}

#[derive(Debug)]
pub(crate) struct Project {
    work: PlanKind,
    folder: TempDir,
    pub(crate) notes: Notes,
}

impl Project {
    pub(crate) fn new(case: Case) -> Self {
        let folder = TempDir::new().unwrap();
        let Case { work, kind } = case;
        let project = Self {
            work,
            notes: Notes::new(folder.path().join("notes")),
            folder,
        };
        fs::create_dir_all(project.path(SPEC)).unwrap();
        fs::write(project.path("specs/k/tasks.md"), work.plan()).unwrap();
        for (name, text) in [
            ("agent", work.agent()),
            ("verify", include_str!("verify.sh")),
        ] {
            write_script(&project.notes.path().join(name), text);
        }
        if kind == Kind::Git {
            project.begin_repository();
        }
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn begin_repository(&self) {
        let identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"];
        self.git(&["init", "--quiet", "--initial-branch=main", "."]);
        self.git(&["config", "user.name", "n"]);
        self.git(&["config", "user.email", "n@example.org"]);
        // A background process would be mistaken for one that was left behind.
        self.git(&["config", "gc.auto", "0"]);
        self.git(&["config", "maintenance.auto", "false"]);
        self.git(&["add", "--all"]);
        self.git(&[&identity[..], &["commit", "--quiet", "-m", "init"]].concat());
        for name in ["pre-commit", "post-commit"] {
            write_script(&self.path(".git/hooks").join(name), include_str!("hook.sh"));
        }
    }

    /// Returns the output of git.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self
            .in_project(Command::new("git").args(arguments))
            .output();
        let output = output.unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {complaint}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Isolates a command from the configuration of this machine.
    fn in_project<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .current_dir(self.root())
            .env("HOME", self.folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env(Notes::VARIABLE, self.notes.path())
    }

    /// Starts a run, under a tracer if one is given.
    pub(crate) fn start(&self, tracer: &[String]) -> Running {
        let regreen = std::env::var("REGREEN_KILL_PROGRAM");
        let regreen =
            regreen.unwrap_or_else(|_| regreen_test_support::regreen().display().to_string());
        let agent = format!("command:{}", self.notes.path().join("agent").display());
        let words = [
            regreen,
            "run".into(),
            "--json".into(),
            "--agent".into(),
            agent,
        ];
        let words: Vec<&String> = tracer.iter().chain(&words).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(self.work.flags());
        Running::start(self.in_project(&mut command))
    }
}

fn write_script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A run in progress, and its output.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) started: Instant,
    lines: Arc<AtomicUsize>,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

/// A finished run.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let started = Instant::now();
        command.stdin(Stdio::null());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = Arc::new(AtomicUsize::new(0));
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let counted = Arc::clone(&lines);
        Self {
            child,
            started,
            lines,
            stdout: thread::spawn(move || read_lines(stdout, &counted)),
            stderr: thread::spawn(move || read_lines(stderr, &AtomicUsize::new(0))),
        }
    }

    /// Returns how many lines it has printed.
    pub(crate) fn lines(&self) -> usize {
        self.lines.load(Ordering::Acquire)
    }

    pub(crate) fn finish(mut self) -> Finished {
        Finished {
            status: self.child.wait().unwrap(),
            stdout: self.stdout.join().unwrap(),
            stderr: self.stderr.join().unwrap(),
        }
    }
}

fn read_lines(from: impl std::io::Read, count: &AtomicUsize) -> String {
    let mut text = String::new();
    let mut from = BufReader::new(from);
    while from.read_line(&mut text).is_ok_and(|len| len > 0) {
        count.fetch_add(1, Ordering::Release);
    }
    text
}
