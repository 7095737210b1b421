//! Delegation: one child agent on one prompt, as the engine says.

mod attempt;
mod changes;
mod checking;
mod child;
mod diary;
mod failure;
mod mending;
mod parts;
mod place;
mod prompting;
mod pursuit;

use std::ffi::OsString;
use std::path::PathBuf;

use regreen_agents::{Agent, Prompts};
use regreen_diagnosis::{ChildFailure, Completion};
use regreen_engine::delegation::{End, Terms};
use regreen_model::StopSignal;
use regreen_store::Delegation;

use self::child::Child;
pub use self::place::is_at_work;
use self::pursuit::Work;
use crate::audience::Audience;
use crate::perform_error::PerformError;
use crate::run::RunError;
use crate::stop::Stop;

/// Everything that is settled before a delegation.
#[derive(Debug)]
pub struct DelegateSetup {
    /// The workspace.
    pub root: PathBuf,
    pub prompt: String,
    /// What has to exit with 0 when the agent is done.
    pub verify: Option<String>,
    pub terms: Terms,
    pub verify_timeout_ms: u64,
    pub idle_timeout_ms: Option<u64>,
    pub agent: Agent,
    /// As people call it.
    pub agent_name: String,
    pub prompts: Prompts,
    /// Where programs are looked for: the value of PATH.
    pub path: OsString,
    /// regreen's own binary.
    pub keeper: PathBuf,
    pub stop: Stop,
}

/// Whoever watches a delegation.
pub trait Onlooker: Audience {
    /// Something that is worth a line.
    fn milestone(&mut self, line: &str);
}

/// What came of a delegation.
#[derive(Clone, Debug, PartialEq)]
pub struct Delegated {
    pub session_id: String,
    pub end: DelegateEnd,
    /// If it succeeded.
    pub completion: Option<Completion>,
    /// If it failed.
    pub failure: Option<ChildFailure>,
    /// Every attempt, also of its parts.
    pub attempts: Vec<Delegation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DelegateEnd {
    Ended(End),
    /// Somebody asked to stop.
    Stopped(StopSignal),
}

/// Delegates a prompt.
///
/// # Errors
/// If regreen cannot keep what happens, or cannot run anything.
pub fn delegate(setup: DelegateSetup, onlooker: &mut dyn Onlooker) -> Result<Delegated, RunError> {
    let work = Work {
        prompt: setup.prompt.clone(),
        verify: setup.verify.clone(),
        terms: setup.terms,
    };
    let stop = setup.stop.clone();
    let mut child = Child::new(setup, onlooker)?;
    match (child.pursue(&work), stop.asked()) {
        (Ok(came_to), _) => Ok(child.told(work.verify, came_to)),
        (Err(PerformError::Stopped), asked) => {
            Ok(child.stopped(asked.unwrap_or(StopSignal::Terminate)))
        }
        (Err(error), _) => Err(error.into()),
    }
}
