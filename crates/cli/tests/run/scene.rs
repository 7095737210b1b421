//! A workspace with a spec, an agent that follows a script, and all that comes of a run.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use regex::Regex;
use snapbox::IntoData as _;

use crate::support::{Answer, Test};

pub(crate) const TASKS: &str = "specs/demo/tasks.md";
pub(crate) const PROGRESS: &str = "specs/demo/.progress.md";
pub(crate) const STATE: &str = "specs/demo/.ralph-state.json";

/// Long enough for anything that happens at all, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A workspace with the spec `demo`.
pub(crate) struct Scene {
    test: Test,
    /// The agent and its notes: no part of the workspace.
    outside: tempfile::TempDir,
}

impl Scene {
    /// Outside of git: nothing is committed, and that is said.
    pub(crate) fn new(tasks: &str) -> Self {
        Self::around(Test::new().file(TASKS, tasks))
    }

    pub(crate) fn around(test: Test) -> Self {
        let outside = tempfile::tempdir().unwrap();
        Self { test, outside }
    }

    /// In a repository with everything committed.
    pub(crate) fn in_git(tasks: &str) -> Self {
        let scene = Self::new(tasks);
        fs::remove_dir(scene.path(".git")).unwrap();
        scene.init_git();
        scene.committed("before")
    }

    pub(crate) fn init_git(&self) {
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        for (key, value) in [
            ("user.name", "Tester"),
            ("user.email", "tester@example.com"),
            ("commit.gpgsign", "false"),
        ] {
            self.git(&["config", key, value]);
        }
    }

    /// Commits all there is.
    pub(crate) fn committed(self, message: &str) -> Self {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self
    }

    pub(crate) fn file(mut self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.test = self.test.file(path, text);
        self
    }

    /// What the agent does, as arms of a `case` over task and attempt: `1.1:2) … ;;`. It
    /// knows `$tasks` (the task file), `$notes` (a folder of its own) and `$prompt`.
    pub(crate) fn agent(self, arms: &str) -> Self {
        let script = format!(
            "prompt=$(cat)\n\
             notes=${{0%/*}}\n\
             tasks=$REGREEN_SPEC_DIR/tasks.md\n\
             printf '%s\\n' \"$prompt\" >\"$notes/$REGREEN_TASK_ID-$REGREEN_ATTEMPT.prompt\"\n\
             case $REGREEN_TASK_ID:$REGREEN_ATTEMPT in\n{arms}\nesac\n"
        );
        fs::write(self.outside.path().join("agent.sh"), script).unwrap();
        self
    }

    /// The agent as `--agent` has it.
    pub(crate) fn agent_flag(&self) -> String {
        let script = self.outside.path().join("agent.sh");
        format!("command:sh {}", script.display())
    }

    /// A folder that is no part of the workspace.
    pub(crate) fn outside(&self) -> &Path {
        self.outside.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.test.path(path)
    }

