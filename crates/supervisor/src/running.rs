use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::keepers::KeeperLink;
use crate::pipes::{OutputPipe, Pipes};
use crate::process_end::{Message, STATUS_LEN, Status};
use crate::progress::Progress;
use crate::sleep_watch::{Clocks, HEARTBEAT};
use crate::{EndReason, Handle, Keepers, Marker, Observer, ProcessEnd, TimeLimits, end_strays};

/// The maximum size of one read. This is all the memory that output needs, whatever its size.
const BUFFER: usize = 64 * 1024;

/// A program running under a keeper.
#[derive(Debug)]
pub struct Running {
    keepers: Keepers,
    keeper: KeeperLink,
    pipes: Pipes,
    limits: TimeLimits,
    marker: Marker,
    started: Instant,
    /// The beginning of a status that hasn't arrived completely.
    status: Vec<u8>,
}

/// The ends that are ready to be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ready {
    Output(usize),
    Stdin,
    Keeper,
    Handle,
}

impl Running {
    pub(crate) fn new(
        keepers: Keepers,
        keeper: KeeperLink,
        pipes: Pipes,
        limits: TimeLimits,
        marker: Marker,
    ) -> Self {
        Self {
            keepers,
            keeper,
            pipes,
            limits,
            marker,
            started: Instant::now(),
            status: Vec::new(),
        }
    }

