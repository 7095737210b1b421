//! Wall-clock and CPU times.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

#[derive(Debug, Default)]
pub(crate) struct Times {
    by_clock: Vec<Duration>,
    on_processor: Vec<Duration>,
}

impl Times {
    pub(crate) fn take<T, E>(&mut self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let (started, processor) = (Instant::now(), thread_time());
        let made = work()?;
        self.by_clock.push(started.elapsed());
        self.on_processor
            .push(thread_time().saturating_sub(processor));
        Ok(made)
    }

    /// Returns the time within which this percentage of rounds finished.
    pub(crate) fn by_clock(&self, percent: usize) -> Duration {
        percentile(&self.by_clock, percent)
    }

    pub(crate) fn on_processor(&self, percent: usize) -> Duration {
        percentile(&self.on_processor, percent)
    }
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    let at = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(at).copied().unwrap_or_default()
}

fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}
