//! The table of all settings.

use regreen_agents::{AgentOptions, Permissions};
use regreen_history::Thresholds;
use regreen_model::{
    AgentIdentity, Budget, Budgets, DiagnosisAsk, FailureCategory, FinalCheckPolicy, Limits,
    PreflightPolicy, RepairPolicy, RunConfig, TamperPolicy, TaskId,
};
use serde_json::Value;

use super::agent::{AgentArguments, AgentEnvironment, ModelName, RequestedAgent};
use super::files::StoredLimits;
use super::key::{Access, Owner};
use super::numbers::{Count, Money, Percent, TokenCount};
use super::prompts::PromptFolder;
use super::read::{CHOOSES_PROGRAM, ConfigFault, ConfigLine};
use super::table::{Origin, Row, Setting, setting_table};
use super::time::{AttemptLimit, TimeLimit, TimeSpan};
use super::value::{
    CommitMode, Gate, OptionalLimit, SettingValue as _, UserProgram, UserSwitch, parse_choice,
};

const CALLS_AGENT: Access = Access::UserFile("it controls what the agent may do on your machine");
const REPAIRS: Access = Access::UserFile("it controls what regreen repairs on your machine");
const GUARDS_GREEN: Access = Access::UserFile("it decides which checks you rely on");
const PUSHES: Access = Access::UserFile("it decides whether commits leave your machine");
const KEEPS_HISTORY: Access =
    Access::UserFile("the history belongs to you, and is about all of your repositories");
const KEEPS_AWAKE: Access = Access::UserFile("it decides whether your machine may sleep");
const ANSWERS: Access = Access::UserFile("only you can let others answer for you");
const STARTS_PROGRAM: Access = Access::UserFile(CHOOSES_PROGRAM);

const HISTORY_KEEP_MS: u64 = 365 * 24 * 60 * 60 * 1000;

