//! `regreen run`

mod dry_run;
mod on_end;
mod person;
mod view;

use std::path::PathBuf;

use regreen_agents::{Agent, Prompts};
use regreen_documents::TaskFile;
use regreen_model::{Limits, RunConfig, TaskId};
use regreen_runtime::{RunSetup, Stop, now};
use regreen_workspace::{Programs, RealDisk, find_spec, read_text};

use self::person::AtTerminal;
use self::view::{View, palette};
use crate::agent_lookup::{identity, look_up};
use crate::arguments::Run;
use crate::config::{
    Configuration, Count, Origin, PromptTexts, Settings, StoredLimits, usual_user_file,
};
use crate::exit::Exit;
use crate::output;
use crate::plan::known_ids;
use crate::problem::Problem;
use crate::spec_context::{SpecContext, path_variable};
use crate::state_file::limits_in;

/// Everything that is settled before a run.
struct Ready {
    context: SpecContext,
    settings: Settings,
    config: RunConfig,
    prompts: Prompts,
    programs: Programs,
    agent: Agent,
}

pub fn run(arguments: &Run) -> Result<Exit, Problem> {
    run_for(arguments, usual_user_file())
}

/// A run with this file of the user's own settings, or with none.
pub fn run_for(arguments: &Run, user_file: Option<PathBuf>) -> Result<Exit, Problem> {
    let ready = Ready::from(arguments, user_file)?;
    if arguments.dry_run {
        output::print(&output::printable(&dry_run::page(&ready)?))?;
        return Ok(Exit::Success);
    }
    ready.go(View::choose(arguments.json))
}

impl Ready {
    fn from(arguments: &Run, user_file: Option<PathBuf>) -> Result<Self, Problem> {
        let context = SpecContext::find(arguments.spec.as_deref())?;
        let places = &context.places;
        check_tasks(&context, arguments.only.as_ref())?;
        let configuration = Configuration::load(user_file, &places.root, &context.here)?;
        let stored = limits_in(&places.state)?;
        let settings = configuration.resolve(&arguments.settings, &stored);
        let texts = PromptTexts::load(&settings.prompts, &places.root, &context.here)?;
        let programs = Programs::new(&path_variable(), &places.root);
        let agent = look_up(
            settings.agent.value.choice(),
            settings.agent_options(),
            |program| programs.has(&RealDisk, program),
        );
        Ok(Self {
            config: with_healing(
                RunConfig {
                    agent: identity(&settings.agent.value, &agent),
                    asks: !arguments.no_input && !arguments.json && output::can_ask(),
                    spec_argument: spec_argument(&context, arguments.spec.as_deref()),
                    ..settings.run_config(&places.spec.name, arguments.only.clone())
                },
                arguments,
                &stored,
            ),
            prompts: texts.prompts,
            context,
            settings,
            programs,
            agent,
        })
    }

    fn go(self, mut view: View) -> Result<Exit, Problem> {
        let mut person = AtTerminal::new(
            palette(output::asks_in_colours()),
            &self.context.here,
            self.config.spec_argument.clone(),
        );
        let stop = Stop::default();
        stop.listen().map_err(Problem::Signals)?;
        let setup = RunSetup {
            places: self.context.places,
            config: self.config,
            agent: self.agent,
            agent_is_chosen: self.settings.agent.origin != Origin::Default,
            prompts: self.prompts,
            path: path_variable(),
            keeper: std::env::current_exe().map_err(Problem::OwnProgram)?,
            stop,
        };
        let root = setup.places.root.clone();
        let finished = regreen_runtime::run(setup, &mut view, &mut person);
        let summary = view.finish(now());
        let finished = finished?;
        if let Some(argv) = self.settings.on_end.value.argv() {
            on_end::run(argv, &root, &summary);
        }
        Ok(Exit::of(&finished.outcome))
    }
}

/// Recovery that the state file has turned on stays on until somebody turns it off.
fn with_healing(config: RunConfig, arguments: &Run, stored: &StoredLimits) -> RunConfig {
    let asked = arguments.recovery_mode || stored.recovery;
    let fixes = arguments.max_fix_tasks.or(stored.fix_tasks.map(Count::get));
    let limits = Limits {
        fixes_per_task: fixes.unwrap_or(config.limits.fixes_per_task),
        fix_depth: stored.fix_depth.map_or(config.limits.fix_depth, Count::get),
        ..config.limits
    };
    RunConfig {
        recovery: asked && !arguments.no_recovery_mode,
        keep_going: arguments.keep_going,
        limits,
        ..config
    }
}

/// What the spec has to be called in a command, where it would not be found by itself.
fn spec_argument(context: &SpecContext, asked: Option<&str>) -> Option<String> {
    let SpecContext { here, places } = context;
    let found = find_spec(&RealDisk, &places.root, here, None);
    let is_found = found.is_ok_and(|spec| spec.tasks == places.spec.tasks);
    let asked = asked.filter(|_| !is_found)?;
    Some(shell_words::quote(asked).into_owned())
}

/// A file without anything to run is no list of tasks, and a task that was asked for has to
/// be there.
fn check_tasks(context: &SpecContext, only: Option<&TaskId>) -> Result<(), Problem> {
    let path = &context.places.spec.tasks;
    let file = TaskFile::read(read_text(&RealDisk, path)?.text);
    let shown = output::path_from(&context.here, path).into();
    if file.runnable(true) == 0 {
        return Err(Problem::NoTasks { file: shown });
    }
    match only {
        Some(id) if file.rows_with_id(id).next().is_none() => Err(Problem::NoSuchTask {
            file: shown,
            id: id.to_string(),
            known: known_ids(&file),
        }),
        _ => Ok(()),
    }
}
