//! A run from start to end.

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
use regreen_model::{
    AgentIdentity, FinalCheckPolicy, PersonChoice, PlanChanges, PreflightPolicy, RunConfig,
    RunOutcome, fnv1a,
};
use regreen_repairs::ManifestSnapshot;
use regreen_store::{OpenError, RunId, StoreError};
use regreen_supervisor::{Keepers, StraysEnded, end_strays};
use regreen_workspace::{MAX_FILE, Programs, ReadError, RealDisk, RelPath, read_text_file};

use self::earlier::Inheritance;
use self::opening::{OpenedRun, open_checked, reopen_or_begin};
pub use self::opening::{open_store, open_store_read_only};
pub use self::preflight::{Preflight, PreflightFinding, preflight};
use crate::asleep::SleepLedger;
use crate::atomic_file::write_atomically;
use crate::driver::{Driver, StepRecorder};
use crate::execution::ExecutionContext;
use crate::inhibitor::Inhibitor;
use crate::journal::{Journal, JournalError};
use crate::notices::{Notices, budget_notices};
use crate::observer::{Memory, Person, RunObserver};
use crate::perform::{
    self, GuardedCommand, KnownState, OtherPlansGuard, PlanGuard, Recorded, SavedPlan,
    SettingsGuard, TestsBefore,
};
use crate::performer::{PerformError, Performer};
use crate::plan_file::PlanFile;
use crate::process::{Processes, workspace_masks};
use crate::project_programs::ProjectPrograms;
use crate::services::Services;
use crate::spec_paths::SpecPaths;
use crate::stop::Stop;
use crate::stop_request::forget_stop_request;
use crate::tree::{Tree, TreeError};
use crate::tree_lock::{LockPurpose, TreeLock, TreeLockError, create_own_folder};

/// How long the processes of a killed run get to exit on their own.
const STRAY_GRACE: Duration = Duration::from_secs(1);

/// Everything a run needs to start.
#[derive(Debug)]
pub struct RunSetup {
    /// The files of the spec.
    pub paths: SpecPaths,
    /// The configuration of the run.
    pub config: RunConfig,
    /// The agent.
    pub agent: Agent,
    /// The user has chosen the agent; otherwise it was found on this machine.
    pub agent_is_chosen: bool,
    /// What to do about checks that can't even start.
    pub preflight: PreflightPolicy,
    /// Why the agent seems not to be logged in, as far as that can be told without a request.
    pub missing_login: Option<String>,
    /// How many tokens a first prompt may spend on what is known about the project.
    pub context_tokens: Option<usize>,
    /// The prompt templates.
    pub prompts: Prompts,
    /// The user's own diagnosis rules.
    pub own_rules: Arc<OwnRules>,
    /// The value of PATH, where programs are looked up.
    pub path: OsString,
    /// The machine's time zone, for times that services give without a zone.
    pub local_zone: LocalZone,
    /// Values from the environment that must never be stored or shown.
    pub secrets: BTreeSet<String>,
    /// regreen's own binary.
    pub keeper: PathBuf,
    /// A request to stop early.
    pub stop: Stop,
    /// The folder of the user where earlier states of the work tree are checked out for a moment.
    pub checkouts: Option<PathBuf>,
    /// What the user has learnt from failures so far.
    pub memory: Option<Box<dyn Memory>>,
    /// Whether the machine is kept awake while agents work.
    pub inhibit: bool,
}

/// A run that has ended or paused. It holds the working tree until its end has been reported.
#[derive(Debug)]
pub struct FinishedRun {
    /// The id of the run.
    pub run: String,
    /// How it ended.
    pub outcome: RunOutcome,
    journal: Journal,
    _lock: TreeLock,
}

impl FinishedRun {
    /// Stores that people have seen how the run ended. If regreen is killed before, the next run
    /// tells them.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub fn reported(mut self) -> Result<(), RunError> {
        if !self.outcome.is_pause() {
            self.journal.end(&self.outcome)?;
        }
        Ok(())
    }
}

