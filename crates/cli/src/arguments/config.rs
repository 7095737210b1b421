//! `regreen config`

use clap::{Args, ValueEnum};

use super::SettingFlags;

#[derive(Debug, Args)]
pub struct Config {
    /// A spec's name, its folder, or a task file: limits may be stored with it
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
    /// As JSON, for scripts
    #[arg(long)]
    pub json: bool,
    /// Print the JSON schema of a configuration file instead
    #[arg(
        long,
        value_enum,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "workspace",
        exclusive = true
    )]
    pub schema: Option<SchemaOf>,
    #[command(flatten)]
    pub settings: SettingFlags,
}

/// Of which file a schema is wanted.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SchemaOf {
    /// regreen.toml
    Workspace,
    /// Your own config.toml
    User,
}
