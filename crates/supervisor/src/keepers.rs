use std::io::{self, Read, Write};
use std::mem;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Pid;

use crate::order::{END, Order, send_order};
use crate::pipes::{ChildPipes, Pipes};
use crate::{KEEPER_ARGUMENT, ProcessSpec, Running, SpawnError, system};

/// Starts programs, each under its own keeper. An idle keeper waits for the next program, because
/// starting a keeper costs more than all of its work. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Keepers {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    program: PathBuf,
    idle: Mutex<Vec<KeeperLink>>,
}

impl Keepers {
    /// Creates keepers from `program`, a binary that calls [`keeper_main`](crate::keeper_main):
    /// regreen's own.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        let idle = Mutex::new(Vec::new());
        Self {
            shared: Arc::new(Shared { program, idle }),
        }
    }

    /// Starts a program.
    ///
    /// Everything it starts is gone when [`Running::wait`] returns, when the `Running` is dropped,
    /// or when this process ends, in whatever way.
    ///
    /// # Errors
    ///
    /// Returns an error if no keeper can be started: no descriptors, no processes, no such binary.
    pub fn spawn(&self, spec: ProcessSpec) -> Result<Running, SpawnError> {
        let order = Order::of(&spec);
        let (ours, child) = Pipes::make(spec.stdin, spec.masks.as_ref())?;
        let link = self.assign(|link| link.give(&order, &child))?;
        Ok(Running::new(
            self.clone(),
            link,
            ours,
            spec.limits,
            spec.marker,
        ))
    }

    /// Returns a keeper that accepted the order: an idle one, unless it died, or a new one.
    fn assign(
        &self,
        give: impl Fn(&KeeperLink) -> io::Result<()>,
    ) -> Result<KeeperLink, SpawnError> {
        // Don't hold the list here: dropping a dead keeper waits for it.
        let mut waiting = self.idle().pop();
        while let Some(link) = waiting {
            if give(&link).is_ok() {
                return Ok(link);
            }
            waiting = self.idle().pop();
        }
        let link = KeeperLink::start(&self.shared.program).map_err(SpawnError::Keeper)?;
        give(&link).map_err(SpawnError::Order)?;
        Ok(link)
    }

    /// Keeps an idle keeper for the next program.
    pub(crate) fn return_idle(&self, link: KeeperLink) {
        self.idle().push(link);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<KeeperLink>> {
        let lock = self.shared.idle.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A keeper, and the socket to it.
#[derive(Debug)]
pub(crate) struct KeeperLink {
    keeper: Child,
    socket: UnixStream,
    ended: bool,
    /// The memory for reading output, which its programs use one after the other.
    buffer: Vec<u8>,
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
            buffer: Vec::new(),
        })
    }

    pub(crate) fn give(&self, order: &Order, child: &ChildPipes) -> io::Result<()> {
        send_order(&self.socket, order, &child.descriptors())
    }

    /// Returns the memory for reading output, with this length.
    pub(crate) fn take_buffer(&mut self, length: usize) -> Vec<u8> {
        let mut buffer = mem::take(&mut self.buffer);
        buffer.resize(length, 0);
        buffer
    }

    pub(crate) fn return_buffer(&mut self, buffer: Vec<u8>) {
        self.buffer = buffer;
    }

    /// Asks it to end everything. A dead keeper is noticed elsewhere.
    pub(crate) fn ask_to_end(&mut self) {
        let _ = self.socket.write_all(&[END]);
    }

    /// Reads its reports; returns 0 when it is gone.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.socket.read(bytes)
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Kills a keeper that doesn't answer.
    pub(crate) fn kill(&mut self) {
        let _ = self.keeper.kill();
    }

    /// Returns the processor time that it and its descendants have used.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let pid = i32::try_from(self.keeper.id()).ok();
        system::cpu_time(Pid::from_raw(pid?)?)
    }

    /// Waits for a keeper that has closed its end or seen ours closed.
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
