use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use regreen_redaction::Masks;

use crate::Marker;

/// What to run, and how long.
///
/// The child inherits regreen's environment with the changes of `env` and the marker. It never
/// gets a terminal: it runs in a session of its own and its stdin is what `stdin` says.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The program, looked up in `PATH` if it has no slash, and its arguments.
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// In order: `Some` sets a variable, `None` removes it.
    pub env: Vec<(OsString, Option<OsString>)>,
    pub stdin: Stdin,
    pub limits: TimeLimits,
    pub marker: Marker,
    /// With masks, no one sees the output without them.
    pub masks: Option<Masks>,
}

/// Where the child's stdin comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// End of file at once.
    #[default]
    Empty,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// What is written through the [`Handle`](crate::Handle), until it closes it.
    Pipe,
}

/// When a run is ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    pub hard: Duration,
    /// No output, no use of processor time and no file activity for so long.
    pub idle: Option<Duration>,
    /// Between being asked to end and being killed.
    pub grace: Duration,
}
