//! `regreen mcp`: serves other agents by the Model Context Protocol. A tool is a command of
//! regreen, started again as a process of its own.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use regreen_mcp::{
    CallKind, Cancellation, CommandCall, CommandResult, Commands, Options, RunProgress, StartedRun,
    serve,
};
use regreen_overview::{Action, Machine as _, RunKey};
use regreen_runtime::{TreeLock, now};
use regreen_supervisor::{
    Chunk, EndReason, Keepers, Marker, ProcessSpec, Stdin, Stream, TimeLimits,
};
use regreen_workspace::{RealDisk, workspace_root};

use crate::config::{Configuration, SettingFlags, StoredLimits, usual_user_file};
use crate::exit::Exit;
use crate::known_runs::{KnownRun, known_runs};
use crate::machine::LocalMachine;
use crate::problem::Problem;
use crate::spec_context::current_dir;

/// A command has its own time limits; this one only says that there is none.
const NO_LIMIT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// A delegation ends its agent first.
const GRACE: Duration = Duration::from_secs(10);
/// More output than any command prints for programs.
const MAX_OUTPUT: usize = 8 * 1024 * 1024;
/// How long a run that has the working tree may take until its journal is there.
const START_TIME: Duration = Duration::from_secs(10);
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

pub fn run() -> Result<Exit, Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let configuration = Configuration::load(usual_user_file(), &root, &here)?;
    let settings = configuration.resolve(&SettingFlags::default(), &StoredLimits::default());
    let program = std::env::current_exe().map_err(Problem::OwnProgram)?;
    let commands = OwnCommands {
        keepers: Keepers::new(program.clone()),
        program,
        machine: LocalMachine::default(),
        here,
    };
    let options = Options {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        may_answer: settings.mcp_answer.value,
        now,
    };
    serve(Arc::new(commands), options)?;
    Ok(Exit::Success)
}

/// The commands of this program.
struct OwnCommands {
    program: PathBuf,
    keepers: Keepers,
    machine: LocalMachine,
    here: PathBuf,
}

impl OwnCommands {
    fn folder(&self, call: &CommandCall) -> PathBuf {
        let named = call.folder.as_deref().unwrap_or(Path::new(""));
        self.here.join(named)
    }

    /// Runs a command that ends with this process, in whatever way this process ends.
    fn contained(
        &self,
        call: &CommandCall,
        cancellation: &Cancellation,
        message: &mut dyn FnMut(&str),
    ) -> io::Result<CommandResult> {
        let own = std::iter::once(self.program.clone().into_os_string());
        let running = self.keepers.spawn(ProcessSpec {
            argv: own.chain(call.arguments.iter().map(Into::into)).collect(),
            cwd: self.folder(call),
            env: Vec::new(),
            stdin: Stdin::Bytes(call.input.clone().into_bytes()),
            limits: TimeLimits {
                hard: NO_LIMIT,
                idle: None,
                grace: GRACE,
            },
            marker: Marker::new("mcp"),
            masks: None,
            last_copy: None,
        });
        let running = running.map_err(io::Error::other)?;
        let handle = running.handle();
        cancellation.on_cancel(move || handle.end(EndReason::Cancelled));
        let mut heard = Heard::new(message);
        let end = running.wait(&mut |chunk: Chunk<'_>| heard.add(chunk))?;
        Ok(heard.result(Some(end.exit.shell_code())))
    }

    /// Runs a short command that isn't below a keeper: a run that it starts outlives this process,
    /// and what it decides, the person has allowed. Below another run's keeper it is refused like
    /// any decision.
    fn own(&self, call: &CommandCall) -> io::Result<Output> {
        let mut child = Command::new(&self.program)
            .args(&call.arguments)
            .current_dir(self.folder(call))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // It need not read it.
            let _ = stdin.write_all(call.input.as_bytes());
        }
        child.wait_with_output()
    }

    /// Waits until the run of this working tree can be found, and returns it.
    fn run_in(&self, folder: &Path) -> Option<StartedRun> {
        let root = workspace_root(&RealDisk, folder);
        let until = Instant::now() + START_TIME;
        loop {
            let process = TreeLock::holder(&root).and_then(|holder| holder.pid);
            let is_it = |run: &KnownRun| {
                run.paths.root == root && run.holder.as_ref().and_then(|one| one.pid) == process
            };
            // The newest run may still be an earlier one, which has ended.
            let is_new = |run: &KnownRun| run.view.outcome.is_none();
            let mut runs = known_runs().into_iter();
            if let (Some(process), Some(run)) =
                (process, runs.find(|run| is_it(run) && is_new(run)))
            {
                return Some(StartedRun {
                    key: key_text(&run),
                    run: run.view.run.clone(),
                    spec: run.paths.spec.name,
                    process,
                });
            }
            if Instant::now() > until {
                return None;
            }
            thread::sleep(LOOK_INTERVAL);
        }
    }
}

