//! Settings: what flags and configuration files can say, and the values that result.
//!
//! [`settings`] has the table of all settings. Each place that may set them is read into a
//! [`Layer`](settings::Layer); [`Configuration`] reads the files and lays the layers upon each other. Values are
//! checked when they are read, so that nothing can go wrong afterwards.

mod agent;
mod files;
mod key;
mod numbers;
mod own_rules;
mod prompts;
mod read;
mod settings;
mod table;
mod time;
mod value;

pub use files::{Configuration, StoredLimits, name_of, usual_user_file};
pub use key::{Owner, schema};
pub use numbers::Count;
pub use own_rules::RuleFiles;
pub use prompts::{PromptTexts, PromptsError};
pub use read::ConfigError;
pub use settings::{AgentFlags, AgentLayer, Key, SettingFlags, Settings};
pub use table::{Origin, Row, Setting};
pub use time::{TimeLimit, TimeSpan};
pub use value::{OptionalLimit, parse_choice};
