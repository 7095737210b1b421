use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process_group, setsid, wait,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin};
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN,
    SIGTTOU, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
};

use crate::order::{END, Order, Received, receive_order};
use crate::process_end::{Status, encode_left_running};
use crate::system::{self, Process};
use crate::termination::{Action, Termination};
use crate::{Exit, StartStep};

/// How many leftovers are named.
const MAX_NAMED: usize = 5;

/// The first argument that makes regreen a keeper.
pub const KEEPER_ARGUMENT: &str = "__keep";

/// Runs programs, one after the other, and ends everything they start. `main` must call this first
/// if the first argument is [`KEEPER_ARGUMENT`], before anything starts a thread.
///
/// The keeper's stdin is the socket to regreen. The programs' own stdin, stdout and stderr arrive
/// with their orders and are closed here once the programs run, so no output passes through the
/// keeper.
#[must_use]
pub fn keeper_main() -> ExitCode {
    match keep() {
        Ok(()) => ExitCode::SUCCESS,
        // It was started by hand, or regreen died while sending an order.
        Err(_) => ExitCode::from(2),
    }
}

fn keep() -> io::Result<()> {
    let mut regreen = UnixStream::from(fcntl_dupfd_cloexec(stdin(), 3)?);
    let mut next = receive_order(&regreen)?;
    // This fails only if the process already leads a session, which is just as good.
    let _ = setsid();
    system::adopt_orphans()?;
    let mut children = ChildSignals::new()?;
    detach_stdio()?;
    while let Some(received) = next.take() {
        if keep_one(&mut regreen, &mut children, received)? {
            next = receive_order(&regreen)?;
        }
    }
    Ok(())
}

/// Runs one program to its end. Returns whether another can follow: nothing is left of this one,
/// and regreen is still alive.
fn keep_one(
    regreen: &mut UnixStream,
    children: &mut ChildSignals,
    received: Received,
) -> io::Result<bool> {
    let grace = received.order.grace;
    let last_copy = received.order.last_copy.clone();
    let program = match start(received) {
        Ok(program) => program,
        Err(exit) => {
            regreen.write_all(&Status::Ended(exit).encode())?;
            regreen.write_all(&Status::nothing_left().encode())?;
            return Ok(true);
        }
    };
    // If regreen is dead, the next poll notices.
    let _ = regreen.write_all(&Status::Started.encode());
    let end = Keeper {
        regreen: Some(regreen),
        children,
        program,
        exit: None,
        termination: Termination::new(grace),
        signalled: HashSet::new(),
        told_left_running: false,
    }
    .run()?;
    Ok(match end {
        End::Clean => true,
        End::Unended => false,
        End::Abandoned => {
            // Elsewhere something may have got away. Without a copy, the next run does not know who
            // changed the file, and says so.
            let last_copy = last_copy.filter(|_| cfg!(target_os = "linux"));
            let _ = last_copy.map(|last| last.make());
            false
        }
    })
}

/// How a program and everything that it started has ended.
enum End {
    Clean,
    /// Something could not be ended.
    Unended,
    /// Nothing is left, and regreen is gone.
    Abandoned,
}

/// Starts the program in its own process group, so that `kill -9 0` doesn't reach the keeper.
fn start(received: Received) -> Result<Pid, Exit> {
    let order = &received.order;
    let failed = |step| move |error: io::Error| not_started(step, &error);
    std::env::set_current_dir(&order.cwd).map_err(failed(StartStep::Folder))?;
    let mut command = command(order).ok_or(Exit::NotStarted {
        step: StartStep::Program,
        errno: Errno::NOENT.raw_os_error(),
    })?;
    let child = command
        .process_group(0)
        .stdin(received.stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(received.stdout)
        .stderr(received.stderr)
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

/// The keeper uses none of its own standard streams, and no program may find the socket there.
fn detach_stdio() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(())
}

struct Keeper<'k> {
    /// `None` once regreen is gone.
    regreen: Option<&'k mut UnixStream>,
    children: &'k mut ChildSignals,
    program: Pid,
    exit: Option<Exit>,
    termination: Termination,
    signalled: HashSet<Process>,
    told_left_running: bool,
}

