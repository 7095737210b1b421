use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::ends::Ends;
use crate::keeper_link::KeeperLink;
use crate::progress::Progress;
use crate::source::Source;
use crate::status::{STATUS_LEN, Status};
use crate::{EndReason, Ended, Handle, Keepers, Marker, Observer, TimeLimits, end_strays};

/// One read takes at most so much; it is all the memory that output needs, whatever its size.
const BUFFER: usize = 64 * 1024;

/// A program that runs under a keeper.
#[derive(Debug)]
pub struct Running {
    keepers: Keepers,
    keeper: KeeperLink,
    ends: Ends,
    limits: TimeLimits,
    marker: Marker,
    started: Instant,
    /// Part of a status that has not arrived whole.
    status: Vec<u8>,
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
        keepers: Keepers,
        keeper: KeeperLink,
        ends: Ends,
        limits: TimeLimits,
        marker: Marker,
    ) -> Self {
        Self {
            keepers,
            keeper,
            ends,
            limits,
            marker,
            started: Instant::now(),
            status: Vec::new(),
        }
    }

    /// To speak to the run while it is waited for.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.ends.handle.clone()
    }

    /// Runs it to its end on this thread: passes output on, feeds stdin, keeps the limits.
    /// When it returns, nothing the program started is left.
    ///
    /// # Errors
    ///
    /// If the system refuses to poll. Everything is ended then, too.
    pub fn wait(mut self, observer: &mut dyn Observer) -> io::Result<Ended> {
        // What the keeper has kept before does not count.
        let cpu = self.limits.idle.and_then(|_| self.keeper.cpu_time());
        let mut progress = Progress::new(self.limits, self.started, cpu);
        let mut buffer = vec![0; BUFFER];
        while !self.is_over(&progress) {
            let pause = progress.pause(Instant::now());
            for party in self.wait_for_news(pause, &progress)? {
                self.attend_to(party, &mut buffer, &mut progress, observer);
            }
            self.keep_limits(&mut progress, observer);
        }
        Ok(self.finish(progress, observer))
    }

    fn is_over(&self, progress: &Progress) -> bool {
        let quiet = !self.ends.sources.iter().any(Source::is_open);
        progress.is_over(quiet, Instant::now())
    }

    fn wait_for_news(
        &self,
        pause: Option<Duration>,
        progress: &Progress,
    ) -> io::Result<Vec<Party>> {
        let parties = self.parties(progress);
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

    fn parties(&self, progress: &Progress) -> Vec<(Party, BorrowedFd<'_>)> {
        let source = |index: usize| {
            let descriptor = self.ends.sources[index].descriptor()?;
            Some((Party::Source(index), descriptor))
        };
        let writes = self.ends.stdin.as_ref().filter(|_| self.has_to_write());
        let stdin = writes.map(|stdin| (Party::Stdin, stdin.as_fd()));
        // When all are gone it has said its last word about them.
        let speaks = !progress.is_all_gone();
        let keeper = speaks.then(|| (Party::Keeper, self.keeper.descriptor()));
        let handle = Some((Party::Handle, self.ends.alarm.0.as_fd()));
        [source(0), source(1), stdin, keeper, handle]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Also if it only has to close it.
    fn has_to_write(&self) -> bool {
        let requests = self.ends.handle.requests();
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
                if self.ends.sources[index].pump(buffer, observer) {
                    progress.output(Instant::now());
                }
            }
            Party::Stdin => self.write_stdin(),
            Party::Keeper => self.hear_keeper(progress),
            Party::Handle => {
                self.ends.alarm.silence();
                let asked = self.ends.handle.requests().end;
                if let Some(reason) = asked {
                    self.end(reason, progress);
                }
            }
        }
    }

    fn write_stdin(&mut self) {
        let Some(pipe) = &mut self.ends.stdin else {
            return;
        };
        let mut requests = self.ends.handle.requests();
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
            self.ends.stdin = None;
        }
    }

    fn hear_keeper(&mut self, progress: &mut Progress) {
        let mut bytes = [0; 8 * STATUS_LEN];
        match self.keeper.read(&mut bytes) {
            Ok(len @ 1..) => self.status.extend_from_slice(&bytes[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
            Ok(0) | Err(_) => self.keeper_gone(progress),
        }
        while let Some((status, rest)) = self.status.split_first_chunk::<STATUS_LEN>() {
            progress.heard(Status::decode(*status), Instant::now());
            self.status = rest.to_vec();
        }
    }

    /// It was killed. What it leaves behind is found by its marker.
    fn keeper_gone(&mut self, progress: &mut Progress) {
        self.keeper.wait();
        let strays = end_strays(self.marker.as_str(), self.limits.grace);
        let gone = Status::Gone {
            leftovers: strays.ended,
            unended: strays.left,
        };
        progress.heard(gone, Instant::now());
    }

    fn keep_limits(&mut self, progress: &mut Progress, observer: &mut dyn Observer) {
        let now = Instant::now();
        if progress.is_keeper_overdue(now) {
            // Its end is noticed like any other.
            self.keeper.kill();
        }
        if progress.is_past_hard_limit(now) {
            self.end(EndReason::HardLimit, progress);
        } else if progress.is_time_to_look(now) {
            let cpu = self.keeper.cpu_time();
            if progress.looks_idle(now, cpu) && !progress.excused(now, observer) {
                self.end(EndReason::IdleLimit, progress);
            }
        }
    }

    fn end(&mut self, reason: EndReason, progress: &mut Progress) {
        if progress.begin_end(reason, Instant::now()) {
            self.keeper.ask_to_end();
        }
    }

    fn finish(mut self, progress: Progress, observer: &mut dyn Observer) -> Ended {
        for source in &mut self.ends.sources {
            source.close(observer);
        }
        self.ends.handle.requests().closed = true;
        let [stdout, stderr] = &self.ends.sources;
        let ended = progress.ended(stdout.bytes(), stderr.bytes());
        if ended.unended == 0 && !self.keeper.has_ended() {
            self.keepers.take_back(self.keeper);
        }
        ended
    }
}
