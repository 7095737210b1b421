//! `regreen delegate`: gives an agent one prompt, and prints its answer or a failure report.

mod output;

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use regreen_agents::Agent;
use regreen_documents::vague_words;
use regreen_engine::delegation::Terms;
use regreen_model::RepairPolicy;
use regreen_runtime::{DelegationSetup, Memory, Stop, delegate};
use regreen_workspace::{Programs, ReadError, RealDisk, read_text, workspace_root};

use self::output::Progress;
use crate::agent_lookup::{find_agent, identity};
use crate::config::{
    AgentFlags, Configuration, Count, OptionalLimit, PromptTexts, RuleFiles, SettingFlags,
    Settings, StoredLimits, TimeLimit, TimeSpan, parse_choice, usual_user_file,
};
use crate::exit::Exit;
use crate::learned;
use crate::problem::Problem;
use crate::recalled::UserHistory;
use crate::spec_context::{current_dir, local_zone, own_secrets, path_variable};

/// The default time limit of the first attempt.
const TIMEOUT_MS: u64 = 300_000;

/// Does not list the shell agent, which reads no prompts.
const AGENTS: &str = "Agent to use: auto, claude, codex, gemini, opencode, 'command:PROGRAM ARGS' or 'acp:PROGRAM ARGS' [default: auto]";

#[derive(Debug, Args)]
pub struct Delegate {
    /// Prompt for the agent
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "prompt_file",
        conflicts_with = "prompt_file"
    )]
    pub prompt: Option<String>,
    /// File with the prompt, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub prompt_file: Option<PathBuf>,
    /// Time limit for the first attempt, doubled after each timeout [default: 300s]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<TimeLimit>,
    /// Maximum number of attempts [default: 1]
    #[arg(long, value_name = "N")]
    pub retries: Option<Count>,
    /// Command that must exit with 0 when the agent is done
    #[arg(long, value_name = "CMD", allow_hyphen_values = true)]
    pub verify: Option<String>,
    /// Give the agent the prompt as it is, without what is known about the project
    #[arg(long)]
    pub verbatim: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: DelegateFlags,
}

/// The settings of a run that matter here.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
#[command(mut_arg("agent", |agent| agent.help(AGENTS)))]
pub struct DelegateFlags {
    #[command(flatten)]
    pub agent: AgentFlags,
    /// Time limit for the --verify command [default: 10m]
    #[arg(long, value_name = "TIME")]
    pub verify_timeout: Option<TimeLimit>,
    /// Time limit for an attempt without any activity, or off [default: off]
    #[arg(long, value_name = "TIME|off")]
    pub idle_timeout: Option<OptionalLimit<TimeLimit>>,
    /// Total time to wait for the agent's service [default: 6h]
    #[arg(long, value_name = "TIME")]
    pub max_wait: Option<TimeSpan>,
    /// Repairs that regreen makes itself between attempts: safe, ask or off [default: safe]
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
    /// Returns the flags as the flags of a run.
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

pub fn run(arguments: &Delegate) -> Result<Exit, Problem> {
    let (setup, settings) = setup(arguments)?;
    let root = setup.root.clone();
    let mut progress = Progress::default();
    let delegated = delegate(setup, &mut progress);
    progress.finish();
    learned::learn(&root, &settings);
    output::print(&delegated?, arguments.json)
}

fn setup(arguments: &Delegate) -> Result<(DelegationSetup, Settings), Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let prompt = prompt(arguments)?;
    if let Some(words) = vague_words(&prompt) {
        crate::output::note(&format!(
            "the prompt says “{words}”, but the agent has seen no conversation: say it in the prompt"
        ));
    }
    let user_file = usual_user_file();
    let has_state_folder = user_file.is_some();
    let rules = RuleFiles::load(user_file.as_deref(), &root);
    rules.note_broken(&here);
    let configuration = Configuration::load(user_file, &root, &here)?;
    let flags = arguments.settings.as_settings();
    let settings = configuration.resolve(&flags, &StoredLimits::default());
    let texts = PromptTexts::load(&settings.prompts, &root, &here)?;
    let programs = Programs::new(&path_variable(), &root);
    let agent = agent(&settings, &programs)?;
    let recalls = has_state_folder && settings.history_recall.value.is_on();
    let stop = Stop::default();
    stop.listen().map_err(Problem::Signals)?;
    let setup = DelegationSetup {
        prompt,
        verify: arguments.verify.clone(),
        terms: Terms {
            attempts: arguments.attempts(),
            timeout_ms: arguments.timeout_ms(),
            max_wait_ms: settings.max_wait.value.ms(),
            repairs: settings.repairs.value,
            divides: true,
            recalls,
        },
        memory: recalls.then(|| Box::new(UserHistory::new(&root, &settings)) as Box<dyn Memory>),
        verify_timeout_ms: settings.verify_timeout.value.ms(),
        idle_timeout_ms: settings.idle_timeout.value.limit().map(TimeLimit::ms),
        diagnosis_ask: settings.diagnosis_ask.value,
        context_tokens: (!arguments.verbatim)
            .then(|| settings.context_budget())
            .flatten(),
        agent_name: identity(&settings, &agent).name().to_owned(),
        agent,
        prompts: texts.prompts,
        own_rules: Arc::new(rules.rules),
        path: path_variable(),
        local_zone: local_zone(),
        secrets: own_secrets(),
        keeper: std::env::current_exe().map_err(Problem::OwnProgram)?,
        stop,
        root,
    };
    Ok((setup, settings))
}

fn agent(settings: &Settings, programs: &Programs) -> Result<Agent, Problem> {
    match find_agent(settings, programs) {
        // The shell agent runs the commands of tasks, and a delegation has no tasks.
        Agent::Shell(_) => Err(Problem::NoDelegate),
        agent => Ok(agent),
    }
}

/// Returns the prompt from the flag or the file.
fn prompt(arguments: &Delegate) -> Result<String, Problem> {
    let prompt = match (&arguments.prompt, &arguments.prompt_file) {
        (Some(prompt), _) => prompt.clone(),
        (None, Some(path)) => read(path)?,
        (None, None) => String::new(),
    };
    if prompt.trim().is_empty() {
        return Err(Problem::NoPrompt);
    }
    Ok(prompt)
}

fn read(path: &Path) -> Result<String, Problem> {
    if path != Path::new("-") {
        let file = read_text(&RealDisk, path);
        return Ok(file.map_err(Problem::Prompt)?.text);
    }
    let mut bytes = Vec::new();
    let read = io::stdin().read_to_end(&mut bytes);
    read.map_err(|source| {
        let path = path.to_owned();
        Problem::Prompt(ReadError::Io { path, source })
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