impl Keeper<'_> {
    /// Runs until nothing is left.
    fn run(mut self) -> io::Result<End> {
        loop {
            if !self.reap()? {
                self.leave(0);
                return Ok(match self.regreen {
                    Some(_) => End::Clean,
                    None => End::Abandoned,
                });
            }
            let action = self.termination.next(Instant::now());
            self.perform(action);
            if action == Action::GiveUp {
                self.leave(self.descendants().len());
                return Ok(End::Unended);
            }
            self.wait_for_news(Termination::pause_after(action))?;
        }
    }

    /// Waits for all children that have ended. Returns whether any are left.
    fn reap(&mut self) -> io::Result<bool> {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => self.program_ended(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Ok(true),
                Err(Errno::CHILD) => return Ok(system::any_left(self.program)),
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
        self.termination.program_ended(Instant::now());
        self.tell(Status::Ended(exit));
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Ask => {
                self.tell_left_running();
                self.signal_all(Signal::TERM);
            }
            Action::Kill => self.signal_all(Signal::KILL),
            Action::Wait(_) | Action::GiveUp => {}
        }
    }

    /// Reports, once, what a program that ended by itself left running.
    fn tell_left_running(&mut self) {
        if self.exit.is_none() || std::mem::replace(&mut self.told_left_running, true) {
            return;
        }
        let left = self.descendants();
        let lines = left
            .iter()
            .filter_map(|process| system::command_line(*process));
        let lines: Vec<String> = lines.take(MAX_NAMED).collect();
        if !lines.is_empty()
            && let Some(regreen) = &mut self.regreen
        {
            // If regreen is gone, the next poll notices.
            let _ = regreen.write_all(&encode_left_running(&lines));
        }
    }

    fn signal_all(&mut self, signal: Signal) {
        let descendants = self.descendants();
        if descendants.is_empty() && self.exit.is_none() {
            // Without /proc, signal at least the program and its group.
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
        let pause = match (pause, system::POLL_INTERVAL) {
            (Some(pause), Some(cap)) => Some(pause.min(cap)),
            (pause, cap) => pause.or(cap),
        };
        let regreen = self.regreen.as_deref().map(AsFd::as_fd);
        let descriptors = regreen.into_iter().chain([self.children.descriptor()]);
        let mut fds: Vec<PollFd<'_>> = descriptors
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        // Pauses too long for the type don't occur.
        let timeout = pause.and_then(|pause| pause.try_into().ok());
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let has_message =
            regreen.is_some() && fds.first().is_some_and(|fd| !fd.revents().is_empty());
        self.children.clear();
        if has_message {
            self.listen();
        }
        Ok(())
    }

    fn listen(&mut self) {
        let Some(regreen) = &mut self.regreen else {
            return;
        };
        let mut word = [0];
        let action = match regreen.read(&mut word) {
            Ok(1..) if word == [END] => self.termination.end_requested(Instant::now()),
            Ok(1..) => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
            Ok(0) | Err(_) => {
                self.regreen = None;
                self.termination.abandoned(Instant::now())
            }
        };
        self.perform(action);
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
            // If regreen is gone, the next poll notices.
            let _ = regreen.write_all(&status.encode());
        }
    }
}

/// Signals that end or stop a process by default.
const IGNORED_SIGNALS: [i32; 15] = [
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU,
    SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
];

/// Reports when a child has ended, and ignores other signals: a program that signals its parent
/// must not end its keeper.
///
/// These are handlers, not a mask: exec resets handlers, whereas a child would inherit a mask, and
/// signals could arrive before we block them.
#[derive(Debug)]
pub(crate) struct ChildSignals(UnixStream);

impl ChildSignals {
    pub(crate) fn new() -> io::Result<Self> {
        let (ours, handlers) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, handlers)?;
        let ignored = Arc::new(AtomicBool::new(false));
        for signal in IGNORED_SIGNALS {
            signal_hook::flag::register(signal, Arc::clone(&ignored))?;
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
