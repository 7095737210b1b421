use std::io;
use std::time::Duration;

use crate::Asleep;

/// How a program and everything it started ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessEnd {
    /// How the program itself exited.
    pub exit: Exit,
    /// Why it ended.
    pub reason: EndReason,
    /// From the start of the program to its exit, without the time asleep.
    pub duration: Duration,
    /// How long this process or the machine was asleep meanwhile.
    pub asleep: Asleep,
    /// Bytes that the program wrote to stdout, before masking.
    pub stdout_bytes: u64,
    /// Bytes that the program wrote to stderr, before masking.
    pub stderr_bytes: u64,
    /// How many descendants were still alive and were ended.
    pub leftovers_ended: u32,
    /// How many descendants couldn't be ended: another user's, or stuck in the kernel.
    pub unended: u32,
    /// The command lines of some descendants that were still running when the program ended by
    /// itself. They are untrusted and not masked.
    pub left_running: Vec<String>,
}

/// How the program itself exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It couldn't be started.
    NotStarted {
        /// The step that failed.
        step: StartStep,
        /// The system's error code.
        errno: i32,
    },
    /// The keeper was killed, so nobody knows.
    Unknown,
}

/// The step at which a start failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartStep {
    /// Entering the working folder failed.
    Folder,
    /// Executing the program failed.
    Program,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// The program ended by itself, or never started.
    Normal,
    /// It reached its time limit.
    HardLimit,
    /// It was idle for too long.
    IdleLimit,
    /// The user asked to stop.
    Cancelled,
    /// The observer needs no more output: the program had finished without exiting, or could no
    /// longer succeed.
    ObserverDone,
}

impl Exit {
    /// Returns whether the exit code is 0.
    #[must_use]
    pub fn success(self) -> bool {
        self == Self::Exited(0)
    }

    /// Returns the exit code that a shell would report.
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

    /// Returns whether the program or its folder doesn't exist.
    #[must_use]
    pub fn is_not_found(self) -> bool {
        self.start_error()
            .is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Returns why it wasn't started.
    #[must_use]
    pub fn start_error(self) -> Option<io::Error> {
        match self {
            Self::NotStarted { errno, .. } => Some(io::Error::from_raw_os_error(errno)),
            Self::Exited(_) | Self::Signalled(_) | Self::Unknown => None,
        }
    }
}

/// A keeper's report to regreen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Started,
    /// The program has ended, or wasn't started.
    Ended(Exit),
    /// Nothing is left. This is the last report about a program.
    Gone {
        leftovers: u32,
        unended: u32,
    },
}

/// A tag and two numbers.
pub(crate) const STATUS_LEN: usize = 9;
pub(crate) type StatusBytes = [u8; STATUS_LEN];

const STARTED: u8 = 1;
const EXITED: u8 = 2;
const SIGNALLED: u8 = 3;
const NO_FOLDER: u8 = 4;
const NO_PROGRAM: u8 = 5;
const GONE: u8 = 6;

/// The tag before the length and the command lines of leftovers.
const LEFT_RUNNING: u8 = 7;
/// How much of the command lines is sent at most.
const MAX_LEFT_RUNNING: usize = 2 * 1024;

/// Encodes the command lines of leftovers, one per line.
pub(crate) fn encode_left_running(lines: &[String]) -> Vec<u8> {
    let text = lines.join("\n");
    let end = text.floor_char_boundary(MAX_LEFT_RUNNING);
    let text = text.get(..end).unwrap_or_default();
    let length = u32::try_from(text.len()).unwrap_or_default();
    let mut bytes = vec![LEFT_RUNNING; STATUS_LEN];
    bytes[1..5].copy_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

/// A message from a keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Status(Status),
    LeftRunning(Vec<String>),
}

impl Message {
    /// Takes the first message from the received bytes, if it is complete.
    pub(crate) fn take(bytes: &mut Vec<u8>) -> Option<Self> {
        let status = *bytes.first_chunk::<STATUS_LEN>()?;
        let [tag, a @ .., _, _, _, _] = status;
        if tag != LEFT_RUNNING {
            bytes.drain(..STATUS_LEN);
            return Some(Self::Status(Status::decode(status)));
        }
        let length = usize::try_from(u32::from_le_bytes(a)).unwrap_or_default();
        let text = bytes.get(STATUS_LEN..STATUS_LEN + length.min(MAX_LEFT_RUNNING))?;
        let text = String::from_utf8_lossy(text).into_owned();
        bytes.drain(..STATUS_LEN + length.min(MAX_LEFT_RUNNING));
        Some(Self::LeftRunning(text.lines().map(str::to_owned).collect()))
    }
}