setting_table! {
AgentFlags {
    /// Agent that works on the tasks: auto, claude, codex, gemini, opencode, shell, 'command:PROGRAM ARGS' or 'acp:PROGRAM ARGS' [default: auto]
    #[arg(long, value_name = "AGENT")]
    Agent agent: RequestedAgent = RequestedAgent::default(), Access::AnyFile,
        "The agent that works on the tasks.";

    /// Permissions of the agent: skip runs it without permission prompts, own uses its own settings [default: skip]
    #[arg(long, value_name = "skip|own", value_parser = parse_choice::<Permissions>)]
    AgentPermissions agent_permissions: Permissions = Permissions::default(), CALLS_AGENT,
        "Permissions of the agent: \"skip\" runs it without permission prompts, \"own\" uses its own settings.";

    /// Model that the agent uses
    #[arg(long, value_name = "MODEL")]
    AgentModel agent_model: ModelName = ModelName::default(), CALLS_AGENT,
        "The model that the agent uses. Empty: the agent's default.";

    /// Extra arguments for the agent, quoted as in a shell
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    AgentArgs agent_args: AgentArguments = AgentArguments::default(), CALLS_AGENT,
        "Extra arguments for the agent.";

    /// Extra environment variables for the agent: 'NAME=VALUE …'
    #[arg(long, value_name = "VARS")]
    AgentEnv agent_env: AgentEnvironment = AgentEnvironment::default(), CALLS_AGENT,
        "Extra environment variables for the agent, each NAME=VALUE.";
}

SettingFlags {
    /// Command that checks the workspace for tasks without their own Verify; '' for none
    #[arg(long, value_name = "CMD")]
    Gate gate: Gate = Gate::default(), Access::AnyFile,
        "A shell command that checks the whole workspace, for tasks without their own Verify. Empty: none.";

    /// Time limit for an attempt: 2s, 0.5s, 30m, 1h30m, or auto for one that earlier attempts at such tasks suggest [default: 30m]
    #[arg(long, value_name = "TIME|auto")]
    Timeout timeout: AttemptLimit = AttemptLimit::Of(TimeLimit::at_least_1_ms(RunConfig::default().attempt_timeout_ms)), Access::AnyFile,
        "Time limit for an attempt. \"auto\": the one that earlier attempts at such tasks suggest, or else 30m.";

    /// Time limit for a Verify command [default: 10m]
    #[arg(long, value_name = "TIME")]
    VerifyTimeout verify_timeout: TimeLimit = TimeLimit::at_least_1_ms(RunConfig::default().verify_timeout_ms), Access::AnyFile,
        "Time limit for a Verify command.";

    /// Time limit for an attempt without any activity, or off [default: off]
    #[arg(long, value_name = "TIME|off")]
    IdleTimeout idle_timeout: OptionalLimit<TimeLimit> = OptionalLimit::OFF, Access::AnyFile,
        "Time limit for an attempt without any activity. \"off\": no limit.";

    /// Total time that a run may wait for the agent's service [default: 6h]
    #[arg(long, value_name = "TIME")]
    MaxWait max_wait: TimeSpan = TimeSpan::from_ms(RunConfig::default().max_wait_ms), Access::AnyFile,
        "Total time that a run may wait for the agent's service.";

    /// Maximum number of attempts per task [default: 5]
    #[arg(long, value_name = "N")]
    MaxTaskIterations max_task_iterations: Count = Count::at_least_1(Limits::default().task_iterations), Access::AnyFile,
        "Maximum number of attempts per task.";

    /// Maximum number of attempts per run [default: 100, or twice the number of tasks if that is more]
    #[arg(long, value_name = "N")]
    MaxGlobalIterations max_global_iterations: Count = Count::at_least_1(Limits::default().global_iterations), Access::AnyFile,
        "Maximum number of attempts per run. The default, 100, means 100 or twice the number of tasks, whichever is more.";

    /// Maximum cost of a run in dollars, if the agent reports its cost [default: off]
    #[arg(long, value_name = "USD|off", allow_negative_numbers = true)]
    MaxCost max_cost: OptionalLimit<Money> = OptionalLimit::OFF, Access::AnyFile,
        "Maximum cost of a run in dollars, if the agent reports its cost. \"off\": no limit.";

    /// Maximum number of tokens per run, if the agent reports them [default: off]
    #[arg(long, value_name = "N|off", allow_negative_numbers = true)]
    MaxTokens max_tokens: OptionalLimit<TokenCount> = OptionalLimit::OFF, Access::AnyFile,
        "Maximum number of tokens per run, if the agent reports them. \"off\": no limit.";

    /// Time limit for a run: attempts, Verify and waiting together [default: off]
    #[arg(long, value_name = "TIME|off")]
    MaxTime max_time: OptionalLimit<TimeLimit> = OptionalLimit::OFF, Access::AnyFile,
        "Time limit for a run: attempts, Verify and waiting together. \"off\": no limit.";

    /// Maximum cost of a task and its fixes in dollars [default: off]
    #[arg(long, value_name = "USD|off", allow_negative_numbers = true)]
    MaxTaskCost max_task_cost: OptionalLimit<Money> = OptionalLimit::OFF, Access::AnyFile,
        "Maximum cost of a task and its fixes in dollars. \"off\": no limit.";

    /// Maximum number of tokens for a task and its fixes [default: off]
    #[arg(long, value_name = "N|off", allow_negative_numbers = true)]
    MaxTaskTokens max_task_tokens: OptionalLimit<TokenCount> = OptionalLimit::OFF, Access::AnyFile,
        "Maximum number of tokens for a task and its fixes. \"off\": no limit.";

    /// Time limit for a task and its fixes: attempts and Verify [default: off]
    #[arg(long, value_name = "TIME|off")]
    MaxTaskTime max_task_time: OptionalLimit<TimeLimit> = OptionalLimit::OFF, Access::AnyFile,
        "Time limit for a task and its fixes: attempts and Verify. \"off\": no limit.";

    /// Repairs that regreen makes itself in recovery mode: safe, ask or off [default: safe]
    #[arg(long, value_name = "safe|ask|off", value_parser = parse_choice::<RepairPolicy>)]
    Repairs repairs: RepairPolicy = RepairPolicy::default(), REPAIRS,
        "Repairs that regreen makes itself in recovery mode: \"safe\" makes those that it has checked to be safe, \"ask\" asks before each, \"off\" makes none.";

    /// Repeat the checks of finished tasks at the end: fail opens tasks again that no longer pass, warn only warns, off repeats nothing [default: fail]
    #[arg(long, value_name = "fail|warn|off", value_parser = parse_choice::<FinalCheckPolicy>)]
    FinalCheck final_check: FinalCheckPolicy = FinalCheckPolicy::default(), GUARDS_GREEN,
        "Repeat the checks of finished tasks at the end of a run: \"fail\" opens tasks again that no longer pass, \"warn\" only warns, \"off\" repeats nothing.";

    /// Time limit for repeating the checks at the end; the slowest may be left out [default: 30m]
    #[arg(long, value_name = "TIME")]
    FinalCheckTime final_check_time: TimeLimit = TimeLimit::at_least_1_ms(RunConfig::default().final_check_time_ms), GUARDS_GREEN,
        "Time limit for repeating the checks of finished tasks at the end of a run. The quickest run first; those left out are named.";

    /// Look for changes that weaken a check: fail fails an attempt if two different signs agree, and warns of a single one; warn only warns; off doesn't look [default: fail]
    #[arg(long, value_name = "fail|warn|off", value_parser = parse_choice::<TamperPolicy>)]
    Tamper tamper: TamperPolicy = TamperPolicy::default(), GUARDS_GREEN,
        "Look for changes that weaken a check, such as skipped tests: \"fail\" fails an attempt if two different signs agree, and warns of a single one, \"warn\" only warns, \"off\" doesn't look.";

    /// Look for checks that can't even start before the first attempt: fail refuses the run, warn only warns, off doesn't look [default: fail]
    #[arg(long, value_name = "fail|warn|off", value_parser = parse_choice::<PreflightPolicy>)]
    Preflight preflight: PreflightPolicy = PreflightPolicy::default(), Access::AnyFile,
        "Look for checks that can't even start before the first attempt of a run: \"fail\" refuses the run, \"warn\" only warns, \"off\" doesn't look.";

    /// Maximum number of tokens that a task's first prompt spends on what is known about the project [default: 1000]
    #[arg(long, value_name = "N|off", allow_negative_numbers = true)]
    ContextTokens context_tokens: OptionalLimit<TokenCount> = OptionalLimit::at(TokenCount::CONTEXT), Access::AnyFile,
        "Maximum number of tokens that the first prompt of a task spends on what is known about the project: files that it names, how tests are run, notes of earlier tasks. \"off\": it says nothing.";

    /// Also run optional tasks
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    IncludeOptional include_optional: bool = RunConfig::default().include_optional, Access::AnyFile,
        "Whether to run optional tasks.";

    /// Which finished tasks to commit: auto those that name a commit, all also those without a Commit field, never none [default: auto]
    #[arg(long, value_enum, value_name = "auto|all|never", hide_possible_values = true)]
    Commit commit: CommitMode = CommitMode::default(), Access::AnyFile,
        "Which finished tasks to commit: \"auto\" those that name a commit, \"all\" also those without a Commit field, \"never\" none.";

    /// Fail tasks that nothing verifies, or whose Verify passes only the second time
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    Strict strict: bool = RunConfig::default().strict, GUARDS_GREEN,
        "Whether tasks fail that nothing verifies, or whose Verify passes only the second time.";

    /// Excuse tests that failed before the task as well, or that pass when they run again
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    ExcuseKnownFailures excuse_known_failures: bool = RunConfig::default().excuse_known_failures, GUARDS_GREEN,
        "Whether tests that are known by name don't fail a task if they failed before it as well, or pass when they run again.";

    /// Keep the state file when all tasks are done
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    KeepState keep_state: bool = RunConfig::default().keep_state, Access::AnyFile,
        "Whether to keep the state file when all tasks are done.";
}

// These are meant for more than one run.
without_flag {
    DiagnosisAsk diagnosis_ask as "diagnosis.ask": DiagnosisAsk = DiagnosisAsk::default(), CALLS_AGENT,
        "Who is asked for the cause of a failure that the rules can't explain: \"agent\" asks the agent one short question about the output, \"off\" asks no one.";

    CiPush ci_push as "ci.push": bool = false, PUSHES,
        "Whether `regreen ci` may push commits of the current branch, as with --allow-push.";

    HistoryRecord history_record as "history.record": UserSwitch = UserSwitch::default(), Access::AnyFile,
        "Whether runs and delegations are added to your history of failures. A repository may only set false.";

    HistoryRecall history_recall as "history.recall": UserSwitch = UserSwitch::default(), Access::AnyFile,
        "Whether failures are looked up in your history, so that prompts say what helped before. A repository may only set false.";

    HistoryShare history_share as "history.share": bool = false, KEEPS_HISTORY,
        "Whether what agents and you said in one repository may enter prompts in another.";

    HistoryKeep history_keep as "history.keep": TimeLimit = TimeLimit::at_least_1_ms(HISTORY_KEEP_MS), KEEPS_HISTORY,
        "How long the history keeps a run.";

    AlertFailures alert_failures as "alert.failures_24h": OptionalLimit<Count> = OptionalLimit::OFF, Access::AnyFile,
        "Warn about more failures than this in 24 hours. \"off\": never.";

    AlertFirstPassRate alert_first_pass_rate as "alert.first_pass_rate": OptionalLimit<Percent> = OptionalLimit::OFF, Access::AnyFile,
        "Warn if a smaller percentage of tasks passes the first time, within 24 hours. \"off\": never.";

    AlertTimeout alert_timeout as "alert.timeout": OptionalLimit<Count> = OptionalLimit::OFF, Access::AnyFile,
        "Warn about more failures of the category timeout in 24 hours. \"off\": never.";

    AlertMissingContext alert_missing_context as "alert.missing_context": OptionalLimit<Count> = OptionalLimit::OFF, Access::AnyFile,
        "Warn about more failures of the category missing_context in 24 hours. \"off\": never.";

    AlertToolError alert_tool_error as "alert.tool_error": OptionalLimit<Count> = OptionalLimit::OFF, Access::AnyFile,
        "Warn about more failures of the category tool_error in 24 hours. \"off\": never.";

    AlertInvalidTask alert_invalid_task as "alert.invalid_task": OptionalLimit<Count> = OptionalLimit::OFF, Access::AnyFile,
        "Warn about more failures of the category invalid_task in 24 hours. \"off\": never.";

    AlertPartial alert_partial as "alert.partial": OptionalLimit<Count> = OptionalLimit::OFF, Access::AnyFile,
        "Warn about more failures of the category partial in 24 hours. \"off\": never.";

    OnAlert on_alert: UserProgram = UserProgram::default(), STARTS_PROGRAM,
        "A program and its arguments to run when a threshold is exceeded, with the alerts as JSON on its standard input.";

    Prompts prompts: PromptFolder = PromptFolder::default(), Access::AnyFile,
        "A folder with files that replace the built-in prompts, relative to this file.";

    McpAnswer mcp_answer as "mcp.answer": bool = false, ANSWERS,
        "Whether clients of `regreen mcp` may pass on your answers to questions of runs.";

    OnEnd on_end: UserProgram = UserProgram::default(), STARTS_PROGRAM,
        "A program and its arguments to run when a run ends.";

    OnQuestion on_question: UserProgram = UserProgram::default(), STARTS_PROGRAM,
        "A program and its arguments to run when a run needs your decision.";

    Inhibit inhibit: bool = false, KEEPS_AWAKE,
        "Whether the machine is kept from falling asleep while agents and checks run, with systemd-inhibit.";
}
}

