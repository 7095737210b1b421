//! A run from its beginning to its end.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use regreen_agents::{Agent, Prompts};
use regreen_engine::{Input, Resumption, State, latest_choices};
use regreen_model::{AgentIdentity, PersonChoice, RunConfig, RunOutcome};
use regreen_repairs::ManifestSnapshot;
use regreen_store::{NewRun, OpenError, RunId, Store, StoreError};
use regreen_supervisor::{Keepers, end_strays};
use regreen_workspace::{ReadError, RelPath};

use crate::audience::Audience;
use crate::budget_notices::budget_notices;
use crate::chronicle::Chronicle;
use crate::clock;
use crate::driver::Driver;
use crate::execution::ExecutionContext;
use crate::journal::{Journal, JournalError};
use crate::masks::workspace_masks;
use crate::notices::Notices;
use crate::outline::outline;
use crate::perform;
use crate::perform_error::PerformError;
use crate::performer::Performer;
use crate::person::Person;
use crate::places::{Places, database};
use crate::plan_file::PlanFile;
use crate::process::Processes;
use crate::stop::Stop;
use crate::tree::{Tree, TreeError};
use crate::tree_lock::{Purpose, TreeLock, TreeLockError, make_own_folder};
use crate::whole_file::write_whole;

/// Strays of a run that was killed get so long to end by themselves.
const STRAY_GRACE: Duration = Duration::from_secs(1);

/// Everything a run needs that is not in the workspace.
#[derive(Debug)]
pub struct RunSetup {
    pub places: Places,
    pub config: RunConfig,
    pub agent: Agent,
    /// Somebody has chosen the agent; else it is what was found on this machine.
    pub agent_is_chosen: bool,
    pub prompts: Prompts,
    /// Where programs are looked for: the value of PATH.
    pub path: OsString,
    /// regreen's own binary.
    pub keeper: PathBuf,
    pub stop: Stop,
}

/// How a run ended, or paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub run: String,
    pub outcome: RunOutcome,
}

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Lock(#[from] TreeLockError),
    #[error("cannot make {}", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot use {}", path.display())]
    Store {
        path: PathBuf,
        #[source]
        source: OpenError,
    },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{why}")]
    SetUp { why: String },
    #[error("somebody keeps saving a file that regreen has to write: {why}")]
    Contended { why: String },
    #[error("the run that is to go on was begun with the agent {begun}, not with {found}")]
    OtherAgent {
        begun: AgentIdentity,
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
                why: "stopped before it began".to_owned(),
            },
        }
    }
}

/// Begins a run, or goes on with the one that has not ended.
///
/// # Errors
/// If it cannot be begun, or what happens cannot be stored any more. Everything stored
/// before is kept, and the next run goes on from there.
pub fn run(
    setup: RunSetup,
    audience: &mut dyn Audience,
    person: &mut dyn Person,
) -> Result<Finished, RunError> {
    let places = setup.places.clone();
    let _lock = take_tree(&places, Purpose::Run)?;
    end_strays(&marker_prefix(&places.root), STRAY_GRACE);
    let mut plan = PlanFile::new(&places.spec.tasks);
    // Before anything is stored: what cannot be read cannot be run.
    plan.read()?;
    let store = open_checked(&places)?;
    let Opened {
        journal,
        state,
        untold,
    } = reopen_or_begin(store, &places)?;
    refuse_other_agent(&state, &setup)?;
    let after_limit = ended_at_limit(&journal, &places)?;
    let config = setup.config.clone();
    let choices = latest_choices(journal.store.choices(&places.spec_key())?);
    let mut performer = performer(setup, plan, &journal.run, state.run.is_empty())?;
    performer.notices.add_all(untold);
    let unkept = budget_notices(&performer.context.agent, &config.budgets);
    performer.notices.add_all(unkept);
    let first = first_input(&mut performer, &state, config, choices, after_limit)?;
    journal.recall(|at, event| audience.recall(at, event))?;
    audience.outline(&outline(&*performer.plan.read()?));
    let mut driver = Driver {
        chronicle: Chronicle {
            journal,
            state,
            audience,
            places,
            agent: performer.context.agent.name(),
        },
        performer,
        person,
    };
    let outcome = driver.drive(&first)?;
    finish(driver, outcome)
}

