use serde::{Deserialize, Serialize};

/// What an agent has used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Part of the input that was already known to the model's server.
    pub cached_tokens: u64,
    /// In millionths of a dollar, where the agent says so.
    pub cost_micro_usd: Option<u64>,
    /// The numbers are those of the whole session so far, not of this run alone.
    pub cumulative: bool,
}
