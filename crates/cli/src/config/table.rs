//! What the table of settings is made into: keys, flags, layers, settings and rows.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::key::Owner;
use super::settings::Key;
use super::value::SettingValue;

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}

/// Where a value comes from, the strongest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag,
    /// A flag of the run that this one continues.
    Remembered,
    /// A line of a configuration file.
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
    /// Returns the word for it that scripts rely on.
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

    /// Returns the configuration file and the line in it.
    pub fn file_and_line(&self) -> Option<(&Path, usize)> {
        match self {
            Self::File { file, line, .. } => Some((file, *line)),
            Self::Flag | Self::Remembered | Self::Stored | Self::Default => None,
        }
    }
}

/// A setting, ready to be shown.
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

/// Returns the value of a flag as a setting.
pub(super) fn from_flag<T: Clone>(value: &Option<T>) -> Option<Setting<T>> {
    let value = value.clone()?;
    let origin = Origin::Flag;
    Some(Setting { value, origin })
}

/// Makes the types of all settings from one table.
///
/// A row is the help and the arguments of the flag, as clap wants them, then
/// `Key name: Type = default, access, "meaning";`. The key of configuration files is the name,
/// and the meaning is the description in their schema. Three groups of rows: the flags about the
/// agent, which some commands have alone; the other flags; and settings without a flag.
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
            /// Returns the settings that the flags make.
            pub fn layer(&self) -> Layer {
                let mut layer = Layer::default();
                self.fill(&mut layer);
                layer
            }
        }

        impl $other_flags {
            /// Returns the settings that the flags make.
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
        $($(#[$flag:meta])* $key:ident $name:ident: $type:ty = $default:expr, $access:expr, $meaning:literal;)*
    ) => {
        /// Everything that a configuration file can set.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Key {
            $($key,)*
        }

        impl Key {
            pub const ALL: &[Self] = &[$(Self::$key,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$key => stringify!($name),)*
                }
            }

            /// Returns what the setting means, for the schema.
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

        /// The settings that one place makes: the flags, a file, or the state. Most make few.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Layer {
            $(pub $name: Option<Setting<$type>>,)*
        }

        impl Layer {
            /// Returns this layer, with the settings that it does not make taken from a weaker one.
            #[must_use]
            pub fn over(self, weaker: Self) -> Self {
                Self {
                    $($name: self.$name.or(weaker.$name),)*
                }
            }

            /// Adds the setting of a line of a configuration file.
            pub(super) fn read(&mut self, line: &ConfigLine<'_>) -> Result<(), ConfigFault> {
                match line.key {
                    $(Key::$key => self.$name = Some(line.setting()?),)*
                }
                Ok(())
            }
        }

        /// Every setting with its value, and where that comes from.
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
            /// Returns all settings, ready to be shown.
            pub fn rows(&self) -> Vec<Row<'_>> {
                vec![$(Row::new(Key::$key, &self.$name),)*]
            }
        }
    };
}

pub(super) use {flags, setting_table, settings};
