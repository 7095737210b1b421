use serde::{Deserialize, Serialize};

use crate::Usage;

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Spending;

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
}
