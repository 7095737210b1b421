//! The agents: how to call each one, how to talk to it, and its prompts.
//!
//! An agent is an [`Invocation`] and a [`Decoder`], both made by [`Agent`] for an [`Assignment`];
//! [`Prompts`] writes the prompt. Nothing here starts a process: one supervisor runs them all.
//!
//! ```
//! let choice: regreen_agents::AgentChoice = "command:my-agent --fast".parse()?;
//! assert!(matches!(choice, regreen_agents::AgentChoice::Command(_)));
//! # Ok::<(), regreen_agents::AgentChoiceError>(())
//! ```

mod acp;
mod agent;
mod claude;
mod codex;
mod coding_agent;
mod command;
mod decoder;
mod early_stop;
mod gemini;
mod headline;
mod invocation;
mod json_lines;
mod message;
mod missing;
mod opencode;
mod parts;
mod prompt_echo;
mod prompts;
mod quoting;
mod reset_time;
mod shell;
mod trouble;

pub use agent::{Agent, AgentChoice, AgentChoiceError};
pub use coding_agent::{Abilities, CodingAgent, Credentials};
pub use command::CommandLine;
pub use decoder::{Decoder, Lines, Reply, Stream};
pub use early_stop::EarlyStop;
pub use invocation::{AgentOptions, Assignment, Invocation, StdinContent};
pub use missing::{missing_names, named_paths};
pub use parts::parts;
pub use prompt_echo::PromptEcho;
pub use prompts::brief::{
    ContextItem, DelegateBrief, PartBrief, ProjectContext, PromptReason, RootContext, TaskBrief,
};
pub use prompts::template::{PromptFile, Template, TemplateError};
pub use prompts::{IdenticalPrompt, Prompts, refuse_identical};
pub use quoting::untrusted;
pub use regreen_model::Permissions;
pub use reset_time::{LocalZone, ResetMoment, reset_in, reset_moment};
pub use shell::Interpreter;
pub use trouble::service_trouble;
