use std::time::{Duration, Instant};

/// How long what a finished program started may go on, to write its last lines.
const LINGER: Duration = Duration::from_millis(100);
/// How long leftovers have between being asked to end and being killed.
const LEFTOVER_GRACE: Duration = Duration::from_millis(500);
/// The same for everything, when nobody waits for the result any more.
const ABANDONED_GRACE: Duration = Duration::from_secs(1);
/// How long the keeper goes on killing before it admits that something cannot be killed.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
/// How often it kills again what appeared in between.
const KILL_AGAIN: Duration = Duration::from_millis(5);

/// Decides when the descendants of a keeper are asked to end, and when they are killed.
#[derive(Debug)]
pub(crate) struct Farewell {
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

/// What the keeper has to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Wait(Option<Duration>),
    Ask,
    Kill,
    GiveUp,
}

impl Farewell {
    pub(crate) fn new(grace: Duration) -> Self {
        Self {
            grace,
            stage: Stage::Watching,
        }
    }

    /// The program itself has ended.
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

    /// Regreen wants everything to end: the grace begins now.
    pub(crate) fn told_to_end(&mut self, now: Instant) -> Deed {
        self.begin_asking(now, self.grace)
    }

    /// Regreen itself is gone.
    pub(crate) fn abandoned(&mut self, now: Instant) -> Deed {
        self.begin_asking(now, self.grace.min(ABANDONED_GRACE))
    }

    fn begin_asking(&mut self, now: Instant, grace: Duration) -> Deed {
        match self.stage {
            Stage::Watching | Stage::Lingering { .. } => {
                self.stage = Stage::Asking { until: now + grace };
                Deed::Ask
            }
            Stage::Asking { until } => {
                let until = until.min(now + grace);
                self.stage = Stage::Asking { until };
                self.next(now)
            }
            Stage::Killing { .. } => self.next(now),
        }
    }

    pub(crate) fn next(&mut self, now: Instant) -> Deed {
        match self.stage {
            Stage::Watching => Deed::Wait(None),
            Stage::Lingering { until } | Stage::Asking { until } if now < until => {
                Deed::Wait(Some(until - now))
            }
            Stage::Lingering { .. } => self.begin_asking(now, self.grace.min(LEFTOVER_GRACE)),
            Stage::Asking { .. } => {
                self.stage = Stage::Killing {
                    until: now + KILL_PATIENCE,
                };
                Deed::Kill
            }
            Stage::Killing { until } if now < until => Deed::Kill,
            Stage::Killing { .. } => Deed::GiveUp,
        }
    }

    /// How long to wait after `deed` was done.
    pub(crate) fn pause_after(deed: Deed) -> Option<Duration> {
        match deed {
            Deed::Wait(pause) => pause,
            Deed::Ask => Some(Duration::ZERO),
            Deed::Kill | Deed::GiveUp => Some(KILL_AGAIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn nothing_is_ended_while_the_program_runs() {
        let mut farewell = Farewell::new(SECOND);
        let now = Instant::now();
        assert_eq!(farewell.next(now), Deed::Wait(None));
        assert_eq!(farewell.next(now + 1000 * SECOND), Deed::Wait(None));
    }

    #[test]
    fn leftovers_of_a_finished_program_linger_are_asked_and_killed() {
        let mut farewell = Farewell::new(10 * SECOND);
        let start = Instant::now();
        farewell.program_ended(start);
        assert_eq!(farewell.next(start), Deed::Wait(Some(LINGER)));
        let asked = start + LINGER;
        assert_eq!(farewell.next(asked), Deed::Ask);
        assert_eq!(farewell.next(asked), Deed::Wait(Some(LEFTOVER_GRACE)));
        let killed = asked + LEFTOVER_GRACE;
        assert_eq!(farewell.next(killed), Deed::Kill);
        assert_eq!(farewell.next(killed + SECOND), Deed::Kill);
        assert_eq!(farewell.next(killed + KILL_PATIENCE), Deed::GiveUp);
    }

    #[test]
    fn the_program_has_its_whole_grace_and_leftovers_do_not() {
        let mut farewell = Farewell::new(10 * SECOND);
        let start = Instant::now();
        assert_eq!(farewell.told_to_end(start), Deed::Ask);
        assert_eq!(farewell.next(start + 9 * SECOND), Deed::Wait(Some(SECOND)));
        farewell.program_ended(start + 2 * SECOND);
        let soon = start + 2 * SECOND + LEFTOVER_GRACE;
        assert_eq!(farewell.next(soon), Deed::Kill);
    }

    #[test]
    fn an_abandoned_keeper_hurries() {
        let mut farewell = Farewell::new(60 * SECOND);
        let start = Instant::now();
        assert_eq!(farewell.told_to_end(start), Deed::Ask);
        assert_eq!(farewell.abandoned(start), Deed::Wait(Some(ABANDONED_GRACE)));
        assert_eq!(farewell.next(start + ABANDONED_GRACE), Deed::Kill);
    }

    #[test]
    fn being_told_twice_gives_no_second_grace() {
        let mut farewell = Farewell::new(SECOND);
        let start = Instant::now();
        farewell.told_to_end(start);
        assert_eq!(
            farewell.told_to_end(start + SECOND / 2),
            Deed::Wait(Some(SECOND / 2))
        );
    }
}
