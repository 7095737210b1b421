//! Looking at what was done, and deciding about it.

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
    /// The task's id
    pub task: String,
    /// A spec's name, its folder, or a task file [default: the current or the only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

/// Which attempt of which task.
#[derive(Debug, Args)]
pub struct OneAttempt {
    /// The task's id
    pub task: String,
    /// The attempt, by its number in the newest run that has the task
    #[arg(value_name = "N")]
    pub attempt: Option<u32>,
    /// A spec's name, its folder, or a task file [default: the current or the only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

#[derive(Debug, Args)]
pub struct Log {
    #[command(flatten)]
    pub which: OneAttempt,
    /// What Verify printed instead of what the agent printed
    #[arg(long)]
    pub verify: bool,
}
