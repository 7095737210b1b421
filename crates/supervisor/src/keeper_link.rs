use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Pid;

use crate::ends::ChildsEnds;
use crate::order::Order;
use crate::wire::{self, END};
use crate::{KEEPER_ARGUMENT, system};

/// A keeper, and the socket by which it is spoken to.
#[derive(Debug)]
pub(crate) struct KeeperLink {
    keeper: Child,
    socket: UnixStream,
    ended: bool,
}

impl KeeperLink {
    pub(crate) fn start(program: &Path) -> io::Result<Self> {
        let (socket, keepers) = UnixStream::pair()?;
        let keeper = Command::new(program)
            .arg(KEEPER_ARGUMENT)
            .stdin(OwnedFd::from(keepers))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self {
            keeper,
            socket,
            ended: false,
        })
    }

    pub(crate) fn give(&self, order: &Order, childs: &ChildsEnds) -> io::Result<()> {
        wire::send_order(&self.socket, order, &childs.descriptors())
    }

    /// Asks it to end everything. That it is dead is noticed elsewhere.
    pub(crate) fn ask_to_end(&mut self) {
        let _ = self.socket.write_all(&[END]);
    }

    /// What it says; nothing when it is gone.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.socket.read(bytes)
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// It does not answer.
    pub(crate) fn kill(&mut self) {
        let _ = self.keeper.kill();
    }

    /// The processor time that it and everything it has kept have used.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let pid = i32::try_from(self.keeper.id()).ok();
        system::cpu_time(Pid::from_raw(pid?)?)
    }

    /// It has closed its end, or takes ours for the end of regreen: it ends now.
    pub(crate) fn wait(&mut self) {
        if !self.ended {
            let _ = self.keeper.wait();
            self.ended = true;
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }
}

impl Drop for KeeperLink {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        self.wait();
    }
}
