use std::io;
use std::time::Duration;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub exit: Exit,
    pub reason: EndReason,
    /// From the start of the program to its exit.
    pub duration: Duration,
    /// Written by the child, before masking.
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    /// Descendants that were still there and were ended.
    pub leftovers_ended: u32,
    /// Descendants that could not be ended: another user's, or stuck in the kernel.
    pub unended: u32,
}

/// What became of the program itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Exited(i32),
    Signalled(i32),
    NotStarted {
        step: StartStep,
        errno: i32,
    },
    /// The keeper was killed and took the answer with it.
    Unknown,
}

/// What a start failed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartStep {
    /// Its working folder cannot be entered.
    Folder,
    /// The program cannot be executed.
    Program,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// The program ended by itself, or never began.
    Normal,
    HardLimit,
    IdleLimit,
    Cancelled,
    /// Whoever listened has heard enough: it had finished and did not exit, or there was no
    /// more hope for it.
    Enough,
}

impl Exit {
    #[must_use]
    pub fn success(self) -> bool {
        self == Self::Exited(0)
    }

    /// The number a shell would give it.
    #[must_use]
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Exited(code) => code,
            Self::Signalled(signal) => 128 + signal,
            Self::NotStarted { .. } if self.is_not_found() => 127,
            Self::NotStarted { .. } => 126,
            Self::Unknown => 128 + rustix::process::Signal::KILL.as_raw(),
        }
    }

    #[must_use]
    pub fn is_not_found(self) -> bool {
        self.start_error()
            .is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Why it was not started.
    #[must_use]
    pub fn start_error(self) -> Option<io::Error> {
        match self {
            Self::NotStarted { errno, .. } => Some(io::Error::from_raw_os_error(errno)),
            Self::Exited(_) | Self::Signalled(_) | Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_started(errno: rustix::io::Errno) -> Exit {
        Exit::NotStarted {
            step: StartStep::Program,
            errno: errno.raw_os_error(),
        }
    }

    #[test]
    fn exits_have_the_numbers_shells_give_them() {
        assert_eq!(Exit::Exited(3).shell_code(), 3);
        assert_eq!(Exit::Signalled(15).shell_code(), 143);
        assert_eq!(not_started(rustix::io::Errno::NOENT).shell_code(), 127);
        assert_eq!(not_started(rustix::io::Errno::ACCESS).shell_code(), 126);
        assert_eq!(Exit::Unknown.shell_code(), 137);
    }
}
