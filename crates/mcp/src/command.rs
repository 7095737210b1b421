//! What a tool asks regreen for.

use std::io;
use std::path::PathBuf;

use regreen_model::Timestamp;

use crate::cancellation::Cancellation;

/// How a command is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// It ends with the server, and so does everything that it starts.
    Contained,
    /// It starts a run, which outlives the server.
    Run,
    /// It decides something in the name of the person who started the server.
    Decision,
}

/// A command of regreen, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandCall {
    /// How it is performed.
    pub kind: CallKind,
    /// The command and its arguments, as on the command line.
    pub arguments: Vec<String>,
    /// Its standard input.
    pub input: String,
    /// The folder to work in; else that of the server.
    pub folder: Option<PathBuf>,
}

/// How a command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandResult {
    /// Its exit code, unless it was ended.
    pub exit_code: Option<i32>,
    /// What it printed.
    pub output: String,
    /// What it told people.
    pub messages: String,
}

/// A run that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedRun {
    /// Names the run on this machine, also after the server has been started again.
    pub key: String,
    /// Its id.
    pub run: String,
    /// The name of the spec.
    pub spec: String,
    /// The process that works on it.
    pub process: u32,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// When it was started.
    pub started: Timestamp,
    /// When it last gave a sign of life.
    pub last_sign: Timestamp,
    /// What it is doing, or how it ended, for people.
    pub message: String,
    /// Once it has ended: the exit code, and the final status as `regreen status --json` prints it.
    pub ended: Option<CommandResult>,
}

/// Performs the commands.
pub trait Commands: Send + Sync + 'static {
    /// Performs a command to its end, or until it is canceled. `message` gets every line that the
    /// command tells people meanwhile.
    ///
    /// # Errors
    /// Returns an error if the command can't be started.
    fn perform(
        &self,
        call: &CommandCall,
        cancellation: &Cancellation,
        message: &mut dyn FnMut(&str),
    ) -> io::Result<CommandResult>;

    /// Starts a run.
    ///
    /// # Errors
    /// Returns how the command ended if it didn't start a run.
    fn start_run(&self, call: &CommandCall) -> Result<StartedRun, CommandResult>;

    /// Returns how far a run is.
    fn run_progress(&self, key: &str) -> Option<RunProgress>;

    /// Asks a run to stop.
    ///
    /// # Errors
    /// Returns why it was refused, for people.
    fn stop_run(&self, key: &str) -> Result<(), String>;
}
