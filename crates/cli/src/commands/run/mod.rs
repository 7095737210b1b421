//! `regreen run`: runs a task list through an agent, and checks every result.

mod detach;
mod dry_run;
mod person;
mod question_program;
mod view;
mod without_agent;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use regreen_agents::{Agent, Prompts};
use regreen_diagnosis::OwnRules;
use regreen_documents::TaskFile;
use regreen_model::{Limits, PreflightPolicy, RunConfig, TaskId};
use regreen_runtime::{Memory, Preflight, RunSetup, SpecPaths, Stop, now, preflight};
use regreen_workspace::{Programs, RealDisk, read_text};

use self::person::{AskMode, AtTerminal, Respondents};
use self::question_program::QuestionProgram;
pub use self::view::View;
use super::report;
use crate::agent_lookup::{find_agent, identity, missing_login};
use crate::arguments::task_id;
use crate::commands::baseline::accepted_tests;
use crate::config::{
    Configuration, Count, Origin, PromptTexts, RecoveryTemplates, RuleFiles, SettingFlags,
    Settings, StoredLimits, TimeSpan, usual_user_file,
};
use crate::exit::Exit;
use crate::known_runs;
use crate::learned;
use crate::outlook::Outlook;
use crate::output;
use crate::plan::known_ids;
use crate::problem::Problem;
use crate::recalled::UserHistory;
use crate::remembered_agent::RememberedAgent;
use crate::spec_context::{SpecContext, local_zone, own_secrets, path_variable};
use crate::state_file::limits_in;
use crate::user_program;
use crate::user_state::user_state_folder;

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
    /// Run in the background, without this terminal: it survives a logout. `regreen attach` shows it
    #[arg(long, conflicts_with = "dry_run")]
    pub detach: bool,
    /// This is the process in the background
    #[arg(long, hide = true)]
    pub detached: bool,
    /// Never ask; exit with code 3 if a person must decide. Implied by --json and if there is no
    /// terminal
    #[arg(long)]
    pub no_input: bool,
    /// Print one JSON event per line
    #[arg(long)]
    pub json: bool,
    /// Write test results in JUnit's format to this file: a test for each task
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub junit: Option<PathBuf>,
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
    /// Once only such tasks are left, wait this long for `regreen answer` [default with --detach: as long as it
    /// takes, otherwise: 0s]
    #[arg(long, value_name = "TIME", requires = "keep_going")]
    pub wait_for_answers: Option<TimeSpan>,
    #[command(flatten)]
    pub settings: SettingFlags,
}

/// A run that is ready to start: everything it needs has been read and checked.
struct PreparedRun {
    context: SpecContext,
    settings: Settings,
    config: RunConfig,
    prompts: Prompts,
    own_rules: Arc<OwnRules>,
    programs: Programs,
    agent: Agent,
    /// How a person is asked, if at all.
    asks: AskMode,
    /// What the history says about the tasks.
    outlook: Option<Outlook>,
    /// The user has a state folder, where later runs find what they can learn from this one.
    has_state_folder: bool,
}

pub fn run(arguments: &Run) -> Result<Exit, Problem> {
    run_for(arguments, usual_user_file())
}

/// Runs with this user configuration file, or with none.
pub fn run_for(arguments: &Run, user_file: Option<PathBuf>) -> Result<Exit, Problem> {
    let prepared = PreparedRun::from(arguments, user_file)?;
    if arguments.dry_run {
        return prepared.show();
    }
    without_agent::check(&prepared)?;
    if arguments.detach {
        return detach::start(&prepared.context.places, &prepared.context.here);
    }
    if arguments.detached {
        detach::leave_session()?;
    }
    prepared.start(
        View::choose(arguments.json),
        arguments.detached,
        arguments.junit.as_deref(),
    )
}

