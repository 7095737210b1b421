use std::io::{self, PipeReader, PipeWriter};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use regreen_model::{StopSignal, Timestamp};
use regreen_supervisor::{EndReason, Handle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::clock;

/// Somebody may ask to stop at any moment: what runs is ended then, and waits are cut short.
/// Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    wish: Mutex<Wish>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Wish {
    asked: Option<StopSignal>,
    running: Option<Handle>,
    /// Ring by being closed.
    bells: Vec<PipeWriter>,
}

/// A process that is ended when somebody asks to stop, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Attached<'s> {
    stop: &'s Stop,
}

impl Stop {
    /// Listens to the signals with which people and systems ask. Asked twice, the process
    /// ends at once, as it would without us; the keepers end whatever runs.
    ///
    /// # Errors
    /// If the signals cannot be had.
    pub fn listen(&self) -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let stop = self.clone();
        thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                for signal in signals.forever() {
                    if stop.asked().is_some() {
                        let _ = signal_hook::low_level::emulate_default_handler(signal);
                    }
                    stop.ask(meaning(signal));
                }
            })?;
        Ok(())
    }

    /// Asks to stop. The first word counts.
    pub fn ask(&self, signal: StopSignal) {
        let mut wish = self.wish();
        wish.asked.get_or_insert(signal);
        if let Some(running) = &wish.running {
            running.end(EndReason::Cancelled);
        }
        wish.bells.clear();
        drop(wish);
        self.shared.changed.notify_all();
    }

    #[must_use]
    pub fn asked(&self) -> Option<StopSignal> {
        self.wish().asked
    }

    /// Something to poll beside whatever is waited for: it can be read as soon as somebody
    /// has asked to stop.
    ///
    /// # Errors
    /// If the system has no pipe to give.
    pub fn bell(&self) -> io::Result<PipeReader> {
        let (bell, rope) = io::pipe()?;
        let mut wish = self.wish();
        if wish.asked.is_none() {
            wish.bells.push(rope);
        }
        Ok(bell)
    }

    /// Ends this process when somebody asks to stop, or now if somebody has.
    pub(crate) fn attach(&self, running: Handle) -> Attached<'_> {
        let mut wish = self.wish();
        if wish.asked.is_some() {
            running.end(EndReason::Cancelled);
        }
        wish.running = Some(running);
        Attached { stop: self }
    }

    /// Waits; whether it was for the whole time.
    pub(crate) fn sleep_until(&self, until: Timestamp) -> bool {
        /// Clocks may be set meanwhile, so the time is looked at now and then.
        const LOOK: Duration = Duration::from_secs(10);
        let mut wish = self.wish();
        loop {
            let left = Duration::from_millis(until.since(clock::now()));
            if wish.asked.is_some() || left.is_zero() {
                return wish.asked.is_none();
            }
            let waited = self.shared.changed.wait_timeout(wish, left.min(LOOK));
            wish = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wish(&self) -> MutexGuard<'_, Wish> {
        let lock = self.shared.wish.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        self.stop.wish().running = None;
    }
}

/// A terminal that goes away means what a system means that shuts down.
fn meaning(signal: i32) -> StopSignal {
    match signal {
        SIGINT => StopSignal::Interrupt,
        _ => StopSignal::Terminate,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_bell_rings_when_somebody_asks_to_stop_and_for_whoever_comes_later() {
        let stop = Stop::default();
        let mut early = stop.bell().unwrap();
        stop.ask(StopSignal::Interrupt);
        assert_eq!(early.read(&mut [0]).unwrap(), 0);
        let mut late = stop.bell().unwrap();
        assert_eq!(late.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn a_wait_ends_when_somebody_asks_to_stop() {
        let stop = Stop::default();
        assert!(stop.sleep_until(clock::now().plus(10)));
        let other = stop.clone();
        let asker = thread::spawn(move || other.ask(StopSignal::Terminate));
        assert!(!stop.sleep_until(clock::now().plus(600_000)));
        asker.join().unwrap();
        assert_eq!(stop.asked(), Some(StopSignal::Terminate));
    }
}
