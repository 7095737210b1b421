use crate::{Exit, StartStep};

/// What a keeper tells regreen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Started,
    /// The program has ended, or was not started.
    Ended(Exit),
    /// Nothing is left; the keeper's last word.
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