impl PreparedRun {
    fn from(arguments: &Run, user_file: Option<PathBuf>) -> Result<Self, Problem> {
        let context = SpecContext::find(arguments.spec.as_deref())?;
        let places = &context.places;
        check_tasks(&context, arguments.only.as_ref())?;
        let has_state_folder = user_file.is_some();
        let rules = RuleFiles::load(user_file.as_deref(), &places.root);
        rules.note_broken(&context.here);
        let templates = match &user_file {
            Some(file) => RecoveryTemplates::load(Some(file), &places.root, &context.here)?,
            None => RecoveryTemplates::default(),
        };
        let configuration = Configuration::load(user_file, &places.root, &context.here)?;
        let stored = limits_in(&places.state)?;
        let flags = &arguments.settings;
        let remembered = RememberedAgent::recall(places, &flags.agent);
        let settings = configuration.resolve_with(flags, remembered.layer(), &stored);
        let texts = PromptTexts::load(&settings.prompts, &places.root, &context.here)?;
        let programs = Programs::new(&path_variable(), &places.root);
        let agent = find_agent(&settings, &programs);
        let asks = ask_mode(arguments);
        let agent_identity = identity(&settings, &agent);
        let outlook = has_state_folder
            .then(|| Outlook::read(&settings, agent_identity.name(), places))
            .flatten();
        Ok(Self {
            asks: asks.unwrap_or(AskMode::Given),
            config: with_recovery(
                RunConfig {
                    agent: agent_identity,
                    times: outlook.as_ref().and_then(Outlook::times),
                    asks: asks.is_some(),
                    spec_argument: context.argument(arguments.spec.as_deref()),
                    stored_limits: Some(stored.limits()),
                    progress_file: progress_file(places),
                    folder: (context.here != places.root)
                        .then(|| output::path_from_home(&places.root)),
                    in_git: is_in_git(&places.root),
                    templates: templates.for_run(),
                    recall: has_state_folder && settings.history_recall.value.is_on(),
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
            outlook,
            has_state_folder,
        })
    }

    /// Shows what would run, and what would be in its way.
    fn show(self) -> Result<Exit, Problem> {
        let page = dry_run::page(&self)?;
        let file = TaskFile::read(read_text(&RealDisk, &self.context.places.spec.tasks)?.text);
        let looks = self.settings.preflight.value != PreflightPolicy::Off;
        let setup = self.into_setup(Stop::default())?;
        let found = if looks {
            preflight(&setup, &file)
        } else {
            Preflight::default()
        };
        let page = page + &dry_run::findings(&found);
        output::print(&output::printable(&page))?;
        Ok(match found.has_errors() {
            false => Exit::Success,
            true if setup.preflight == PreflightPolicy::Warn => Exit::Success,
            true if found.is_only_unreadable() => Exit::BadInput,
            true => Exit::SetUp,
        })
    }

    fn into_setup(self, stop: Stop) -> Result<RunSetup, Problem> {
        let config = RunConfig {
            accepted_tests: accepted_tests(&self.context.places.root),
            ..self.config
        };
        let memory = UserHistory::new(&self.context.places.root, &self.settings);
        Ok(RunSetup {
            memory: config.recall.then(|| Box::new(memory) as Box<dyn Memory>),
            paths: self.context.places,
            config,
            agent_is_chosen: self.settings.agent.origin != Origin::Default,
            preflight: self.settings.preflight.value,
            missing_login: missing_login(&self.agent),
            context_tokens: self.settings.context_budget(),
            agent: self.agent,
            prompts: self.prompts,
            own_rules: self.own_rules,
            path: path_variable(),
            local_zone: local_zone(),
            secrets: own_secrets(),
            keeper: std::env::current_exe().map_err(Problem::OwnProgram)?,
            stop,
            inhibit: self.settings.inhibit.value,
            checkouts: user_state_folder().map(|folder| folder.join("checkouts")),
        })
    }

    fn start(
        self,
        mut view: View,
        is_detached: bool,
        junit: Option<&Path>,
    ) -> Result<Exit, Problem> {
        if let Some(file) = junit {
            report::begin_junit(file, &self.context.places)?;
        }
        let terminal = AtTerminal::new(
            output::question_style(),
            &self.context.here,
            self.config.spec_argument.clone(),
        );
        let mut person = Respondents::new(terminal, self.context.places.clone(), self.asks);
        let stop = Stop::default();
        let listening = if is_detached {
            stop.listen_without_hangup()
        } else {
            stop.listen()
        };
        listening.map_err(Problem::Signals)?;
        let (settings, has_state_folder) = (self.settings.clone(), self.has_state_folder);
        let setup = self.into_setup(stop)?;
        if settings.agent.origin == Origin::Remembered {
            output::note(&format!(
                "continuing with the agent of the last run: {}; --agent chooses another",
                setup.config.agent
            ));
        }
        let paths = setup.paths.clone();
        if has_state_folder {
            let (agent, of) = (RememberedAgent::of(&settings), paths.clone());
            view.on_begin(move || {
                agent.save(&of);
                known_runs::remember(&of);
            });
        }
        if let Some(argv) = settings.on_question.value.argv() {
            view.on_question(QuestionProgram::new(argv, paths.clone()));
        }
        let finished = regreen_runtime::run(setup, &mut view, &mut person);
        let summary = view.finish(now());
        let finished = finished?;
        if let Some(file) = junit {
            report::end_junit(file, &paths)?;
        }
        let outcome = finished.outcome.clone();
        // Before the user's program runs: that may start another run.
        finished.reported()?;
        if has_state_folder {
            learned::learn(&paths.root, &settings);
            learned::warn(&paths.root, &settings);
        }
        if let Some(argv) = settings.on_end.value.argv() {
            user_program::run("on_end", argv, &paths.root, &summary);
        }
        Ok(Exit::of(&outcome))
    }
}

/// Returns how a person is asked; `None` if the run ends or continues with other tasks instead. Answers that were
/// given meanwhile are taken in any case.
fn ask_mode(arguments: &Run) -> Option<AskMode> {
    if arguments.no_input || arguments.keep_going {
        return None;
    }
    if arguments.detached {
        return Some(AskMode::Wait);
    }
    (!arguments.json && output::can_ask()).then_some(AskMode::Terminal)
}

/// Returns how long the run waits for answers once only tasks that need them are left.
fn answer_wait(arguments: &Run) -> Option<u64> {
    let waits = arguments.detached && arguments.keep_going && !arguments.no_input;
    let default = waits.then_some(u64::MAX);
    let asked = arguments.wait_for_answers.map(TimeSpan::ms);
    asked.or(default).filter(|limit| *limit > 0)
}

/// Adds the recovery settings. Once the state file has turned recovery on, it stays on until
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
        answer_wait_ms: answer_wait(arguments),
        limits,
        ..config
    }
}

/// Whether this is the top of a work tree. Does not ask git, because a dry run starts nothing.
fn is_in_git(root: &Path) -> bool {
    let git = root.join(".git");
    git.is_file() || git.join("HEAD").exists()
}

/// Returns the path of the progress file, if it is not in the spec's folder.
fn progress_file(paths: &SpecPaths) -> Option<String> {
    let is_beside = paths.progress.parent() == paths.spec.tasks.parent();
    (!is_beside).then(|| paths.shown(&paths.progress))
}

/// Checks that the file has a task to run, and the task that the user asked for.
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
