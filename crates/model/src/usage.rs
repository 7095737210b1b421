use std::fmt;

use serde::{Deserialize, Serialize};

/// The resources that an agent has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// The part of the input that the model's server had cached.
    pub cached_tokens: u64,
    /// The cost in millionths of a dollar, if the agent reports it.
    pub cost_micro_usd: Option<u64>,
    /// Whether the numbers cover the whole session so far rather than this run alone.
    pub cumulative: bool,
}

impl Usage {
    /// Returns the usage since `earlier`; `None` if the totals have shrunk.
    #[must_use]
    pub(crate) fn since(&self, earlier: &Self) -> Option<Self> {
        let cost = |usage: &Self| usage.cost_micro_usd.unwrap_or(0);
        let more_cost = match self.cost_micro_usd {
            Some(now) => Some(now.checked_sub(cost(earlier))?),
            None => None,
        };
        let has_no_tokens = self.input_tokens == 0 && self.output_tokens == 0;
        if has_no_tokens {
            // Some agents report the cost before the tokens.
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

    /// Returns the sum of both.
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

/// The usage of each session so far. Needed because a resumed session may report its whole past
/// again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UsageLedger {
    totals: Vec<(String, Usage)>,
}

impl UsageLedger {
    /// Returns the part of `usage` that hasn't been counted yet, and counts it.
    pub fn count(&mut self, session: Option<&str>, usage: &Usage) -> Usage {
        let Some(name) = session else {
            return *usage;
        };
        let before = self.total_of(name);
        let new = match usage.since(&before) {
            Some(more) if usage.cumulative => more,
            // The agent reported only this run, or started counting from zero.
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

/// The amounts spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spending {
    /// The cost in millionths of a dollar; `None` until an agent reports one.
    pub cost_micro_usd: Option<u64>,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// Time spent on attempts, checks and waits.
    pub time_ms: u64,
}

impl Spending {
    /// Returns the sum of input and output tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds usage that hasn't been counted yet.
    pub fn add_usage(&mut self, more: &Usage) {
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        if let Some(cost) = more.cost_micro_usd {
            let so_far = self.cost_micro_usd.unwrap_or(0);
            self.cost_micro_usd = Some(so_far.saturating_add(cost));
        }
    }

    /// Adds time, in milliseconds.
    pub fn add_time(&mut self, millis: u64) {
        self.time_ms = self.time_ms.saturating_add(millis);
    }
}

/// An amount that displays rounded up to the cent, so that a cost is never shown as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dollars {
    micro_usd: u64,
}

impl Dollars {
    /// Creates an amount from millionths of a dollar.
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
    fn a_session_that_reports_its_past_again_is_counted_once() {
        let mut ledger = UsageLedger::default();
        let mut count = |usage: Usage| ledger.count(Some("s"), &usage).input_tokens;
        assert_eq!(count(usage(100, false)), 100);
        assert_eq!(count(usage(250, true)), 150);
        assert_eq!(count(usage(250, true)), 0);
    }

    #[test]
    fn a_cost_that_is_reported_before_the_tokens_is_counted_once() {
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
    fn a_total_that_has_become_smaller_counts_from_zero() {
        let mut ledger = UsageLedger::default();
        let mut count = |usage: Usage| ledger.count(Some("s"), &usage).input_tokens;
        assert_eq!(count(usage(100, true)), 100);
        assert_eq!(count(usage(60, true)), 60);
    }

    #[test]
    fn usage_without_a_session_is_counted_as_reported() {
        let mut ledger = UsageLedger::default();
        for _ in 0..2 {
            assert_eq!(ledger.count(None, &usage(9, true)).input_tokens, 9);
        }
    }

    /// One agent run, in one of several sessions.
    #[derive(Clone, Debug)]
    struct AgentRun {
        session: usize,
        tokens: u64,
        /// Whether its usage was lost.
        unreported: bool,
        /// Whether regreen was restarted after it.
        restart: bool,
    }

    fn runs() -> impl Strategy<Value = Vec<AgentRun>> {
        let ran = (0_usize..4, 0_u64..1000, any::<bool>(), any::<bool>());
        let ran = ran.prop_map(|(session, tokens, unreported, restart)| AgentRun {
            session,
            tokens,
            unreported,
            restart,
        });
        prop::collection::vec(ran, 0..40)
    }

    proptest! {
        #[test]
        fn the_counted_usage_is_what_was_used(runs in runs()) {
            let mut ledger = UsageLedger::default();
            let mut counted = Spending::default();
            // Per session: the real usage, and how much of it was reported.
            let mut used = [0_u64; 4];
            let mut known = [0_u64; 4];
            let mut begun = [false; 4];
            for AgentRun { session, tokens, unreported, restart } in runs {
                // Sessions 0 and 1 report their whole past, the others only what is new.
                let reports_past = session < 2;
                used[session] += tokens;
                if !unreported {
                    let cumulative = reports_past && begun[session];
                    let reported = if reports_past { used[session] } else { tokens };
                    // The first run of a session has no past to report.
                    let reported = usage(reported, cumulative);
                    known[session] = if reports_past { used[session] } else { known[session] + tokens };
                    counted.add_usage(&ledger.count(Some(&session.to_string()), &reported));
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
