//! Generates keys, flags, layers, settings and rows from the table of settings.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::key::Owner;
use super::settings::Key;
use super::value::SettingValue;

/// A value and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}

/// The origin of a value, strongest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag,
    /// A flag of the run that this one continues.
    Remembered,
    /// A line in a configuration file.
    File {
        owner: Owner,
        file: Arc<Path>,
        /// 1-based.
        line: usize,
    },
    /// The spec's state file.
    Stored,
    Default,
}

impl Origin {
    /// Returns its name, which scripts rely on.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Remembered => "remembered",
            Self::File {
                owner: Owner::Workspace,
                ..
            } => "workspace",
            Self::File {
                owner: Owner::User, ..
            } => "user",
            Self::Stored => "state",
            Self::Default => "default",
        }
    }

    /// Returns the configuration file and line.
    pub fn file_and_line(&self) -> Option<(&Path, usize)> {
        match self {
            Self::File { file, line, .. } => Some((file, *line)),
            Self::Flag | Self::Remembered | Self::Stored | Self::Default => None,
        }
    }
}

/// A setting, ready to display.
#[derive(Clone, Debug)]
pub struct Row<'s> {
    pub key: Key,
    pub text: String,
    pub json: Value,
    pub origin: &'s Origin,
}

impl<'s> Row<'s> {
    pub(super) fn new<T: SettingValue>(key: Key, setting: &'s Setting<T>) -> Self {
        Self {
            key,
            text: setting.value.to_string(),
            json: setting.value.to_json(),
            origin: &setting.origin,
        }
    }
}

/// Wraps the value of a flag as a setting.
pub(super) fn from_flag<T: Clone>(value: &Option<T>) -> Option<Setting<T>> {
    let value = value.clone()?;
    let origin = Origin::Flag;
    Some(Setting { value, origin })
}

/// Returns the name of a setting, or the text that is shown instead.
pub(super) fn last_of(names: &[&'static str]) -> &'static str {
    names.last().copied().unwrap_or_default()
}

/// Defines the types of all settings from one table.
///
/// A row has the help and the arguments of the flag, as clap takes them, followed by
/// `Key name: Type = default, access, "meaning";`.
/// The name is the key in configuration files, and the meaning is its description in their schema.
/// There are three groups of rows: the flags about the agent, which some commands take on their
/// own; the other flags; and settings without a flag.
macro_rules! setting_table {
    (
        $agent_flags:ident { $($agent_rows:tt)* }
        $other_flags:ident { $($other_rows:tt)* }
        without_flag { $($file_rows:tt)* }
    ) => {
        $crate::config::table::flags! { $agent_flags {} $($agent_rows)* }
        $crate::config::table::flags! {
            $other_flags { #[command(flatten)] pub agent: $agent_flags, } $($other_rows)*
        }
        $crate::config::table::settings! { $($agent_rows)* $($other_rows)* $($file_rows)* }

        impl $agent_flags {
            /// Returns the settings made by the flags.
            pub fn layer(&self) -> Layer {
                let mut layer = Layer::default();
                self.fill(&mut layer);
                layer
            }
        }

        impl $other_flags {
            /// Returns the settings made by the flags.
            pub fn layer(&self) -> Layer {
                let mut layer = self.agent.layer();
                self.fill(&mut layer);
                layer
            }
        }
    };
}

macro_rules! flags {
    (
        $flags:ident { $($flattened:tt)* }
        $($(#[$flag:meta])* $key:ident $name:ident: $type:ty = $default:expr, $access:expr, $meaning:literal;)*
    ) => {
        #[derive(Clone, Debug, Default, clap::Args)]
        #[command(next_help_heading = "Settings")]
        pub struct $flags {
            $($flattened)*
            $($(#[$flag])* pub $name: Option<$type>,)*
        }

        impl $flags {
            fn fill(&self, layer: &mut Layer) {
                $(layer.$name = $crate::config::table::from_flag(&self.$name);)*
            }
        }
    };
}

macro_rules! settings {
    (
        $($(#[$flag:meta])* $key:ident $name:ident $(as $shown:literal)?: $type:ty = $default:expr, $access:expr, $meaning:literal;)*
    ) => {
        /// Every key of a configuration file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Key {
            $($key,)*
        }

        impl Key {
            pub const ALL: &[Self] = &[$(Self::$key,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$key => $crate::config::table::last_of(&[stringify!($name), $($shown)?]),)*
                }
            }

            /// Returns the description of the setting, for the schema.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$key => $meaning,)*
                }
            }

            pub(super) fn access(self) -> Access {
                match self {
                    $(Self::$key => $access,)*
                }
            }

            pub(super) fn schema(self, owner: Owner) -> Value {
                match self {
                    $(Self::$key => <$type>::schema(owner),)*
                }
            }
        }

        /// The settings from one source: the flags, a file, or the state. Most sources set few.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Layer {
            $(pub $name: Option<Setting<$type>>,)*
        }

        impl Layer {
            /// Fills in the settings that this layer lacks from a weaker one.
            #[must_use]
            pub fn over(self, weaker: Self) -> Self {
                Self {
                    $($name: self.$name.or(weaker.$name),)*
                }
            }

            /// Adds the setting on a line of a configuration file.
            pub(super) fn read(&mut self, line: &ConfigLine<'_>) -> Result<(), ConfigFault> {
                match line.key {
                    $(Key::$key => self.$name = Some(line.setting()?),)*
                }
                Ok(())
            }
        }

        /// Every setting, with its value and origin.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings {
            $(pub $name: Setting<$type>,)*
        }

        impl From<Layer> for Settings {
            fn from(layer: Layer) -> Self {
                Self {
                    $($name: layer.$name.unwrap_or_else(|| Setting {
                        value: $default,
                        origin: Origin::Default,
                    }),)*
                }
            }
        }

        impl Settings {
            /// Returns all settings, ready to display.
            pub fn rows(&self) -> Vec<Row<'_>> {
                vec![$(Row::new(Key::$key, &self.$name),)*]
            }
        }
    };
}

pub(super) use {flags, setting_table, settings};
