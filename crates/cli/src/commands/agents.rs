//! `regreen agents`: lists the installed agents and how each would be called. Contacts no service.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use regreen_agents::{Agent, AgentOptions, Assignment, CodingAgent, StdinContent};
use regreen_model::{PlainLine, PromptKind, TaskId};
use regreen_redaction::Masks;
use regreen_supervisor::{Chunk, Keepers, Marker, ProcessSpec, Stdin, Stream, TimeLimits};
use regreen_workspace::{Programs, RealDisk, workspace_root};

use crate::agent_lookup::{find_agent, found_login};
use crate::config::{AgentFlags, Configuration, SettingFlags, StoredLimits, usual_user_file};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{current_dir, path_variable};

/// The task id in the example calls.
const TASK: &str = "1.1";

/// How long an agent may take to print its version.
const VERSION_LIMIT: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(1);
const MAX_BYTES: usize = 1024;
const SHOWN_CHARS: usize = 60;

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
    let chosen = find_agent(&settings, &programs);
    let mut page = String::new();
    for known in CodingAgent::ALL {
        let found = programs.find(&RealDisk, known.name());
        add_agent(&mut page, known, found.as_deref(), &options, &root)?;
    }
    let _ = writeln!(
        page,
        "`regreen run` would use {} (agent = {})",
        chosen.name(),
        settings.agent.value
    );
    // Named agents are listed above, and `shell` has no call of its own.
    if let Agent::Acp(..) | Agent::Command(..) = chosen {
        let _ = writeln!(page, "  call:   {}", call(&chosen, &options, &root));
    }
    output::print(&output::printable(&page))?;
    Ok(Exit::Success)
}

fn add_agent(
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
    let version = version_of(program, root)?;
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

/// Describes whether the agent is logged in.
fn login(known: CodingAgent) -> String {
    found_login(known).unwrap_or_else(|| "not found; it may be stored elsewhere".to_owned())
}

/// Returns the call as a person would type it.
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

/// Asks a program for its version, under a keeper as in a run, so that it leaves no process behind.
fn version_of(program: &Path, root: &Path) -> Result<String, Problem> {
    let keeper = std::env::current_exe().map_err(Problem::OwnProgram)?;
    let spec = ProcessSpec {
        argv: vec![program.into(), "--version".into()],
        cwd: root.to_owned(),
        env: Vec::new(),
        stdin: Stdin::Empty,
        limits: TimeLimits {
            hard: VERSION_LIMIT,
            idle: None,
            grace: GRACE,
        },
        marker: Marker::new("version"),
        masks: Some(Masks::built_in()),
        last_copy: None,
    };
    let mut printed = Vec::new();
    let mut keep = |chunk: Chunk<'_>| {
        if chunk.stream == Stream::Stdout && printed.len() < MAX_BYTES {
            printed.extend_from_slice(chunk.bytes);
        }
    };
    let ended = match Keepers::new(keeper).spawn(spec) {
        Ok(running) => running.wait(&mut keep).ok(),
        Err(_) => None,
    };
    let text = String::from_utf8_lossy(&printed);
    let version = PlainLine::first_of(&text, SHOWN_CHARS);
    let answered = ended.is_some_and(|ended| ended.exit.success()) && !version.is_empty();
    if answered {
        return Ok(version.to_string());
    }
    let name = program.file_name().unwrap_or(program.as_os_str());
    Ok(format!("unknown version ({name:?} --version)"))
}
