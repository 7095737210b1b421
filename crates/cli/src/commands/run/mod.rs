//! `regreen run`

mod dry_run;
mod on_end;
mod person;
mod view;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use regreen_agents::{Agent, Prompts};
use regreen_diagnosis::OwnRules;
use regreen_documents::TaskFile;
use regreen_model::{Limits, RunConfig, RunOutcome, TaskId};
use regreen_runtime::{RunSetup, SpecPaths, Stop, now};
use regreen_workspace::{Programs, RealDisk, read_text};

use self::person::AtTerminal;
use self::view::View;
use crate::agent_lookup::{find_agent, identity};
use crate::arguments::task_id;
use crate::config::{
    Configuration, Count, Origin, PromptTexts, RuleFiles, SettingFlags, Settings, StoredLimits,
    usual_user_file,
};
use crate::exit::Exit;
use crate::output;
use crate::plan::known_ids;
use crate::problem::Problem;
use crate::remembered_agent::RememberedAgent;
use crate::spec_context::{SpecContext, local_zone, own_secrets, path_variable};
use crate::state_file::limits_in;

#[derive(Debug, Args)]
pub struct Run {
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
    /// Run only this task
    #[arg(long, value_name = "ID", value_parser = task_id)]
    pub only: Option<TaskId>,
    /// Show what would run, without running it
    #[arg(long)]
    pub dry_run: bool,
    /// Never ask; exit with code 3 if a person must decide. Implied by --json and if there is no
    /// terminal
    #[arg(long)]
    pub no_input: bool,
    /// Print one JSON event per line
    #[arg(long)]
    pub json: bool,
    /// Heal failed tasks: add a fix task to the plan, run it, and try again. Stays on until the
    /// spec is done
    #[arg(long, conflicts_with = "no_recovery_mode")]
    pub recovery_mode: bool,
    /// Only retry failed tasks, then stop, even if the state file turns recovery on
    #[arg(long)]
    pub no_recovery_mode: bool,
    /// Maximum number of fix tasks per task; stored with the spec [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub max_fix_tasks: Option<u32>,
    /// If a person must decide about a task, continue with the others and exit with code 3 at the
    /// end
    #[arg(long)]
    pub keep_going: bool,
    #[command(flatten)]
    pub settings: SettingFlags,
}

/// A run that can start: everything it needs is read and checked.
struct PreparedRun {
    context: SpecContext,
    settings: Settings,
    config: RunConfig,
    prompts: Prompts,
    own_rules: Arc<OwnRules>,
    programs: Programs,
    agent: Agent,
    /// The user has a place for files of their own, in which the next run finds the agent of this one.
    remembers_agent: bool,
}

pub fn run(arguments: &Run) -> Result<Exit, Problem> {
    run_for(arguments, usual_user_file())
}

/// Runs with this configuration file of the user, or with none.
pub fn run_for(arguments: &Run, user_file: Option<PathBuf>) -> Result<Exit, Problem> {
    let prepared = PreparedRun::from(arguments, user_file)?;
    if arguments.dry_run {
        output::print(&output::printable(&dry_run::page(&prepared)?))?;
        return Ok(Exit::Success);
    }
    prepared.start(View::choose(arguments.json))
}

