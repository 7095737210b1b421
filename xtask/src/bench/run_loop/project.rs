use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use super::{Doing as _, LoopError, finish};

/// The length of a generated task; 200 of them are 60 KB.
pub(super) const SMALL_FILE_PER_TASK: usize = 300;

const SPEC: &str = "specs/bench";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bench) enum Kind {
    Plain,
    Git,
    /// A repository of 50,000 files.
    LargeGit,
}

const MANY_FILES: usize = 50_000;

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain folder",
            Self::Git => "git with commits",
            Self::LargeGit => "git with 50,000 files",
        }
    }
}

/// A folder with a spec whose tasks cost nothing.
pub(in crate::bench) struct Project {
    folder: TempDir,
}

impl Project {
    /// Creates a project with this many tasks to run, preceded by finished tasks up to this size.
    pub(in crate::bench) fn new(kind: Kind, tasks: usize, bytes: usize) -> Result<Self, LoopError> {
        let project = Self::with_plan(&plan(tasks, bytes))?;
        if kind == Kind::LargeGit {
            project.write_many_files()?;
        }
        if kind != Kind::Plain {
            project.begin_repository()?;
        }
        Ok(project)
    }

    /// Creates a project outside of git.
    pub(in crate::bench) fn with_plan(plan: &str) -> Result<Self, LoopError> {
        let project = Self {
            folder: tempfile::tempdir().doing("make a folder")?,
        };
        let spec = project.path(SPEC);
        fs::create_dir_all(&spec).doing("make a folder")?;
        fs::write(spec.join("tasks.md"), plan).doing("write a plan")?;
        Ok(project)
    }

    pub(in crate::bench) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("project").join(path)
    }

    fn write_many_files(&self) -> Result<(), LoopError> {
        for n in 0..MANY_FILES {
            let folder = self.path(&format!("src/part_{}/{}", n % 500, n % 7));
            fs::create_dir_all(&folder).doing("make a folder")?;
            let text = format!("file {n}\n").repeat(20);
            fs::write(folder.join(format!("{n}.txt")), text).doing("write a file")?;
        }
        Ok(())
    }

    fn begin_repository(&self) -> Result<(), LoopError> {
        for words in [
            &["init", "--quiet"][..],
            &["config", "user.name", "n"],
            &["config", "user.email", "n@example.org"],
            &["add", "--all"],
            &["commit", "--quiet", "-m", "init"],
        ] {
            finish(self.at_home(Command::new("git").args(words)))?;
        }
        Ok(())
    }

    fn at_home<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .current_dir(self.path(""))
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("XDG_CONFIG_HOME")
    }

    pub(in crate::bench) fn run(&self, program: &Path) -> Command {
        self.call(
            program,
            &["run", "--agent", "command:/bin/echo TASK_COMPLETE"],
        )
    }

    /// Returns a call of regreen in this project.
    pub(in crate::bench) fn call(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words);
        self.at_home(&mut command);
        command
    }

    /// Returns a shell loop that starts the same programs.
    pub(super) fn bare_loop(&self, tasks: usize) -> Command {
        // For each task, regreen commits its tick.
        let commit = if self.path(".git").exists() {
            "echo $n >> done; git add --all; git commit --quiet -m \"task $n\""
        } else {
            ":"
        };
        let script = format!(
            "for ((n = 0; n < {tasks}; n++)); do /bin/echo TASK_COMPLETE; bash -c true; {commit}; done"
        );
        let mut command = Command::new("bash");
        command.args(["-c", &script]);
        self.at_home(&mut command);
        command
    }

    pub(super) fn time_to_first_agent(&self, program: &Path) -> Result<Duration, LoopError> {
        let agent = self.folder.path().join("agent");
        let told = self.folder.path().join("told");
        let script = "#!/bin/bash\necho $EPOCHREALTIME > \"$TOLD\"\necho TASK_COMPLETE\n";
        fs::write(&agent, script).doing("write an agent")?;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&agent, executable).doing("write an agent")?;
        let mut command = Command::new(program);
        let named = format!("command:{}", agent.display());
        command
            .args(["run", "--only", "1.1", "--agent", &named])
            .env("TOLD", &told);
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        finish(self.at_home(&mut command))?;
        let told = fs::read_to_string(told).doing("hear from the agent")?;
        // Some locales write a comma.
        let told: f64 = told.trim().replace(',', ".").parse().unwrap_or_default();
        let started = started.map_or(0.0, |started| started.as_secs_f64());
        Ok(Duration::from_secs_f64((told - started).max(0.0)))
    }
}

fn plan(tasks: usize, bytes: usize) -> String {
    let mut plan = "# A plan that costs nothing\n\n".to_owned();
    let mut done = 0;
    while plan.len() + tasks * SMALL_FILE_PER_TASK < bytes {
        done += 1;
        task(&mut plan, "x", 2, done);
    }
    for n in 1..=tasks {
        task(&mut plan, " ", 1, n);
    }
    plan
}

fn task(plan: &mut String, mark: &str, phase: usize, n: usize) {
    let from = plan.len();
    let _ = write!(
        plan,
        "- [{mark}] {phase}.{n} Say that task number {n} is done\n  \
           - **Do**:\n    1. Say that it is done, and do nothing else\n  \
           - **Files**: `src/part_{n}.rs`, `tests/part_{n}.rs`\n  \
           - **Done when**: the command below has nothing to say against it\n  \
           - **Verify**: `true`\n  \
           - **Commit**: `feat(bench): task {n}`\n"
    );
    let missing = (from + SMALL_FILE_PER_TASK).saturating_sub(plan.len() + 2);
    let _ = write!(plan, "{}\n\n", " ".repeat(missing));
}