impl Status {
    pub(crate) fn nothing_left() -> Self {
        Self::Gone {
            leftovers: 0,
            unended: 0,
        }
    }

    pub(crate) fn encode(self) -> StatusBytes {
        let (tag, a, b) = match self {
            Self::Started => (STARTED, 0, 0),
            Self::Ended(Exit::Exited(code)) => (EXITED, code.cast_unsigned(), 0),
            Self::Ended(Exit::Signalled(signal)) => (SIGNALLED, signal.cast_unsigned(), 0),
            Self::Ended(Exit::NotStarted { step, errno }) => {
                let tag = match step {
                    StartStep::Folder => NO_FOLDER,
                    StartStep::Program => NO_PROGRAM,
                };
                (tag, errno.cast_unsigned(), 0)
            }
            Self::Ended(Exit::Unknown) => (0, 0, 0),
            Self::Gone { leftovers, unended } => (GONE, leftovers, unended),
        };
        let mut bytes = [tag; STATUS_LEN];
        bytes[1..5].copy_from_slice(&a.to_le_bytes());
        bytes[5..].copy_from_slice(&b.to_le_bytes());
        bytes
    }

    pub(crate) fn decode([tag, a @ .., b0, b1, b2, b3]: StatusBytes) -> Self {
        let a = u32::from_le_bytes(a);
        let number = a.cast_signed();
        let not_started = |step| {
            Self::Ended(Exit::NotStarted {
                step,
                errno: number,
            })
        };
        match tag {
            STARTED => Self::Started,
            EXITED => Self::Ended(Exit::Exited(number)),
            SIGNALLED => Self::Ended(Exit::Signalled(number)),
            NO_FOLDER => not_started(StartStep::Folder),
            NO_PROGRAM => not_started(StartStep::Program),
            GONE => Self::Gone {
                leftovers: a,
                unended: u32::from_le_bytes([b0, b1, b2, b3]),
            },
            _ => Self::Ended(Exit::Unknown),
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
    fn exits_have_the_codes_that_shells_report() {
        assert_eq!(Exit::Exited(3).shell_code(), 3);
        assert_eq!(Exit::Signalled(15).shell_code(), 143);
        assert_eq!(not_started(rustix::io::Errno::NOENT).shell_code(), 127);
        assert_eq!(not_started(rustix::io::Errno::ACCESS).shell_code(), 126);
        assert_eq!(Exit::Unknown.shell_code(), 137);
    }

    #[test]
    fn the_names_of_leftovers_arrive_between_statuses_however_they_are_cut() {
        let lines = vec!["node server.js".to_owned(), "sleep 9".to_owned()];
        let ended = Status::Ended(Exit::Exited(0));
        let gone = Status::Gone {
            leftovers: 2,
            unended: 0,
        };
        let mut sent = ended.encode().to_vec();
        sent.extend(encode_left_running(&lines));
        sent.extend(gone.encode());
        let expected = [
            Message::Status(ended),
            Message::LeftRunning(lines),
            Message::Status(gone),
        ];
        for cut in 1..sent.len() {
            let (mut held, mut found) = (Vec::new(), Vec::new());
            for chunk in sent.chunks(cut) {
                held.extend_from_slice(chunk);
                found.extend(std::iter::from_fn(|| Message::take(&mut held)));
            }
            assert_eq!(found, expected, "{cut}");
        }
    }

    #[test]
    fn every_status_arrives_as_it_was_sent() {
        let not_started = |step| Exit::NotStarted { step, errno: 13 };
        let all = [
            Status::Started,
            Status::Ended(Exit::Exited(255)),
            Status::Ended(Exit::Signalled(9)),
            Status::Ended(not_started(StartStep::Folder)),
            Status::Ended(not_started(StartStep::Program)),
            Status::Ended(Exit::Unknown),
            Status::Gone {
                leftovers: 7,
                unended: u32::MAX,
            },
        ];
        for status in all {
            assert_eq!(Status::decode(status.encode()), status);
        }
    }
}
