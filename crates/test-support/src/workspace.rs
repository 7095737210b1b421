use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus};

use crate::changes::changes;
use crate::events::condense;
use crate::normalize::normalize;
use crate::output::Output;
use crate::program::regreen;
use crate::state_schema::check_state_files;

/// The task file of [`Workspace::with_tasks`].
pub const TASKS: &str = "specs/demo/tasks.md";
/// The progress file of [`Workspace::with_tasks`].
pub const PROGRESS: &str = "specs/demo/.progress.md";
/// The state file of [`Workspace::with_tasks`].
pub const STATE: &str = "specs/demo/.ralph-state.json";

const STATE_NAME: &str = ".ralph-state.json";

/// Whether a test's file or script mentions state files.
fn touches_state(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).contains("ralph-state")
}

/// A temporary folder to run regreen in, with an agent that follows a script.
#[derive(Debug)]
pub struct Workspace {
    folder: tempfile::TempDir,
    /// The agent's script and its notes, outside the workspace.
    outside: tempfile::TempDir,
    /// The task file as the test wrote it.
    tasks: String,
    /// The test or its agent writes its own state files, which need not be valid.
    has_foreign_state: bool,
}

impl Drop for Workspace {
    /// Checks in every test that the state files regreen left are valid.
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.has_foreign_state && self.folder.path().exists() {
            check_state_files(self.folder.path());
        }
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl Workspace {
    /// Creates an empty workspace outside git.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Marks the top of the workspace, whatever folder is around it.
        fs::create_dir(folder.path().join(".git")).unwrap();
        let outside = tempfile::tempdir().unwrap();
        Self {
            folder,
            outside,
            tasks: String::new(),
            has_foreign_state: false,
        }
    }

    /// Creates a workspace outside git with the spec `demo`.
    pub fn with_tasks(tasks: &str) -> Self {
        Self::new().file(TASKS, tasks)
    }

    /// Writes a file, creating its folders.
    pub fn file(mut self, path: &str, text: impl AsRef<[u8]>) -> Self {
        if path == TASKS {
            self.tasks = String::from_utf8_lossy(text.as_ref()).into_owned();
        }
        self.has_foreign_state |= path.ends_with(STATE_NAME) || touches_state(text.as_ref());
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Sets the agent's script: arms of a shell `case` over task and attempt, such as
    /// `1.1:2) … ;;`. The script can use `$tasks` (the task file), `$notes` (a folder of its own)
    /// and `$prompt`.
    pub fn agent(self, arms: &str) -> Self {
        let head = "tasks=$REGREEN_SPEC_DIR/tasks.md\n";
        self.scripted(
            head,
            "$REGREEN_TASK_ID-$REGREEN_ATTEMPT",
            "$REGREEN_TASK_ID:$REGREEN_ATTEMPT",
            arms,
        )
    }

    /// Sets the script of the agent in [`Workspace::delegate`]: arms of a shell `case` over the
    /// attempt, such as `1) … ;;`. The script can use `$notes` and `$prompt`.
    pub fn child_agent(self, arms: &str) -> Self {
        self.scripted("", "$REGREEN_ATTEMPT", "$REGREEN_ATTEMPT", arms)
    }

    fn scripted(mut self, head: &str, prompt: &str, case: &str, arms: &str) -> Self {
        let script = format!(
            "prompt=$(cat)\n\
             notes=${{0%/*}}\n\
             {head}\
             printf '%s\\n' \"$prompt\" >\"$notes/{prompt}.prompt\"\n\
             case {case} in\n{arms}\nesac\n"
        );
        self.has_foreign_state |= touches_state(script.as_bytes());
        fs::write(self.outside.path().join("agent.sh"), script).unwrap();
        self
    }

    /// Installs a program for the commands of this workspace only. The script can use `$notes`,
    /// where its calls are recorded as `calls` and its prompts as `ATTEMPT.prompt`.
    pub fn program(mut self, name: &str, script: &str) -> Self {
        self.has_foreign_state |= touches_state(script.as_bytes());
        let bin = self.bin();
        fs::create_dir_all(&bin).unwrap();
        let program = bin.join(name);
        let head = "#!/bin/sh\nnotes=${0%/*}/..\necho \"$*\" >>\"$notes/calls\"\n\
                    cat >\"$notes/$REGREEN_ATTEMPT.prompt\"\n";
        fs::write(&program, format!("{head}{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn bin(&self) -> PathBuf {
        self.outside.path().join("bin")
    }

    /// Returns the value of `--agent` for the scripted agent.
    pub fn agent_flag(&self) -> String {
        let script = self.outside.path().join("agent.sh");
        format!("command:sh {}", script.display())
    }

    /// Returns the agent's folder, which is outside the workspace.
    pub fn outside(&self) -> &Path {
        self.outside.path()
    }

    /// Returns the absolute path of a file in the workspace.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Reads a file in the workspace.
    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Returns the changes to the task file that the test wrote: only the lines that differ, `+`
    /// inserted, `-` removed, `x` ticked or unticked.
    pub fn plan_changes(&self) -> String {
        changes(&self.tasks, &self.plain(&self.text(TASKS)))
    }

    /// Whether a file exists in the workspace.
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Reads a file in the agent's own folder.
    pub fn note(&self, name: &str) -> String {
        fs::read_to_string(self.note_path(name)).unwrap()
    }

    /// Whether the agent has written this note.
    pub fn has_note(&self, name: &str) -> bool {
        self.note_path(name).exists()
    }

    /// Returns the absolute path of a file in the agent's own folder.
    pub fn note_path(&self, name: &str) -> PathBuf {
        self.outside.path().join(name)
    }

    /// Returns the names of the runs, oldest first.
    pub fn runs(&self) -> Vec<String> {
        let folder = fs::read_dir(self.path(".regreen/runs")).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Returns a regreen command whose only user configuration is in the folder `user`.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(regreen());
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.path("user"))
            // Some tests compare what programs print.
            .env("LC_ALL", "C")
            .env_remove("XDG_CONFIG_HOME")
            // Outside the workspace, because this state isn't part of it.
            .env("XDG_STATE_HOME", self.outside.path().join("state"))
            // These tests may themselves run as the Verify of a run.
            .env_remove("REGREEN_KEEPER");
        let bin = self.bin();
        if bin.exists() {
            let path = std::env::var("PATH").unwrap();
            command.env("PATH", format!("{}:{path}", bin.display()));
        }
        command
    }

    /// Runs a regreen command to its end.
    pub fn regreen(&self, arguments: &[&str]) -> Output {
        self.output(&self.command(arguments).output().unwrap())
    }

    /// Runs a regreen command with variables that contain paths in the workspace.
    pub fn regreen_with(&self, paths: &[(&str, &str)], arguments: &[&str]) -> Output {
        let inside = paths.iter().map(|(name, path)| (name, self.path(path)));
        let output = self.command(arguments).envs(inside).output().unwrap();
        self.output(&output)
    }

    /// Runs the spec with the scripted agent. The output is the condensed JSON events: a line per
    /// attempt, and the end.
    pub fn run(&self, flags: &[&str]) -> Output {
        self.run_with_agent(&self.agent_flag(), flags)
    }

    /// Runs the spec with the agent of this name. The output is the condensed JSON events.
    pub fn run_with_agent(&self, agent: &str, flags: &[&str]) -> Output {
        let words = [&["run", "--agent", agent, "--json"], flags].concat();
        self.events(&self.command(&words).output().unwrap())
    }

    /// Runs the spec with the scripted agent, with the output that people see.
    pub fn run_as_text(&self, flags: &[&str]) -> Output {
        let agent = self.agent_flag();
        self.regreen(&[&["run", "--agent", &agent], flags].concat())
    }

    /// Runs the spec, if its output isn't the subject of the test.
    #[track_caller]
    pub fn has_run(self, flags: &[&str], code: i32) -> Self {
        self.run(flags).exits(code);
        self
    }

    /// Delegates to the scripted agent, or to an installed program.
    pub fn delegate(&self, arguments: &[&str]) -> Output {
        self.output(&self.delegate_command(arguments).output().unwrap())
    }

    /// Returns the command of [`Workspace::delegate`].
    pub fn delegate_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&["delegate", "--verbatim"]);
        if !self.bin().exists() {
            command.args(["--agent", &self.agent_flag()]);
        }
        command.args(arguments);
        command
    }

