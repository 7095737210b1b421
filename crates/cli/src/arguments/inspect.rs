//! Looking at what was done, and deciding about it.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct Status {
    /// A spec's name, its folder, or a task file [default: the current or the only spec]
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
    /// As JSON, for scripts
    #[arg(long)]
    pub json: bool,
}

/// Which task of which spec.
#[derive(Debug, Args)]
pub struct OneTask {
    /// The task's id; by position (1, 2, 3 …) in a list without ids
    pub task: String,
    /// The row's line, where several tasks have the id [default: the first of them]
    #[arg(long, value_name = "N")]
    pub line: Option<usize>,
    /// A spec's name, its folder, or a task file [default: the current or the only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

#[derive(Debug, Args)]
pub struct Why {
    #[command(flatten)]
    pub which: OneTask,
    /// With what each attempt changed, line by line
    #[arg(long)]
    pub diff: bool,
}

/// Which attempt of which task.
#[derive(Debug, Args)]
pub struct OneAttempt {
    #[command(flatten)]
    pub which: OneTask,
    /// The attempt, by its number in the run
    #[arg(value_name = "N")]
    pub attempt: Option<u32>,
    /// The run, as `regreen why` names it [default: the newest that has the task]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub struct Log {
    #[command(flatten)]
    pub attempt: OneAttempt,
    /// What Verify printed instead of what the agent printed
    #[arg(long)]
    pub verify: bool,
}

#[derive(Debug, Args)]
pub struct Journal {
    /// The run, as `regreen why` names it [default: the newest]
    pub run: Option<String>,
    /// A spec's name, its folder, or a task file [default: the current or the only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

#[derive(Debug, Args)]
pub struct Replay {
    /// What `regreen journal` printed, or `-` for standard input
    pub file: PathBuf,
    /// As JSON, for scripts
    #[arg(long)]
    pub json: bool,
}
