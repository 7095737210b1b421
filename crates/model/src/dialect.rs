use std::fmt;

use serde::{Deserialize, Serialize};

/// Whose way of writing task files this is. Recognised, never configured: it changes what
/// people are told, not how rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    SmartRalph,
    SpecKit,
    #[serde(rename = "openspec")]
    OpenSpec,
    Kiro,
    Plain,
}

impl Dialect {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SmartRalph => "smart-ralph",
            Self::SpecKit => "spec-kit",
            Self::OpenSpec => "openspec",
            Self::Kiro => "kiro",
            Self::Plain => "plain",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
