//! Everything that is settled before a run starts.

use regreen_agents::AgentOptions;
use regreen_model::{AgentIdentity, Budget, Budgets, Limits, RunConfig, TaskId};

use super::agent_words::{AgentArguments, AgentEnvironment};
use super::asked_agent::AskedAgent;
use super::asked_permissions::AskedPermissions;
use super::asked_repairs::AskedRepairs;
use super::commit_mode::CommitMode;
use super::count::Count;
use super::gate::Gate;
use super::layer::Layer;
use super::model_name::ModelName;
use super::money::Money;
use super::on_end::OnEnd;
use super::or_off::OrOff;
use super::origin::Origin;
use super::prompt_folder::PromptFolder;
use super::sourced::Sourced;
use super::stored_limits::StoredLimits;
use super::time_limit::TimeLimit;
use super::time_span::TimeSpan;
use super::token_count::TokenCount;
use crate::arguments::SettingFlags;

/// Every setting with its value and where that comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub agent: Sourced<AskedAgent>,
    pub agent_permissions: Sourced<AskedPermissions>,
    pub agent_model: Sourced<ModelName>,
    pub agent_args: Sourced<AgentArguments>,
    pub agent_env: Sourced<AgentEnvironment>,
    pub gate: Sourced<Gate>,
    pub timeout: Sourced<TimeLimit>,
    pub verify_timeout: Sourced<TimeLimit>,
    pub idle_timeout: Sourced<OrOff<TimeLimit>>,
    pub max_wait: Sourced<TimeSpan>,
    pub max_task_iterations: Sourced<Count>,
    pub max_global_iterations: Sourced<Count>,
    pub max_cost: Sourced<OrOff<Money>>,
    pub max_tokens: Sourced<OrOff<TokenCount>>,
    pub max_time: Sourced<OrOff<TimeLimit>>,
    pub max_task_cost: Sourced<OrOff<Money>>,
    pub max_task_tokens: Sourced<OrOff<TokenCount>>,
    pub max_task_time: Sourced<OrOff<TimeLimit>>,
    pub repairs: Sourced<AskedRepairs>,
    pub include_optional: Sourced<bool>,
    pub commit: Sourced<CommitMode>,
    pub keep_state: Sourced<bool>,
    pub prompts: Sourced<PromptFolder>,
    pub on_end: Sourced<OnEnd>,
}

/// What holds: flags before the workspace's file, that before the user's, that before what
/// the state file asks for, that before the defaults.
#[must_use]
pub fn resolve(
    flags: &SettingFlags,
    workspace: Option<&Layer>,
    user: Option<&Layer>,
    stored: &StoredLimits,
) -> Settings {
    let file = |layer: Option<&Layer>| layer.cloned().unwrap_or_default();
    let said = flags
        .layer()
        .over(file(workspace))
        .over(file(user))
        .over(stored.layer());
    Settings::from(said)
}

impl Settings {
    /// How the agent is called, as only the user may say it.
    #[must_use]
    pub fn agent_options(&self) -> AgentOptions {
        AgentOptions {
            permissions: self.agent_permissions.value.0,
            model: self.agent_model.value.get().map(str::to_owned),
            arguments: self.agent_args.value.words().to_vec(),
            environment: self.agent_env.value.pairs().collect(),
        }
    }

    /// What the engine has to know of them. `only` runs one task and no other.
    #[must_use]
    pub fn run_config(&self, spec: &str, only: Option<TaskId>) -> RunConfig {
        RunConfig {
            spec: spec.to_owned(),
            agent: AgentIdentity::new(self.agent.value.to_string(), None),
            limits: Limits {
                task_iterations: self.max_task_iterations.value.get(),
                global_iterations: self.max_global_iterations.value.get(),
                ..Limits::default()
            },
            budgets: self.budgets(),
            attempt_timeout_ms: self.timeout.value.ms(),
            verify_timeout_ms: self.verify_timeout.value.ms(),
            idle_timeout_ms: self.idle_timeout.value.limit().map(TimeLimit::ms),
            max_wait_ms: self.max_wait.value.ms(),
            include_optional: self.include_optional.value,
            commits: self.commit.value == CommitMode::Auto,
            keep_state: self.keep_state.value,
            only,
            recovery: false,
            repairs: self.repairs.value.0,
            keep_going: false,
            asks: false,
            spec_argument: None,
            gate: self.gate.value.command().map(str::to_owned),
        }
    }

    fn budgets(&self) -> Budgets {
        Budgets {
            run: budget(&self.max_cost, &self.max_tokens, &self.max_time),
            task: budget(
                &self.max_task_cost,
                &self.max_task_tokens,
                &self.max_task_time,
            ),
        }
    }
}

fn budget(
    cost: &Sourced<OrOff<Money>>,
    tokens: &Sourced<OrOff<TokenCount>>,
    time: &Sourced<OrOff<TimeLimit>>,
) -> Budget {
    Budget {
        cost_micro_usd: cost.value.limit().map(Money::micro_usd),
        tokens: tokens.value.limit().map(TokenCount::get),
        time_ms: time.value.limit().map(TimeLimit::ms),
    }
}

impl From<Layer> for Settings {
    /// What nobody says is as the engine has it by default.
    fn from(said: Layer) -> Self {
        let default = RunConfig::default();
        let limits = default.limits;
        let attempt = TimeLimit::at_least_1_ms(default.attempt_timeout_ms);
        let verify = TimeLimit::at_least_1_ms(default.verify_timeout_ms);
        let max_wait = TimeSpan::from_ms(default.max_wait_ms);
        let per_task = Count::at_least_1(limits.task_iterations);
        let per_run = Count::at_least_1(limits.global_iterations);
        Self {
            agent: or_default(said.agent, AskedAgent::default()),
            agent_permissions: or_default(said.agent_permissions, AskedPermissions::default()),
            agent_model: or_default(said.agent_model, ModelName::default()),
            agent_args: or_default(said.agent_args, AgentArguments::default()),
            agent_env: or_default(said.agent_env, AgentEnvironment::default()),
            gate: or_default(said.gate, Gate::default()),
            timeout: or_default(said.timeout, attempt),
            verify_timeout: or_default(said.verify_timeout, verify),
            idle_timeout: or_default(said.idle_timeout, OrOff::default()),
            max_wait: or_default(said.max_wait, max_wait),
            max_task_iterations: or_default(said.max_task_iterations, per_task),
            max_global_iterations: or_default(said.max_global_iterations, per_run),
            max_cost: or_default(said.max_cost, OrOff::default()),
            max_tokens: or_default(said.max_tokens, OrOff::default()),
            max_time: or_default(said.max_time, OrOff::default()),
            max_task_cost: or_default(said.max_task_cost, OrOff::default()),
            max_task_tokens: or_default(said.max_task_tokens, OrOff::default()),
            max_task_time: or_default(said.max_task_time, OrOff::default()),
            repairs: or_default(said.repairs, AskedRepairs::default()),
            include_optional: or_default(said.include_optional, default.include_optional),
            commit: or_default(said.commit, CommitMode::default()),
            keep_state: or_default(said.keep_state, default.keep_state),
            prompts: or_default(said.prompts, PromptFolder::default()),
            on_end: or_default(said.on_end, OnEnd::default()),
        }
    }
}

fn or_default<T>(said: Option<Sourced<T>>, default: T) -> Sourced<T> {
    said.unwrap_or(Sourced::new(default, Origin::Default))
}

#[cfg(test)]
mod tests;
