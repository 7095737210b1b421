use std::path::Path;
use std::sync::Arc;

use super::owner::Owner;

/// Where a value comes from, the strongest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag,
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
    /// One word for it, promised to scripts.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Flag => "flag",
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

    /// The file and the line in it.
    #[must_use]
    pub fn place(&self) -> Option<(&Path, usize)> {
        match self {
            Self::File { file, line, .. } => Some((file, *line)),
            Self::Flag | Self::Stored | Self::Default => None,
        }
    }
}
