//! The settings that can be said for one run.

use clap::Args;

use super::agent_flags::{AgentFlags, said};
use crate::config::{
    AskedRepairs, CommitMode, Count, Gate, Layer, Money, OrOff, TimeLimit, TimeSpan, TokenCount,
};

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub struct SettingFlags {
    #[command(flatten)]
    pub agent: AgentFlags,
    /// Checks the whole workspace where a task has no Verify of its own; '' for none
    #[arg(long, value_name = "CMD")]
    pub gate: Option<Gate>,
    /// How long one attempt may take: 2s, 0.5s, 30m, 1h30m [default: 30m]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<TimeLimit>,
    /// How long one Verify may take [default: 10m]
    #[arg(long, value_name = "TIME")]
    pub verify_timeout: Option<TimeLimit>,
    /// How long an attempt may show no sign of life, or off [default: off]
    #[arg(long, value_name = "TIME|off")]
    pub idle_timeout: Option<OrOff<TimeLimit>>,
    /// How long a run may wait altogether for an agent's service [default: 6h]
    #[arg(long, value_name = "TIME")]
    pub max_wait: Option<TimeSpan>,
    /// Attempts of one task [default: 5]
    #[arg(long, value_name = "N")]
    pub max_task_iterations: Option<Count>,
    /// Attempts of the whole run [default: 100, or twice the tasks if that is more]
    #[arg(long, value_name = "N")]
    pub max_global_iterations: Option<Count>,
    /// What the run may cost, in dollars, where the agent says what it costs [default: off]
    #[arg(long, value_name = "USD|off", allow_negative_numbers = true)]
    pub max_cost: Option<OrOff<Money>>,
    /// Tokens that the run may use up, where the agent counts them [default: off]
    #[arg(long, value_name = "N|off", allow_negative_numbers = true)]
    pub max_tokens: Option<OrOff<TokenCount>>,
    /// How long the run may take: attempts, Verify and waiting together [default: off]
    #[arg(long, value_name = "TIME|off")]
    pub max_time: Option<OrOff<TimeLimit>>,
    /// What one task may cost with its fixes [default: off]
    #[arg(long, value_name = "USD|off", allow_negative_numbers = true)]
    pub max_task_cost: Option<OrOff<Money>>,
    /// Tokens that one task may use up with its fixes [default: off]
    #[arg(long, value_name = "N|off", allow_negative_numbers = true)]
    pub max_task_tokens: Option<OrOff<TokenCount>>,
    /// How long one task may take with its fixes: attempts and Verify [default: off]
    #[arg(long, value_name = "TIME|off")]
    pub max_task_time: Option<OrOff<TimeLimit>>,
    /// What regreen may repair by itself in recovery mode: safe, ask or off [default: safe]
    #[arg(long, value_name = "safe|ask|off")]
    pub repairs: Option<AskedRepairs>,
    /// Run optional tasks as well
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub include_optional: Option<bool>,
    /// Whether finished tasks are committed [default: auto]
    #[arg(
        long,
        value_enum,
        value_name = "auto|never",
        hide_possible_values = true
    )]
    pub commit: Option<CommitMode>,
    /// Keep the state file when all is done
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub keep_state: Option<bool>,
}

impl SettingFlags {
    /// What the flags say.
    #[must_use]
    pub fn layer(&self) -> Layer {
        Layer {
            gate: said(&self.gate),
            timeout: said(&self.timeout),
            verify_timeout: said(&self.verify_timeout),
            idle_timeout: said(&self.idle_timeout),
            max_wait: said(&self.max_wait),
            max_task_iterations: said(&self.max_task_iterations),
            max_global_iterations: said(&self.max_global_iterations),
            max_cost: said(&self.max_cost),
            max_tokens: said(&self.max_tokens),
            max_time: said(&self.max_time),
            max_task_cost: said(&self.max_task_cost),
            max_task_tokens: said(&self.max_task_tokens),
            max_task_time: said(&self.max_task_time),
            repairs: said(&self.repairs),
            include_optional: said(&self.include_optional),
            commit: said(&self.commit),
            keep_state: said(&self.keep_state),
            // Prompts and `on_end` are for more than one run.
            ..self.agent.layer()
        }
    }
}
