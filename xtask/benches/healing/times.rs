//! How long something takes, by the clock and on the processor.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::made_up_file::Style;

#[derive(Debug, Default)]
pub(crate) struct Times {
    by_clock: Vec<Duration>,
    on_processor: Vec<Duration>,
}

impl Times {
    pub(crate) const HEADING: &str =
        "file         rounds   ms by the clock: p50     p99   ms on the processor: p50     p99";

    pub(crate) fn take<T, E>(&mut self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let (started, processor) = (Instant::now(), thread_time());
        let made = work()?;
        self.by_clock.push(started.elapsed());
        self.on_processor
            .push(thread_time().saturating_sub(processor));
        Ok(made)
    }

    pub(crate) fn middle_by_clock(&self) -> Duration {
        percentile(&self.by_clock, 50)
    }

    pub(crate) fn worst_on_processor(&self) -> Duration {
        percentile(&self.on_processor, 99)
    }

    pub(crate) fn row(&self, style: Style) -> String {
        let shown = |times: &[Duration], percent| percentile(times, percent).as_secs_f64() * 1e3;
        format!(
            "{style:<11} {:>7} {:>23.2} {:>7.2} {:>26.2} {:>7.2}",
            self.by_clock.len(),
            shown(&self.by_clock, 50),
            shown(&self.by_clock, 99),
            shown(&self.on_processor, 50),
            shown(&self.on_processor, 99),
        )
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
