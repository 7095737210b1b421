use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A line of output that says something about how the run went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the rule that matched.
    pub rule: String,
    /// 1-based.
    pub line: u64,
    /// The line without colours, cut at a readable length.
    pub text: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
    /// What the rule took out of the line.
    pub captures: BTreeMap<String, String>,
    /// How often the rule matched in the whole output, kept findings or not.
    pub count: u64,
}
