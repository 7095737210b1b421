use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN,
    SIGTTOU, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
};

/// What would end or stop a process that does not care.
const UNWANTED: [i32; 15] = [
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU,
    SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
];

/// Tells when a child has ended, and makes nothing of other signals: a program that signals
/// its parent must not end its keeper.
///
/// These are handlers, not a mask: exec takes handlers back, but a child inherits a mask, and
/// between starting the child and blocking signals it would already be able to send some.
#[derive(Debug)]
pub(crate) struct ChildSignals(UnixStream);

impl ChildSignals {
    pub(crate) fn new() -> io::Result<Self> {
        let (ours, handlers) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, handlers)?;
        let nobody_asks = Arc::new(AtomicBool::new(false));
        for signal in UNWANTED {
            signal_hook::flag::register(signal, Arc::clone(&nobody_asks))?;
        }
        Ok(Self(ours))
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    pub(crate) fn clear(&mut self) {
        let mut bytes = [0; 64];
        while let Ok(1..) = self.0.read(&mut bytes) {}
    }
}