impl PreparedRun {
    fn from(arguments: &Run, user_file: Option<PathBuf>) -> Result<Self, Problem> {
        let context = SpecContext::find(arguments.spec.as_deref())?;
        let places = &context.places;
        check_tasks(&context, arguments.only.as_ref())?;
        let remembers_agent = user_file.is_some();
        let rules = RuleFiles::load(user_file.as_deref(), &places.root);
        rules.note_broken(&context.here);
        let configuration = Configuration::load(user_file, &places.root, &context.here)?;
        let stored = limits_in(&places.state)?;
        let flags = &arguments.settings;
        let remembered = RememberedAgent::recall(places, &flags.agent);
        let settings = configuration.resolve_with(flags, remembered.layer(), &stored);
        let texts = PromptTexts::load(&settings.prompts, &places.root, &context.here)?;
        let programs = Programs::new(&path_variable(), &places.root);
        let agent = find_agent(&settings, &programs);
        Ok(Self {
            config: with_recovery(
                RunConfig {
                    agent: identity(&settings, &agent),
                    asks: !arguments.no_input && !arguments.json && output::can_ask(),
                    spec_argument: context.argument(arguments.spec.as_deref()),
                    stored_limits: Some(stored.limits()),
                    progress_file: progress_file(places),
                    in_git: is_in_git(&places.root),
                    ..settings.run_config(&places.spec.name, arguments.only.clone())
                },
                arguments,
                &stored,
            ),
            prompts: texts.prompts,
            own_rules: Arc::new(rules.rules),
            context,
            settings,
            programs,
            agent,
            remembers_agent,
        })
    }

    fn start(self, mut view: View) -> Result<Exit, Problem> {
        let mut person = AtTerminal::new(
            output::question_style(),
            &self.context.here,
            self.config.spec_argument.clone(),
        );
        let stop = Stop::default();
        stop.listen().map_err(Problem::Signals)?;
        let setup = RunSetup {
            paths: self.context.places,
            config: self.config,
            agent: self.agent,
            agent_is_chosen: self.settings.agent.origin != Origin::Default,
            prompts: self.prompts,
            own_rules: self.own_rules,
            path: path_variable(),
            local_zone: local_zone(),
            secrets: own_secrets(),
            keeper: std::env::current_exe().map_err(Problem::OwnProgram)?,
            stop,
        };
        if self.settings.agent.origin == Origin::Remembered {
            output::note(&format!(
                "continuing with the agent of the last run: {}; --agent chooses another",
                setup.config.agent
            ));
        }
        let paths = setup.paths.clone();
        if self.remembers_agent {
            let (agent, of) = (RememberedAgent::of(&self.settings), paths.clone());
            view.on_begin(move || agent.save(&of));
        }
        let finished = regreen_runtime::run(setup, &mut view, &mut person);
        let summary = view.finish(now());
        let finished = finished?;
        if finished.outcome == RunOutcome::AllGreen {
            RememberedAgent::forget(&paths);
        }
        if let Some(argv) = self.settings.on_end.value.argv() {
            on_end::run(argv, &paths.root, &summary);
        }
        Ok(Exit::of(&finished.outcome))
    }
}

/// Adds the settings of recovery. Once the state file has turned recovery on, it stays on until
/// someone turns it off.
fn with_recovery(config: RunConfig, arguments: &Run, stored: &StoredLimits) -> RunConfig {
    let asked = arguments.recovery_mode || stored.recovery;
    let fixes = arguments.max_fix_tasks.or(stored.fix_tasks.map(Count::get));
    let limits = Limits {
        fix_depth: stored.fix_depth.map_or(config.limits.fix_depth, Count::get),
        ..config.limits
    };
    let limits = fixes.map_or(limits, |fixes| limits.with_fixes_per_task(fixes));
    RunConfig {
        recovery: asked && !arguments.no_recovery_mode,
        keep_going: arguments.keep_going,
        limits,
        ..config
    }
}

/// Returns whether this is the top of a work tree, without asking git: a dry run starts nothing.
fn is_in_git(root: &Path) -> bool {
    let git = root.join(".git");
    git.is_file() || git.join("HEAD").exists()
}

/// Returns where the progress file is, if not in the spec's folder.
fn progress_file(paths: &SpecPaths) -> Option<String> {
    let is_beside = paths.progress.parent() == paths.spec.tasks.parent();
    (!is_beside).then(|| paths.shown(&paths.progress))
}

/// Checks that the file has a task to run, and the one that the user asks for.
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

#[cfg(test)]
mod tests;
