use std::time::{Duration, Instant};

const SHORTEST_PERIOD: Duration = Duration::from_millis(20);
const LONGEST_PERIOD: Duration = Duration::from_secs(5);
/// Using less than this fraction of a processor doesn't count as work: even idle programs wake up
/// for their timers.
const WORK: u32 = 50;
/// The kernel counts processor time in hundredths of a second.
const SMALLEST_WORK: Duration = Duration::from_millis(10);

/// Decides whether a silent program is idle. Silence alone is never enough: it must not use
/// the processor either.
#[derive(Debug)]
pub(crate) struct IdleWatch {
    limit: Duration,
    active_at: Instant,
    checked_at: Instant,
    /// `None` if the system doesn't tell.
    cpu: Option<Duration>,
}

impl IdleWatch {
    pub(crate) fn new(limit: Duration, now: Instant, cpu: Option<Duration>) -> Self {
        Self {
            limit,
            active_at: now,
            checked_at: now,
            cpu,
        }
    }

    /// Leaves out time in which this process was stopped.
    pub(crate) fn slept(&mut self, by: Duration) {
        self.active_at += by;
        self.checked_at += by;
    }

    /// Records that there was output.
    pub(crate) fn active(&mut self, now: Instant) {
        self.active_at = now;
    }

    /// Returns when to check the processor time again.
    pub(crate) fn next_check(&self) -> Instant {
        let period = (self.limit / 4).clamp(SHORTEST_PERIOD, LONGEST_PERIOD);
        self.checked_at + period
    }

    /// Returns whether the limit is reached, given the processor time that the program and its
    /// descendants have used so far.
    pub(crate) fn look(&mut self, now: Instant, cpu: Option<Duration>) -> bool {
        if self.has_worked(now, cpu) {
            self.active_at = now;
        }
        self.checked_at = now;
        self.cpu = cpu;
        now.duration_since(self.active_at) >= self.limit
    }

    fn has_worked(&self, now: Instant, cpu: Option<Duration>) -> bool {
        let (Some(before), Some(after)) = (self.cpu, cpu) else {
            return false;
        };
        let passed = now.duration_since(self.checked_at);
        // Less than before means that a process has ended, which is activity as well.
        after < before || after - before >= (passed / WORK).max(SMALLEST_WORK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn look_every_second(cpu_per_second: Duration, seconds: u32) -> bool {
        let start = Instant::now();
        let mut watch = IdleWatch::new(4 * SECOND, start, Some(Duration::ZERO));
        (1..=seconds).any(|n| watch.look(start + n * SECOND, Some(n * cpu_per_second)))
    }

    #[test]
    fn a_silent_program_without_work_is_idle() {
        assert!(!look_every_second(Duration::ZERO, 3));
        assert!(look_every_second(Duration::ZERO, 4));
    }

    #[test]
    fn a_silent_program_that_works_is_not_idle() {
        assert!(!look_every_second(SECOND / 10, 100));
    }

    #[test]
    fn processor_time_used_earlier_is_not_work() {
        let start = Instant::now();
        let before = Some(100 * SECOND);
        let mut watch = IdleWatch::new(4 * SECOND, start, before);
        assert!(!watch.look(start + SECOND, before));
        assert!(watch.look(start + 4 * SECOND, before));
    }

    #[test]
    fn waking_up_for_a_timer_is_not_work() {
        assert!(look_every_second(SECOND / 200, 4));
    }

    #[test]
    fn a_program_that_prints_is_not_idle() {
        let start = Instant::now();
        let mut watch = IdleWatch::new(4 * SECOND, start, Some(Duration::ZERO));
        watch.active(start + 3 * SECOND);
        assert!(!watch.look(start + 6 * SECOND, Some(Duration::ZERO)));
        assert!(watch.look(start + 7 * SECOND, Some(Duration::ZERO)));
    }

    #[test]
    fn a_process_that_ends_is_activity() {
        let start = Instant::now();
        let mut watch = IdleWatch::new(4 * SECOND, start, Some(Duration::ZERO));
        watch.look(start + SECOND, Some(5 * SECOND));
        watch.look(start + 4 * SECOND, Some(SECOND));
        assert!(!watch.look(start + 7 * SECOND, Some(SECOND)));
    }
}
