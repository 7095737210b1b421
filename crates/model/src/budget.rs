use serde::{Deserialize, Serialize};

/// How much may be spent. What nobody has limited is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// In millionths of a dollar.
    pub cost_micro_usd: Option<u64>,
    /// Input, also what the model's server knew already, and output.
    pub tokens: Option<u64>,
    pub time_ms: Option<u64>,
}