/// The agent settings that the previous run was started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentLayer {
    pub agent: Option<Setting<RequestedAgent>>,
    pub permissions: Option<Setting<Permissions>>,
    pub model: Option<Setting<ModelName>>,
    pub arguments: Option<Setting<AgentArguments>>,
}

impl From<AgentLayer> for Layer {
    fn from(layer: AgentLayer) -> Self {
        Self {
            agent: layer.agent,
            agent_permissions: layer.permissions,
            agent_model: layer.model,
            agent_args: layer.arguments,
            ..Self::default()
        }
    }
}

impl Settings {
    /// Stacks the layers: flags first, then the agent of the run that is continued, the workspace's
    /// file, the user's file, the limits in the state file, and the defaults.
    pub fn resolve(
        flags: &SettingFlags,
        remembered: AgentLayer,
        workspace: Option<&Layer>,
        user: Option<&Layer>,
        stored: &StoredLimits,
    ) -> Self {
        let files = [workspace, user].into_iter().flatten().cloned();
        let remembered = std::iter::once(remembered.into());
        let layers = remembered.chain(files).chain([stored.layer()]);
        layers.fold(flags.layer(), Layer::over).into()
    }

    /// Returns how many tokens a first prompt may spend on what is known about the project.
    pub fn context_budget(&self) -> Option<usize> {
        let tokens = self.context_tokens.value.limit()?.get();
        Some(usize::try_from(tokens).unwrap_or(usize::MAX))
    }

