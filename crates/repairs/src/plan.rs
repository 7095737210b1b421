//! A repair with all its details, and the programs it runs.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use regreen_model::{PlannedRepair, RepairAction, visible_line};
use regreen_workspace::RelPath;

/// The longest line that is shown.
pub(crate) const MAX_LINE: usize = 300;

/// A repair that is ready to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepairPlan {
    /// The action as the journal records it.
    pub(crate) recorded: RepairAction,
    /// One line for the user.
    pub(crate) does: String,
    pub(crate) action: Action,
    /// Variables for later processes of the run.
    pub(crate) environment: Vec<(String, String)>,
    /// The program that a person is asked about: its folder and name.
    pub(crate) questioned: Option<(String, String)>,
}

/// The action itself, with values found in the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Only sets the environment of later processes.
    Environment,
    MakeExecutable(RelPath),
    MakeFolder(RelPath),
    UnixLineEnds(RelPath),
    CopyFile {
        from: RelPath,
        to: RelPath,
    },
    SetAside(RelPath),
    EndProcess {
        pid: i32,
        start: u64,
    },
    RunTools(ToolRun),
    /// Only a person can do it.
    PersonOnly,
}

/// Programs that run one after the other until one fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolRun {
    pub(crate) calls: Vec<ToolCall>,
    /// Runs if the last call fails; installs less, but enough.
    pub(crate) fallback: Option<ToolCall>,
    /// Files that must not change. If one does, it is restored and the repair has failed.
    pub(crate) unchanged: Vec<RelPath>,
    /// A new folder, which is set aside again if it doesn't help.
    pub(crate) creates: Option<RelPath>,
    /// Folders that are written to, whether or not they exist.
    pub(crate) writes_to: Vec<RelPath>,
    pub(crate) check: Check,
}

/// How to check that the repair helped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Check {
    #[default]
    ExitCode,
    Exists(PathBuf),
    /// This call must succeed.
    Passes(Box<ToolCall>),
    /// In this lock file, only entries of the project's own packages may change.
    OwnEntriesOnly(RelPath),
}

impl RepairPlan {
    pub(crate) fn new(recorded: RepairAction, does: impl Into<String>, action: Action) -> Self {
        Self {
            recorded,
            does: does.into(),
            action,
            environment: Vec::new(),
            questioned: None,
        }
    }

    pub(crate) fn with_environment(mut self, environment: Vec<(String, String)>) -> Self {
        self.environment = environment;
        self
    }

    pub(crate) fn questioning(mut self, folder: &str, program: &str) -> Self {
        self.questioned = Some((folder.to_owned(), program.to_owned()));
        self
    }

    /// Returns the plan in the engine's terms.
    pub(crate) fn planned(&self) -> PlannedRepair {
        PlannedRepair {
            action: self.recorded.clone(),
            does: visible_line(&self.does, MAX_LINE),
        }
    }
}

/// A program that a repair runs, as argv: never through a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The program and its arguments. The program is a path, or a name to look up in PATH.
    pub argv: Vec<OsString>,
    /// The working directory, relative to the workspace; empty for the workspace itself.
    pub folder: PathBuf,
    /// Variables to set, or to remove if `None`.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// How long the program may run.
    pub time_limit: Duration,
}

/// How long an installation may take.
const INSTALLATION: Duration = Duration::from_secs(10 * 60);

impl ToolCall {
    pub(crate) fn new(argv: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            folder: PathBuf::new(),
            environment: Vec::new(),
            time_limit: INSTALLATION,
        }
    }

    /// Returns the name of the program.
    pub(crate) fn name(&self) -> String {
        let program = self.argv.first().map(|program| program.to_string_lossy());
        let program = program.unwrap_or_default();
        program.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// Says why it failed, with the last line of its output.
    pub(crate) fn failure(&self, ran: &ToolResult) -> String {
        let name = self.name();
        let mut lines = ran.output.lines().rev();
        let last = lines
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default();
        let visible = last.chars().filter(|c| !c.is_control());
        let last: String = visible.take(MAX_LINE).collect();
        match ran.exit {
            Some(code) => format!("{name} failed with exit code {code}: {last}"),
            None => format!("{name} did not finish: {last}"),
        }
    }

    pub(crate) fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), Some(value.into())));
        self
    }
}

/// The result of a [`ToolCall`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The exit code; `None` if the program didn't start, or was ended by a signal or its time
    /// limit.
    pub exit: Option<i32>,
    /// The end of its output, with secrets masked.
    pub output: String,
}

impl ToolResult {
    /// Returns whether the program exited with 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.exit == Some(0)
    }
}

/// Asks programs about the user's own configuration.
pub trait ToolQuery: fmt::Debug {
    /// Runs a program that changes nothing, outside of the workspace and its settings. Returns its
    /// standard output; `None` if it fails.
    fn ask(&self, call: &ToolCall) -> Option<String>;
}

/// Runs programs for repairs: with logs, masks and limits, under the supervisor.
pub trait ToolRunner {
    /// Runs a program to its end.
    fn run(&mut self, call: &ToolCall) -> ToolResult;
}
