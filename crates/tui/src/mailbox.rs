//! What a thread has to do next.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::event::Effect;

/// Effects that wait for a thread. Of those that make each other pointless, the last one stays.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    waiting: Mutex<VecDeque<Effect>>,
    arrived: Condvar,
}

impl Mailbox {
    pub(crate) fn put(&self, effect: Effect) {
        let mut waiting = self.lock();
        waiting.retain(|other| !replaces(&effect, other));
        waiting.push_back(effect);
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Waits for the next effect. A refresh waits until this time, unless there is more to do.
    pub(crate) fn take(&self, refresh_at: Instant) -> Effect {
        let mut waiting = self.lock();
        loop {
            let left = refresh_at.saturating_duration_since(Instant::now());
            let is_due = |effect: &Effect| left.is_zero() || !is_refresh(effect);
            if let Some(at) = waiting.iter().position(is_due)
                && let Some(effect) = waiting.remove(at)
            {
                return effect;
            }
            waiting = if waiting.is_empty() {
                let waited = self.arrived.wait(waiting);
                waited.unwrap_or_else(PoisonError::into_inner)
            } else {
                let waited = self.arrived.wait_timeout(waiting, left);
                waited.unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Effect>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nobody waits for it.
fn is_refresh(effect: &Effect) -> bool {
    matches!(effect, Effect::ReadText(request) if request.is_refresh)
}

/// Whether nobody needs what an effect would do, once the other is done. What a person decided is
/// always done.
fn replaces(effect: &Effect, other: &Effect) -> bool {
    match (effect, other) {
        (Effect::ReadRuns, Effect::ReadRuns) | (Effect::ReadRun(_), Effect::ReadRun(_)) => true,
        (Effect::ReadText(one), Effect::ReadText(other)) => !one.is_refresh || other.is_refresh,
        (Effect::Search(_), Effect::Search(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use regreen_overview::{Action, RunKey};

    use super::*;

    fn key(run: &str) -> RunKey {
        RunKey {
            place: String::new(),
            run: run.to_owned(),
        }
    }

    #[test]
    fn only_the_last_of_several_reads_is_done_but_every_action() {
        let mailbox = Mailbox::default();
        let stop = Effect::Act(key("a"), Action::Stop);
        let run = |name: &str| Effect::ReadRun(key(name));
        for effect in [
            run("a"),
            stop.clone(),
            Effect::ReadRuns,
            run("b"),
            stop.clone(),
        ] {
            mailbox.put(effect);
        }
        let now = Instant::now();
        let done = [(); 4].map(|()| mailbox.take(now));
        assert_eq!(done, [stop.clone(), Effect::ReadRuns, run("b"), stop]);
    }
}
