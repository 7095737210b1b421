//! What can go wrong, said so that people can do something about it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::{NamedSource, Severity};
use regreen_documents::EditError;
use regreen_runtime::{JournalError, RunError, TreeLockError};
use regreen_store::{OpenError, StoreError};
use regreen_workspace::{
    CreateFileError, EditFileError, GitError, MoveAsideError, ReadError, SnapshotError, SpecError,
    StepError,
};
use thiserror::Error;

use crate::commands::ProjectError;
use crate::config::{ConfigError, PromptsError};
use crate::excerpt::Excerpt;
use crate::exit::Exit;
use crate::output::{path_from, printable};

/// A reason to stop, with the way out.
#[derive(Debug, Error)]
pub enum Problem {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Of a command that has a flag for it.
    #[error(transparent)]
    SpecFlag(SpecError),
    #[error("{id} is no task id")]
    NotAnId { id: String },
    #[error("{} has no task {id}", file.display())]
    NoSuchTask {
        file: PathBuf,
        id: String,
        known: Vec<String>,
    },
    #[error("line {line} of {} is not the row of task {id}", file.display())]
    NotOnLine {
        file: PathBuf,
        id: String,
        line: usize,
        lines: Vec<usize>,
    },
    #[error("{} cannot be edited: {why}", file.display())]
    Edit { file: PathBuf, why: EditError },
    #[error("{} may not be written: permission denied", file.display())]
    ReadOnly { file: PathBuf },
    #[error("{why}")]
    Contended { why: String },
    #[error(transparent)]
    Step(#[from] StepError),
    #[error("{name} cannot be the name of a spec")]
    BadName { name: String },
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
    #[error("there is no command {name}")]
    NoSuchCommand { name: String },
    #[error("{name} is no signal")]
    NoSuchSignal { name: String },
    #[error("this is no failure report: {why}")]
    NoReport { why: String },
    #[error("there is no agent to delegate to")]
    NoDelegate,
    #[error("the prompt says nothing")]
    NoPrompt,
    #[error(transparent)]
    Prompt(ReadError),
    #[error(transparent)]
    ReadConfig(ReadError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Prompts(#[from] PromptsError),
    #[error("{} has no task that could be run", file.display())]
    NoTasks { file: PathBuf },
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("task {task} has had no attempt{}", number.map(|n| format!(" {n}")).unwrap_or_default())]
    NoAttempt {
        task: String,
        number: Option<u32>,
        known: Vec<u32>,
    },
    #[error("spec {spec} has not been run yet")]
    NoRun { spec: String },
    #[error("task {task} was not tried in that run")]
    NotInRun { task: String, known: Vec<String> },
    #[error("there is no run {name}")]
    NoSuchRun { name: String, known: Vec<String> },
    #[error("line {line} of {} is no step of a run: {why}", file.display())]
    NotAJournal {
        file: PathBuf,
        line: usize,
        why: String,
    },
    #[error("the log of attempt {number} is not there: {}", path.display())]
    NoLog { number: u32, path: PathBuf },
    #[error("there is no snapshot of what task {task} changed")]
    NoSnapshot { task: String },
    #[error("attempt {number} of task {task} has not ended: what it changed is not known yet")]
    NotEnded { task: String, number: u32 },
    #[error("this workspace is not in git, so there are no snapshots of it")]
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
    #[error("cannot listen to signals")]
    Signals(#[source] std::io::Error),
    #[error("regreen cannot find its own program")]
    OwnProgram(#[source] std::io::Error),
    #[error("cannot print the result")]
    Print(#[source] std::io::Error),
}

impl Problem {
    /// How regreen ends because of it.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Contended { .. }
            | Self::UndoConflict { .. }
            | Self::StillAtWork { .. }
            | Self::Edit {
                why: EditError::Refused(_),
                ..
            } => Exit::NeedsPerson,
            // It would fail the same way again.
            Self::ReadOnly { .. }
            | Self::Step(_)
            | Self::Git(_)
            | Self::Snapshot(_)
            | Self::Signals(_)
            | Self::OwnProgram(_)
            | Self::NoDelegate
            | Self::Demo(_) => Exit::SetUp,
            Self::Run(error) => run_exit(error),
            Self::Read(_)
            | Self::Spec(_)
            | Self::SpecFlag(_)
            | Self::NotAnId { .. }
            | Self::NoSuchTask { .. }
            | Self::NotOnLine { .. }
            | Self::Edit { .. }
            | Self::BadName { .. }
            | Self::Exists { .. }
            | Self::NoSuchCommand { .. }
            | Self::NoSuchSignal { .. }
            | Self::NoReport { .. }
            | Self::NoTasks { .. }
            | Self::NoAttempt { .. }
            | Self::NoRun { .. }
            | Self::NotInRun { .. }
            | Self::NoSuchRun { .. }
            | Self::NotAJournal { .. }
            | Self::NoLog { .. }
            | Self::NoSnapshot { .. }
            | Self::NotEnded { .. }
            | Self::NotInGit
            | Self::NoPrompt
            | Self::Prompt(_)
            | Self::ReadConfig(_)
            | Self::Config(_)
            | Self::Prompts(_)
            | Self::Print(_) => Exit::BadInput,
        }
    }

    /// What to do about it.
    pub fn way_out(&self) -> Option<String> {
        match self {
            Self::Read(error) => read_hint(error),
            Self::Spec(error) => Some(spec_hint(error, "name one of these")),
            Self::SpecFlag(error) => Some(spec_hint(error, "name one of these with --spec")),
            Self::NotAnId { .. } => Some("ids look like 1.3, T012, V4 or US-001; `regreen tasks list FILE` shows those of a file".into()),
            Self::NoSuchTask { known, .. } => Some(known_hint(known)),
            Self::NotOnLine { lines, .. } => Some(lines_hint(lines)),
            Self::Edit { why: EditError::Refused(_), .. } => Some("nothing was written; `regreen lint FILE` shows what is hard to read in it".into()),
            Self::Edit { .. } => None,
            Self::ReadOnly { file } => Some(format!("allow it with: chmod u+w {}", file.display())),
            Self::Contended { .. } => Some("nothing was written; stop saving it, then run this again".into()),
            Self::NoSuchSignal { .. } => Some("give a number or a name: 9, KILL, SIGKILL".into()),
            Self::NoReport { .. } => Some("without --report the input is explained as a log".into()),
            Self::NoSuchCommand { .. } => Some("`regreen --help` lists them".into()),
            Self::NoDelegate => Some("the shell agent runs the commands of tasks and cannot be told anything: install claude, codex, gemini or opencode, or name a program: --agent 'command:PROGRAM ARGS'".into()),
            Self::NoPrompt => Some("say what is to be done: --prompt 'Add a test for src/auth.py'".into()),
            Self::Prompt(error) => prompt_hint(error),
            Self::ReadConfig(error) => config_hint(error),
            Self::Prompts(error) => prompts_hint(error),
            // Each of its faults has its own.
            Self::Config(_) => None,
            Self::NoTasks { .. } => Some("a task is a list item with a box: `- [ ] 1.1 Title`; `regreen lint` says what regreen sees in the file".into()),
            Self::NoAttempt { known, .. } => Some(attempts_hint(known)),
            Self::NoRun { .. } => Some("`regreen run` starts one".into()),
            Self::NotInRun { known, .. } => Some(format!("it was tried in these: {}", known.join(", "))),
            Self::NoSuchRun { known, .. } => Some(format!("these were there: {}", known.join(", "))),
            Self::NotAJournal { .. } => Some("a journal is what `regreen journal > FILE` writes, by the same version of regreen".into()),
            Self::NoLog { .. } => Some("somebody removed it, or the attempt was cut off before it began; `regreen why TASK` tells what is known".into()),
            Self::NotEnded { .. } => Some("wait until it has; if its run was killed, `regreen run` goes on and looks at what it left".into()),
            Self::NoSnapshot { .. } => Some("it was run without git, or somebody removed what is kept under refs/regreen".into()),
            Self::NotInGit => Some("snapshots are taken around every attempt in a git repository: git init, then run it again".into()),
            Self::UndoConflict { task, .. } => Some(format!("nothing was changed; take it back by hand: `regreen diff {task}` shows what the task changed")),
            Self::StillAtWork { .. } => Some("it may be waiting for a commit hook; look again in a while, or end the process yourself: nothing is lost by it".into()),
            Self::Git(_) | Self::Snapshot(_) => None,
            Self::Run(error) => run_hint(error),
            Self::Demo(_) => Some("name a folder that you may write to, outside of any project: TMPDIR=FOLDER regreen demo".into()),
            Self::Step(_) | Self::Print(_) | Self::Signals(_) | Self::OwnProgram(_) => None,
            Self::BadName { .. } => Some("use letters, digits, dots, dashes and underscores: my-feature".into()),
            Self::Exists { path } => Some(format!("choose another name, or edit {}", path.display())),
        }
    }

    /// From an edit of a file, whatever went wrong with it.
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

    /// From reading the journal.
    pub fn journal(fault: StoreError) -> Self {
        Self::Run(RunError::from(fault))
    }

    /// From reading what is in the journal.
    pub fn from_journal(error: JournalError) -> Self {
        Self::Run(error.into())
    }

    /// From moving a file aside.
    pub fn from_aside(error: MoveAsideError) -> Self {
        match error {
            MoveAsideError::NotFound { path } => Self::Read(ReadError::NotFound { path }),
            MoveAsideError::Step(error) => Self::Step(error),
        }
    }

    /// From making a file.
    pub fn from_create(error: CreateFileError) -> Self {
        match error {
            CreateFileError::AlreadyExists { path } => Self::Exists { path },
            CreateFileError::Lock(error) => Self::Contended {
                why: error.to_string(),
            },
            CreateFileError::Step(error) => Self::Step(error),
        }
    }

    /// All there is to say about it.
    pub fn excerpts(&self) -> Vec<Excerpt> {
        match self {
            Self::Config(error) => error.excerpts(),
            problem => vec![problem.without_text()],
        }
    }

    fn without_text(&self) -> Excerpt {
        let mut message = printable(&self.to_string());
        for cause in self.causes() {
            message.push_str(": ");
            message.push_str(&cause);
        }
        Excerpt {
            severity: Severity::Error,
            message,
            help: self.way_out(),
            labels: Vec::new(),
            source: NamedSource::new("", Arc::default()),
        }
    }

    /// What is behind it, innermost last.
    pub fn causes(&self) -> Vec<String> {
        std::iter::successors(self.source(), |error| (*error).source())
            .map(ToString::to_string)
            .collect()
    }
}

fn run_exit(error: &RunError) -> Exit {
    match error {
        RunError::Lock(TreeLockError::Held { .. })
        | RunError::Read(_)
        | RunError::OtherAgent { .. } => Exit::BadInput,
        RunError::Contended { .. } => Exit::NeedsPerson,
        RunError::Lock(TreeLockError::Io { .. })
        | RunError::Folder { .. }
        | RunError::Store { .. }
        | RunError::Journal(_)
        | RunError::SetUp { .. } => Exit::SetUp,
    }
}

fn run_hint(error: &RunError) -> Option<String> {
    Some(match error {
        RunError::Lock(TreeLockError::Held { .. }) => {
            "wait until it has ended, end it with `regreen stop`, or work beside it in a tree of your own: git worktree add ../another".into()
        }
        RunError::Store { path, source } => store_hint(path, source),
        RunError::Journal(error) => error.fault()?.advice().into(),
        RunError::Read(error) => read_hint(error)?,
        RunError::Contended { .. } => "stop saving it, then run this again: it goes on where it was".into(),
        RunError::Lock(TreeLockError::Io { path, .. }) | RunError::Folder { path, .. } => {
            format!("regreen keeps its journal in {}: make that folder writable", path.display())
        }
        RunError::OtherAgent { begun, found } => format!(
            "say which is meant: --agent '{}', or --agent '{}'; `agent` in your own configuration says it for all runs",
            begun.name(),
            found.name()
        ),
        RunError::SetUp { .. } => return None,
    })
}

fn store_hint(path: &Path, error: &OpenError) -> String {
    match error {
        OpenError::Store(StoreError::Damaged(_)) => set_aside_hint(path),
        error => error.advice().into(),
    }
}

/// The command stands on a line of its own, so that it can be copied.
fn set_aside_hint(database: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let database = path_from(&here, database);
    let aside = format!(
        "{}/damaged",
        database.rsplit_once('/').map_or(".", |(own, _)| own)
    );
    format!(
        "set it aside and run this again: the task file and the state file are enough to go on\n\
         mkdir -p {aside} && mv {database}* {aside}"
    )
}

fn read_hint(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::NotFound { .. } => "check the path; `regreen init NAME` makes a new spec".into(),
        ReadError::IsDirectory { path } => {
            format!("name the file in it, for example {}", path.join("tasks.md").display())
        }
        ReadError::PermissionDenied { path } => {
            format!("allow it with: chmod u+r {}", path.display())
        }
        ReadError::NotUtf8 { .. } => {
            "task files are UTF-8 text; an older encoding can be converted: iconv -f latin1 -t utf-8 OLD > NEW"
                .into()
        }
        ReadError::Io { .. } => return None,
    })
}

fn config_hint(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::NotFound { .. } | ReadError::Io { .. } => return None,
        ReadError::IsDirectory { path } => {
            format!("a text file is expected there: rename {}", path.display())
        }
        ReadError::PermissionDenied { path } => {
            format!("allow it with: chmod u+r {}", path.display())
        }
        ReadError::NotUtf8 { .. } => "save it as UTF-8 text".into(),
    })
}

