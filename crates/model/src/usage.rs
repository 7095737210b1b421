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

impl Usage {
    /// What was used up after `earlier`; `None` if less was used up than then.
    #[must_use]
    pub(crate) fn since(&self, earlier: &Self) -> Option<Self> {
        let cost = |usage: &Self| usage.cost_micro_usd.unwrap_or(0);
        let more_cost = match self.cost_micro_usd {
            Some(now) => Some(now.checked_sub(cost(earlier))?),
            None => None,
        };
        let is_untold = self.input_tokens == 0 && self.output_tokens == 0;
        if is_untold {
            // Some tell what it costs before they tell the tokens.
            return Some(Self {
                cost_micro_usd: more_cost,
                ..Self::default()
            });
        }
        Some(Self {
            input_tokens: self.input_tokens.checked_sub(earlier.input_tokens)?,
            output_tokens: self.output_tokens.checked_sub(earlier.output_tokens)?,
            cached_tokens: self.cached_tokens.saturating_sub(earlier.cached_tokens),
            cost_micro_usd: more_cost,
            cumulative: false,
        })
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, more: &Self) -> Self {
        let cost = [self.cost_micro_usd, more.cost_micro_usd];
        let cost = cost.into_iter().flatten().reduce(u64::saturating_add);
        Self {
            input_tokens: self.input_tokens.saturating_add(more.input_tokens),
            output_tokens: self.output_tokens.saturating_add(more.output_tokens),
            cached_tokens: self.cached_tokens.saturating_add(more.cached_tokens),
            cost_micro_usd: cost,
            cumulative: false,
        }
    }
}
