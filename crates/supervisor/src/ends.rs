//! What a program is connected by.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};

use regreen_redaction::Masks;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::handle::Alarm;
use crate::source::Source;
use crate::{Handle, Stdin, Stream};

/// The keeper could not be set up. That the program itself cannot be started is no such
/// error, but an [`Exit`](crate::Exit).
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("cannot make a pipe")]
    Pipe(#[source] io::Error),
    #[error("cannot start the keeper")]
    Keeper(#[source] io::Error),
    #[error("cannot give the keeper its order")]
    Order(#[source] io::Error),
}

/// Our ends of the pipes, and the handle to the run.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) sources: [Source; 2],
    /// `None` once closed.
    pub(crate) stdin: Option<PipeWriter>,
    pub(crate) handle: Handle,
    pub(crate) alarm: Alarm,
}

/// The program's ends. All are closed on exec, so that no other child of ours gets hold of
/// them; once they are dropped here, only the program and its descendants hold them.
#[derive(Debug)]
pub(crate) struct ChildsEnds {
    stdout: PipeWriter,
    stderr: PipeWriter,
    stdin: Option<PipeReader>,
}

impl Ends {
    pub(crate) fn make(
        stdin: Stdin,
        masks: Option<&Masks>,
    ) -> Result<(Self, ChildsEnds), SpawnError> {
        Self::try_make(stdin, masks).map_err(SpawnError::Pipe)
    }

    fn try_make(stdin: Stdin, masks: Option<&Masks>) -> io::Result<(Self, ChildsEnds)> {
        let (stdout, childs_stdout) = output_pipe()?;
        let (stderr, childs_stderr) = output_pipe()?;
        let (childs_stdin, our_stdin) = input_pipe(&stdin)?.unzip();
        let (outbox, closed) = match stdin {
            Stdin::Empty => (Vec::new(), true),
            Stdin::Bytes(bytes) => (bytes, true),
            Stdin::Pipe => (Vec::new(), false),
        };
        let (handle, alarm) = Handle::new(outbox, closed)?;
        let ours = Self {
            sources: [
                Source::new(Stream::Stdout, stdout, masks),
                Source::new(Stream::Stderr, stderr, masks),
            ],
            stdin: our_stdin,
            handle,
            alarm,
        };
        let childs = ChildsEnds {
            stdout: childs_stdout,
            stderr: childs_stderr,
            stdin: childs_stdin,
        };
        Ok((ours, childs))
    }
}

impl ChildsEnds {
    /// Stdout, stderr and, if there is one, stdin.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let stdin = self.stdin.as_ref().map(AsFd::as_fd);
        [self.stdout.as_fd(), self.stderr.as_fd()]
            .into_iter()
            .chain(stdin)
            .collect()
    }
}

fn output_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    never_block(&reader)?;
    Ok((reader, writer))
}

fn input_pipe(stdin: &Stdin) -> io::Result<Option<(PipeReader, PipeWriter)>> {
    if *stdin == Stdin::Empty {
        return Ok(None);
    }
    let (reader, writer) = io::pipe()?;
    never_block(&writer)?;
    Ok(Some((reader, writer)))
}

/// Only this end of the pipe: the child's end has flags of its own.
fn never_block(end: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(end)?;
    Ok(fcntl_setfl(end, flags | OFlags::NONBLOCK)?)
}
