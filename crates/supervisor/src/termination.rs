use std::time::{Duration, Instant};

/// How long processes that a finished program started may live on to write their last lines.
const LINGER: Duration = Duration::from_millis(100);
/// How long leftovers have between being asked to end and being killed.
const LEFTOVER_GRACE: Duration = Duration::from_millis(500);
/// The same for everything, once regreen is gone.
const ABANDONED_GRACE: Duration = Duration::from_secs(1);
/// How long the keeper tries to kill before it gives up.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// How often it kills processes that have appeared meanwhile.
const KILL_INTERVAL: Duration = Duration::from_millis(5);

/// Decides when a keeper's descendants are asked to end, and when they are killed.
#[derive(Debug)]
pub(crate) struct Termination {
    grace: Duration,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Watching,
    /// The program is gone; others may be left.
    Lingering {
        until: Instant,
    },
    Asking {
        until: Instant,
    },
    Killing {
        until: Instant,
    },
}

/// The caller's next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Wait(Option<Duration>),
    Ask,
    Kill,
    GiveUp,
}

impl Termination {
    pub(crate) fn new(grace: Duration) -> Self {
        Self {
            grace,
            stage: Stage::Watching,
        }
    }

    /// Records that the program itself has ended.
    pub(crate) fn program_ended(&mut self, now: Instant) {
        self.stage = match self.stage {
            Stage::Watching => Stage::Lingering {
                until: now + LINGER,
            },
            Stage::Asking { until } => Stage::Asking {
                until: until.min(now + LEFTOVER_GRACE),
            },
            stage @ (Stage::Lingering { .. } | Stage::Killing { .. }) => stage,
        };
    }

    /// Starts the grace period, because regreen wants everything to end.
    pub(crate) fn end_requested(&mut self, now: Instant) -> Action {
        self.begin_asking(now, self.grace)
    }

    /// Starts a short grace period, because regreen itself is gone.
    pub(crate) fn abandoned(&mut self, now: Instant) -> Action {
        self.begin_asking(now, self.grace.min(ABANDONED_GRACE))
    }

    fn begin_asking(&mut self, now: Instant, grace: Duration) -> Action {
        match self.stage {
            Stage::Watching | Stage::Lingering { .. } => {
                self.stage = Stage::Asking { until: now + grace };
                Action::Ask
            }
            Stage::Asking { until } => {
                let until = until.min(now + grace);
                self.stage = Stage::Asking { until };
                self.next(now)
            }
            Stage::Killing { .. } => self.next(now),
        }
    }

    pub(crate) fn next(&mut self, now: Instant) -> Action {
        match self.stage {
            Stage::Watching => Action::Wait(None),
            Stage::Lingering { until } | Stage::Asking { until } if now < until => {
                Action::Wait(Some(until - now))
            }
            Stage::Lingering { .. } => self.begin_asking(now, self.grace.min(LEFTOVER_GRACE)),
            Stage::Asking { .. } => {
                self.stage = Stage::Killing {
                    until: now + KILL_TIMEOUT,
                };
                Action::Kill
            }
            Stage::Killing { until } if now < until => Action::Kill,
            Stage::Killing { .. } => Action::GiveUp,
        }
    }

    /// Returns how long to wait after `action`.
    pub(crate) fn pause_after(action: Action) -> Option<Duration> {
        match action {
            Action::Wait(pause) => pause,
            Action::Ask => Some(Duration::ZERO),
            Action::Kill | Action::GiveUp => Some(KILL_INTERVAL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn nothing_is_ended_while_the_program_runs() {
        let mut termination = Termination::new(SECOND);
        let now = Instant::now();
        assert_eq!(termination.next(now), Action::Wait(None));
        assert_eq!(termination.next(now + 1000 * SECOND), Action::Wait(None));
    }

    #[test]
    fn leftovers_of_a_finished_program_are_asked_to_end_and_then_killed() {
        let mut termination = Termination::new(10 * SECOND);
        let start = Instant::now();
        termination.program_ended(start);
        assert_eq!(termination.next(start), Action::Wait(Some(LINGER)));
        let asked = start + LINGER;
        assert_eq!(termination.next(asked), Action::Ask);
        assert_eq!(termination.next(asked), Action::Wait(Some(LEFTOVER_GRACE)));
        let killed = asked + LEFTOVER_GRACE;
        assert_eq!(termination.next(killed), Action::Kill);
        assert_eq!(termination.next(killed + SECOND), Action::Kill);
        assert_eq!(termination.next(killed + KILL_TIMEOUT), Action::GiveUp);
    }

    #[test]
    fn the_program_has_its_whole_grace_and_leftovers_do_not() {
        let mut termination = Termination::new(10 * SECOND);
        let start = Instant::now();
        assert_eq!(termination.end_requested(start), Action::Ask);
        assert_eq!(
            termination.next(start + 9 * SECOND),
            Action::Wait(Some(SECOND))
        );
        termination.program_ended(start + 2 * SECOND);
        let soon = start + 2 * SECOND + LEFTOVER_GRACE;
        assert_eq!(termination.next(soon), Action::Kill);
    }

    #[test]
    fn an_abandoned_keeper_shortens_the_grace() {
        let mut termination = Termination::new(60 * SECOND);
        let start = Instant::now();
        assert_eq!(termination.end_requested(start), Action::Ask);
        assert_eq!(
            termination.abandoned(start),
            Action::Wait(Some(ABANDONED_GRACE))
        );
        assert_eq!(termination.next(start + ABANDONED_GRACE), Action::Kill);
    }

    #[test]
    fn a_second_request_to_end_does_not_extend_the_grace() {
        let mut termination = Termination::new(SECOND);
        let start = Instant::now();
        termination.end_requested(start);
        assert_eq!(
            termination.end_requested(start + SECOND / 2),
            Action::Wait(Some(SECOND / 2))
        );
    }
}
