//! The agents: how each is called, how each is talked with, and what they are told.
//!
//! An agent is an [`Invocation`] and a [`Decoder`], both made by [`Agent`] for an
//! [`Assignment`]; [`Prompts`] writes the assignment's text. Nothing here starts a process:
//! one supervisor runs them all.

mod abilities;
mod acp;
mod agent;
mod answer;
mod assignment;
mod brief;
mod claude;
mod clock_time;
mod codex;
mod command;
mod decoder;
mod excerpt;
mod fence;
mod gemini;
mod invocation;
mod json;
mod known;
mod lines;
mod message_usage;
mod missing;
mod opencode;
mod options;
mod parts;
mod patience;
mod prompt_echo;
mod prompt_file;
mod prompts;
mod reset_time;
mod said;
mod shell;
mod tail;
mod telling_line;
mod template;
mod tools_at_work;
mod trouble;

pub use abilities::Abilities;
pub use agent::{Agent, AgentChoice, AgentChoiceError};
pub use assignment::Assignment;
pub use brief::{
    Completed, DelegateBrief, Occasion, PartBrief, PreviousAttempt, RootContext, Surroundings,
    TaskBrief,
};
pub use command::CommandLine;
pub use decoder::{Decoder, Reply, Stream};
pub use fence::untrusted;
pub use invocation::{Invocation, PromptOn, StdinPlan};
pub use known::{Credentials, Known};
pub use lines::Lines;
pub use missing::missing_names;
pub use options::{Options, Permissions};
pub use parts::parts;
pub use patience::Patience;
pub use prompt_echo::PromptEcho;
pub use prompt_file::PromptFile;
pub use prompts::{IdenticalPrompt, Prompts, refuse_identical};
pub use reset_time::reset_moment;
pub use shell::Interpreter;
pub use template::{Template, TemplateError};