    /// Returns a handle that controls the program while `wait` runs.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.pipes.handle.clone()
    }

    /// Runs the program to its end on this thread: delivers output, feeds stdin and enforces the
    /// limits. When this returns, nothing that the program started is left.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses to poll. Everything is ended then as well.
    pub fn wait(mut self, observer: &mut dyn Observer) -> io::Result<ProcessEnd> {
        // The keeper's usage for earlier programs doesn't count.
        let cpu = self.limits.idle.and_then(|_| self.keeper.cpu_time());
        let mut progress = Progress::new(self.limits, self.started, cpu);
        let mut buffer = self.keeper.take_buffer(BUFFER);
        while !self.is_over(&progress) {
            let pause = progress.pause(Instant::now());
            let pause = pause.map_or(HEARTBEAT, |pause| pause.min(HEARTBEAT));
            let before = Clocks::now();
            let ready = self.wait_for_ready(pause, &progress)?;
            progress.slept(before.asleep_during(pause, Clocks::now()));
            for ready in ready {
                self.handle_ready(ready, &mut buffer, &mut progress, observer);
            }
            self.enforce_limits(&mut progress, observer);
        }
        self.keeper.return_buffer(buffer);
        Ok(self.finish(progress, observer))
    }

    fn is_over(&self, progress: &Progress) -> bool {
        let quiet = !self.pipes.outputs.iter().any(OutputPipe::is_open);
        progress.is_over(quiet, Instant::now())
    }

    fn wait_for_ready(&self, pause: Duration, progress: &Progress) -> io::Result<Vec<Ready>> {
        let polled = self.polled(progress);
        let mut fds: Vec<PollFd<'_>> = polled
            .iter()
            .map(|(ready, fd)| {
                let wanted = if *ready == Ready::Stdin {
                    PollFlags::OUT
                } else {
                    PollFlags::IN
                };
                PollFd::from_borrowed_fd(*fd, wanted)
            })
            .collect();
        let timeout = pause.try_into().ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        let ready = polled.iter().zip(&fds);
        let ready = ready.filter(|(_, fd)| !fd.revents().is_empty());
        Ok(ready.map(|((ready, _), _)| *ready).collect())
    }

    fn polled(&self, progress: &Progress) -> Vec<(Ready, BorrowedFd<'_>)> {
        let output = |index: usize| {
            let descriptor = self.pipes.outputs[index].descriptor()?;
            Some((Ready::Output(index), descriptor))
        };
        let writes = self.pipes.stdin.as_ref().filter(|_| self.has_to_write());
        let stdin = writes.map(|stdin| (Ready::Stdin, stdin.as_fd()));
        // When everything is gone, the keeper has nothing more to report.
        let may_report = !progress.is_all_gone();
        let keeper = may_report.then(|| (Ready::Keeper, self.keeper.descriptor()));
        let handle = Some((Ready::Handle, self.pipes.waker.0.as_fd()));
        [output(0), output(1), stdin, keeper, handle]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Whether there is something to write to stdin, or only to close it.
    fn has_to_write(&self) -> bool {
        let requests = self.pipes.handle.requests();
        requests.closed || !requests.outbox.is_empty()
    }

    fn handle_ready(
        &mut self,
        ready: Ready,
        buffer: &mut [u8],
        progress: &mut Progress,
        observer: &mut dyn Observer,
    ) {
        match ready {
            Ready::Output(index) => {
                if self.pipes.outputs[index].pump(buffer, observer) {
                    progress.output(Instant::now());
                }
            }
            Ready::Stdin => self.write_stdin(),
            Ready::Keeper => self.read_keeper(progress, observer),
            Ready::Handle => {
                self.pipes.waker.clear();
                let asked = self.pipes.handle.requests().end;
                if let Some(reason) = asked {
                    self.end(reason, progress);
                }
            }
        }
    }

    fn write_stdin(&mut self) {
        let Some(pipe) = &mut self.pipes.stdin else {
            return;
        };
        let mut requests = self.pipes.handle.requests();
        let written = match requests.outbox.as_slices().0 {
            [] => Ok(0),
            bytes => pipe.write(bytes),
        };
        let broken = match written {
            Ok(len) => {
                requests.outbox.drain(..len);
                false
            }
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        };
        if broken {
            requests.closed = true;
            requests.outbox.clear();
        }
        if requests.closed && requests.outbox.is_empty() {
            drop(requests);
            self.pipes.stdin = None;
        }
    }

    fn read_keeper(&mut self, progress: &mut Progress, observer: &mut dyn Observer) {
        let mut bytes = [0; 8 * STATUS_LEN];
        match self.keeper.read(&mut bytes) {
            Ok(len @ 1..) => self.status.extend_from_slice(&bytes[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
            Ok(0) | Err(_) => self.keeper_gone(progress),
        }
        while let Some(message) = Message::take(&mut self.status) {
            match message {
                Message::Status(status) => {
                    progress.update(status, Instant::now());
                    if let Status::Ended(exit) = status {
                        observer.exited(exit);
                    }
                }
                Message::LeftRunning(lines) => progress.left_running(lines),
            }
        }
    }

    /// Handles the death of the keeper. The marker finds whatever it left behind.
    fn keeper_gone(&mut self, progress: &mut Progress) {
        self.keeper.wait();
        let strays = end_strays(self.marker.as_str(), self.limits.grace);
        let gone = Status::Gone {
            leftovers: strays.ended,
            unended: strays.left,
        };
        progress.update(gone, Instant::now());
    }

    fn enforce_limits(&mut self, progress: &mut Progress, observer: &mut dyn Observer) {
        let now = Instant::now();
        if progress.is_keeper_overdue(now) {
            // Its death is noticed like any other.
            self.keeper.kill();
        }
        if progress.is_past_hard_limit(now) {
            self.end(EndReason::HardLimit, progress);
        } else if progress.is_idle_check_due(now) {
            let cpu = self.keeper.cpu_time();
            if progress.is_idle(now, cpu) && !progress.has_file_activity(now, observer) {
                self.end(EndReason::IdleLimit, progress);
            }
        }
    }

    fn end(&mut self, reason: EndReason, progress: &mut Progress) {
        if progress.begin_end(reason, Instant::now()) {
            self.keeper.ask_to_end();
        }
    }

    fn finish(mut self, progress: Progress, observer: &mut dyn Observer) -> ProcessEnd {
        for output in &mut self.pipes.outputs {
            output.close(observer);
        }
        self.pipes.handle.requests().closed = true;
        let [stdout, stderr] = &self.pipes.outputs;
        let ended = progress.ended(stdout.bytes(), stderr.bytes());
        if ended.unended == 0 && !self.keeper.has_ended() {
            self.keepers.return_idle(self.keeper);
        }
        ended
    }
}
