use super::agent_words::{AgentArguments, AgentEnvironment};
use super::asked_agent::AskedAgent;
use super::asked_permissions::AskedPermissions;
use super::asked_repairs::AskedRepairs;
use super::commit_mode::CommitMode;
use super::count::Count;
use super::gate::Gate;
use super::model_name::ModelName;
use super::money::Money;
use super::on_end::OnEnd;
use super::or_off::OrOff;
use super::prompt_folder::PromptFolder;
use super::sourced::Sourced;
use super::time_limit::TimeLimit;
use super::time_span::TimeSpan;
use super::token_count::TokenCount;

/// What one place says: the flags, a file, or the state. Most say little.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    pub agent: Option<Sourced<AskedAgent>>,
    pub agent_permissions: Option<Sourced<AskedPermissions>>,
    pub agent_model: Option<Sourced<ModelName>>,
    pub agent_args: Option<Sourced<AgentArguments>>,
    pub agent_env: Option<Sourced<AgentEnvironment>>,
    pub gate: Option<Sourced<Gate>>,
    pub timeout: Option<Sourced<TimeLimit>>,
    pub verify_timeout: Option<Sourced<TimeLimit>>,
    pub idle_timeout: Option<Sourced<OrOff<TimeLimit>>>,
    pub max_wait: Option<Sourced<TimeSpan>>,
    pub max_task_iterations: Option<Sourced<Count>>,
    pub max_global_iterations: Option<Sourced<Count>>,
    pub max_cost: Option<Sourced<OrOff<Money>>>,
    pub max_tokens: Option<Sourced<OrOff<TokenCount>>>,
    pub max_time: Option<Sourced<OrOff<TimeLimit>>>,
    pub max_task_cost: Option<Sourced<OrOff<Money>>>,
    pub max_task_tokens: Option<Sourced<OrOff<TokenCount>>>,
    pub max_task_time: Option<Sourced<OrOff<TimeLimit>>>,
    pub repairs: Option<Sourced<AskedRepairs>>,
    pub include_optional: Option<Sourced<bool>>,
    pub commit: Option<Sourced<CommitMode>>,
    pub keep_state: Option<Sourced<bool>>,
    pub prompts: Option<Sourced<PromptFolder>>,
    pub on_end: Option<Sourced<OnEnd>>,
}

impl Layer {
    /// This layer, and below it another: what is not said here is looked for there.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        Self {
            agent: self.agent.or(below.agent),
            agent_permissions: self.agent_permissions.or(below.agent_permissions),
            agent_model: self.agent_model.or(below.agent_model),
            agent_args: self.agent_args.or(below.agent_args),
            agent_env: self.agent_env.or(below.agent_env),
            gate: self.gate.or(below.gate),
            timeout: self.timeout.or(below.timeout),
            verify_timeout: self.verify_timeout.or(below.verify_timeout),
            idle_timeout: self.idle_timeout.or(below.idle_timeout),
            max_wait: self.max_wait.or(below.max_wait),
            max_task_iterations: self.max_task_iterations.or(below.max_task_iterations),
            max_global_iterations: self.max_global_iterations.or(below.max_global_iterations),
            max_cost: self.max_cost.or(below.max_cost),
            max_tokens: self.max_tokens.or(below.max_tokens),
            max_time: self.max_time.or(below.max_time),
            max_task_cost: self.max_task_cost.or(below.max_task_cost),
            max_task_tokens: self.max_task_tokens.or(below.max_task_tokens),
            max_task_time: self.max_task_time.or(below.max_task_time),
            repairs: self.repairs.or(below.repairs),
            include_optional: self.include_optional.or(below.include_optional),
            commit: self.commit.or(below.commit),
            keep_state: self.keep_state.or(below.keep_state),
            prompts: self.prompts.or(below.prompts),
            on_end: self.on_end.or(below.on_end),
        }
    }
}
