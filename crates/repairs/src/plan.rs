use std::path::PathBuf;

use regreen_model::RepairAction;
use regreen_workspace::RelPath;

use crate::runner::ToolCall;

/// A repair, ready to be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) action: RepairAction,
    /// In one line for people.
    pub(crate) does: String,
    pub(crate) deed: Deed,
    /// What later processes of the run find in their environment.
    pub(crate) environment: Vec<(String, String)>,
}

/// What is done, with values found in the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Nothing but the environment of later processes.
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
    /// Not a machine's.
    Persons,
}

/// Programs that are run one after the other, until one fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolRun {
    pub(crate) calls: Vec<ToolCall>,
    /// What is tried if the last of them fails: less, but enough.
    pub(crate) instead: Option<ToolCall>,
    /// Files that must be the same afterwards; else they are restored and it has failed.
    pub(crate) keeps: Vec<RelPath>,
    /// A folder that is made, and set aside again if it does not help.
    pub(crate) makes: Option<RelPath>,
    /// Folders that are written to, whether they are there or not.
    pub(crate) into: Vec<RelPath>,
    pub(crate) check: Check,
}

/// How it is seen that it helped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Check {
    #[default]
    ExitCode,
    Exists(PathBuf),
    /// This call succeeds.
    Passes(Box<ToolCall>),
    /// Of this lock file, nothing has changed but entries of the project's own packages.
    OwnEntriesOnly(RelPath),
}

impl Plan {
    pub(crate) fn new(action: RepairAction, does: impl Into<String>, deed: Deed) -> Self {
        Self {
            action,
            does: does.into(),
            deed,
            environment: Vec::new(),
        }
    }

    pub(crate) fn persons(action: RepairAction, does: &str) -> Self {
        Self::new(action, does, Deed::Persons)
    }

    pub(crate) fn setting(mut self, environment: Vec<(String, String)>) -> Self {
        self.environment = environment;
        self
    }
}