/// A run goes on with another agent only if somebody wants that. Which one it had is not taken
/// from the journal: that lies in the workspace, and a repository chooses no programs.
fn refuse_other_agent(state: &State, setup: &RunSetup) -> Result<(), RunError> {
    let (begun, found) = (&state.config.agent, &setup.config.agent);
    if state.run.is_empty() || setup.agent_is_chosen || begun == found {
        return Ok(());
    }
    Err(RunError::OtherAgent {
        begun: begun.clone(),
        found: found.clone(),
    })
}

/// Makes regreen's folder and takes the working tree.
///
/// # Errors
/// If another process has it, or the folder cannot be made.
pub fn take_tree(places: &Places, purpose: Purpose) -> Result<TreeLock, RunError> {
    make_own_folder(&places.root).map_err(|source| RunError::Folder {
        path: places.own(),
        source,
    })?;
    Ok(TreeLock::take(places, purpose)?)
}

/// Opens the workspace's journal.
///
/// # Errors
/// If it cannot be used.
pub fn open_store(root: &Path) -> Result<Store, RunError> {
    let path = database(root);
    let opened = Store::open(&path, clock::stored_ms(clock::now()));
    opened.map_err(|source| RunError::Store { path, source })
}

/// Opens the workspace's journal to look at it; `None` if there is none. Nothing is made.
///
/// # Errors
/// If it cannot be read.
pub fn open_store_read_only(root: &Path) -> Result<Option<Store>, RunError> {
    let path = database(root);
    let opened = Store::open_read_only(&path, clock::stored_ms(clock::now()));
    opened.map_err(|source| RunError::Store { path, source })
}

/// A file that its last user did not close is looked at as a whole before it is trusted.
fn open_checked(places: &Places) -> Result<Store, RunError> {
    let store = open_store(&places.root)?;
    if store.was_left_open() {
        store.check()?;
    }
    Ok(store)
}

/// The run that is to be driven.
struct Opened {
    journal: Journal,
    state: State,
    /// How the one before ended, if it was killed before anybody was told.
    untold: Option<String>,
}

/// Goes on with the run that has not ended, else begins one. A run that was killed between
/// its end and saying so has ended.
fn reopen_or_begin(mut store: Store, places: &Places) -> Result<Opened, RunError> {
    let mut untold = None;
    if let Some(run) = store.unfinished_run(&places.spec_key())? {
        let (mut journal, state) = Journal::reopened(store, run)?;
        match &state.outcome {
            Some(outcome) if !outcome.is_pause() => {
                journal.end(outcome)?;
                untold = Some(said_late(&journal.run, outcome));
            }
            _ => {
                return Ok(Opened {
                    journal,
                    state,
                    untold,
                });
            }
        }
        store = journal.store;
    }
    let new = NewRun {
        spec: places.spec_key(),
        started_ms: clock::stored_ms(clock::now()),
    };
    let run = store.begin_run(&new)?;
    Ok(Opened {
        journal: Journal::begun(store, run),
        state: State::default(),
        untold,
    })
}

fn said_late(run: &RunId, outcome: &RunOutcome) -> String {
    let how = match outcome {
        RunOutcome::AllGreen => "all tasks were done",
        RunOutcome::OnlyDone => "what was asked for was done",
        RunOutcome::Skipped => "open tasks were left out",
        RunOutcome::Limit { message } => message,
        RunOutcome::NeedsPerson { why }
        | RunOutcome::TryLater { why }
        | RunOutcome::SetUp { why } => why,
        RunOutcome::Stopped { .. } => "it was stopped",
    };
    format!("run {run} had ended when regreen was killed, before it could say so: {how}")
}

