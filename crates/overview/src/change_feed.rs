//! Says when the journal of a workspace may have changed, and when the run's process ended, without
//! looking again and again.

use std::io;
use std::path::Path;
use std::time::Duration;

/// What a [`ChangeFeed`] woke up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A file of regreen was written.
    Written,
    /// A process that was watched has ended.
    ProcessEnded,
    /// The other descriptor with this position became readable.
    Woken(usize),
    /// Nothing happened within the time.
    Nothing,
}

#[cfg(target_os = "linux")]
pub use linux::ChangeFeed;
#[cfg(not(target_os = "linux"))]
pub use portable::ChangeFeed;

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify;
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::{Change, Duration, Path, io};

    /// Watches the folders of workspaces, and the processes of their runs.
    #[derive(Debug)]
    pub struct ChangeFeed {
        files: OwnedFd,
        processes: Vec<OwnedFd>,
    }

    impl ChangeFeed {
        /// Watches regreen's folder of a workspace.
        ///
        /// # Errors
        /// Returns an error if the folder does not exist, or the system has no more watches.
        pub fn new(folder: &Path) -> io::Result<Self> {
            let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
            let mut feed = Self {
                files: inotify::init(flags)?,
                processes: Vec::new(),
            };
            feed.watch_folder(folder)?;
            Ok(feed)
        }

        /// Also watches another folder.
        ///
        /// # Errors
        /// Returns an error if the folder does not exist, or the system has no more watches.
        pub fn watch_folder(&mut self, folder: &Path) -> io::Result<()> {
            let events = inotify::WatchFlags::MODIFY
                | inotify::WatchFlags::CREATE
                | inotify::WatchFlags::MOVED_TO
                | inotify::WatchFlags::DELETE;
            inotify::add_watch(&self.files, folder, events)?;
            Ok(())
        }

        /// Also watches a process. Returns whether it exists.
        pub fn watch_process(&mut self, pid: u32) -> bool {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            let process = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
            let exists = process.is_some();
            self.processes.extend(process);
            exists
        }

        /// Waits until something happens, or until one of the `others` becomes readable.
        ///
        /// # Errors
        /// Returns an error if the system can't wait.
        pub fn wait(
            &mut self,
            limit: Option<Duration>,
            others: &[BorrowedFd<'_>],
        ) -> io::Result<Change> {
            let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
            let (is_written, ended, woken) = loop {
                let mut ready = vec![PollFd::new(&self.files, PollFlags::IN)];
                let processes = self.processes.iter();
                ready.extend(processes.map(|process| PollFd::new(process, PollFlags::IN)));
                let others_at = ready.len();
                let others = others.iter();
                ready.extend(others.map(|other| PollFd::from_borrowed_fd(*other, PollFlags::IN)));
                match poll(&mut ready, limit.as_ref()) {
                    Err(Errno::INTR) => continue,
                    result => result?,
                };
                let is_ready = |at: usize| {
                    let found = ready.get(at);
                    found.is_some_and(|found| !found.revents().is_empty())
                };
                break (
                    is_ready(0),
                    (1..others_at).find(|at| is_ready(*at)),
                    (others_at..ready.len())
                        .find(|at| is_ready(*at))
                        .map(|at| at - others_at),
                );
            };
            if let Some(woken) = woken {
                return Ok(Change::Woken(woken));
            }
            if let Some(ended) = ended {
                self.processes.remove(ended - 1);
                return Ok(Change::ProcessEnded);
            }
            if is_written {
                self.drain();
                return Ok(Change::Written);
            }
            Ok(Change::Nothing)
        }

        /// Forgets the notifications so far; what they were about is read in any case.
        fn drain(&self) {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = inotify::Reader::new(self.files.as_fd(), &mut buffer);
            while events.next().is_ok() {}
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::os::fd::BorrowedFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, test_kill_process};

    use super::{Change, Duration, Path, io};

    /// How often to look, where the system can't be asked to say when.
    const INTERVAL: Duration = Duration::from_millis(250);

    /// Wakes up several times a second: this system has no notification that is used here.
    #[derive(Debug)]
    pub struct ChangeFeed {
        processes: Vec<Pid>,
    }

    impl ChangeFeed {
        /// Watches regreen's folder of a workspace.
        ///
        /// # Errors
        /// Never, on this system.
        pub fn new(_folder: &Path) -> io::Result<Self> {
            Ok(Self {
                processes: Vec::new(),
            })
        }

        /// Also watches another folder.
        ///
        /// # Errors
        /// Never, on this system.
        pub fn watch_folder(&mut self, _folder: &Path) -> io::Result<()> {
            Ok(())
        }

        /// Also watches a process. Returns whether it exists.
        pub fn watch_process(&mut self, pid: u32) -> bool {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            let process = pid.filter(|pid| test_kill_process(*pid).is_ok());
            self.processes.extend(process);
            process.is_some()
        }

        /// Waits until something may have happened, or until one of the `others` becomes readable.
        ///
        /// # Errors
        /// Returns an error if the system can't wait.
        pub fn wait(
            &mut self,
            limit: Option<Duration>,
            others: &[BorrowedFd<'_>],
        ) -> io::Result<Change> {
            let pause = limit.map_or(INTERVAL, |limit| limit.min(INTERVAL));
            let mut ready: Vec<PollFd<'_>> = others
                .iter()
                .map(|other| PollFd::from_borrowed_fd(*other, PollFlags::IN))
                .collect();
            let pause = Timespec::try_from(pause).ok();
            let _ = poll(&mut ready, pause.as_ref());
            let is_ready = |found: &PollFd<'_>| !found.revents().is_empty();
            if let Some(woken) = ready.iter().position(is_ready) {
                return Ok(Change::Woken(woken));
            }
            let is_gone = |pid: &Pid| test_kill_process(*pid).is_err();
            if let Some(ended) = self.processes.iter().position(is_gone) {
                self.processes.remove(ended);
                return Ok(Change::ProcessEnded);
            }
            Ok(Change::Written)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_written_wakes_the_feed() {
        let folder = tempfile::tempdir().unwrap();
        let mut feed = ChangeFeed::new(folder.path()).unwrap();
        fs::write(folder.path().join("regreen.db-wal"), "x").unwrap();
        let change = feed.wait(Some(Duration::from_secs(10)), &[]).unwrap();
        assert_eq!(change, Change::Written);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_quiet_folder_does_not_wake_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut feed = ChangeFeed::new(folder.path()).unwrap();
        let change = feed.wait(Some(Duration::from_millis(10)), &[]).unwrap();
        assert_eq!(change, Change::Nothing);
    }
}
