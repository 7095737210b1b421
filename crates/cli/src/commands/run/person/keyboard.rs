use std::io::{self, PipeReader};
use std::os::fd::{AsFd as _, BorrowedFd};

use regreen_runtime::Stop;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read};
use rustix::termios::{QueueSelector, tcflush};

/// A longer line is taken as several.
const MAX_LINE: usize = 16 * 1024;

/// Reads what a person types, line by line, until someone asks to stop.
#[derive(Debug)]
pub(super) struct Keyboard<'s> {
    stop: &'s Stop,
    bell: PipeReader,
    input: io::Stdin,
    /// Input that was not taken yet.
    typed: Vec<u8>,
}

/// The result of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypedInput {
    Line(String),
    /// Nothing more will come.
    End,
    Stopped,
}

impl<'s> Keyboard<'s> {
    /// Discards what was typed before the question.
    pub(super) fn listen(stop: &'s Stop) -> io::Result<Self> {
        let input = io::stdin();
        // Where that is impossible, it counts as an answer.
        let _ = tcflush(&input, QueueSelector::IFlush);
        Ok(Self {
            stop,
            bell: stop.wake_pipe()?,
            input,
            typed: Vec::new(),
        })
    }

    pub(super) fn stop(&self) -> &'s Stop {
        self.stop
    }

    pub(super) fn line(&mut self) -> TypedInput {
        loop {
            if let Some(line) = take_line(&mut self.typed) {
                return TypedInput::Line(line);
            }
            let mut chunk = [0; 4096];
            match next(&self.bell, self.input.as_fd(), &mut chunk) {
                Some(0) if self.typed.is_empty() => return TypedInput::End,
                Some(0) => self.typed.push(b'\n'),
                Some(count) => {
                    let typed = chunk.get(..count).unwrap_or_default();
                    self.typed.extend_from_slice(typed);
                }
                None => return TypedInput::Stopped,
            }
        }
    }
}

/// Returns how much was typed; 0 at the end of the input, and where the terminal is gone.
/// `None` if someone asked to stop first.
fn next(bell: &PipeReader, input: BorrowedFd<'_>, chunk: &mut [u8]) -> Option<usize> {
    loop {
        let mut ready = [
            PollFd::new(bell, PollFlags::IN),
            PollFd::from_borrowed_fd(input, PollFlags::IN),
        ];
        match poll(&mut ready, None) {
            Err(Errno::INTR) => continue,
            Err(_) => return Some(0),
            Ok(_) => {}
        }
        let [rung, typed] = ready.map(|fd| !fd.revents().is_empty());
        if rung {
            return None;
        }
        if typed {
            match read(input, &mut *chunk) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                read => return Some(read.unwrap_or(0)),
            }
        }
    }
}

fn take_line(typed: &mut Vec<u8>) -> Option<String> {
    let end = typed.iter().position(|byte| *byte == b'\n');
    let end = end.or((typed.len() >= MAX_LINE).then_some(typed.len()))?;
    let rest = typed.split_off((end + 1).min(typed.len()));
    let line = std::mem::replace(typed, rest);
    let line = String::from_utf8_lossy(&line).into_owned();
    Some(line.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_one_by_one() {
        let mut typed = b"one\r\n\ntwo".to_vec();
        assert_eq!(take_line(&mut typed).as_deref(), Some("one"));
        assert_eq!(take_line(&mut typed).as_deref(), Some(""));
        assert_eq!(take_line(&mut typed), None);
        assert_eq!(typed, b"two");
    }

    #[test]
    fn a_line_without_end_is_not_waited_for() {
        let mut typed = vec![b'a'; MAX_LINE];
        assert_eq!(take_line(&mut typed).map(|line| line.len()), Some(MAX_LINE));
        assert!(typed.is_empty());
    }
}
