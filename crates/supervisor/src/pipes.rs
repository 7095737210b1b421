//! The pipes of a program, and where its output goes.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, BorrowedFd};

use regreen_redaction::{Filter, Masks};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::handle::Waker;
use crate::{Exit, Handle, Stdin};

/// Observes a program while it runs.
pub trait Observer {
    /// Receives bytes that the program wrote, masked if the spec has masks, in stream order.
    fn output(&mut self, chunk: Chunk<'_>);

    /// Receives the same bytes before masking, for decoders that read a protocol. Whatever they
    /// find must be masked before it is stored or shown.
    fn unmasked(&mut self, _chunk: Chunk<'_>) {}

    /// Called when the program itself has exited. Processes that it started may still run and
    /// print.
    fn exited(&mut self, _exit: Exit) {}

    /// Returns whether files that the program works on have changed since the last call. Called
    /// only if the program otherwise seems idle.
    fn files_changed(&mut self) -> bool {
        false
    }
}

/// A piece of output, cut wherever the pipe cut it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The stream it was written to.
    pub stream: Stream,
    /// The written bytes.
    pub bytes: &'a [u8],
}

/// An output stream of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl<F: FnMut(Chunk<'_>)> Observer for F {
    fn output(&mut self, chunk: Chunk<'_>) {
        self(chunk);
    }
}

/// Why the keeper couldn't be set up. A program that can't be started isn't such an error, but an
/// [`Exit`](crate::Exit).
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No pipe could be created.
    #[error("cannot create a pipe")]
    Pipe(#[source] io::Error),
    /// The keeper couldn't be started.
    #[error("cannot start the keeper")]
    Keeper(#[source] io::Error),
    /// The keeper didn't accept the order.
    #[error("cannot give the keeper its order")]
    Order(#[source] io::Error),
}

/// Our ends of the pipes, and the handle of the run.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) outputs: [OutputPipe; 2],
    /// `None` once closed.
    pub(crate) stdin: Option<PipeWriter>,
    pub(crate) handle: Handle,
    pub(crate) waker: Waker,
}

/// The program's ends. All are close-on-exec, so that no other child of ours inherits them; once
/// they are dropped here, only the program and its descendants have them.
#[derive(Debug)]
pub(crate) struct ChildPipes {
    stdout: PipeWriter,
    stderr: PipeWriter,
    stdin: Option<PipeReader>,
}

impl Pipes {
    pub(crate) fn make(
        stdin: Stdin,
        masks: Option<&Masks>,
    ) -> Result<(Self, ChildPipes), SpawnError> {
        Self::try_make(stdin, masks).map_err(SpawnError::Pipe)
    }

    fn try_make(stdin: Stdin, masks: Option<&Masks>) -> io::Result<(Self, ChildPipes)> {
        let (stdout, child_stdout) = output_pipe()?;
        let (stderr, child_stderr) = output_pipe()?;
        let (child_stdin, our_stdin) = input_pipe(&stdin)?.unzip();
        let (outbox, closed) = match stdin {
            Stdin::Empty => (Vec::new(), true),
            Stdin::Bytes(bytes) => (bytes, true),
            Stdin::Pipe => (Vec::new(), false),
        };
        let (handle, waker) = Handle::new(outbox, closed)?;
        let ours = Self {
            outputs: [
                OutputPipe::new(Stream::Stdout, stdout, masks),
                OutputPipe::new(Stream::Stderr, stderr, masks),
            ],
            stdin: our_stdin,
            handle,
            waker,
        };
        let child = ChildPipes {
            stdout: child_stdout,
            stderr: child_stderr,
            stdin: child_stdin,
        };
        Ok((ours, child))
    }
}

impl ChildPipes {
    /// Returns stdout, stderr and, if there is one, stdin.
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
    set_nonblocking(&reader)?;
    Ok((reader, writer))
}

fn input_pipe(stdin: &Stdin) -> io::Result<Option<(PipeReader, PipeWriter)>> {
    if *stdin == Stdin::Empty {
        return Ok(None);
    }
    let (reader, writer) = io::pipe()?;
    set_nonblocking(&writer)?;
    Ok(Some((reader, writer)))
}

/// Affects only this end of the pipe: the child's end has its own flags.
fn set_nonblocking(end: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(end)?;
    Ok(fcntl_setfl(end, flags | OFlags::NONBLOCK)?)
}

/// One stream of the child's output on its way to the observer.
#[derive(Debug)]
pub(crate) struct OutputPipe {
    stream: Stream,
    /// `None` at its end.
    pipe: Option<PipeReader>,
    filter: Option<Filter>,
    masked: Vec<u8>,
    bytes: u64,
}

impl OutputPipe {
    pub(crate) fn new(stream: Stream, pipe: PipeReader, masks: Option<&Masks>) -> Self {
        Self {
            stream,
            pipe: Some(pipe),
            filter: masks.map(Masks::filter),
            masked: Vec::new(),
            bytes: 0,
        }
    }

    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Delivers available output, up to a full buffer. Returns whether there was any.
    pub(crate) fn pump(&mut self, buffer: &mut [u8], observer: &mut dyn Observer) -> bool {
        let Some(pipe) = &mut self.pipe else {
            return false;
        };
        match pipe.read(buffer) {
            Ok(len @ 1..) => {
                self.bytes += len as u64;
                let (stream, bytes) = (self.stream, &buffer[..len]);
                observer.unmasked(Chunk { stream, bytes });
                self.deliver_masked(&buffer[..len], observer);
                true
            }
            Err(error) if is_temporary(&error) => false,
            Ok(0) | Err(_) => {
                self.close(observer);
                false
            }
        }
    }

    /// Closes the pipe and delivers whatever the masks held back.
    pub(crate) fn close(&mut self, observer: &mut dyn Observer) {
        self.pipe = None;
        if let Some(mut filter) = self.filter.take() {
            self.masked.clear();
            filter.finish(&mut self.masked);
            deliver(self.stream, &self.masked, observer);
        }
    }

    fn deliver_masked(&mut self, bytes: &[u8], observer: &mut dyn Observer) {
        let Some(filter) = &mut self.filter else {
            return deliver(self.stream, bytes, observer);
        };
        self.masked.clear();
        filter.feed(bytes, &mut self.masked);
        deliver(self.stream, &self.masked, observer);
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn deliver(stream: Stream, bytes: &[u8], observer: &mut dyn Observer) {
    if !bytes.is_empty() {
        observer.output(Chunk { stream, bytes });
    }
}
