use std::io::{self, PipeWriter, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Pid;

use crate::handle::Alarm;
use crate::progress::Progress;
use crate::source::Source;
use crate::status::{STATUS_LEN, Status};
use crate::wire::END;
use crate::{EndReason, Ended, Handle, Marker, Observer, TimeLimits, end_strays, system};

/// One read takes at most so much; it is all the memory that output needs, whatever its size.
const BUFFER: usize = 64 * 1024;

/// A program that runs under a keeper.
#[derive(Debug)]
pub struct Running {
    keeper: Child,
    control: UnixStream,
    sources: [Source; 2],
    /// `None` once closed.
    stdin: Option<PipeWriter>,
    handle: Handle,
    alarm: Alarm,
    limits: TimeLimits,
    marker: Marker,
    started: Instant,
    /// Part of a status that has not arrived whole.
    status: Vec<u8>,
    reaped: bool,
}

/// Who has something for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Party {
    Source(usize),
    Stdin,
    Keeper,
    Handle,
}

impl Running {
    pub(crate) fn new(
        keeper: Child,
        control: UnixStream,
        sources: [Source; 2],
        stdin: Option<PipeWriter>,
        (handle, alarm): (Handle, Alarm),
        limits: TimeLimits,
        marker: Marker,
    ) -> Self {
        Self {
            keeper,
            control,
            sources,
            stdin,
            handle,
            alarm,
            limits,
            marker,
            started: Instant::now(),
            status: Vec::new(),
            reaped: false,
        }
    }

    pub(crate) fn control(&self) -> &UnixStream {
        &self.control
    }

    /// To speak to the run while it is waited for.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs it to its end on this thread: passes output on, feeds stdin, keeps the limits.
    /// When it returns, nothing the program started is left.
    ///
    /// # Errors
    ///
    /// If the system refuses to poll. Everything is ended then, too.
    pub fn wait(mut self, observer: &mut dyn Observer) -> io::Result<Ended> {
        let mut progress = Progress::new(self.limits, self.started);
        let mut buffer = vec![0; BUFFER];
        while !self.is_over(&progress) {
            let pause = progress.pause(Instant::now());
            for party in self.wait_for_news(pause)? {
                self.attend_to(party, &mut buffer, &mut progress, observer);
            }
            self.keep_limits(&mut progress, observer);
        }
        Ok(self.finish(progress, observer))
    }

    fn is_over(&self, progress: &Progress) -> bool {
        let quiet = !self.sources.iter().any(Source::is_open);
        progress.is_over(quiet, Instant::now())
    }

    fn wait_for_news(&self, pause: Option<Duration>) -> io::Result<Vec<Party>> {
        let parties = self.parties();
        let mut fds: Vec<PollFd<'_>> = parties
            .iter()
            .map(|(party, fd)| {
                let wanted = if *party == Party::Stdin {
                    PollFlags::OUT
                } else {
                    PollFlags::IN
                };
                PollFd::from_borrowed_fd(*fd, wanted)
            })
            .collect();
        let timeout = pause.and_then(|pause| pause.try_into().ok());
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        let ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let news = parties.iter().zip(&fds).filter(|(_, fd)| ready(fd));
        Ok(news.map(|((party, _), _)| *party).collect())
    }

    fn parties(&self) -> Vec<(Party, BorrowedFd<'_>)> {
        let source = |index: usize| Some((Party::Source(index), self.sources[index].descriptor()?));
        let writes = self.stdin.as_ref().filter(|_| self.has_to_write());
        let stdin = writes.map(|stdin| (Party::Stdin, stdin.as_fd()));
        let keeper = (!self.reaped).then(|| (Party::Keeper, self.control.as_fd()));
        let handle = Some((Party::Handle, self.alarm.0.as_fd()));
        [source(0), source(1), stdin, keeper, handle]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Also if it only has to close it.
    fn has_to_write(&self) -> bool {
        let requests = self.handle.requests();
        requests.closed || !requests.outbox.is_empty()
    }

    fn attend_to(
        &mut self,
        party: Party,
        buffer: &mut [u8],
        progress: &mut Progress,
        observer: &mut dyn Observer,
    ) {
        match party {
            Party::Source(index) => {
                if self.sources[index].pump(buffer, observer) {
                    progress.output(Instant::now());
                }
            }
            Party::Stdin => self.write_stdin(),
            Party::Keeper => self.hear_keeper(progress),
            Party::Handle => {
                self.alarm.silence();
                let asked = self.handle.requests().end;
                if let Some(reason) = asked {
                    self.end(reason, progress);
                }
            }
        }
    }

    fn write_stdin(&mut self) {
        let Some(pipe) = &mut self.stdin else {
            return;
        };
        let mut requests = self.handle.requests();
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
            self.stdin = None;
        }
    }

    fn hear_keeper(&mut self, progress: &mut Progress) {
        let mut bytes = [0; 8 * STATUS_LEN];
        match self.control.read(&mut bytes) {
            Ok(len @ 1..) => self.status.extend_from_slice(&bytes[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
            Ok(0) | Err(_) => self.keeper_gone(progress),
        }
        while let Some((status, rest)) = self.status.split_first_chunk::<STATUS_LEN>() {
            progress.heard(Status::decode(*status), Instant::now());
            self.status = rest.to_vec();
        }
    }

    /// What a keeper that was killed leaves behind is found by its marker.
    fn keeper_gone(&mut self, progress: &mut Progress) {
        // It has closed its end, so it ends now if it has not.
        let _ = self.keeper.wait();
        self.reaped = true;
        if !progress.is_all_gone() {
            let strays = end_strays(self.marker.as_str(), self.limits.grace);
            progress.heard(
                Status::Gone {
                    leftovers: strays.ended,
                    unended: strays.left,
                },
                Instant::now(),
            );
        }
        progress.keeper_gone(Instant::now());
    }

    fn keep_limits(&mut self, progress: &mut Progress, observer: &mut dyn Observer) {
        let now = Instant::now();
        if progress.is_keeper_overdue(now) {
            // Its end is noticed like any other.
            let _ = self.keeper.kill();
        }
        if progress.is_past_hard_limit(now) {
            self.end(EndReason::HardLimit, progress);
        } else if progress.is_time_to_look(now) {
            let cpu = keeper_pid(&self.keeper).and_then(system::cpu_time);
            if progress.looks_idle(now, cpu) && !progress.excused(now, observer) {
                self.end(EndReason::IdleLimit, progress);
            }
        }
    }

    fn end(&mut self, reason: EndReason, progress: &mut Progress) {
        if progress.begin_end(reason, Instant::now()) {
            // A dead keeper is noticed by the next poll.
            let _ = self.control.write_all(&[END]);
        }
    }

    fn finish(mut self, progress: Progress, observer: &mut dyn Observer) -> Ended {
        for source in &mut self.sources {
            source.close(observer);
        }
        self.handle.requests().closed = true;
        progress.ended(self.sources[0].bytes(), self.sources[1].bytes())
    }
}

fn keeper_pid(keeper: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(keeper.id()).ok()?)
}

impl Drop for Running {
    /// The keeper takes a closed socket for the end of regreen.
    fn drop(&mut self) {
        if !self.reaped {
            let _ = self.control.shutdown(Shutdown::Both);
            let _ = self.keeper.wait();
        }
    }
}
