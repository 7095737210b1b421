use std::fmt;

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

/// What sessions have used up so far, by their names: a session that is gone on with may tell
/// its whole past again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UsageLedger {
    totals: Vec<(String, Usage)>,
}

impl UsageLedger {
    /// What of this usage was not counted before.
    pub fn count(&mut self, session: Option<&str>, usage: &Usage) -> Usage {
        let Some(name) = session else {
            return *usage;
        };
        let before = self.total_of(name);
        let new = match usage.since(&before) {
            Some(more) if usage.cumulative => more,
            // Its own usage alone; or it counts from the beginning, so that there is no whole
            // past in it.
            _ => *usage,
        };
        self.remember(name, before.plus(&new));
        new
    }

    fn total_of(&self, session: &str) -> Usage {
        let known = self.totals.iter().find(|(name, _)| name == session);
        known.map_or_else(Usage::default, |(_, total)| *total)
    }

    fn remember(&mut self, session: &str, total: Usage) {
        match self.totals.iter_mut().find(|(name, _)| name == session) {
            Some((_, known)) => *known = total,
            None => self.totals.push((session.to_owned(), total)),
        }
    }
}

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

/// An amount for people: to the cent, and what costs anything is never shown as nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dollars {
    micro_usd: u64,
}

impl Dollars {
    #[must_use]
    pub fn from_micro(micro_usd: u64) -> Self {
        Self { micro_usd }
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.micro_usd.div_ceil(10_000);
        write!(f, "${}.{:02}", cents / 100, cents % 100)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn usage(input_tokens: u64, cumulative: bool) -> Usage {
        Usage {
            input_tokens,
            output_tokens: input_tokens / 2,
            cost_micro_usd: Some(input_tokens * 3),
            cumulative,
            ..Usage::default()
        }
    }

    #[test]
    fn a_session_that_tells_its_past_again_is_counted_once() {
        let mut ledger = UsageLedger::default();
        let mut count = |usage: Usage| ledger.count(Some("s"), &usage).input_tokens;
        assert_eq!(count(usage(100, false)), 100);
        assert_eq!(count(usage(250, true)), 150);
        assert_eq!(count(usage(250, true)), 0);
    }

    #[test]
    fn a_cost_that_is_told_before_the_tokens_is_counted_once() {
        let mut ledger = UsageLedger::default();
        ledger.count(Some("s"), &usage(100, false));
        let cost_alone = Usage {
            cost_micro_usd: Some(310),
            cumulative: true,
            ..Usage::default()
        };
        let new = ledger.count(Some("s"), &cost_alone);
        assert_eq!((new.cost_micro_usd, new.input_tokens), (Some(10), 0));
    }

    #[test]
    fn a_total_that_has_become_smaller_counts_from_the_beginning() {
        let mut ledger = UsageLedger::default();
        let mut count = |usage: Usage| ledger.count(Some("s"), &usage).input_tokens;
        assert_eq!(count(usage(100, true)), 100);
        assert_eq!(count(usage(60, true)), 60);
    }

    #[test]
    fn who_tells_no_session_is_counted_as_told() {
        let mut ledger = UsageLedger::default();
        for _ in 0..2 {
            assert_eq!(ledger.count(None, &usage(9, true)).input_tokens, 9);
        }
    }

    /// A run of an agent in one of some sessions.
    #[derive(Clone, Debug)]
    struct Ran {
        session: usize,
        tokens: u64,
        /// Nobody heard what it had used up.
        unheard: bool,
        /// regreen ended and was started again.
        restart: bool,
    }

    fn runs() -> impl Strategy<Value = Vec<Ran>> {
        let ran = (0_usize..4, 0_u64..1000, any::<bool>(), any::<bool>());
        let ran = ran.prop_map(|(session, tokens, unheard, restart)| Ran {
            session,
            tokens,
            unheard,
            restart,
        });
        prop::collection::vec(ran, 0..40)
    }

    proptest! {
        #[test]
        fn what_is_counted_is_what_was_used_up(runs in runs()) {
            let mut ledger = UsageLedger::default();
            let mut counted = Spending::default();
            // By session: what it really used up, and what of that anybody can know.
            let mut used = [0_u64; 4];
            let mut known = [0_u64; 4];
            let mut begun = [false; 4];
            for Ran { session, tokens, unheard, restart } in runs {
                // Sessions 0 and 1 tell their past again, the others only what is new.
                let tells_past = session < 2;
                used[session] += tokens;
                if !unheard {
                    let cumulative = tells_past && begun[session];
                    let told = if tells_past { used[session] } else { tokens };
                    // The first run of a session has no past to tell.
                    let told = usage(told, cumulative);
                    known[session] = if tells_past { used[session] } else { known[session] + tokens };
                    counted.add_usage(&ledger.count(Some(&session.to_string()), &told));
                }
                begun[session] = true;
                if restart {
                    let stored = serde_json::to_string(&(&ledger, &counted)).unwrap();
                    (ledger, counted) = serde_json::from_str(&stored).unwrap();
                }
            }
            prop_assert_eq!(counted.input_tokens, known.iter().sum::<u64>());
        }
    }

    #[test]
    fn amounts_are_rounded_up_to_the_cent() {
        let check = |micro: u64, expected: &str| {
            assert_eq!(Dollars::from_micro(micro).to_string(), expected);
        };
        check(0, "$0.00");
        check(1, "$0.01");
        check(1_230_000, "$1.23");
        check(1_234_567, "$1.24");
        check(12_000_000, "$12.00");
    }
}
