use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process_group, setsid, wait,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin};

use crate::child_signals::ChildSignals;
use crate::farewell::{Deed, Farewell};
use crate::order::Order;
use crate::status::Status;
use crate::system::{self, Process};
use crate::wire::{self, END};
use crate::{Exit, StartStep};

/// The first argument that makes regreen a keeper.
pub const KEEPER_ARGUMENT: &str = "__keep";

/// Keeps one program and everything it starts. To be called first thing in `main` when the
/// first argument is [`KEEPER_ARGUMENT`], before anything starts a thread.
///
/// Its stdin is the socket to regreen; its stdout and stderr are the program's and are given
/// up once the program runs, so that no byte of output passes through here.
#[must_use]
pub fn keeper_main() -> ExitCode {
    match keep() {
        Ok(()) => ExitCode::SUCCESS,
        // Started by hand, or regreen died before it gave an order: there is no one to tell.
        Err(_) => ExitCode::from(2),
    }
}

fn keep() -> io::Result<()> {
    let mut regreen = UnixStream::from(fcntl_dupfd_cloexec(stdin(), 3)?);
    let (order, child_stdin) = wire::receive_order(&regreen)?;
    // Fails only if this is a session's leader already, which is as good.
    let _ = setsid();
    system::adopt_orphans()?;
    let children = ChildSignals::new()?;
    let program = match start(&order, child_stdin) {
        Ok(program) => program,
        Err(exit) => {
            regreen.write_all(&Status::Ended(exit).encode())?;
            return regreen.write_all(&Status::nothing_left().encode());
        }
    };
    give_up_stdio()?;
    // A dead regreen is noticed by the poll that follows.
    let _ = regreen.write_all(&Status::Started.encode());
    Keeper {
        regreen: Some(regreen),
        children,
        program,
        exit: None,
        farewell: Farewell::new(order.grace),
        signalled: HashSet::new(),
    }
    .run()
}

/// Starts the program in a process group of its own: `kill -9 0` must not reach the keeper.
fn start(order: &Order, stdin: Option<OwnedFd>) -> Result<Pid, Exit> {
    let failed = |step| move |error: io::Error| not_started(step, &error);
    std::env::set_current_dir(&order.cwd).map_err(failed(StartStep::Folder))?;
    let mut command = command(order).ok_or(Exit::NotStarted {
        step: StartStep::Program,
        errno: Errno::NOENT.raw_os_error(),
    })?;
    let child = command
        .process_group(0)
        .stdin(stdin.map_or_else(Stdio::null, Stdio::from))
        .spawn()
        .map_err(failed(StartStep::Program))?;
    // A pid is positive and fits.
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or(Exit::Unknown)
}

fn command(order: &Order) -> Option<Command> {
    let (program, arguments) = order.argv.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments);
    for (name, value) in &order.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Some(command)
}

fn not_started(step: StartStep, error: &io::Error) -> Exit {
    Exit::NotStarted {
        step,
        errno: error
            .raw_os_error()
            .unwrap_or_else(|| Errno::INVAL.raw_os_error()),
    }
}

/// Whoever reads the output must see its end when the program's last descendant is gone, not
/// when the keeper is.
fn give_up_stdio() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(())
}

struct Keeper {
    /// `None` once regreen is gone.
    regreen: Option<UnixStream>,
    children: ChildSignals,
    program: Pid,
    exit: Option<Exit>,
    farewell: Farewell,
    signalled: HashSet<Process>,
}

impl Keeper {
    fn run(mut self) -> io::Result<()> {
        loop {
            if !self.reap()? {
                self.leave(0);
                return Ok(());
            }
            let deed = self.farewell.next(Instant::now());
            self.perform(deed);
            if deed == Deed::GiveUp {
                self.leave(self.descendants().len());
                return Ok(());
            }
            self.wait_for_news(Farewell::pause_after(deed))?;
        }
    }

    /// Takes the exits of all children that have ended; whether any are left.
    fn reap(&mut self) -> io::Result<bool> {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => self.program_ended(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Ok(true),
                Err(Errno::CHILD) => return Ok(system::is_anyone_left(self.program)),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn program_ended(&mut self, status: WaitStatus) {
        let exit = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Exit::Exited(code),
            (None, Some(signal)) => Exit::Signalled(signal),
            (None, None) => return,
        };
        self.exit = Some(exit);
        self.farewell.program_ended(Instant::now());
        self.tell(Status::Ended(exit));
    }

    fn perform(&mut self, deed: Deed) {
        match deed {
            Deed::Ask => self.signal_all(Signal::TERM),
            Deed::Kill => self.signal_all(Signal::KILL),
            Deed::Wait(_) | Deed::GiveUp => {}
        }
    }

    fn signal_all(&mut self, signal: Signal) {
        let descendants = self.descendants();
        if descendants.is_empty() && self.exit.is_none() {
            // There is no /proc to be seen: at least the program and its group.
            let _ = kill_process_group(self.program, signal);
        }
        for process in descendants {
            if system::signal(process, signal) && process.pid() != self.program {
                self.signalled.insert(process);
            }
        }
    }

    fn descendants(&self) -> Vec<Process> {
        system::descendants(getpid(), self.program)
    }

    fn wait_for_news(&mut self, pause: Option<Duration>) -> io::Result<()> {
        let pause = match (pause, system::LOOK_AGAIN) {
            (Some(pause), Some(cap)) => Some(pause.min(cap)),
            (pause, cap) => pause.or(cap),
        };
        let regreen = self.regreen.as_ref().map(AsFd::as_fd);
        let descriptors = regreen.into_iter().chain([self.children.descriptor()]);
        let mut fds: Vec<PollFd<'_>> = descriptors
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        // Longer pauses than the type can say do not occur.
        let timeout = pause.and_then(|pause| pause.try_into().ok());
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let regreen_speaks =
            regreen.is_some() && fds.first().is_some_and(|fd| !fd.revents().is_empty());
        self.children.clear();
        if regreen_speaks {
            self.listen();
        }
        Ok(())
    }

    fn listen(&mut self) {
        let Some(regreen) = &mut self.regreen else {
            return;
        };
        let mut word = [0];
        let deed = match regreen.read(&mut word) {
            Ok(1..) if word == [END] => self.farewell.told_to_end(Instant::now()),
            Ok(1..) => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
            Ok(0) | Err(_) => {
                self.regreen = None;
                self.farewell.abandoned(Instant::now())
            }
        };
        self.perform(deed);
    }

    fn leave(&mut self, unended: usize) {
        if self.exit.is_none() {
            self.tell(Status::Ended(Exit::Unknown));
        }
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.tell(Status::Gone {
            leftovers: count(self.signalled.len()).saturating_sub(count(unended)),
            unended: count(unended),
        });
    }

    fn tell(&mut self, status: Status) {
        if let Some(regreen) = &mut self.regreen {
            // If it is gone, the next poll says so.
            let _ = regreen.write_all(&status.encode());
        }
    }
}