fn prompt_hint(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::NotFound { .. } => {
            "check the path, or give the text itself: --prompt TEXT".into()
        }
        ReadError::IsDirectory { .. } => "name a file in it".into(),
        error => return config_hint(error),
    })
}

fn prompts_hint(error: &PromptsError) -> Option<String> {
    match error {
        PromptsError::Folder { named_in, .. } => Some(format!(
            "make the folder, or take `prompts` out of {named_in}"
        )),
        PromptsError::Outside { .. } => Some(
            "put the text itself there, not a link: agents would be told what is behind it".into(),
        ),
        PromptsError::Template { .. } => Some(
            "use one of these; for braces that stay as they are, put a space into them: {{ name }}"
                .into(),
        ),
        PromptsError::Read(error) => config_hint(error),
    }
}

fn spec_hint(error: &SpecError, how: &str) -> String {
    match error.specs() {
        [] => "make one with: regreen init NAME".into(),
        specs => format!("{how}: {}", specs.join(", ")),
    }
}

fn known_hint(known: &[String]) -> String {
    const SHOWN: usize = 12;
    match known {
        [] => "it has no tasks at all; `regreen lint FILE` says what regreen sees in it".into(),
        known => {
            let more = if known.len() > SHOWN { ", …" } else { "" };
            let shown: Vec<&str> = known.iter().take(SHOWN).map(String::as_str).collect();
            format!("its tasks: {}{more}", shown.join(", "))
        }
    }
}

/// A line for each, as far as anybody would read them.
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

fn attempts_hint(known: &[u32]) -> String {
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    match known.as_slice() {
        [] => "`regreen status` shows what has been tried".into(),
        known => format!("the run has these: {}", known.join(", ")),
    }
}

fn lines_hint(lines: &[usize]) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    format!("its rows with that id are on lines: {}", lines.join(", "))
}
