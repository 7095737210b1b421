//! A run from its beginning to its end.

mod earlier;
mod opening;
mod preflight;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use regreen_agents::{Agent, LocalZone, Prompts};
use regreen_diagnosis::OwnRules;
use regreen_documents::TaskFile;
use regreen_engine::{Input, Resumption, State, latest_choices};
use regreen_model::{AgentIdentity, PersonChoice, PlanChanges, RunConfig, RunOutcome};
use regreen_repairs::ManifestSnapshot;
use regreen_store::{OpenError, RunId, StoreError};
use regreen_supervisor::{Keepers, end_strays};
use regreen_workspace::{MAX_FILE, Programs, ReadError, RealDisk, RelPath, read_text_file};

use self::earlier::Inheritance;
use self::opening::{OpenedRun, open_checked, reopen_or_begin};
pub use self::opening::{open_store, open_store_read_only};
use crate::atomic_file::write_atomically;
use crate::driver::{Driver, StepRecorder};
use crate::execution::ExecutionContext;
use crate::journal::JournalError;
use crate::notices::{Notices, budget_notices, ignored_rows, unrun_notice};
use crate::observer::{Person, RunObserver};
use crate::perform::{self, GuardedCommand, PlanGuard, Recorded, SettingsGuard};
use crate::performer::{PerformError, Performer};
use crate::plan_file::{PlanFile, outline};
use crate::process::{Processes, workspace_masks};
use crate::project_programs::ProjectPrograms;
use crate::services::Services;
use crate::spec_paths::SpecPaths;
use crate::stop::Stop;
use crate::stop_request::forget_stop_request;
use crate::tree::{Tree, TreeError};
use crate::tree_lock::{LockPurpose, TreeLock, TreeLockError, create_own_folder};

/// How long processes of a killed run get to end by themselves.
const STRAY_GRACE: Duration = Duration::from_secs(1);

/// Everything that a run needs to begin.
#[derive(Debug)]
pub struct RunSetup {
    /// The files of the spec.
    pub paths: SpecPaths,
    /// The configuration of the run.
    pub config: RunConfig,
    /// The agent.
    pub agent: Agent,
    /// The user has chosen the agent; else it is the one that was found on this machine.
    pub agent_is_chosen: bool,
    /// The templates of prompts.
    pub prompts: Prompts,
    /// Rules of the user's own, which name causes.
    pub own_rules: Arc<OwnRules>,
    /// Where programs are looked for: the value of PATH.
    pub path: OsString,
    /// The time zone of this machine, for times that services name without a place.
    pub local_zone: LocalZone,
    /// Values of the environment that must be neither stored nor shown.
    pub secrets: BTreeSet<String>,
    /// regreen's own binary.
    pub keeper: PathBuf,
    /// Ends it early.
    pub stop: Stop,
}

/// How a run ended, or paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedRun {
    /// The id of the run.
    pub run: String,
    /// How it ended.
    pub outcome: RunOutcome,
}

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The working tree is in use.
    #[error(transparent)]
    Lock(#[from] TreeLockError),
    /// regreen's own folder cannot be made.
    #[error("cannot create {}", path.display())]
    Folder {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The database cannot be opened.
    #[error("cannot use {}", path.display())]
    Store {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: OpenError,
    },
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something has to be set up first.
    #[error("{why}")]
    SetUp {
        /// What it is.
        why: String,
    },
    /// Others keep changing a file.
    #[error("another program keeps saving a file that regreen must write: {why}")]
    Contended {
        /// What it is.
        why: String,
    },
    /// What decides how tasks are checked may have been changed by an agent.
    #[error(
        "regreen.toml has changed since regreen was killed during a run; an agent may have changed how tasks are checked"
    )]
    SettingsChanged {
        /// The file.
        path: PathBuf,
        /// A copy of it as it was.
        before: PathBuf,
    },
    /// The run was begun with another agent.
    #[error("the unfinished run was started with the agent {begun}, not with {found}")]
    OtherAgent {
        /// The agent that began the run.
        begun: AgentIdentity,
        /// The agent of this process.
        found: AgentIdentity,
    },
}

impl From<StoreError> for RunError {
    fn from(fault: StoreError) -> Self {
        Self::Journal(fault.into())
    }
}

impl From<TreeError> for RunError {
    fn from(error: TreeError) -> Self {
        PerformError::from(error).into()
    }
}

impl From<PerformError> for RunError {
    fn from(error: PerformError) -> Self {
        match error {
            PerformError::Contended(why) => Self::Contended { why },
            PerformError::Broken(why) => Self::SetUp { why },
            PerformError::Stopped => Self::SetUp {
                why: "stopped before the run began".to_owned(),
            },
        }
    }
}

