//! Delegation: one child agent on one prompt, by the steps that the engine decides.

mod active;
mod attempt;
mod changes;
mod log;
mod repairing;
mod work;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use regreen_agents::{Agent, LocalZone, Prompts};
use regreen_diagnosis::{ChildFailure, Completion, OwnRules};
use regreen_engine::delegation::{Conclusion, Terms};
use regreen_model::StopSignal;
use regreen_store::Delegation;

use self::active::ActiveDelegation;
pub use self::log::is_delegation_running;
use self::work::DelegatedWork;
use crate::observer::RunObserver;
use crate::performer::PerformError;
use crate::run::RunError;
use crate::stop::Stop;

/// Everything that a delegation needs to begin.
#[derive(Debug)]
pub struct DelegationSetup {
    /// The workspace.
    pub root: PathBuf,
    /// What the agent is asked to do.
    pub prompt: String,
    /// The command that must exit with 0 when the agent is done.
    pub verify: Option<String>,
    /// What it may use.
    pub terms: Terms,
    /// How long the check may take.
    pub verify_timeout_ms: u64,
    /// How long the agent may show no sign of life.
    pub idle_timeout_ms: Option<u64>,
    /// The agent.
    pub agent: Agent,
    /// The agent's name for people.
    pub agent_name: String,
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

/// Shows a delegation while it runs.
pub trait DelegationObserver: RunObserver {
    /// Shows a milestone, which is worth a line.
    fn milestone(&mut self, line: &str);
}

/// How a delegation ended, and what is known of its attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct DelegationResult {
    /// The id of the delegation.
    pub session_id: String,
    /// How it ended.
    pub end: DelegationEnd,
    /// If it succeeded.
    pub completion: Option<Completion>,
    /// If it failed.
    pub failure: Option<ChildFailure>,
    /// If it failed, the answers of the parts that were finished.
    pub finished_parts: String,
    /// Every attempt, including those of its parts.
    pub attempts: Vec<Delegation>,
}

/// Whether a delegation came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DelegationEnd {
    /// It came to a conclusion.
    Ended(Conclusion),
    /// Someone asked to stop.
    Stopped(StopSignal),
}

/// Delegates a prompt.
///
/// # Errors
/// If regreen cannot store what happens, or cannot run anything.
pub fn delegate(
    setup: DelegationSetup,
    observer: &mut dyn DelegationObserver,
) -> Result<DelegationResult, RunError> {
    let work = DelegatedWork {
        prompt: setup.prompt.clone(),
        verify: setup.verify.clone(),
        terms: setup.terms,
    };
    let stop = setup.stop.clone();
    let mut delegation = ActiveDelegation::new(setup, observer)?;
    match (delegation.run(&work), stop.asked()) {
        (Ok(outcome), _) => Ok(delegation.into_result(work.verify, outcome)),
        (Err(PerformError::Stopped), asked) => {
            Ok(delegation.stopped(asked.unwrap_or(StopSignal::Terminate)))
        }
        (Err(error), _) => Err(error.into()),
    }
}