    /// Runs the spec with the scripted agent as a user whom permissions restrict; `None` if that
    /// isn't possible here.
    pub fn run_as_ordinary_user(&self) -> Option<Output> {
        let agent = self.agent_flag();
        let output = self.output_for_ordinary_user(&["run", "--agent", &agent, "--json"])?;
        Some(self.events(&output))
    }

    /// Runs a command as a user whom permissions restrict, unlike root.
    pub fn as_ordinary_user(&self, arguments: &[&str]) -> Option<Output> {
        let output = self.output_for_ordinary_user(arguments)?;
        Some(self.output(&output))
    }

    fn output_for_ordinary_user(&self, arguments: &[&str]) -> Option<process::Output> {
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
        command.output().ok()
    }

    /// Returns the output of a command in this workspace, ready to compare.
    pub fn output(&self, output: &process::Output) -> Output {
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        Output::new(
            output.status.code(),
            self.plain(&stdout),
            self.plain(&stderr),
        )
    }

    /// Returns the output of `regreen run --json` with its events condensed.
    pub fn events(&self, output: &process::Output) -> Output {
        let (stdout, message) = condense(&text(&output.stdout));
        let stderr = text(&output.stderr);
        let output = Output::new(
            output.status.code(),
            self.plain(&stdout),
            self.plain(&stderr),
        );
        output.with_message(self.plain(&message))
    }

    /// Replaces the folders, and everything that differs from run to run.
    pub fn plain(&self, text: &str) -> String {
        normalize(&self.without_folders(text))
    }

    pub(crate) fn without_folders(&self, text: &str) -> String {
        let real = fs::canonicalize(self.folder.path()).unwrap();
        [
            (self.outside.path(), "[AGENT]"),
            (&real, "[FOLDER]"),
            (self.folder.path(), "[FOLDER]"),
        ]
        .into_iter()
        .fold(text.to_owned(), |text, (path, name)| {
            text.replace(&path.display().to_string(), name)
        })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