/// Whether the run before this one ended at a limit.
fn ended_at_limit(journal: &Journal, places: &Places) -> Result<bool, RunError> {
    let limit = RunOutcome::Limit {
        message: String::new(),
    };
    let runs = journal.store.runs(usize::MAX)?;
    let key = places.spec_key();
    let mut before = runs
        .iter()
        .filter(|run| run.spec == key && run.id != journal.run);
    let end = before.next().and_then(|run| run.end.as_ref());
    Ok(end.is_some_and(|end| end.outcome == limit.name()))
}

fn performer(
    setup: RunSetup,
    plan: PlanFile,
    run: &RunId,
    is_new: bool,
) -> Result<Performer, RunError> {
    let RunSetup {
        places,
        config,
        agent,
        agent_is_chosen: _,
        prompts,
        path,
        keeper,
        stop,
    } = setup;
    let processes = Processes {
        keepers: Keepers::new(keeper),
        root: places.root.clone(),
        masks: workspace_masks(&places.root),
        stop,
        run: format!("{}{run}", marker_prefix(&places.root)),
    };
    let hook_timeout = Duration::from_millis(config.verify_timeout_ms);
    let mut tree = Tree::open(&places, &processes, hook_timeout)?;
    let own: BTreeSet<RelPath> = places.spec_files().into_iter().flatten().collect();
    tree.begin(&places.run_folder(run.as_str()), &own)?;
    let declared = declared(&places, run, is_new)?;
    Ok(Performer {
        run: run.as_str().to_owned(),
        context: ExecutionContext::new(
            agent,
            prompts,
            path,
            declared,
            config.verify_timeout_ms,
            processes,
        ),
        notices: Notices::default(),
        places,
        tree,
        plan,
    })
}

/// What the manifests named when the run began. What came into them since may be an agent's
/// invention: a run that goes on knows what was written down at its beginning, or nothing.
fn declared(places: &Places, run: &RunId, is_new: bool) -> Result<ManifestSnapshot, PerformError> {
    let path = places.run_folder(run.as_str()).join("declared.json");
    if is_new {
        let declared = ManifestSnapshot::read(&places.root);
        let text = serde_json::to_string(&declared).unwrap_or_default();
        write_whole(&path, text.as_bytes())?;
        return Ok(declared);
    }
    let kept = fs::read_to_string(&path).ok();
    Ok(kept
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}

fn first_input(
    performer: &mut Performer,
    state: &State,
    config: RunConfig,
    choices: Vec<PersonChoice>,
    after_limit: bool,
) -> Result<Input, RunError> {
    perform::sound_state(performer)?;
    if state.run.is_empty() {
        let notice = performer.tree.notice();
        performer.notices.add_all(notice.map(str::to_owned));
        return Ok(Input::Start {
            run: performer.run.clone(),
            config: Box::new(config),
            choices,
            after_limit,
        });
    }
    let interrupted = match state.pending_attempt() {
        Some((key, attempt)) => {
            let new: Vec<_> = state.new_choices(&choices).collect();
            let report = perform::interrupted(performer, key, attempt, &state.put_back, &new)?;
            Some(Box::new(report))
        }
        None => None,
    };
    Ok(Input::Resume(Resumption {
        choices,
        config: Some(Box::new(config)),
        interrupted,
    }))
}

fn finish(driver: Driver<'_>, outcome: Option<RunOutcome>) -> Result<Finished, RunError> {
    let Driver {
        chronicle,
        performer,
        ..
    } = driver;
    let Chronicle {
        mut journal, state, ..
    } = chronicle;
    let Some(outcome) = outcome else {
        return Err(RunError::SetUp {
            why: "the run came to no end; this is a mistake in regreen".to_owned(),
        });
    };
    if outcome == RunOutcome::AllGreen && !state.config.keep_state {
        perform::forget_state(&performer)?;
    }
    if !outcome.is_pause() {
        journal.end(&outcome)?;
    }
    Ok(Finished {
        run: performer.run,
        outcome,
    })
}

/// What the markers of all runs in a working tree begin with, and of no other.
fn marker_prefix(root: &Path) -> String {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let bytes = root.as_os_str().as_encoded_bytes();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    format!("tree-{hash:016x}:")
}

#[cfg(test)]
mod tests;
