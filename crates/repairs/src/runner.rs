use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A program that a repair needs, as argv: never through a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The program and its arguments. The program is a path, or a name for the PATH.
    pub argv: Vec<OsString>,
    /// Where it runs, from the workspace's root; empty for the root itself.
    pub folder: PathBuf,
    /// Set, or with `None` taken out of, what it finds in its environment.
    pub environment: Vec<(OsString, Option<OsString>)>,
    pub time_limit: Duration,
}

impl ToolCall {
    pub(crate) fn new(argv: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            folder: PathBuf::new(),
            environment: Vec::new(),
            time_limit: INSTALLATION,
        }
    }

    pub(crate) fn within(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), Some(value.into())));
        self
    }
}

/// How long an installation may take.
const INSTALLATION: Duration = Duration::from_secs(10 * 60);

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The exit code; `None` if it could not be started, was ended by a signal or by its limit.
    pub exit: Option<i32>,
    /// The end of what it printed, masked.
    pub output: String,
}

impl Ran {
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.exit == Some(0)
    }
}

/// Who runs programs for repairs: with logs, masks and limits, under a keeper.
pub trait Runner {
    fn run(&mut self, call: &ToolCall) -> Ran;
}
