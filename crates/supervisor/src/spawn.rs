use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::order::Order;
use crate::source::Source;
use crate::{Handle, KEEPER_ARGUMENT, Running, Spec, Stdin, Stream, wire};

/// The keeper could not be set up. That the program itself cannot be started is no such
/// error, but an [`Exit`](crate::Exit).
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("cannot make a pipe")]
    Pipe(#[source] io::Error),
    #[error("cannot start the keeper")]
    Keeper(#[source] io::Error),
    #[error("cannot give the keeper its order")]
    Order(#[source] io::Error),
}

/// Starts a keeper for `spec`. `keeper` is the path of a binary that calls
/// [`keeper_main`](crate::keeper_main): regreen's own.
///
/// Everything the program starts is gone when [`Running::wait`] returns, when the `Running` is
/// dropped, or when this process ends, however it ends.
///
/// # Errors
///
/// If there is no keeper to be had: no descriptors, no processes, no such binary.
pub fn spawn(keeper: &Path, spec: Spec) -> Result<Running, SpawnError> {
    let (stdout, child_stdout) = output_pipe().map_err(SpawnError::Pipe)?;
    let (stderr, child_stderr) = output_pipe().map_err(SpawnError::Pipe)?;
    let (control, keeper_control) = UnixStream::pair().map_err(SpawnError::Pipe)?;
    let (child_stdin, stdin) = input_pipe(&spec.stdin).map_err(SpawnError::Pipe)?.unzip();
    let order = order(&spec);
    let (outbox, closed) = match spec.stdin {
        Stdin::Empty => (Vec::new(), true),
        Stdin::Bytes(bytes) => (bytes, true),
        Stdin::Pipe => (Vec::new(), false),
    };
    let (handle, alarm) = Handle::new(outbox, closed).map_err(SpawnError::Pipe)?;
    let keeper = start_keeper(keeper, keeper_control, child_stdout, child_stderr)
        .map_err(SpawnError::Keeper)?;
    let running = Running::new(
        keeper,
        control,
        [
            Source::new(Stream::Stdout, stdout, spec.masks.as_ref()),
            Source::new(Stream::Stderr, stderr, spec.masks.as_ref()),
        ],
        stdin,
        (handle, alarm),
        spec.limits,
        spec.marker,
    );
    // From here on, dropping `running` cleans up.
    let child_stdin = child_stdin.as_ref().map(AsFd::as_fd);
    wire::send_order(running.control(), &order, child_stdin).map_err(SpawnError::Order)?;
    Ok(running)
}

fn order(spec: &Spec) -> Order {
    let (name, value) = spec.marker.variable();
    let mut env = spec.env.clone();
    env.push((name, Some(value)));
    Order {
        argv: spec.argv.clone(),
        cwd: spec.cwd.clone(),
        env,
        grace: spec.limits.grace,
    }
}

/// The descriptors are closed here when the command is dropped: only the keeper and the child
/// hold the writing ends then. All are closed on exec, so no other child gets hold of them.
fn start_keeper(
    keeper: &Path,
    control: UnixStream,
    stdout: PipeWriter,
    stderr: PipeWriter,
) -> io::Result<Child> {
    Command::new(keeper)
        .arg(KEEPER_ARGUMENT)
        .stdin(OwnedFd::from(control))
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
}

fn output_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    never_block(&reader)?;
    Ok((reader, writer))
}

fn input_pipe(stdin: &Stdin) -> io::Result<Option<(PipeReader, PipeWriter)>> {
    if *stdin == Stdin::Empty {
        return Ok(None);
    }
    let (reader, writer) = io::pipe()?;
    never_block(&writer)?;
    Ok(Some((reader, writer)))
}

/// Only this end of the pipe: the child's end has flags of its own.
fn never_block(end: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(end)?;
    Ok(fcntl_setfl(end, flags | OFlags::NONBLOCK)?)
}