    pub(crate) fn text(&self, path: &str) -> String {
        self.test.text(path)
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// What the agent left in its own folder.
    pub(crate) fn note(&self, name: &str) -> String {
        fs::read_to_string(self.outside.path().join(name)).unwrap()
    }

    pub(crate) fn has_note(&self, name: &str) -> bool {
        self.outside.path().join(name).exists()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.path("."))
            .env("HOME", self.path("user"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// All commits after the first, oldest first, with the paths that each of them changed.
    pub(crate) fn history(&self) -> String {
        let format = "--format=* %s";
        self.git(&["log", "--reverse", "--name-status", format, "HEAD"])
    }

    /// Runs the spec with the scripted agent.
    pub(crate) fn run(&self, flags: &[&str]) -> Told {
        let agent = self.agent_flag();
        self.regreen(&[&["run", "--agent", &agent], flags].concat())
    }

    pub(crate) fn regreen(&self, arguments: &[&str]) -> Told {
        self.told(&self.test.run(arguments))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.test.command(arguments)
    }

    pub(crate) fn run_as_ordinary_user(&self) -> Option<Told> {
        let agent = self.agent_flag();
        self.as_ordinary_user(&["run", "--agent", &agent])
    }

    /// Permissions mean nothing to root, so nobody runs it then; `None` if that cannot be.
    pub(crate) fn as_ordinary_user(&self, arguments: &[&str]) -> Option<Told> {
        let mut command = self.command(arguments);
        if rustix::process::geteuid().is_root() {
            const NOBODY: u32 = 65534;
            for folder in [self.path("."), self.outside.path().to_owned()] {
                let mut chown = Command::new("chown");
                let given = chown.args(["-R", "65534:65534"]).arg(folder).status();
                given.ok().filter(ExitStatus::success)?;
            }
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().ok()?;
        Some(self.told(&self.test.answer(&output)))
    }

    fn told(&self, answer: &Answer) -> Told {
        Told {
            code: answer.code,
            stdout: self.plain(&answer.stdout),
            stderr: self.plain(&answer.stderr),
            files: String::new(),
        }
    }

    /// Starts a run, and goes on when the agent has written this note.
    pub(crate) fn start(&self, flags: &[&str], note: &str) -> Started<'_> {
        let agent = self.agent_flag();
        let log = |name: &str| self.outside.path().join(name);
        let file = |name: &str| Stdio::from(File::create(log(name)).unwrap());
        let child = self
            .command(&["run", "--agent", &agent])
            .args(flags)
            .stdout(file("stdout"))
            .stderr(file("stderr"))
            .spawn()
            .unwrap();
        wait_until(|| log(note).exists());
        Started { scene: self, child }
    }

    /// What was printed, whatever its time, its commits and the number of its run.
    pub(crate) fn plain(&self, text: &str) -> String {
        let outside = self.outside.path().display().to_string();
        let mut text = text.replace(&outside, "[AGENT]");
        for (pattern, name) in [
            (r"\b\d{8}-\d{6}(-\d+)?\b", "[RUN]"),
            (r"\bcommit [0-9a-f]{7,40}\b", "commit [HASH]"),
            (r"(?m) - [0-9a-f]{7,40}$", " - [HASH]"),
            (r"\[ *(\d+[dhm])?(0\.)?\d+[smh]\]", "[TIME]"),
            (r"(?m)^( +PASS .*)(  | · )[0-9a-f]{7,12}$", "$1$2[HASH]"),
            (r"\bdone in (\d+[dhm] )*(0\.)?\d+[smh]\b", "done in [TIME]"),
            (r"\bprocess \d+\b", "process [PID]"),
            (r"\S*/bash: line", "bash: line"),
        ] {
            text = Regex::new(pattern)
                .unwrap()
                .replace_all(&text, name)
                .into_owned();
        }
        text
    }
}

/// A run that is under way.
pub(crate) struct Started<'s> {
    scene: &'s Scene,
    child: Child,
}

impl Started<'_> {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        kill(name, self.pid());
    }

    /// What came of it.
    pub(crate) fn ended(mut self) -> Told {
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if began.elapsed() > PATIENCE => {
                    self.signal("KILL");
                    panic!("the run does not end: {}", self.scene.note("stdout"));
                }
                None => thread::sleep(Duration::from_millis(10)),
            }
        };
        Told {
            code: status.code(),
            stdout: self.scene.plain(&self.scene.note("stdout")),
            stderr: self.scene.plain(&self.scene.note("stderr")),
            files: String::new(),
        }
    }
}

pub(crate) fn kill(signal: &str, pid: u32) -> bool {
    let command = format!("kill -{signal} {pid}");
    let mut sh = Command::new("sh");
    let status = sh.args(["-c", &command]).stderr(Stdio::null()).status();
    status.unwrap().success()
}

#[track_caller]
pub(crate) fn wait_until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "it does not come");
        thread::sleep(Duration::from_millis(10));
    }
}

/// All that a run said and left behind.
pub(crate) struct Told {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    files: String,
}

impl Told {
    /// With the files that it left.
    pub(crate) fn and(mut self, scene: &Scene, files: &[&str]) -> Self {
        for path in files {
            let text = match fs::read_to_string(scene.path(path)) {
                Ok(text) => format!("--- {path}\n{}", scene.plain(&text)),
                Err(_) => format!("--- no {path}\n"),
            };
            self.files.push_str(&text);
            if !self.files.ends_with('\n') {
                self.files.push_str("\n--- no line ending\n");
            }
        }
        self
    }

    /// With the task file and the progress file.
    pub(crate) fn and_plan(self, scene: &Scene) -> Self {
        self.and(scene, &[TASKS, PROGRESS])
    }

    /// With all three files of the spec.
    pub(crate) fn and_spec(self, scene: &Scene) -> Self {
        self.and(scene, &[TASKS, PROGRESS, STATE])
    }

    /// All of it.
    #[track_caller]
    pub(crate) fn shows(self, expected: impl snapbox::IntoData) {
        let code = self
            .code
            .map_or("a signal".to_owned(), |code| code.to_string());
        let mut all = self.stdout;
        if !self.stderr.is_empty() {
            all.push_str(&format!("--- standard error\n{}", self.stderr));
        }
        all.push_str(&format!("--- exit code {code}\n{}", self.files));
        snapbox::assert_data_eq!(all.into_data().raw(), expected.into_data().raw());
    }
}

/// The names of all files below a folder, from there on.
pub(crate) fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    collect(folder, folder, &mut found);
    found.sort();
    found
}

fn collect(top: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(top, &path, found);
        } else {
            let inside = path.strip_prefix(top).unwrap();
            found.push(inside.display().to_string());
        }
    }
}
