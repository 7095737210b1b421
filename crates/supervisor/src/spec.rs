use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::time::Duration;

use regreen_redaction::Masks;

use crate::LastCopy;

/// A program to run, with its folder, environment and limits.
///
/// The child inherits regreen's environment with the changes in `env` and the marker. It never gets
/// a terminal: it runs in its own session, with the given `stdin`.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    /// The program, looked up in `PATH` if it has no slash, and its arguments.
    pub argv: Vec<OsString>,
    /// The working folder.
    pub cwd: PathBuf,
    /// Environment changes, in order: `Some` sets a variable, `None` removes it.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// The source of its stdin.
    pub stdin: Stdin,
    /// When it is ended from outside.
    pub limits: TimeLimits,
    /// Identifies it and everything it starts.
    pub marker: Marker,
    /// Masks for the output, applied before anyone sees it.
    pub masks: Option<Masks>,
    /// Copied if regreen is gone when everything has ended.
    pub last_copy: Option<LastCopy>,
}

/// The source of a child's stdin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// End of file at once.
    #[default]
    Empty,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// Input written through the [`Handle`](crate::Handle), until it is closed.
    Pipe,
}

/// When a run is ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// How long it may run.
    pub hard: Duration,
    /// How long it may go without output, processor use or file activity.
    pub idle: Option<Duration>,
    /// The time between being asked to end and being killed.
    pub grace: Duration,
}

/// An environment variable in every process under a keeper, which identifies it even if the keeper
/// was killed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Marker(String);

impl Marker {
    /// The variable's name.
    pub const VARIABLE: &str = "REGREEN_KEEPER";

    /// Returns a unique marker: `prefix`, which identifies the owner (`<run>:<attempt>`), and a
    /// random suffix.
    #[must_use]
    pub fn new(prefix: &str) -> Self {
        let random = RandomState::new().build_hasher().finish();
        // An environment can't contain NUL.
        Self(format!("{}:{random:016x}", prefix.replace('\0', "")))
    }

    /// Returns the variable's value.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn variable(&self) -> (OsString, OsString) {
        (Self::VARIABLE.into(), self.as_str().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_markers_of_one_attempt_differ_only_in_their_suffix() {
        let (a, b) = (Marker::new("run:1"), Marker::new("run:1"));
        assert_ne!(a, b);
        assert!(a.as_str().starts_with("run:1:") && b.as_str().starts_with("run:1:"));
    }
}
