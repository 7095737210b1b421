//! The costs of a run: CPU time, memory and syncs.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};

use super::{Doing as _, LoopError, finish};

/// How often the memory of a process is read. The kernel keeps the peak.
const LOOK: Duration = Duration::from_millis(5);

/// The costs of a process and everything it waited for.
#[derive(Clone, Copy, Debug)]
pub(in crate::bench) struct Costs {
    tasks: usize,
    pub(in crate::bench) cpu: Duration,
    pub(in crate::bench) wall: Duration,
    /// The peak memory of the process itself, in MB.
    pub(in crate::bench) memory: f64,
}

impl Costs {
    pub(in crate::bench) fn least(all: Vec<Self>) -> Self {
        let nothing = Self {
            tasks: 1,
            cpu: Duration::ZERO,
            wall: Duration::ZERO,
            memory: 0.0,
        };
        all.into_iter()
            .min_by_key(|costs| costs.cpu)
            .unwrap_or(nothing)
    }

    /// Returns the costs beyond those of `bare`.
    pub(in crate::bench) fn less(self, bare: &Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(bare.cpu),
            ..self
        }
    }

    /// Returns the CPU time per task in milliseconds.
    pub(in crate::bench) fn cpu_each(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e3 / self.tasks as f64
    }
}

pub(in crate::bench) fn measure(command: &mut Command, tasks: usize) -> Result<Costs, LoopError> {
    command.stdout(Stdio::null()).stdin(Stdio::null());
    let (started, before) = (Instant::now(), cpu_of_children()?);
    let mut child = command.spawn().doing("start a program")?;
    let (status, memory) = watch(&mut child)?;
    if !status.success() {
        return Err(LoopError::Failed(format!("{command:?}")));
    }
    Ok(Costs {
        tasks,
        cpu: cpu_of_children()?.saturating_sub(before),
        wall: started.elapsed(),
        memory,
    })
}

fn watch(child: &mut Child) -> Result<(ExitStatus, f64), LoopError> {
    let mut most = 0.0_f64;
    loop {
        if let Some(status) = child.try_wait().doing("wait for a program")? {
            return Ok((status, most));
        }
        most = most.max(memory_of(child.id()).unwrap_or_default());
        thread::sleep(LOOK);
    }
}

/// Returns the peak memory of a process so far, in MB, without its children.
fn memory_of(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Returns the user and system time of all children that have been waited for, and of their
/// children.
fn cpu_of_children() -> Result<Duration, LoopError> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_err(io::Error::from)
        .doing("ask for processor time")?;
    let micros = |time: TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0);
    let both = micros(usage.user_time()) + micros(usage.system_time());
    Ok(Duration::from_micros(both))
}

/// The system calls that make data durable.
const CALLS: &str = "fsync,fdatasync,sync_file_range,msync,sync,syncfs";

/// Returns `None` if strace is not installed.
pub(super) fn count_syncs(command: &Command) -> Result<Option<usize>, LoopError> {
    let folder = tempfile::tempdir().doing("make a folder")?;
    let trace = folder.path().join("trace");
    let mut traced = Command::new("strace");
    traced
        .args(["--follow-forks", "--quiet=all", "--signal=none"])
        .arg(format!("--trace={CALLS}"))
        .arg("--output")
        .arg(&trace)
        .arg(command.get_program())
        .args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        traced.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    match finish(&mut traced) {
        Err(LoopError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        finished => {
            finished?;
            let trace = fs::read_to_string(trace).doing("read what strace saw")?;
            // A call that another process interrupts has a second line, without the parenthesis.
            let calls = trace.lines().filter(|line| !line.contains(" resumed>"));
            Ok(Some(calls.count()))
        }
    }
}
