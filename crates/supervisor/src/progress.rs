use std::time::{Duration, Instant};

use crate::idle_watch::IdleWatch;
use crate::process_end::Status;
use crate::{Asleep, EndReason, Exit, Observer, ProcessEnd, TimeLimits};

/// A keeper that hasn't ended everything this long after the grace period is itself stuck.
const KEEPER_TIMEOUT: Duration = Duration::from_secs(15);
/// How long to keep reading after everything has ended, if another process holds the pipe.
const DRAIN: Duration = Duration::from_millis(100);
/// The same if that process keeps writing.
const DRAIN_AT_MOST: Duration = Duration::from_secs(2);

/// The state of a running program and its limits.
#[derive(Debug)]
pub(crate) struct Progress {
    limits: TimeLimits,
    idle: Option<IdleWatch>,
    started_at: Instant,
    exit: Option<(Exit, Instant)>,
    end: Option<(EndReason, Instant)>,
    /// How many leftovers were ended, how many weren't, and when the last one was gone.
    gone: Option<(u32, u32, Instant)>,
    last_output: Instant,
    asleep: Asleep,
    /// The command lines of processes that were still running when the program ended by itself.
    left_running: Vec<String>,
}

impl Progress {
    /// `cpu` is the processor time that the keeper had used before, if known.
    pub(crate) fn new(limits: TimeLimits, now: Instant, cpu: Option<Duration>) -> Self {
        Self {
            limits,
            idle: limits.idle.map(|limit| IdleWatch::new(limit, now, cpu)),
            started_at: now,
            exit: None,
            end: None,
            gone: None,
            last_output: now,
            asleep: Asleep::default(),
            left_running: Vec::new(),
        }
    }

    pub(crate) fn left_running(&mut self, lines: Vec<String>) {
        self.left_running = lines;
    }

    /// Leaves time out of all limits in which this process was stopped. The sleep of the machine is left out anyway.
    pub(crate) fn slept(&mut self, asleep: Asleep) {
        self.asleep.add(asleep);
        let by = asleep.stopped;
        self.started_at += by;
        self.last_output += by;
        if let Some(idle) = &mut self.idle {
            idle.slept(by);
        }
        let exit = self.exit.as_mut().map(|(_, at)| at);
        let end = self.end.as_mut().map(|(_, at)| at);
        let gone = self.gone.as_mut().map(|(_, _, at)| at);
        for at in [exit, end, gone].into_iter().flatten() {
            *at += by;
        }
    }

    pub(crate) fn output(&mut self, now: Instant) {
        if let Some(idle) = &mut self.idle {
            idle.active(now);
        }
        self.last_output = now;
    }

    pub(crate) fn update(&mut self, status: Status, now: Instant) {
        match status {
            Status::Started => self.start(now),
            Status::Ended(exit) => self.exit = self.exit.or(Some((exit, now))),
            Status::Gone { leftovers, unended } => self.gone = Some((leftovers, unended, now)),
        }
    }

    /// Starts the clock. All limits count from the start of the program, because a keeper on a busy
    /// machine takes a while.
    fn start(&mut self, now: Instant) {
        self.started_at = now;
        if let Some(idle) = &mut self.idle {
            idle.active(now);
        }
    }

    pub(crate) fn is_all_gone(&self) -> bool {
        self.gone.is_some()
    }

    /// Returns whether there is nothing left to wait for.
    pub(crate) fn is_over(&self, output_ended: bool, now: Instant) -> bool {
        self.drained_at()
            .is_some_and(|drained| output_ended || now >= drained)
    }

    /// Returns whether everything must be ended now: only once, and not if the program has ended by
    /// itself, because then the keeper does it anyway.
    pub(crate) fn begin_end(&mut self, reason: EndReason, now: Instant) -> bool {
        let begins = self.is_running();
        if begins {
            self.end = Some((reason, now));
        }
        begins
    }

    pub(crate) fn is_past_hard_limit(&self, now: Instant) -> bool {
        self.is_running() && now >= self.hard_deadline()
    }

    pub(crate) fn is_keeper_overdue(&self, now: Instant) -> bool {
        !self.is_all_gone() && self.overdue_at().is_some_and(|at| now >= at)
    }

    pub(crate) fn is_idle_check_due(&self, now: Instant) -> bool {
        self.next_check().is_some_and(|at| now >= at)
    }

    pub(crate) fn is_idle(&mut self, now: Instant, cpu: Option<Duration>) -> bool {
        self.idle.as_mut().is_some_and(|idle| idle.look(now, cpu))
    }

    /// Returns whether changing files prove that the program isn't idle.
    pub(crate) fn has_file_activity(&mut self, now: Instant, observer: &mut dyn Observer) -> bool {
        let changed = observer.files_changed();
        if changed && let Some(idle) = &mut self.idle {
            idle.active(now);
        }
        changed
    }

