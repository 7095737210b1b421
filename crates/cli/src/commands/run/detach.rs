//! `regreen run --detach`: the run goes on in a session of its own, without a terminal.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use regreen_reporters::{Status, StatusLine};
use regreen_runtime::{LockPurpose, SpecPaths, TreeLock, create_own_folder, now};

use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

/// The flag of the process that runs detached.
const DETACHED: &str = "--detached";
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// Starts the same command without a terminal, waits until it has the working tree, and says how to
/// look at it.
pub(super) fn start(paths: &SpecPaths, here: &Path) -> Result<Exit, Problem> {
    let (path, file) = create_output(paths).map_err(Problem::Detach)?;
    let mut run = spawn(file).map_err(Problem::Detach)?;
    loop {
        let holder = TreeLock::holder(&paths.root);
        let is_ours = |pid: Option<u32>| pid == Some(run.id());
        if holder.is_some_and(|holder| is_ours(holder.pid) && holder.purpose == LockPurpose::Run) {
            output::print_lines(&[started(paths, run.id(), &output::path_from(here, &path))])?;
            return Ok(Exit::Success);
        }
        if let Some(status) = run.try_wait().map_err(Problem::Detach)? {
            return ended_early(&path, status.code());
        }
        thread::sleep(LOOK_INTERVAL);
    }
}

/// Leaves the session and the terminal of the process that started this one.
pub(super) fn leave_session() -> Result<(), Problem> {
    rustix::process::setsid()
        .map(drop)
        .map_err(|error| Problem::Detach(error.into()))
}

/// Creates the file that gets what the run prints, for the user alone.
fn create_output(paths: &SpecPaths) -> io::Result<(PathBuf, File)> {
    create_own_folder(&paths.root)?;
    let folder = paths.own().join("detached");
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700).create(&folder)?;
    let path = folder.join(format!("{}.log", now().as_millis()));
    let mut options = OpenOptions::new();
    options.append(true).create_new(true).mode(0o600);
    let file = options.open(&path)?;
    Ok((path, file))
}

fn spawn(output: File) -> io::Result<Child> {
    // In its place: a flag doesn't count after `--`.
    let own = std::env::args_os().skip(1);
    let arguments: Vec<OsString> = own
        .map(|argument| match argument.to_str() {
            Some("--detach") => DETACHED.into(),
            _ => argument,
        })
        .collect();
    Command::new(std::env::current_exe()?)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
}

fn started(paths: &SpecPaths, pid: u32, output: &str) -> StatusLine {
    let name = output::printable_line(&paths.spec.name);
    StatusLine::new(Status::Start, format!("{name} · process {pid}, detached"))
        .wrapped_detail("`regreen attach` shows it; Ctrl-C there leaves it running")
        .wrapped_detail("`regreen ps` lists all runs; `regreen stop` stops this one")
        .wrapped_detail(format!("output: {output}"))
}

/// Prints what a run said that ended before it had begun.
fn ended_early(path: &Path, code: Option<i32>) -> Result<Exit, Problem> {
    let text = regreen_workspace::read_text_file(path, 1024 * 1024).unwrap_or_default();
    output::say(text.trim_end());
    let found = Exit::ALL
        .into_iter()
        .find(|exit| code == Some(i32::from(exit.code())));
    Ok(found.unwrap_or(Exit::Incomplete))
}
