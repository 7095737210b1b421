//! Who works, and how it is called.

use clap::Args;

use crate::config::{
    AgentArguments, AgentEnvironment, AskedAgent, AskedPermissions, Layer, ModelName, Origin,
    Sourced,
};

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub struct AgentFlags {
    /// Who works on the tasks: auto, claude, codex, gemini, opencode, shell, 'command:PROGRAM ARGS' or 'acp:PROGRAM ARGS' [default: auto]
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<AskedAgent>,
    /// What the agent may do: skip tells it not to ask, own leaves it to its settings [default: skip]
    #[arg(long, value_name = "skip|own")]
    pub agent_permissions: Option<AskedPermissions>,
    /// The model that the agent is to use
    #[arg(long, value_name = "MODEL")]
    pub agent_model: Option<ModelName>,
    /// More arguments for the agent, quoted as in a shell
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    pub agent_args: Option<AgentArguments>,
    /// More environment for the agent: 'NAME=VALUE …'
    #[arg(long, value_name = "VARS")]
    pub agent_env: Option<AgentEnvironment>,
}

impl AgentFlags {
    /// What the flags say.
    #[must_use]
    pub fn layer(&self) -> Layer {
        Layer {
            agent: said(&self.agent),
            agent_permissions: said(&self.agent_permissions),
            agent_model: said(&self.agent_model),
            agent_args: said(&self.agent_args),
            agent_env: said(&self.agent_env),
            ..Layer::default()
        }
    }
}

pub(super) fn said<T: Clone>(value: &Option<T>) -> Option<Sourced<T>> {
    let value = value.clone()?;
    Some(Sourced::new(value, Origin::Flag))
}
