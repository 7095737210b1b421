//! The table of all settings.

use regreen_agents::{AgentOptions, Permissions};
use regreen_model::{AgentIdentity, Budget, Budgets, Limits, RepairPolicy, RunConfig, TaskId};
use serde_json::Value;

use super::agent::{AgentArguments, AgentEnvironment, ModelName, RequestedAgent};
use super::files::StoredLimits;
use super::key::{Access, Owner};
use super::numbers::{Count, Money, TokenCount};
use super::prompts::PromptFolder;
use super::read::{CHOOSES_PROGRAM, ConfigFault, ConfigLine};
use super::table::{Origin, Row, Setting, setting_table};
use super::time::{TimeLimit, TimeSpan};
use super::value::{CommitMode, Gate, OnEnd, OptionalLimit, SettingValue as _, parse_choice};

const CALLS_AGENT: Access = Access::UserFile("it says what the agent may do on your machine");
const REPAIRS: Access = Access::UserFile("it says what is repaired on your machine");
const STARTS_PROGRAM: Access = Access::UserFile(CHOOSES_PROGRAM);

setting_table! {
AgentFlags {
    /// Who works on the tasks: auto, claude, codex, gemini, opencode, shell, 'command:PROGRAM ARGS' or 'acp:PROGRAM ARGS' [default: auto]
    #[arg(long, value_name = "AGENT")]
    Agent agent: RequestedAgent = RequestedAgent::default(), Access::AnyFile,
        "Who works on the tasks.";

    /// What the agent may do: skip tells it not to ask, own leaves it to its settings [default: skip]
    #[arg(long, value_name = "skip|own", value_parser = parse_choice::<Permissions>)]
    AgentPermissions agent_permissions: Permissions = Permissions::default(), CALLS_AGENT,
        "What the agent may do: \"skip\" tells it not to ask, \"own\" leaves it to its own settings.";

    /// The model that the agent is to use
    #[arg(long, value_name = "MODEL")]
    AgentModel agent_model: ModelName = ModelName::default(), CALLS_AGENT,
        "The model that the agent is to use. Empty: its own choice.";

    /// More arguments for the agent, quoted as in a shell
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    AgentArgs agent_args: AgentArguments = AgentArguments::default(), CALLS_AGENT,
        "More arguments for the agent.";

    /// More environment for the agent: 'NAME=VALUE …'
    #[arg(long, value_name = "VARS")]
    AgentEnv agent_env: AgentEnvironment = AgentEnvironment::default(), CALLS_AGENT,
        "More environment for the agent, each NAME=VALUE.";
}

SettingFlags {
    /// Checks the whole workspace where a task has no Verify of its own; '' for none
    #[arg(long, value_name = "CMD")]
    Gate gate: Gate = Gate::default(), Access::AnyFile,
        "A shell command that checks the whole workspace where a task has no Verify of its own. Empty: none.";

    /// How long one attempt may take: 2s, 0.5s, 30m, 1h30m [default: 30m]
    #[arg(long, value_name = "TIME")]
    Timeout timeout: TimeLimit = TimeLimit::at_least_1_ms(RunConfig::default().attempt_timeout_ms), Access::AnyFile,
        "How long one attempt may take.";

    /// How long one Verify may take [default: 10m]
    #[arg(long, value_name = "TIME")]
    VerifyTimeout verify_timeout: TimeLimit = TimeLimit::at_least_1_ms(RunConfig::default().verify_timeout_ms), Access::AnyFile,
        "How long one Verify may take.";

    /// How long an attempt may show no sign of life, or off [default: off]
    #[arg(long, value_name = "TIME|off")]
    IdleTimeout idle_timeout: OptionalLimit<TimeLimit> = OptionalLimit::OFF, Access::AnyFile,
        "How long an attempt may show no sign of life; \"off\": any time.";

    /// How long a run may wait altogether for an agent's service [default: 6h]
    #[arg(long, value_name = "TIME")]
    MaxWait max_wait: TimeSpan = TimeSpan::from_ms(RunConfig::default().max_wait_ms), Access::AnyFile,
        "How long a run may wait altogether for an agent's service.";

    /// Attempts of one task [default: 5]
    #[arg(long, value_name = "N")]
    MaxTaskIterations max_task_iterations: Count = Count::at_least_1(Limits::default().task_iterations), Access::AnyFile,
        "Attempts of one task.";

    /// Attempts of the whole run [default: 100, or twice the tasks if that is more]
    #[arg(long, value_name = "N")]
    MaxGlobalIterations max_global_iterations: Count = Count::at_least_1(Limits::default().global_iterations), Access::AnyFile,
        "Attempts of a whole run. 100, the default, means 100 or twice the tasks, whichever is more.";

    /// What the run may cost, in dollars, where the agent says what it costs [default: off]
    #[arg(long, value_name = "USD|off", allow_negative_numbers = true)]
    MaxCost max_cost: OptionalLimit<Money> = OptionalLimit::OFF, Access::AnyFile,
        "What a run may cost, in dollars, where the agent says what it costs; \"off\": anything.";

    /// Tokens that the run may use up, where the agent counts them [default: off]
    #[arg(long, value_name = "N|off", allow_negative_numbers = true)]
    MaxTokens max_tokens: OptionalLimit<TokenCount> = OptionalLimit::OFF, Access::AnyFile,
        "How many tokens a run may use up, where the agent counts them; \"off\": any number.";

    /// How long the run may take: attempts, Verify and waiting together [default: off]
    #[arg(long, value_name = "TIME|off")]
    MaxTime max_time: OptionalLimit<TimeLimit> = OptionalLimit::OFF, Access::AnyFile,
        "How long a run may take: attempts, Verify and waiting together; \"off\": any time.";

    /// What one task may cost with its fixes [default: off]
    #[arg(long, value_name = "USD|off", allow_negative_numbers = true)]
    MaxTaskCost max_task_cost: OptionalLimit<Money> = OptionalLimit::OFF, Access::AnyFile,
        "What one task may cost with its fixes.";

    /// Tokens that one task may use up with its fixes [default: off]
    #[arg(long, value_name = "N|off", allow_negative_numbers = true)]
    MaxTaskTokens max_task_tokens: OptionalLimit<TokenCount> = OptionalLimit::OFF, Access::AnyFile,
        "How many tokens one task may use up with its fixes.";

    /// How long one task may take with its fixes: attempts and Verify [default: off]
    #[arg(long, value_name = "TIME|off")]
    MaxTaskTime max_task_time: OptionalLimit<TimeLimit> = OptionalLimit::OFF, Access::AnyFile,
        "How long one task may take with its fixes: attempts and Verify.";

    /// What regreen may repair by itself in recovery mode: safe, ask or off [default: safe]
    #[arg(long, value_name = "safe|ask|off", value_parser = parse_choice::<RepairPolicy>)]
    Repairs repairs: RepairPolicy = RepairPolicy::default(), REPAIRS,
        "What regreen may repair by itself in a run with recovery: \"safe\" is what a look at the workspace allows, \"ask\" what a person agrees to, \"off\" nothing.";

    /// Run optional tasks as well
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    IncludeOptional include_optional: bool = RunConfig::default().include_optional, Access::AnyFile,
        "Whether optional tasks are run as well.";

    /// Whether finished tasks are committed [default: auto]
    #[arg(long, value_enum, value_name = "auto|never", hide_possible_values = true)]
    Commit commit: CommitMode = CommitMode::default(), Access::AnyFile,
        "Whether finished tasks are committed.";

    /// Keep the state file when all is done
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    KeepState keep_state: bool = RunConfig::default().keep_state, Access::AnyFile,
        "Whether the state file stays when all is done.";
}

// These two are meant for more than one run.
without_flag {
    Prompts prompts: PromptFolder = PromptFolder::default(), Access::AnyFile,
        "A folder, relative to this file, with texts that replace the built-in prompts.";

    OnEnd on_end: OnEnd = OnEnd::default(), STARTS_PROGRAM,
        "A program and its arguments to run when a run has ended.";
}
}

