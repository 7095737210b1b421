//! Having an agent do one thing.

use std::path::PathBuf;

use clap::Args;

use regreen_model::RepairPolicy;

use super::{AgentFlags, SettingFlags};
use crate::config::{Count, OptionalLimit, TimeLimit, TimeSpan, parse_choice};

/// As long as a delegation may take if nobody says anything.
const TIMEOUT_MS: u64 = 300_000;

/// The shell agent cannot be told anything.
const AGENTS: &str = "Who is delegated to: auto, claude, codex, gemini, opencode, 'command:PROGRAM ARGS' or 'acp:PROGRAM ARGS' [default: auto]";

#[derive(Debug, Args)]
pub struct Delegate {
    /// What the agent is to do
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "prompt_file",
        conflicts_with = "prompt_file"
    )]
    pub prompt: Option<String>,
    /// The file that says it, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub prompt_file: Option<PathBuf>,
    /// How long the first attempt may take; after a timeout the next gets twice as long [default: 300s]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<TimeLimit>,
    /// How many attempts there may be in all [default: 1]
    #[arg(long, value_name = "N")]
    pub retries: Option<Count>,
    /// What has to exit with 0 when the agent is done
    #[arg(long, value_name = "CMD", allow_hyphen_values = true)]
    pub verify: Option<String>,
    /// As JSON, for scripts
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: DelegateFlags,
}

/// Those of a run's settings that mean something here.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
#[command(mut_arg("agent", |agent| agent.help(AGENTS)))]
pub struct DelegateFlags {
    #[command(flatten)]
    pub agent: AgentFlags,
    /// How long the check may take [default: 10m]
    #[arg(long, value_name = "TIME")]
    pub verify_timeout: Option<TimeLimit>,
    /// How long an attempt may show no sign of life, or off [default: off]
    #[arg(long, value_name = "TIME|off")]
    pub idle_timeout: Option<OptionalLimit<TimeLimit>>,
    /// How long to wait altogether for an agent's service [default: 6h]
    #[arg(long, value_name = "TIME")]
    pub max_wait: Option<TimeSpan>,
    /// What regreen may repair by itself between attempts: safe, ask or off [default: safe]
    #[arg(long, value_name = "safe|ask|off", value_parser = parse_choice::<RepairPolicy>)]
    pub repairs: Option<RepairPolicy>,
}

impl Delegate {
    #[must_use]
    pub fn timeout_ms(&self) -> u64 {
        self.timeout.map_or(TIMEOUT_MS, TimeLimit::ms)
    }

    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.retries.map_or(1, Count::get)
    }
}

impl DelegateFlags {
    /// As the flags of a run.
    #[must_use]
    pub fn as_settings(&self) -> SettingFlags {
        let flags = self.clone();
        SettingFlags {
            agent: flags.agent,
            verify_timeout: flags.verify_timeout,
            idle_timeout: flags.idle_timeout,
            max_wait: flags.max_wait,
            repairs: flags.repairs,
            ..SettingFlags::default()
        }
    }
}
