//! `regreen delegate`

mod told;
mod watching;

use std::io::{self, Read as _};
use std::path::Path;

use regreen_agents::Agent;
use regreen_engine::delegation::Terms;
use regreen_runtime::{DelegationSetup, Stop, delegate};
use regreen_workspace::{Programs, ReadError, RealDisk, read_text, workspace_root};

use self::watching::Watching;
use crate::agent_lookup::{identity, look_up};
use crate::arguments::Delegate;
use crate::config::{
    Configuration, PromptTexts, Settings, StoredLimits, TimeLimit, usual_user_file,
};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{current_dir, path_variable};

pub fn run(arguments: &Delegate) -> Result<Exit, Problem> {
    let setup = setup(arguments)?;
    let mut watching = Watching::default();
    let delegated = delegate(setup, &mut watching);
    watching.finish();
    let delegated = delegated?;
    let exit = told::exit(&delegated.end);
    match arguments.json {
        true => output::print(&output::json(&told::object(&delegated, exit)))?,
        false => output::print(&told::text(&delegated))?,
    }
    if let Some(why) = told::why(&delegated.end) {
        output::say(&why);
    }
    Ok(exit)
}

fn setup(arguments: &Delegate) -> Result<DelegationSetup, Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let prompt = prompt(arguments)?;
    let configuration = Configuration::load(usual_user_file(), &root, &here)?;
    let flags = arguments.settings.as_settings();
    let settings = configuration.resolve(&flags, &StoredLimits::default());
    let texts = PromptTexts::load(&settings.prompts, &root, &here)?;
    let programs = Programs::new(&path_variable(), &root);
    let agent = agent(&settings, &programs)?;
    let stop = Stop::default();
    stop.listen().map_err(Problem::Signals)?;
    Ok(DelegationSetup {
        prompt,
        verify: arguments.verify.clone(),
        terms: Terms {
            attempts: arguments.attempts(),
            timeout_ms: arguments.timeout_ms(),
            max_wait_ms: settings.max_wait.value.ms(),
            repairs: settings.run_config("", None).repairs,
            divides: true,
        },
        verify_timeout_ms: settings.verify_timeout.value.ms(),
        idle_timeout_ms: settings.idle_timeout.value.limit().map(TimeLimit::ms),
        agent_name: identity(&settings.agent.value, &agent).name().to_owned(),
        agent,
        prompts: texts.prompts,
        path: path_variable(),
        keeper: std::env::current_exe().map_err(Problem::OwnProgram)?,
        stop,
        root,
    })
}

fn agent(settings: &Settings, programs: &Programs) -> Result<Agent, Problem> {
    let choice = settings.agent.value.choice();
    let agent = look_up(choice, settings.agent_options(), |program| {
        programs.has(&RealDisk, program)
    });
    match agent {
        // It runs the commands of tasks, and there are no tasks.
        Agent::Shell(_) => Err(Problem::NoDelegate),
        agent => Ok(agent),
    }
}

/// What is to be done, as it was said or written.
fn prompt(arguments: &Delegate) -> Result<String, Problem> {
    let prompt = match (&arguments.prompt, &arguments.prompt_file) {
        (Some(prompt), _) => prompt.clone(),
        (None, Some(path)) => read(path)?,
        (None, None) => String::new(),
    };
    match prompt.trim().is_empty() {
        true => Err(Problem::NoPrompt),
        false => Ok(prompt),
    }
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