impl Settings {
    /// Lays the layers upon each other: flags before the workspace's file, then the user's file,
    /// then the limits in the state file, then the defaults.
    pub fn resolve(
        flags: &SettingFlags,
        workspace: Option<&Layer>,
        user: Option<&Layer>,
        stored: &StoredLimits,
    ) -> Self {
        let files = [workspace, user].into_iter().flatten().cloned();
        let layers = files.chain([stored.layer()]);
        layers.fold(flags.layer(), Layer::over).into()
    }

    /// Returns how the agent is called.
    pub fn agent_options(&self) -> AgentOptions {
        AgentOptions {
            permissions: self.agent_permissions.value,
            model: self.agent_model.value.get().map(str::to_owned),
            arguments: self.agent_args.value.words().to_vec(),
            environment: self.agent_env.value.pairs().to_vec(),
        }
    }

    /// Returns the settings that the engine needs. With `only`, it runs that task and no other.
    pub fn run_config(&self, spec: &str, only: Option<TaskId>) -> RunConfig {
        RunConfig {
            spec: spec.to_owned(),
            agent: AgentIdentity::new(self.agent.value.to_string(), None),
            limits: Limits {
                task_iterations: self.max_task_iterations.value.get(),
                global_iterations: self.max_global_iterations.value.get(),
                ..Limits::default()
            },
            budgets: Budgets {
                run: budget(&self.max_cost, &self.max_tokens, &self.max_time),
                task: budget(
                    &self.max_task_cost,
                    &self.max_task_tokens,
                    &self.max_task_time,
                ),
            },
            attempt_timeout_ms: self.timeout.value.ms(),
            verify_timeout_ms: self.verify_timeout.value.ms(),
            idle_timeout_ms: self.idle_timeout.value.limit().map(TimeLimit::ms),
            max_wait_ms: self.max_wait.value.ms(),
            include_optional: self.include_optional.value,
            commits: self.commit.value == CommitMode::Auto,
            keep_state: self.keep_state.value,
            only,
            recovery: false,
            repairs: self.repairs.value,
            keep_going: false,
            asks: false,
            spec_argument: None,
            gate: self.gate.value.command().map(str::to_owned),
        }
    }
}

fn budget(
    cost: &Setting<OptionalLimit<Money>>,
    tokens: &Setting<OptionalLimit<TokenCount>>,
    time: &Setting<OptionalLimit<TimeLimit>>,
) -> Budget {
    Budget {
        cost_micro_usd: cost.value.limit().map(Money::micro_usd),
        tokens: tokens.value.limit().map(TokenCount::get),
        time_ms: time.value.limit().map(TimeLimit::ms),
    }
}

#[cfg(test)]
mod tests;
