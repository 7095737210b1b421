//! What follows if an attempt weakens a check.

use serde::{Deserialize, Serialize};

use crate::named_enum;

named_enum! {
    /// The policy for changes that weaken a check.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum TamperPolicy {
        /// Fail the attempt if two different signs agree, and warn of a single one.
        #[default]
        Fail = "fail",
        /// Warn about it.
        Warn = "warn",
        /// Don't look for it.
        Off = "off",
    }
}