    /// Returns how long to wait if nothing arrives.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        let hard = self.is_running().then(|| self.hard_deadline());
        let overdue = self.overdue_at().filter(|_| !self.is_all_gone());
        let next = [hard, self.next_check(), overdue, self.drained_at()];
        let next = next.into_iter().flatten().min()?;
        // Rounded up, so that it is due after the pause.
        Some(next.saturating_duration_since(now) + Duration::from_millis(1))
    }

    pub(crate) fn ended(self, stdout_bytes: u64, stderr_bytes: u64) -> ProcessEnd {
        let (exit, at) = self.exit.unwrap_or((Exit::Unknown, Instant::now()));
        let (leftovers_ended, unended, _) = self.gone.unwrap_or((0, 0, at));
        ProcessEnd {
            exit,
            reason: self.end.map_or(EndReason::Normal, |(reason, _)| reason),
            asleep: self.asleep,
            duration: at.saturating_duration_since(self.started_at),
            stdout_bytes,
            stderr_bytes,
            left_running: self.left_running,
            leftovers_ended,
            unended,
        }
    }

    fn is_running(&self) -> bool {
        self.exit.is_none() && self.end.is_none() && !self.is_all_gone()
    }

    fn drained_at(&self) -> Option<Instant> {
        let (_, _, gone) = self.gone?;
        let quiet = self.last_output.max(gone) + DRAIN;
        Some(quiet.min(gone + DRAIN_AT_MOST))
    }

    fn hard_deadline(&self) -> Instant {
        later(self.started_at, self.limits.hard)
    }

    fn overdue_at(&self) -> Option<Instant> {
        let asked = self.end.map(|(_, at)| at);
        let since = asked.or(self.exit.map(|(_, at)| at))?;
        Some(later(later(since, self.limits.grace), KEEPER_TIMEOUT))
    }

    fn next_check(&self) -> Option<Instant> {
        let idle = self.idle.as_ref().filter(|_| self.is_running())?;
        Some(idle.next_check())
    }
}

/// Adds without overflow: a limit may be so large that it means none.
fn later(from: Instant, by: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    from.checked_add(by).unwrap_or(from + FAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn progress(now: Instant) -> Progress {
        let limits = TimeLimits {
            hard: 10 * SECOND,
            idle: None,
            grace: SECOND,
        };
        Progress::new(limits, now, None)
    }

    #[test]
    fn the_first_reason_to_end_counts() {
        let now = Instant::now();
        let mut progress = progress(now);
        assert!(progress.begin_end(EndReason::Cancelled, now));
        assert!(!progress.begin_end(EndReason::HardLimit, now));
        assert!(!progress.is_past_hard_limit(now + 20 * SECOND));
        assert_eq!(progress.ended(0, 0).reason, EndReason::Cancelled);
    }

    #[test]
    fn a_program_that_has_ended_cannot_be_cancelled() {
        let now = Instant::now();
        let mut progress = progress(now);
        progress.update(Status::Ended(Exit::Exited(0)), now);
        assert!(!progress.begin_end(EndReason::Cancelled, now));
        assert_eq!(progress.ended(0, 0).reason, EndReason::Normal);
    }

    #[test]
    fn the_time_limit_counts_from_the_start_of_the_program() {
        let now = Instant::now();
        let mut progress = progress(now);
        progress.update(Status::Started, now + SECOND);
        assert!(!progress.is_past_hard_limit(now + 10 * SECOND));
        assert!(progress.is_past_hard_limit(now + 11 * SECOND));
    }

    #[test]
    fn time_asleep_counts_for_no_limit() {
        let now = Instant::now();
        let limits = TimeLimits {
            hard: 10 * SECOND,
            idle: Some(4 * SECOND),
            grace: SECOND,
        };
        let mut progress = Progress::new(limits, now, None);
        progress.update(Status::Started, now);
        progress.slept(Asleep {
            stopped: 3600 * SECOND,
            suspended: 60 * SECOND,
        });
        let woken = now + 3601 * SECOND;
        assert!(!progress.is_past_hard_limit(woken));
        assert!(!progress.is_idle(woken, None));
        assert!(progress.is_past_hard_limit(woken + 9 * SECOND));
        progress.update(Status::Ended(Exit::Exited(0)), woken);
        let ended = progress.ended(0, 0);
        assert_eq!(ended.duration, SECOND);
        assert_eq!(ended.asleep.total(), 3660 * SECOND);
    }

    #[test]
    fn the_idle_limit_counts_from_the_start_of_the_program() {
        let now = Instant::now();
        let limits = TimeLimits {
            hard: 10 * SECOND,
            idle: Some(4 * SECOND),
            grace: SECOND,
        };
        let mut progress = Progress::new(limits, now, None);
        progress.update(Status::Started, now + SECOND);
        assert!(!progress.is_idle(now + 4 * SECOND, None));
        assert!(progress.is_idle(now + 5 * SECOND, None));
    }

    #[test]
    fn output_is_read_a_little_longer_than_any_process_lives() {
        let now = Instant::now();
        let mut progress = progress(now);
        assert!(!progress.is_over(true, now));
        progress.update(Status::nothing_left(), now);
        assert!(progress.is_over(true, now));
        assert!(!progress.is_over(false, now));
        assert!(progress.is_over(false, now + DRAIN));
        progress.output(now + DRAIN);
        assert!(!progress.is_over(false, now + DRAIN));
        progress.output(now + DRAIN_AT_MOST);
        assert!(progress.is_over(false, now + DRAIN_AT_MOST));
    }

    #[test]
    fn a_keeper_that_does_not_finish_is_overdue() {
        let now = Instant::now();
        let mut progress = progress(now);
        assert!(!progress.is_keeper_overdue(now + 1000 * SECOND));
        progress.begin_end(EndReason::Cancelled, now);
        assert!(!progress.is_keeper_overdue(now + SECOND));
        assert!(progress.is_keeper_overdue(now + SECOND + KEEPER_TIMEOUT));
    }

    #[test]
    fn an_infinite_limit_never_ends_a_program() {
        let limits = TimeLimits {
            hard: Duration::MAX,
            idle: None,
            grace: SECOND,
        };
        let now = Instant::now();
        assert!(!Progress::new(limits, now, None).is_past_hard_limit(now + 1000 * SECOND));
    }
}
