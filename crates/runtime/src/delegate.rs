//! Delegation: one child agent works on one prompt, in the steps that the engine decides.

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
use regreen_model::{DiagnosisAsk, StopSignal};
use regreen_store::Delegation;

use self::active::ActiveDelegation;
pub use self::log::is_delegation_running;
use self::work::DelegatedWork;
use crate::observer::{Memory, RunObserver};
use crate::performer::PerformError;
use crate::run::RunError;
use crate::stop::Stop;

/// Everything a delegation needs to start.
#[derive(Debug)]
pub struct DelegationSetup {
    /// The workspace.
    pub root: PathBuf,
    /// The prompt for the agent.
    pub prompt: String,
    /// The command that must exit with 0 when the agent is done.
    pub verify: Option<String>,
    /// The limits of the delegation.
    pub terms: Terms,
    /// How long the check may run.
    pub verify_timeout_ms: u64,
    /// How long the agent may go without a sign of life.
    pub idle_timeout_ms: Option<u64>,
    /// Who is asked for the cause of a failure that the rules are not sure of.
    pub diagnosis_ask: DiagnosisAsk,
    /// The agent.
    pub agent: Agent,
    /// The agent's display name.
    pub agent_name: String,
    /// How many tokens the first prompt may spend on what is known about the project.
    pub context_tokens: Option<usize>,
    /// What the user has learnt from failures so far.
    pub memory: Option<Box<dyn Memory>>,
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
}

/// Shows a delegation while it is running.
pub trait DelegationObserver: RunObserver {
    /// Shows a milestone, on a line of its own.
    fn milestone(&mut self, line: &str);
}

/// How a delegation ended, with a record of its attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct DelegationResult {
    /// The id of the delegation.
    pub session_id: String,
    /// How it ended.
    pub end: DelegationEnd,
    /// Present if it succeeded.
    pub completion: Option<Completion>,
    /// Present if it failed.
    pub failure: Option<ChildFailure>,
    /// If it failed, the answers of the parts that finished.
    pub finished_parts: String,
    /// Every attempt, including those of its parts.
    pub attempts: Vec<Delegation>,
}

/// Whether a delegation ran to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DelegationEnd {
    /// It ran to a conclusion.
    Ended(Conclusion),
    /// Someone asked to stop.
    Stopped(StopSignal),
}

/// Delegates a prompt to an agent.
///
/// # Errors
/// Returns an error if regreen cannot store the steps, or cannot start programs.
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
