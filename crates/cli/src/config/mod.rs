//! Settings: flags, configuration files, and the resulting values.
//!
//! [`settings`] has the table of all settings. Each source is read into a
//! [`Layer`](settings::Layer); [`Configuration`] reads the files and stacks the layers. Values are
//! validated when they are read, so nothing can go wrong afterwards.

mod agent;
mod files;
mod key;
mod numbers;
mod own_rules;
mod prompts;
mod read;
mod recovery;
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
pub use recovery::{RecoveryTemplates, WrittenTemplate, recovery_schema};
pub use settings::{AgentFlags, AgentLayer, Key, SettingFlags, Settings};
pub use table::{Origin, Row, Setting};
pub use time::{TimeLimit, TimeSpan};
pub use value::{OptionalLimit, parse_choice};
