//! `regreen agents`: who could work here, and how each would be called. Asks no service.

mod version;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use regreen_agents::{Agent, AgentOptions, Assignment, CodingAgent, StdinContent};
use regreen_model::{PromptKind, TaskId};
use regreen_workspace::{Programs, RealDisk, workspace_root};

use crate::agent_lookup::look_up;
use crate::arguments::{AgentFlags, SettingFlags};
use crate::config::{Configuration, StoredLimits, usual_user_file};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{current_dir, path_variable};

/// What stands for a task in the calls that are shown.
const TASK: &str = "1.1";

pub fn run(agent: AgentFlags) -> Result<Exit, Problem> {
    let flags = SettingFlags {
        agent,
        ..SettingFlags::default()
    };
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let configuration = Configuration::load(usual_user_file(), &root, &here)?;
    let settings = configuration.resolve(&flags, &StoredLimits::default());
    let programs = Programs::new(&path_variable(), &root);
    let options = settings.agent_options();
    let chosen = look_up(settings.agent.value.choice(), options.clone(), |program| {
        programs.has(&RealDisk, program)
    });
    let mut page = String::new();
    for known in CodingAgent::ALL {
        let found = programs.find(&RealDisk, known.name());
        tell(&mut page, known, found.as_deref(), &options, &root)?;
    }
    let _ = writeln!(
        page,
        "`regreen run` would give the tasks to {} (agent = {})",
        chosen.name(),
        settings.agent.value
    );
    // What is called by name is shown above; `shell` has no call of its own.
    if let Agent::Acp(..) | Agent::Command(_) = chosen {
        let _ = writeln!(page, "  call:   {}", call(&chosen, &options, &root));
    }
    output::print(&output::printable(&page))?;
    Ok(Exit::Success)
}

fn tell(
    page: &mut String,
    known: CodingAgent,
    program: Option<&Path>,
    options: &AgentOptions,
    root: &Path,
) -> Result<(), Problem> {
    let name = known.name();
    let Some(program) = program else {
        let _ = writeln!(page, "{name:<9} not installed\n");
        return Ok(());
    };
    let version = version::of(program, root)?;
    let _ = writeln!(
        page,
        "{name:<9} {version}, {}",
        output::path_from_home(program)
    );
    let _ = writeln!(page, "  login:  {}", login(known));
    let agent = Agent::CodingAgent(known, options.clone());
    let _ = writeln!(page, "  call:   {}\n", call(&agent, options, root));
    Ok(())
}

/// What can be seen of a login without asking anybody. Only whether it is there is looked at.
fn login(known: CodingAgent) -> String {
    let credentials = known.credentials();
    let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(variable) = credentials.variables.iter().find(is_set) {
        return format!("{variable} is set");
    }
    let home: PathBuf = std::env::home_dir().unwrap_or_default();
    match credentials
        .files
        .iter()
        .find(|file| home.join(file).is_file())
    {
        Some(file) => format!("~/{file} is there"),
        None => "none seen; it may have one elsewhere".to_owned(),
    }
}

/// The call as a person would type it.
fn call(agent: &Agent, options: &AgentOptions, root: &Path) -> String {
    let Some(id) = TaskId::parse(TASK) else {
        return String::new();
    };
    let assignment = Assignment {
        task_id: id.as_str(),
        title: "",
        attempt: 1,
        spec_dir: "",
        root: &root.to_string_lossy(),
        session: None,
        prompt: "",
        kind: PromptKind::First,
        steps: &[],
    };
    let invocation = agent.invocation(&assignment);
    let names = options
        .environment
        .iter()
        .map(|(name, _)| format!("{name}=… "));
    let environment: String = names.collect();
    let line = shell_words::join(&invocation.argv);
    match invocation.stdin {
        StdinContent::Text(_) => format!("{environment}{line} < PROMPT"),
        StdinContent::Empty | StdinContent::Protocol => format!("{environment}{line}"),
    }
}

/// The name of a program without its folders.
fn base(program: &Path) -> &OsStr {
    program.file_name().unwrap_or(program.as_os_str())
}