/// Why a run could not start or continue.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The working tree is in use.
    #[error(transparent)]
    Lock(#[from] TreeLockError),
    /// regreen's own folder can't be created.
    #[error("cannot create {}", path.display())]
    Folder {
        /// The path.
        path: PathBuf,
        /// The underlying error.
        #[source]
        source: io::Error,
    },
    /// The database can't be opened.
    #[error("cannot use {}", path.display())]
    Store {
        /// The path.
        path: PathBuf,
        /// The underlying error.
        #[source]
        source: OpenError,
    },
    /// The journal can't be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something has to be set up first.
    #[error("{why}")]
    SetUp {
        /// The problem.
        why: String,
    },
    /// Checks can't even start.
    #[error(transparent)]
    Preflight(Preflight),
    /// Someone keeps changing a file.
    #[error("another program keeps saving a file that regreen must write: {why}")]
    Contended {
        /// The problem.
        why: String,
    },
    /// An agent may have changed the settings that decide how tasks are checked.
    #[error(
        "regreen.toml has changed since a run that could not revert changes to it; an agent may have changed how tasks are checked"
    )]
    SettingsChanged {
        /// The file.
        path: PathBuf,
        /// A copy of the file from before.
        before: PathBuf,
    },
    /// The run was started with another agent.
    #[error("the unfinished run was started with the agent {begun}, not with {found}")]
    OtherAgent {
        /// The agent that started the run.
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

/// Starts a run, or resumes the one that has not ended.
///
/// # Errors
/// Returns an error if it cannot start, or its steps can no longer be stored. Everything stored
/// before is kept, and the next run resumes from there.
pub fn run(
    setup: RunSetup,
    observer: &mut dyn RunObserver,
    person: &mut dyn Person,
) -> Result<FinishedRun, RunError> {
    let paths = setup.paths.clone();
    let mut plan = PlanFile::new(&paths.spec.tasks);
    // Before anything is created: an unreadable plan can't be run.
    let warnings = preflight::check(&setup, &*plan.read()?)?;
    let lock = lock_tree(&paths, LockPurpose::Run)?;
    if end_strays(&marker_prefix(&paths.root), STRAY_GRACE) != StraysEnded::default() {
        perform::forget_copy(&paths)?;
    }
    perform::refuse_changed_settings(&paths)?;
    let left = perform::review_left_plans(&paths)?;
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
    performer.notices.add_all(left);
    performer.notices.add_all(unreported);
    performer.notices.add_all(other_agent);
    performer.notices.add_all(warnings);
    let notices = budget_notices(&performer.context.agent, &config.budgets);
    performer.notices.add_all(notices);
    let plan = performer.plan.read()?;
    let programs = &performer.context.programs;
    let inherited = Inheritance::of(&journal, &paths, &plan, programs, &choices, &path)?;
    let first = first_input(&mut performer, &state, config, choices, inherited)?;
    perform::reconcile(&mut performer, &journal.store, &state)?;
    journal.recall(|at, event| observer.recall(at, event))?;
    let plan = performer.plan.read()?;
    observer.outline(&performer.plan.outliner.outline(&plan));
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
    finish(driver, outcome, lock)
}

/// Refuses to resume a run with another agent, unless the user chose that agent; then returns a
/// notice. The agent is never taken from the journal: the journal is in the workspace, and a
/// repository must not choose programs.
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
/// Returns an error if another process holds the lock, or the folder cannot be created.
pub fn lock_tree(paths: &SpecPaths, purpose: LockPurpose) -> Result<TreeLock, RunError> {
    create_own_folder(&paths.root).map_err(|source| RunError::Folder {
        path: paths.own(),
        source,
    })?;
    Ok(TreeLock::take(paths, purpose)?)
}

/// Sets up the performer of a run.
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
        preflight: _,
        missing_login: _,
        context_tokens,
        prompts,
        own_rules,
        path,
        local_zone,
        secrets,
        keeper,
        stop,
        checkouts,
        memory,
        inhibit,
    } = setup;
    let processes = Processes {
        keepers: Keepers::new(keeper),
        root: paths.root.clone(),
        masks: workspace_masks(&paths.root, &secrets),
        stop,
        asleep: SleepLedger::default(),
        run: format!("{}{run}", marker_prefix(&paths.root)),
        last_copy: Some(perform::last_copy(&paths)),
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
        .naming_tests(config.excuse_known_failures)
        .with_own_rules(own_rules)
        .with_context_tokens(context_tokens),
        notices: Notices::default(),
        reviews: Vec::new(),
        baseline: None,
        ignored_scripts: None,
        settings: SettingsGuard::new(&paths),
        other_plans: OtherPlansGuard::new(&paths),
        saved_plan: SavedPlan::new(&paths),
        services: Services::default(),
        service_reports: Vec::new(),
        recorded: Recorded::default(),
        state: KnownState::default(),
        state_before: None,
        known_commands,
        gate: config.gate.clone(),
        tamper: config.tamper,
        tests_before: TestsBefore::new(checkouts.as_deref(), &paths.root),
        inhibitor: Inhibitor::new(inhibit),
        memory,
        paths,
        tree,
        plan,
    })
}

/// Returns the packages that the manifests named when the run began. An agent may have invented
/// later ones, so a resumed run uses what was saved at its start, or nothing.
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

/// Returns the texts of the plan that were commands when the run began. An agent may remove what
/// makes them commands, long before their task is picked. They then fail, instead of counting as
/// prose.
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

/// Returns the input that starts or resumes the run.
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
        if config.final_check == FinalCheckPolicy::Off {
            let off = "the final check is off, so later tasks may have broken earlier ones (see final_check in `regreen config`)";
            performer.notices.add(off.to_owned());
        }
        let config = RunConfig {
            ticked_before: inherited.ticked_before,
            ..config
        };
        let unrun = performer.plan.read()?.unrun_rows();
        performer.notices.add_all(unrun.notice());
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
    let config = RunConfig {
        ticked_before: state.config.ticked_before.clone(),
        ..config
    };
    Ok(Input::Resume(Resumption {
        choices,
        config: Some(Box::new(config)),
        ..left
    }))
}

/// Reviews what an interrupted process left, if foreign code was running when it ended.
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

fn finish(
    driver: Driver<'_>,
    outcome: Option<RunOutcome>,
    lock: TreeLock,
) -> Result<FinishedRun, RunError> {
    let Driver {
        recorder,
        mut performer,
        ..
    } = driver;
    let StepRecorder { journal, state, .. } = recorder;
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
    performer.tree.catch_up_index();
    forget_stop_request(&performer.paths.root);
    Ok(FinishedRun {
        run: performer.run,
        outcome,
        journal,
        _lock: lock,
    })
}

/// Returns the marker prefix that only the runs in this working tree share.
fn marker_prefix(root: &Path) -> String {
    let hash = fnv1a(root.as_os_str().as_encoded_bytes());
    format!("tree-{hash:016x}:")
}