    /// Returns the options to call the agent with.
    pub fn agent_options(&self) -> AgentOptions {
        AgentOptions {
            permissions: self.agent_permissions.value,
            model: self.agent_model.value.get().map(str::to_owned),
            arguments: self.agent_args.value.words().to_vec(),
            environment: self.agent_env.value.pairs().to_vec(),
        }
    }

    /// Returns when to warn about failures.
    pub fn thresholds(&self) -> Thresholds {
        let categories = [
            (FailureCategory::Timeout, &self.alert_timeout),
            (FailureCategory::MissingContext, &self.alert_missing_context),
            (FailureCategory::ToolError, &self.alert_tool_error),
            (FailureCategory::InvalidTask, &self.alert_invalid_task),
            (FailureCategory::Partial, &self.alert_partial),
        ];
        let categories = categories.into_iter().filter_map(|(category, setting)| {
            let most = setting.value.limit().map(Count::get)?;
            Some((category.name().to_owned(), most))
        });
        Thresholds {
            failures: self.alert_failures.value.limit().map(Count::get),
            first_pass_percent: self.alert_first_pass_rate.value.limit().map(Percent::get),
            categories: categories.collect(),
        }
    }

    /// Returns the engine's settings. With `only`, the run is limited to that task.
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
            commits: self.commit.value != CommitMode::Never,
            commit_all: self.commit.value == CommitMode::All,
            keep_state: self.keep_state.value,
            only,
            accepted_tests: Vec::new(),
            recovery: false,
            repairs: self.repairs.value,
            keep_going: false,
            answer_wait_ms: None,
            asks: false,
            spec_argument: None,
            gate: self.gate.value.command().map(str::to_owned),
            final_check: self.final_check.value,
            final_check_time_ms: self.final_check_time.value.ms(),
            tamper: self.tamper.value,
            strict: self.strict.value,
            excuse_known_failures: self.excuse_known_failures.value,
            diagnosis_ask: self.diagnosis_ask.value,
            recall: self.history_recall.value.is_on(),
            stored_limits: None,
            progress_file: None,
            folder: None,
            in_git: true,
            ticked_before: Vec::new(),
            auto_timeout: self.timeout.value == AttemptLimit::Auto,
            times: None,
            templates: Vec::new(),
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
