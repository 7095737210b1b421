//! Settings: what can be said on the command line and in configuration files, and what holds.
//!
//! Each place that says something is read into a [`Layer`]; [`Configuration`] reads the files and lays
//! all of them upon each other. Values are checked where they are read, so that nothing can go wrong afterwards.

mod agent_words;
mod asked_agent;
mod asked_permissions;
mod asked_repairs;
mod bad_value;
mod commit_mode;
mod config_error;
mod configuration;
mod count;
mod entry;
mod fault;
mod gate;
mod key;
mod layer;
mod model_name;
mod money;
mod on_end;
mod or_off;
mod origin;
mod owner;
mod prompt_folder;
mod prompt_texts;
mod read_layer;
mod schema;
mod settings;
mod source;
mod sourced;
mod stored_limits;
mod time_limit;
mod time_span;
mod token_count;
mod user_file;

pub use agent_words::{AgentArguments, AgentEnvironment};
pub use asked_agent::AskedAgent;
pub use asked_permissions::AskedPermissions;
pub use asked_repairs::AskedRepairs;
pub use commit_mode::CommitMode;
pub use config_error::ConfigError;
pub use configuration::{Configuration, name_of};
pub use count::Count;
pub use gate::Gate;
pub use key::Key;
pub use layer::Layer;
pub use model_name::ModelName;
pub use money::Money;
pub use or_off::OrOff;
pub use origin::Origin;
pub use owner::Owner;
pub use prompt_texts::{PromptTexts, PromptsError};
pub use schema::schema;
pub use settings::Settings;
pub use sourced::Sourced;
pub use stored_limits::StoredLimits;
pub use time_limit::TimeLimit;
pub use time_span::TimeSpan;
pub use token_count::TokenCount;
pub use user_file::usual_user_file;
