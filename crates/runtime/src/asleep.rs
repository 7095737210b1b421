//! The time in which regreen was stopped, or the machine slept. It counts neither as work nor as waiting.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use regreen_model::Span;
use regreen_supervisor::Asleep;

use crate::clock::millis;

/// Keeps account of that time. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct SleepLedger {
    shared: Arc<Mutex<Entries>>,
}

#[derive(Debug, Default)]
struct Entries {
    total: Asleep,
    /// Not told to people yet.
    news: Duration,
}

/// Measures time without the time asleep.
#[derive(Debug)]
pub(crate) struct Stopwatch<'l> {
    ledger: &'l SleepLedger,
    began: Instant,
    stopped_before: Duration,
}

impl SleepLedger {
    /// Enters time asleep.
    pub(crate) fn note(&self, asleep: Asleep) {
        let mut entries = self.entries();
        entries.total.add(asleep);
        entries.news += asleep.total();
    }

    /// Returns what people should know, once.
    pub(crate) fn notice(&self) -> Option<String> {
        let news = std::mem::take(&mut self.entries().news);
        let span = Span::from_millis(millis(news));
        (!news.is_zero())
            .then(|| format!("asleep for {span}; that counts neither as work nor as waiting"))
    }

    /// Starts to measure.
    pub(crate) fn stopwatch(&self) -> Stopwatch<'_> {
        Stopwatch {
            ledger: self,
            began: Instant::now(),
            stopped_before: self.entries().total.stopped,
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        let lock = self.shared.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stopwatch<'_> {
    /// Returns the time since the start. The clock itself leaves out the sleep of the machine.
    pub(crate) fn elapsed(&self) -> Duration {
        let stopped = self.ledger.entries().total.stopped - self.stopped_before;
        self.began.elapsed().saturating_sub(stopped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn time_asleep_is_told_once_and_not_measured() {
        let ledger = SleepLedger::default();
        assert_eq!(ledger.notice(), None);
        let watch = ledger.stopwatch();
        ledger.note(Asleep {
            stopped: Duration::ZERO,
            suspended: 2 * HOUR,
        });
        ledger.note(Asleep {
            stopped: HOUR,
            suspended: Duration::ZERO,
        });
        let notice = ledger.notice().unwrap();
        assert!(notice.starts_with("asleep for 3h"), "{notice}");
        assert_eq!(ledger.notice(), None);
        assert_eq!(watch.elapsed(), Duration::ZERO);
        assert!(ledger.stopwatch().began.elapsed() < HOUR);
    }
}