impl Commands for OwnCommands {
    fn perform(
        &self,
        call: &CommandCall,
        cancellation: &Cancellation,
        message: &mut dyn FnMut(&str),
    ) -> io::Result<CommandResult> {
        match call.kind {
            CallKind::Contained => self.contained(call, cancellation, message),
            CallKind::Decision | CallKind::Run => self.own(call).map(|output| result_of(&output)),
        }
    }

    fn start_run(&self, call: &CommandCall) -> Result<StartedRun, CommandResult> {
        let output = self.own(call).map_err(|error| CommandResult {
            messages: format!("regreen can't be started: {error}"),
            ..CommandResult::default()
        })?;
        if !output.status.success() {
            return Err(result_of(&output));
        }
        self.run_in(&self.folder(call))
            .ok_or_else(|| CommandResult {
                messages: "the run ended as soon as it had started; `status` shows how".to_owned(),
                ..result_of(&output)
            })
    }

    fn run_progress(&self, key: &str) -> Option<RunProgress> {
        let key = run_key(key)?;
        let details = self.machine.run(&key)?;
        let summary = &details.summary;
        let (done, all) = summary.done;
        let ended = (!summary.is_active()).then(|| self.final_status(&key));
        Some(RunProgress {
            started: summary.started,
            last_sign: summary.last_sign,
            message: format!("{}: {done} of {all} tasks done", summary.state.name()),
            ended: ended.flatten(),
        })
    }

    fn stop_run(&self, key: &str) -> Result<(), String> {
        let key = run_key(key).ok_or("no such run")?;
        self.machine.act(&key, &Action::Stop).map(drop)
    }
}

impl OwnCommands {
    /// Returns what `regreen status --json` prints about the spec of a run that has ended.
    fn final_status(&self, key: &RunKey) -> Option<CommandResult> {
        let run = known_runs()
            .into_iter()
            .find(|run| run.place == key.place)?;
        let status = CommandCall {
            kind: CallKind::Contained,
            arguments: ["status", "--json", "--"]
                .map(str::to_owned)
                .into_iter()
                .chain([run.paths.spec.tasks.display().to_string()])
                .collect(),
            input: String::new(),
            folder: Some(run.paths.root.clone()),
        };
        let printed = self.contained(&status, &Cancellation::default(), &mut |_| {});
        // A killed run has no exit code.
        let outcome = run.view.outcome.as_ref();
        let exit_code = outcome.map(|outcome| i32::from(Exit::of(outcome).code()));
        printed.ok().map(|printed| CommandResult {
            exit_code,
            ..printed
        })
    }
}

fn key_text(run: &KnownRun) -> String {
    format!("{}/{}", run.place, run.view.run)
}

fn run_key(text: &str) -> Option<RunKey> {
    let (place, run) = text.split_once('/')?;
    Some(RunKey {
        place: place.to_owned(),
        run: run.to_owned(),
    })
}

fn result_of(output: &Output) -> CommandResult {
    CommandResult {
        exit_code: output.status.code(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        messages: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// What a command printed so far.
struct Heard<'a> {
    output: Vec<u8>,
    messages: Vec<u8>,
    /// Where the line begins that isn't complete yet.
    line: usize,
    message: &'a mut dyn FnMut(&str),
}

impl<'a> Heard<'a> {
    fn new(message: &'a mut dyn FnMut(&str)) -> Self {
        Self {
            output: Vec::new(),
            messages: Vec::new(),
            line: 0,
            message,
        }
    }

    fn add(&mut self, chunk: Chunk<'_>) {
        let kept = match chunk.stream {
            Stream::Stdout => &mut self.output,
            Stream::Stderr => &mut self.messages,
        };
        let room = MAX_OUTPUT.saturating_sub(kept.len());
        kept.extend_from_slice(chunk.bytes.get(..room).unwrap_or(chunk.bytes));
        while let Some(length) = self
            .messages
            .get(self.line..)
            .and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
        {
            let line = self.messages.get(self.line..self.line + length);
            (self.message)(&String::from_utf8_lossy(line.unwrap_or_default()));
            self.line += length + 1;
        }
    }

    fn result(self, exit_code: Option<i32>) -> CommandResult {
        CommandResult {
            exit_code,
            output: String::from_utf8_lossy(&self.output).into_owned(),
            messages: String::from_utf8_lossy(&self.messages).into_owned(),
        }
    }
}
