use serde::{Deserialize, Serialize};

use crate::Usage;

/// What has been spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spending {
    /// In millionths of a dollar; `None` as long as no agent has named a price.
    pub cost_micro_usd: Option<u64>,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub time_ms: u64,
}

impl Spending {
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds what an agent has used up beyond what was counted before.
    pub fn add_usage(&mut self, more: &Usage) {
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        if let Some(cost) = more.cost_micro_usd {
            let so_far = self.cost_micro_usd.unwrap_or(0);
            self.cost_micro_usd = Some(so_far.saturating_add(cost));
        }
    }

    pub fn add_time(&mut self, millis: u64) {
        self.time_ms = self.time_ms.saturating_add(millis);
    }
}
