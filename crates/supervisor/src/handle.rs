use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::EndReason;

/// Controls a running program from another thread, from a signal handler's thread, or from the
/// observer itself. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// The error if the program's stdin was closed, or never was a pipe.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program's stdin is closed")]
pub struct StdinClosed;

#[derive(Debug)]
struct Shared {
    requests: Mutex<Requests>,
    waker: UnixStream,
}

/// Pending requests.
#[derive(Debug)]
pub(crate) struct Requests {
    /// Bytes for the child's stdin.
    pub(crate) outbox: VecDeque<u8>,
    /// Whether nothing more will be added to `outbox`.
    pub(crate) closed: bool,
    pub(crate) end: Option<EndReason>,
}

/// The receiving end of a handle. It becomes readable when there is something to do.
#[derive(Debug)]
pub(crate) struct Waker(pub(crate) UnixStream);

impl Handle {
    pub(crate) fn new(outbox: Vec<u8>, closed: bool) -> io::Result<(Self, Waker)> {
        let (waker, woken) = UnixStream::pair()?;
        waker.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let requests = Requests {
            outbox: outbox.into(),
            closed,
            end: None,
        };
        let shared = Arc::new(Shared {
            requests: Mutex::new(requests),
            waker,
        });
        Ok((Self { shared }, Waker(woken)))
    }

    /// Writes a line to the child's stdin as soon as the child reads it; never blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if stdin isn't an open pipe.
    pub fn write_line(&self, line: &str) -> Result<(), StdinClosed> {
        let mut requests = self.requests();
        if requests.closed {
            return Err(StdinClosed);
        }
        requests.outbox.extend(line.as_bytes());
        requests.outbox.push_back(b'\n');
        drop(requests);
        self.wake();
        Ok(())
    }

    /// Closes the program's stdin once everything was written.
    pub fn close_stdin(&self) {
        self.requests().closed = true;
        self.wake();
    }

    /// Ends the program and everything it started. The first reason counts.
    pub fn end(&self, reason: EndReason) {
        self.requests().end.get_or_insert(reason);
        self.wake();
    }

    pub(crate) fn requests(&self) -> MutexGuard<'_, Requests> {
        let lock = self.shared.requests.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // If the socket is full, the waker is already awake.
        let _ = (&self.shared.waker).write(&[1]);
    }
}

impl Waker {
    pub(crate) fn clear(&mut self) {
        let mut bytes = [0; 64];
        while let Ok(1..) = self.0.read(&mut bytes) {}
    }
}
