//! Notices that this process was stopped, or that the machine was asleep.
//!
//! Two clocks show it. One doesn't advance while the machine is asleep, and the other does: the difference grows by
//! that sleep. A process that is stopped (`SIGSTOP`) wakes up much later than it meant to.

use std::time::{Duration, Instant};

/// How long to wait at most before looking at the clocks again.
pub const HEARTBEAT: Duration = Duration::from_secs(1);
/// A busy machine may let a process wait this long.
const BUSY: Duration = Duration::from_secs(2);
/// Clocks are read one after the other.
const INACCURACY: Duration = Duration::from_millis(500);

/// A reading of the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// The time, without the sleep of the machine.
    pub awake: Instant,
    /// How long the machine has slept since it was started.
    pub slept: Duration,
}

/// How long a process couldn't work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asleep {
    /// The time that the process was stopped. Unlike the sleep of the machine, [`Instant`] counts it.
    pub stopped: Duration,
    /// The time that the machine slept.
    pub suspended: Duration,
}

impl Clocks {
    /// Reads the clocks.
    #[must_use]
    pub fn now() -> Self {
        Self {
            awake: Instant::now(),
            slept: slept(),
        }
    }

    /// Returns how long this process was asleep while it meant to wait for at most `pause`.
    #[must_use]
    pub fn asleep_during(self, pause: Duration, now: Self) -> Asleep {
        let late = now.awake.saturating_duration_since(self.awake + pause);
        let slept = now.slept.saturating_sub(self.slept);
        let beyond = |time: Duration, least: Duration| {
            if time > least { time } else { Duration::ZERO }
        };
        Asleep {
            stopped: beyond(late, BUSY),
            suspended: beyond(slept, INACCURACY),
        }
    }
}

impl Asleep {
    /// Returns the whole time.
    #[must_use]
    pub fn total(self) -> Duration {
        self.stopped + self.suspended
    }

    /// Adds another time.
    pub fn add(&mut self, other: Self) {
        self.stopped += other.stopped;
        self.suspended += other.suspended;
    }
}

#[cfg(target_os = "linux")]
fn slept() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let read = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
    // In this order, a pause in between never looks like sleep that is taken back later.
    let awake = read(ClockId::Monotonic);
    read(ClockId::Boottime).saturating_sub(awake)
}

/// Other systems have no such clock that is used here.
#[cfg(not(target_os = "linux"))]
fn slept() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// What is noticed if a pause of a second takes this long, and the machine sleeps this long.
    fn seen(took: Duration, slept: Duration) -> Asleep {
        let before = Clocks {
            awake: Instant::now(),
            slept: 5 * SECOND,
        };
        let after = Clocks {
            awake: before.awake + took,
            slept: before.slept + slept,
        };
        before.asleep_during(SECOND, after)
    }

    #[test]
    fn a_pause_that_takes_much_longer_than_it_should_was_a_stop() {
        assert_eq!(seen(61 * SECOND, Duration::ZERO).stopped, 60 * SECOND);
        // A busy machine.
        assert_eq!(seen(3 * SECOND, Duration::ZERO), Asleep::default());
        assert_eq!(seen(SECOND / 10, Duration::ZERO), Asleep::default());
    }

    #[test]
    fn a_clock_that_jumps_ahead_of_the_other_shows_that_the_machine_slept() {
        let noticed = seen(SECOND, 3600 * SECOND);
        let expected = Asleep {
            stopped: Duration::ZERO,
            suspended: 3600 * SECOND,
        };
        assert_eq!(noticed, expected);
        assert_eq!(seen(SECOND, Duration::from_millis(1)), Asleep::default());
    }

    #[test]
    fn the_clocks_of_this_machine_show_no_sleep_while_it_works() {
        let before = Clocks::now();
        let asleep = before.asleep_during(Duration::ZERO, Clocks::now());
        assert_eq!(asleep.suspended, Duration::ZERO);
    }
}
