//! Everything that can go wrong, with a message, a hint and an exit code.

mod hints;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::NamedSource;
use regreen_documents::{EditError, InvalidSettings};
use regreen_history::{HistoryError, ImportError};
use regreen_overview::ReadJournalError;
use regreen_runtime::{CiError, JournalError, RunError};
use regreen_store::StoreError;
use regreen_workspace::{
    CreateFileError, EditFileError, GitError, MoveAsideError, ReadError, SnapshotError, SpecError,
    StepError,
};
use thiserror::Error;

use self::hints::{
    attempts_hint, choice_of_line_hint, ci_exit_and_hint, config_hint, known_hint, lines_hint,
    prompt_hint, prompts_hint, read_hint, run_exit, run_hint, spec_hint,
};
use crate::commands::ProjectError;
use crate::config::{ConfigError, PromptsError};
use crate::error_message::ErrorMessage;
use crate::exit::Exit;
use crate::output::printable;

/// Why regreen stops.
#[derive(Debug, Error)]
pub enum Problem {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The same, in a command that names its spec with `--spec`.
    #[error(transparent)]
    SpecFlag(SpecError),
    #[error("this decides for a person, and it was started by an agent, a check or a hook")]
    NotAPerson,
    #[error("no reverted changes to {} are left to accept", file.display())]
    NothingToAccept { file: PathBuf },
    #[error("{} has changed in the same lines since the changes were reverted", file.display())]
    CannotMerge { file: PathBuf, kept: String },
    #[error("an interrupted run has not reviewed the changes to {} yet", file.display())]
    NotReviewed { file: PathBuf },
    #[error("invalid task id `{id}`")]
    NotAnId { id: String },
    #[error("task {id} not found in {}", file.display())]
    NoSuchTask {
        file: PathBuf,
        id: String,
        known: Vec<String>,
    },
    #[error("{} tasks in {} have the id {id}", tasks.len(), file.display())]
    SeveralTasks {
        file: PathBuf,
        id: String,
        /// Lines and titles.
        tasks: Vec<(usize, String)>,
    },
    #[error("task {id} is not on line {line} of {}", file.display())]
    NotOnLine {
        file: PathBuf,
        id: String,
        line: usize,
        lines: Vec<usize>,
    },
    #[error("cannot edit {}: {why}", file.display())]
    Edit { file: PathBuf, why: EditError },
    #[error("cannot write {}: permission denied", file.display())]
    ReadOnly { file: PathBuf },
    #[error("{why}")]
    Contended { why: String },
    #[error(transparent)]
    Step(#[from] StepError),
    #[error("cannot add hooks to {}: {why}", file.display())]
    ClaudeSettings { file: PathBuf, why: InvalidSettings },
    #[error("invalid spec name `{name}`")]
    BadName { name: String },
    #[error("{} already exists", path.display())]
    Exists { path: PathBuf },
    #[error("unknown command `{name}`")]
    NoSuchCommand { name: String },
    #[error("unknown signal `{name}`")]
    NoSuchSignal { name: String },
    #[error("not a failure report: {why}")]
    NoReport { why: String },
    #[error("cannot write {}", path.display())]
    Bundle {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot write {}", path.display())]
    WriteReport {
        path: PathBuf,
        /// The flag that names the file.
        flag: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error("no open question about task {id}")]
    NoSuchQuestion { id: String, known: Vec<String> },
    #[error("several workspaces have an open question about task {id}")]
    ManyQuestions { id: String, known: Vec<String> },
    #[error("{why}")]
    NotThatAnswer { why: String },
    #[error("cannot keep the accepted failures")]
    KeepBaseline(#[source] std::io::Error),
    #[error("cannot keep the answer")]
    GiveAnswer(#[source] std::io::Error),
    #[error("cannot watch the run")]
    Watch(#[source] std::io::Error),
    #[error("cannot start a detached run")]
    Detach(#[source] std::io::Error),
    #[error("the run was killed")]
    RunKilled,
    #[error("cannot ask the run to stop")]
    StopRequest(#[source] std::io::Error),
    #[error("no coding agent is installed, and {task} has no commands for the shell agent")]
    NoAgent { task: String },
    #[error("no agent to delegate to")]
    NoDelegate,
    #[error("the prompt is empty")]
    NoPrompt,
    #[error(transparent)]
    Prompt(ReadError),
    #[error(transparent)]
    ReadConfig(ReadError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Prompts(#[from] PromptsError),
    #[error("no runnable tasks in {}", file.display())]
    NoTasks { file: PathBuf },
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Ci(#[from] CiError),
    #[error("task {task} has no {}", number.map_or("attempts".to_owned(), |n| format!("attempt {n}")))]
    NoAttempt {
        task: String,
        number: Option<u32>,
        known: Vec<u32>,
    },
    #[error("spec {spec} has not been run yet")]
    NoRun { spec: String },
    #[error("task {task} has no attempts in that run")]
    NotInRun { task: String, known: Vec<String> },
    #[error("run {name} not found")]
    NoSuchRun { name: String, known: Vec<String> },
    #[error("line {line} of {} is not a journal step: {why}", file.display())]
    NotAJournal {
        file: PathBuf,
        line: usize,
        why: String,
    },
    #[error("log of attempt {number} not found: {}", path.display())]
    NoLog { number: u32, path: PathBuf },
    #[error("no snapshot of what task {task} changed")]
    NoSnapshot { task: String },
    #[error("attempt {number} of task {task} has not ended, so its changes are not known yet")]
    NotEnded { task: String, number: u32 },
    #[error("not a git repository, so regreen has no snapshots")]
    NotInGit,
    #[error(transparent)]
    Git(GitError),
    #[error("undoing task {task} would lose work:{}", listed(paths))]
    UndoConflict { task: String, paths: Vec<String> },
    #[error(transparent)]
    Snapshot(SnapshotError),
    #[error("{holder}, and has not stopped yet")]
    StillAtWork { holder: String },
    #[error(transparent)]
    Demo(#[from] ProjectError),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error("cannot import {}", file.display())]
    Import {
        file: PathBuf,
        #[source]
        source: ImportError,
    },
    #[error("cannot write {}", path.display())]
    Export {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("no folder to keep a history in: your user has no home folder")]
    NoStateFolder,
    #[error("cannot create {}", path.display())]
    StateFolder {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[cfg(feature = "dashboard")]
    #[error(transparent)]
    Serve(#[from] regreen_dashboard::ServeError),
    #[cfg(feature = "tui")]
    #[error("this needs a terminal to be shown on")]
    NoTerminal,
    #[cfg(feature = "tui")]
    #[error(transparent)]
    Tui(#[from] regreen_tui::TuiError),
    #[cfg(feature = "mcp")]
    #[error(transparent)]
    Mcp(#[from] regreen_mcp::ServeError),
    #[error("cannot listen for signals")]
    Signals(#[source] std::io::Error),
    #[error("cannot find the regreen executable")]
    OwnProgram(#[source] std::io::Error),
    #[error("cannot write to standard output")]
    Print(#[source] std::io::Error),
}

impl Problem {
    /// Returns the exit code.
    pub fn exit(&self) -> Exit {
        self.exit_and_hint().0
    }

    /// Returns what to do about it, if there is a hint.
    fn hint(&self) -> Option<String> {
        self.exit_and_hint().1
    }

    fn exit_and_hint(&self) -> (Exit, Option<String>) {
        match self {
            Self::Read(error) => (Exit::BadInput, read_hint(error)),
            Self::Spec(error) => bad_input(spec_hint(error, "choose one of these")),
            Self::SpecFlag(error) => bad_input(spec_hint(error, "choose one of these with --spec")),
            Self::NotAPerson => {
                bad_input("run the command yourself, in a terminal that regreen did not start")
            }
            Self::NothingToAccept { .. } => (Exit::BadInput, None),
            Self::NotReviewed { .. } => needs_person(
                "run `regreen run`, which reviews them first, stop it with Ctrl-C, then run this command again",
            ),
            Self::CannotMerge { kept, .. } => needs_person(format!(
                "nothing was written; copy what you want to keep from {kept} by hand"
            )),
            Self::NotAnId { .. } => bad_input(
                "ids look like 1.3, T012, V4 or US-001; run `regreen tasks list FILE` to list the ids in a file",
            ),
            Self::NoSuchTask { known, .. } => bad_input(known_hint(known)),
            Self::NotOnLine { lines, .. } => bad_input(lines_hint(lines)),
            Self::SeveralTasks { tasks, .. } => bad_input(choice_of_line_hint(tasks)),
            Self::Edit {
                why: EditError::Refused(_),
                ..
            } => needs_person(
                "nothing was written; run `regreen lint FILE` to see what is ambiguous in it",
            ),
            Self::Edit { .. } => (Exit::BadInput, None),
            Self::ReadOnly { file } => {
                set_up(format!("run `chmod u+w {}` to allow it", file.display()))
            }
            Self::Contended { .. } => needs_person(
                "nothing was written; stop editing the file, then run this command again",
            ),
            Self::NoSuchSignal { .. } => bad_input("use a number or a name: 9, KILL, SIGKILL"),
            Self::NoReport { .. } => bad_input("leave out --report to explain the input as a log"),
            Self::NoSuchCommand { .. } => bad_input("run `regreen --help` to list the commands"),
            Self::NoAgent { .. } => {
                set_up("install claude, codex, gemini or opencode, or name one with --agent")
            }
            Self::NoDelegate => set_up(
                "the shell agent only runs commands from task files; install claude, codex, gemini or opencode, or name a program: --agent 'command:PROGRAM ARGS'",
            ),
            Self::NoPrompt => bad_input("say what to do: --prompt 'Add a test for src/auth.py'"),
            Self::Prompt(error) => (Exit::BadInput, prompt_hint(error)),
            Self::ReadConfig(error) => (Exit::BadInput, config_hint(error)),
            Self::Prompts(error) => (Exit::BadInput, prompts_hint(error)),
            // Each of its faults has its own hint.
            Self::Config(_) => (Exit::BadInput, None),
            Self::NoTasks { .. } => bad_input(
                "write each task as a list item with a box: `- [ ] 1.1 Title`; run `regreen lint FILE` to see how regreen reads the file",
            ),
            Self::NoAttempt { known, .. } => bad_input(attempts_hint(known)),
            Self::NoRun { .. } => bad_input("run `regreen run` to start one"),
            Self::NotInRun { known, .. } => {
                bad_input(format!("runs with this task: {}", known.join(", ")))
            }
            Self::NoSuchRun { known, .. } => bad_input(format!("known runs: {}", known.join(", "))),
            Self::NotAJournal { .. } => bad_input(
                "write the journal with `regreen journal > FILE`, using the same version of regreen",
            ),
            Self::NoLog { .. } => bad_input(
                "someone removed it, or the attempt was interrupted before it started; run `regreen why TASK` to see what is known",
            ),
            Self::NotEnded { .. } => bad_input(
                "wait until it ends; if its run was killed, run `regreen run` to resume it",
            ),
            Self::NoSnapshot { .. } => {
                bad_input("the task ran outside git, or someone removed refs/regreen")
            }
            Self::NotInGit => bad_input(
                "run `git init`, then run the task again: regreen takes snapshots before and after every attempt",
            ),
            Self::UndoConflict { task, .. } => needs_person(format!(
                "nothing was changed; run `regreen diff {task}` to see what to revert by hand"
            )),
            Self::StillAtWork { .. } => needs_person(
                "it may be waiting for a commit hook; run `regreen stop` again, or kill the process: no work is lost",
            ),
            Self::Git(_) | Self::Snapshot(_) => (Exit::SetUp, None),
            Self::Run(error) => (run_exit(error), run_hint(error)),
            Self::Ci(error) => ci_exit_and_hint(error),
            Self::Demo(_) => {
                set_up("choose a writable folder outside any project: TMPDIR=FOLDER regreen demo")
            }
            Self::History(error) => set_up(error.advice()),
            Self::Import {
                source: ImportError::History(error),
                ..
            } => set_up(error.advice()),
            Self::Import { .. } => bad_input(
                "write the file with `regreen history export`; lines before it were imported",
            ),
            Self::Export { .. } => bad_input("name another file"),
            Self::NoStateFolder => set_up("set XDG_STATE_HOME to a folder of yours"),
            Self::StateFolder { .. } => {
                set_up("make it writable, or set XDG_STATE_HOME to another")
            }
            Self::Step(_) | Self::Signals(_) | Self::OwnProgram(_) => (Exit::SetUp, None),
            Self::Bundle { .. } => bad_input("name another file with --output FILE"),
            Self::WriteReport { flag, .. } => {
                bad_input(format!("name another file with {flag} FILE"))
            }
            Self::NoSuchQuestion { known, .. } if known.is_empty() => {
                bad_input("no run has an open question")
            }
            Self::NoSuchQuestion { known, .. } => {
                bad_input(format!("open questions: {}", known.join(", ")))
            }
            Self::ManyQuestions { known, .. } => bad_input(format!(
                "enter the folder of one of them: {}",
                known.join(", ")
            )),
            Self::NotThatAnswer { .. } => {
                bad_input("run `regreen answer --help` to list the choices")
            }
            Self::GiveAnswer(_) | Self::KeepBaseline(_) => {
                set_up("make your state folder writable")
            }
            Self::Watch(_) | Self::Detach(_) => (Exit::SetUp, None),
            #[cfg(feature = "dashboard")]
            Self::Serve(_) => {
                set_up("another program may use this port; try `regreen serve --port 0`")
            }
            #[cfg(feature = "tui")]
            Self::NoTerminal => bad_input("`regreen ps` and `regreen attach` print to anything"),
            #[cfg(feature = "tui")]
            Self::Tui(_) => set_up("`regreen attach --lines` shows a run in lines"),
            #[cfg(feature = "mcp")]
            Self::Mcp(_) => bad_input(
                "agents start this command; to add it to Claude Code: `claude mcp add regreen -- regreen mcp`",
            ),
            Self::RunKilled => (
                Exit::Terminated,
                Some("nothing is lost: `regreen run` resumes it".to_owned()),
            ),
            Self::StopRequest(_) => set_up("make .regreen writable, or run `regreen stop`"),
            Self::Print(_) => (Exit::BadInput, None),
            Self::BadName { .. } => {
                bad_input("use letters, digits, dots, dashes and underscores: my-feature")
            }
            Self::ClaudeSettings { .. } => {
                bad_input("repair the file, or install regreen's plugin for Claude Code instead")
            }
            Self::Exists { path } => {
                bad_input(format!("choose another name, or edit {}", path.display()))
            }
        }
    }

    pub fn from_edit(error: EditFileError<EditError>, file: &Path) -> Self {
        match error {
            EditFileError::Read(error) => Self::Read(error),
            EditFileError::Edit(why) => Self::Edit {
                file: file.to_owned(),
                why,
            },
            EditFileError::PermissionDenied { path } => Self::ReadOnly { file: path },
            EditFileError::Contended { .. } | EditFileError::Lock(_) => Self::Contended {
                why: error.to_string(),
            },
            EditFileError::Step(error) => Self::Step(error),
        }
    }

    pub fn journal(error: StoreError) -> Self {
        Self::Run(RunError::from(error))
    }

    pub fn from_journal(error: JournalError) -> Self {
        Self::Run(error.into())
    }

    pub fn from_reading(error: ReadJournalError) -> Self {
        match error {
            ReadJournalError::Run(error) => Self::from_journal(error.into()),
            ReadJournalError::Store(error) => Self::journal(error),
            ReadJournalError::Unknown { why, .. } => Self::from_journal(why.into()),
        }
    }

    pub fn from_aside(error: MoveAsideError) -> Self {
        match error {
            MoveAsideError::NotFound { path } => Self::Read(ReadError::NotFound { path }),
            MoveAsideError::Step(error) => Self::Step(error),
        }
    }

    pub fn from_create(error: CreateFileError) -> Self {
        match error {
            CreateFileError::AlreadyExists { path } => Self::Exists { path },
            CreateFileError::Lock(error) => Self::Contended {
                why: error.to_string(),
            },
            CreateFileError::Step(error) => Self::Step(error),
        }
    }

    /// Returns its messages.
    pub fn messages(&self) -> Vec<ErrorMessage> {
        match self {
            Self::Config(error) => error.messages(),
            problem => vec![problem.without_source()],
        }
    }

    fn without_source(&self) -> ErrorMessage {
        let mut message = printable(&self.to_string());
        for cause in self.causes() {
            message.push_str(": ");
            message.push_str(&cause);
        }
        ErrorMessage {
            message,
            help: self.hint(),
            labels: Vec::new(),
            source: NamedSource::new("", Arc::default()),
        }
    }

    /// Returns its causes, innermost last.
    fn causes(&self) -> Vec<String> {
        std::iter::successors(self.source(), |error| (*error).source())
            .map(ToString::to_string)
            .collect()
    }
}

fn bad_input(hint: impl Into<String>) -> (Exit, Option<String>) {
    (Exit::BadInput, Some(hint.into()))
}

fn needs_person(hint: impl Into<String>) -> (Exit, Option<String>) {
    (Exit::NeedsPerson, Some(hint.into()))
}

fn set_up(hint: impl Into<String>) -> (Exit, Option<String>) {
    (Exit::SetUp, Some(hint.into()))
}

/// Lists paths one per line, up to as many as people read.
fn listed(paths: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text: String = paths
        .iter()
        .take(SHOWN)
        .map(|path| format!("\n{path}"))
        .collect();
    if paths.len() > SHOWN {
        text.push_str(&format!("\nand {} more", paths.len() - SHOWN));
    }
    text
}
