use std::io::{self, PipeReader};
use std::os::fd::{AsFd as _, BorrowedFd};

use regreen_overview::Change;
use regreen_runtime::{Reply, Stop};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read};
use rustix::termios::{QueueSelector, tcflush};

use crate::answers::AnswerWatch;

/// A longer line counts as several.
const MAX_LINE: usize = 16 * 1024;

/// Reads what a person types, line by line, until someone asks to stop.
#[derive(Debug)]
pub(super) struct Keyboard<'s, 'q> {
    stop: &'s Stop,
    /// Answers may also come from another terminal.
    answers: AnswerWatch<'q>,
    bell: PipeReader,
    input: io::Stdin,
    /// Input that has not been read yet.
    typed: Vec<u8>,
}

/// The result of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypedInput {
    Line(String),
    /// Someone has answered or decided at another terminal.
    Elsewhere(Reply),
    /// There is no more input.
    End,
    Stopped,
}

impl<'s, 'q> Keyboard<'s, 'q> {
    /// Discards anything typed before the question.
    pub(super) fn listen(stop: &'s Stop, answers: AnswerWatch<'q>) -> io::Result<Self> {
        let input = io::stdin();
        // If that fails, such input counts as an answer.
        let _ = tcflush(&input, QueueSelector::IFlush);
        Ok(Self {
            stop,
            answers,
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
            if let Some(reply) = self.answers.reply() {
                return TypedInput::Elsewhere(reply);
            }
            let mut chunk = [0; 4096];
            match self.next(&mut chunk) {
                None if self.stop.asked().is_none() => {}
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

    /// Returns how many bytes were typed; 0 at the end of the input, or if the terminal is gone.
    /// `None` if something else has happened: someone asked to stop, or has perhaps answered.
    fn next(&mut self, chunk: &mut [u8]) -> Option<usize> {
        let (bell, input) = (self.bell.as_fd(), self.input.as_fd());
        let woken = match &mut self.answers.feed {
            Some(feed) => match feed.wait(None, &[bell, input]) {
                Ok(Change::Woken(woken)) => woken,
                Ok(_) => return None,
                Err(_) => return Some(0),
            },
            None => wait_without_feed(bell, input)?,
        };
        if woken == 0 {
            return None;
        }
        match read(input, &mut *chunk) {
            Err(Errno::INTR | Errno::AGAIN) => None,
            read => Some(read.unwrap_or(0)),
        }
    }
}

/// Returns which of them became readable.
fn wait_without_feed(bell: BorrowedFd<'_>, input: BorrowedFd<'_>) -> Option<usize> {
    let mut ready = [
        PollFd::from_borrowed_fd(bell, PollFlags::IN),
        PollFd::from_borrowed_fd(input, PollFlags::IN),
    ];
    match poll(&mut ready, None) {
        Err(Errno::INTR) => None,
        // Reading says what is wrong.
        Err(_) => Some(1),
        Ok(_) => ready.iter().position(|fd| !fd.revents().is_empty()),
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