/// Begins a run, or resumes the one that has not ended.
///
/// # Errors
/// If it cannot begin, or what happens can no longer be stored. Everything stored before is
/// kept, and the next run resumes from there.
pub fn run(
    setup: RunSetup,
    observer: &mut dyn RunObserver,
    person: &mut dyn Person,
) -> Result<FinishedRun, RunError> {
    let paths = setup.paths.clone();
    let mut plan = PlanFile::new(&paths.spec.tasks);
    // Before anything is created: a plan that cannot be read cannot be run.
    preflight::check(&setup, &*plan.read()?)?;
    let _lock = lock_tree(&paths, LockPurpose::Run)?;
    end_strays(&marker_prefix(&paths.root), STRAY_GRACE);
    perform::refuse_changed_settings(&paths)?;
    let store = open_checked(&paths)?;
    let OpenedRun {
        journal,
        state,
        unreported,
    } = reopen_or_begin(store, &paths)?;
    let other_agent = other_agent(&state, &setup)?;
    forget_stop_request(&paths.root);
    let config = setup.config.clone();
    let path = setup.path.clone();
    let choices = latest_choices(journal.store.choices(&paths.spec_key())?);
    let mut performer = performer(setup, plan, &journal.run, state.run.is_empty())?;
    performer.notices.add_all(unreported);
    performer.notices.add_all(other_agent);
    let notices = budget_notices(&performer.context.agent, &config.budgets);
    performer.notices.add_all(notices);
    let plan = performer.plan.read()?;
    let programs = &performer.context.programs;
    let inherited = Inheritance::of(&journal, &paths, &plan, programs, &choices, &path)?;
    let first = first_input(&mut performer, &state, config, choices, inherited)?;
    perform::reconcile(&mut performer, &journal.store, &state)?;
    journal.recall(|at, event| observer.recall(at, event))?;
    observer.outline(&outline(&*performer.plan.read()?));
    let mut driver = Driver {
        recorder: StepRecorder {
            journal,
            state,
            observer,
            paths,
            agent: performer.context.agent.name(),
        },
        performer,
        person,
    };
    let outcome = driver.drive(&first)?;
    finish(driver, outcome)
}

/// Refuses to resume a run with another agent, unless the user has chosen it; then says so. The
/// agent is not taken from the journal: that is in the workspace, and a repository must not choose
/// programs.
fn other_agent(state: &State, setup: &RunSetup) -> Result<Option<String>, RunError> {
    let (begun, found) = (&state.config.agent, &setup.config.agent);
    if state.run.is_empty() || begun == found {
        return Ok(None);
    }
    if setup.agent_is_chosen {
        return Ok(Some(format!(
            "the run began with the agent {begun}, and continues with {found}"
        )));
    }
    Err(RunError::OtherAgent {
        begun: begun.clone(),
        found: found.clone(),
    })
}

/// Creates regreen's folder and locks the working tree.
///
/// # Errors
/// If another process holds it, or the folder cannot be created.
pub fn lock_tree(paths: &SpecPaths, purpose: LockPurpose) -> Result<TreeLock, RunError> {
    create_own_folder(&paths.root).map_err(|source| RunError::Folder {
        path: paths.own(),
        source,
    })?;
    Ok(TreeLock::take(paths, purpose)?)
}

/// Prepares everything that performs commands.
fn performer(
    setup: RunSetup,
    mut plan: PlanFile,
    run: &RunId,
    is_new: bool,
) -> Result<Performer, RunError> {
    let RunSetup {
        paths,
        config,
        agent,
        agent_is_chosen: _,
        prompts,
        own_rules,
        path,
        local_zone,
        secrets,
        keeper,
        stop,
    } = setup;
    let processes = Processes {
        keepers: Keepers::new(keeper),
        root: paths.root.clone(),
        masks: workspace_masks(&paths.root, &secrets),
        stop,
        run: format!("{}{run}", marker_prefix(&paths.root)),
    };
    let hook_timeout = Duration::from_millis(config.verify_timeout_ms);
    let mut tree = Tree::open(&paths, &processes, hook_timeout)?;
    let own: BTreeSet<RelPath> = paths.spec_files().into_iter().flatten().collect();
    tree.begin(&paths.run_folder(run.as_str()), &own)?;
    let manifests = manifests(&paths, run, is_new)?;
    let programs = Programs::new(&path, &paths.root);
    let known_commands = known_commands(&paths, run, is_new, &programs, &*plan.read()?)?;
    let folder = paths.run_folder(run.as_str());
    let project_programs = if is_new {
        ProjectPrograms::begin(&paths.root, &folder, &path).map_err(PerformError::from)?
    } else {
        ProjectPrograms::resume(&paths.root, &folder, &path)
    };
    Ok(Performer {
        run: run.as_str().to_owned(),
        context: ExecutionContext::new(
            agent,
            prompts,
            path,
            manifests,
            project_programs,
            config.verify_timeout_ms,
            processes,
        )
        .in_zone(local_zone)
        .with_own_rules(own_rules),
        notices: Notices::default(),
        reviews: Vec::new(),
        baseline: None,
        settings: SettingsGuard::new(&paths),
        services: Services::default(),
        service_reports: Vec::new(),
        recorded: Recorded::default(),
        known_commands,
        paths,
        tree,
        plan,
    })
}

