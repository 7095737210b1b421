use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use serde::Serialize;

use super::bad_value::BadValue;

/// Whether finished tasks are committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum CommitMode {
    /// Each finished task that names a commit gets it
    #[default]
    Auto,
    /// Commits are left to you
    Never,
}

impl CommitMode {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Never => "never",
        }
    }
}

impl FromStr for CommitMode {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let modes = Self::value_variants().iter().copied();
        modes
            .clone()
            .find(|mode| mode.name() == text)
            .ok_or_else(|| {
                let names: Vec<&str> = modes.map(Self::name).collect();
                BadValue::new(
                    format!("`{text}` is no way to commit"),
                    format!("write one of these: {}", names.join(", ")),
                )
            })
    }
}

impl fmt::Display for CommitMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_has_one_name_everywhere() {
        for mode in CommitMode::value_variants() {
            assert_eq!(mode.name().parse(), Ok(*mode));
            let flag = mode.to_possible_value().unwrap();
            assert_eq!(flag.get_name(), mode.name());
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.name());
        }
        assert_eq!(
            "always".parse::<CommitMode>().unwrap_err().to_string(),
            "`always` is no way to commit; write one of these: auto, never"
        );
    }
}
