use serde::{Deserialize, Serialize};

use crate::named_enum;

named_enum! {
    /// The policy for checks that can't even start, found before a run begins.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum PreflightPolicy {
        /// Refuse to begin the run.
        #[default]
        Fail = "fail",
        /// Warn about it.
        Warn = "warn",
        /// Don't look.
        Off = "off",
    }
}