/// What the manifests named when the run began. An agent may have invented what came later, so a
/// resumed run goes by what was saved at its beginning, or by nothing.
fn manifests(
    paths: &SpecPaths,
    run: &RunId,
    is_new: bool,
) -> Result<ManifestSnapshot, PerformError> {
    let path = paths.run_folder(run.as_str()).join("declared.json");
    if is_new {
        let manifests = ManifestSnapshot::read(&paths.root);
        let text = serde_json::to_string(&manifests).unwrap_or_default();
        write_atomically(&path, text.as_bytes())?;
        return Ok(manifests);
    }
    let saved = read_text_file(&path, MAX_FILE).ok();
    Ok(saved
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}

/// The texts of the plan that were commands when the run began. An agent may remove what makes them
/// commands, long before their task is picked; then they fail, and don't turn into prose.
fn known_commands(
    paths: &SpecPaths,
    run: &RunId,
    is_new: bool,
    programs: &Programs,
    plan: &TaskFile,
) -> Result<BTreeSet<String>, PerformError> {
    let path = paths.run_folder(run.as_str()).join("commands.json");
    if is_new {
        let commands = plan.rows().flat_map(|row| plan.verify_commands(row));
        let known = commands.filter(|command| programs.can_run(&RealDisk, command));
        let known: BTreeSet<String> = known.map(|command| command.command).collect();
        let text = serde_json::to_string(&known).unwrap_or_default();
        write_atomically(&path, text.as_bytes())?;
        return Ok(known);
    }
    let saved = read_text_file(&path, MAX_FILE).ok();
    Ok(saved
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}

/// The input that begins the run, or resumes it.
fn first_input(
    performer: &mut Performer,
    state: &State,
    config: RunConfig,
    choices: Vec<PersonChoice>,
    inherited: Inheritance,
) -> Result<Input, RunError> {
    perform::ensure_state_file(performer)?;
    if state.run.is_empty() {
        let notice = performer.tree.notice();
        performer.notices.add_all(notice.map(str::to_owned));
        performer.notices.add_all(inherited.warnings);
        let ignored = ignored_rows(&*performer.plan.read()?, config.spec_argument.as_deref());
        performer.notices.add_all(ignored);
        let unrun = unrun_notice(&performer.plan.read()?.unrun_checks());
        performer.notices.add_all(unrun);
        return Ok(Input::Start {
            run: performer.run.clone(),
            config: Box::new(config),
            choices,
            after_limit: inherited.after_limit,
            lost: inherited.lost,
            earlier: inherited.checks,
            environment: inherited.environment,
        });
    }
    let left = review_interrupted(performer, state, &choices)?;
    Ok(Input::Resume(Resumption {
        choices,
        config: Some(Box::new(config)),
        ..left
    }))
}

/// Reviews what the interrupted process left, if foreign code was running when it ended.
fn review_interrupted(
    performer: &mut Performer,
    state: &State,
    choices: &[PersonChoice],
) -> Result<Resumption, PerformError> {
    let pending = state.pending_guarded();
    let new: Vec<_> = state.new_choices(choices).collect();
    let command = match pending {
        Some((_, seq)) => GuardedCommand::of(seq, state),
        None => GuardedCommand::unknown(state),
    };
    if let Some((key, attempt)) = state.pending_attempt() {
        let report = perform::interrupted(performer, key, attempt, command, &new)?;
        return Ok(Resumption {
            interrupted: Some(Box::new(report)),
            ..Resumption::default()
        });
    }
    let Some(mut guard) = PlanGuard::interrupted(performer, command, &new) else {
        return Ok(Resumption::default());
    };
    let changes = guard.end(performer)?;
    let is_changed = changes != PlanChanges::default();
    Ok(Resumption {
        reviewed: is_changed.then(|| Box::new(changes)),
        ..Resumption::default()
    })
}

fn finish(driver: Driver<'_>, outcome: Option<RunOutcome>) -> Result<FinishedRun, RunError> {
    let Driver {
        recorder,
        mut performer,
        ..
    } = driver;
    let StepRecorder {
        mut journal, state, ..
    } = recorder;
    let Some(outcome) = outcome else {
        return Err(RunError::SetUp {
            why: "the run did not end; this is a bug in regreen".to_owned(),
        });
    };
    if outcome == RunOutcome::AllGreen {
        perform::note_completed(&mut performer)?;
    }
    if outcome == RunOutcome::AllGreen && !state.config.keep_state {
        perform::remove_state_file(&performer)?;
    }
    forget_stop_request(&performer.paths.root);
    if !outcome.is_pause() {
        journal.end(&outcome)?;
    }
    Ok(FinishedRun {
        run: performer.run,
        outcome,
    })
}

/// The prefix of the markers of all runs in a working tree, and of no others.
fn marker_prefix(root: &Path) -> String {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let bytes = root.as_os_str().as_encoded_bytes();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    format!("tree-{hash:016x}:")
}
