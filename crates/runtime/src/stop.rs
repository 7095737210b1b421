use std::io::{self, PipeReader, PipeWriter};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use regreen_model::{StopSignal, Timestamp};
use regreen_supervisor::{Asleep, Clocks, EndReason, HEARTBEAT, Handle, ignores_hangup};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::clock;

/// A request to stop, which may come at any moment: it ends running processes and cuts waits short.
/// Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<StopState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct StopState {
    asked: Option<StopSignal>,
    running: Option<Handle>,
    /// Closing one wakes its reader.
    wakers: Vec<PipeWriter>,
}

/// Ends a process when someone asks to stop, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Attached<'s> {
    stop: &'s Stop,
}

impl Stop {
    /// Listens for the signals that ask to stop. The second signal ends the process at once, as if
    /// no handler were set; the keepers then end everything that runs.
    ///
    /// # Errors
    /// Returns an error if the signals cannot be caught.
    pub fn listen(&self) -> io::Result<()> {
        // `nohup` makes a program ignore the hangup of its terminal.
        let hangup = (!ignores_hangup()).then_some(SIGHUP);
        self.listen_to(Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))?)
    }

    /// Does the same, but goes on when a terminal hangs up: the run has none.
    ///
    /// # Errors
    /// Returns an error if the signals cannot be caught.
    pub fn listen_without_hangup(&self) -> io::Result<()> {
        // Nobody looks at the flag, but without a handler the signal would end the process.
        signal_hook::flag::register(SIGHUP, Arc::new(AtomicBool::new(false)))?;
        self.listen_to(Signals::new([SIGINT, SIGTERM])?)
    }

    fn listen_to(&self, mut signals: Signals) -> io::Result<()> {
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

    /// Asks to stop. Only the first signal counts.
    pub fn ask(&self, signal: StopSignal) {
        let mut state = self.state();
        state.asked.get_or_insert(signal);
        if let Some(running) = &state.running {
            running.end(EndReason::Cancelled);
        }
        state.wakers.clear();
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Returns the signal that asked to stop, if any.
    #[must_use]
    pub fn asked(&self) -> Option<StopSignal> {
        self.state().asked
    }

    /// Returns a pipe to poll, which becomes readable as soon as someone asks to stop.
    ///
    /// # Errors
    /// Returns an error if the system has no more pipes.
    pub fn wake_pipe(&self) -> io::Result<PipeReader> {
        let (reader, waker) = io::pipe()?;
        let mut state = self.state();
        if state.asked.is_none() {
            state.wakers.push(waker);
        }
        Ok(reader)
    }

    /// Ends this process when someone asks to stop, or now if someone already has.
    pub(crate) fn attach(&self, running: Handle) -> Attached<'_> {
        let mut state = self.state();
        if state.asked.is_some() {
            running.end(EndReason::Cancelled);
        }
        state.running = Some(running);
        Attached { stop: self }
    }

    /// Waits. Returns how long the machine or this process was asleep meanwhile; `None` if a request to stop cut the
    /// wait short. The clock may be set meanwhile, so it is read again every now and then.
    pub(crate) fn sleep_until(&self, until: Timestamp) -> Option<Asleep> {
        let mut asleep = Asleep::default();
        let mut state = self.state();
        loop {
            let left = Duration::from_millis(until.since(clock::now()));
            if state.asked.is_some() || left.is_zero() {
                return state.asked.is_none().then_some(asleep);
            }
            let pause = left.min(HEARTBEAT);
            let before = Clocks::now();
            let waited = self.shared.changed.wait_timeout(state, pause);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            asleep.add(before.asleep_during(pause, Clocks::now()));
        }
    }

    fn state(&self) -> MutexGuard<'_, StopState> {
        let lock = self.shared.state.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        self.stop.state().running = None;
    }
}

/// Closing the terminal means the same as shutting down the system.
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
    fn a_request_to_stop_wakes_waiters_and_later_ones() {
        let stop = Stop::default();
        let mut early = stop.wake_pipe().unwrap();
        stop.ask(StopSignal::Interrupt);
        assert_eq!(early.read(&mut [0]).unwrap(), 0);
        let mut late = stop.wake_pipe().unwrap();
        assert_eq!(late.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn a_wait_ends_when_someone_asks_to_stop() {
        let stop = Stop::default();
        assert!(stop.sleep_until(clock::now().plus(10)).is_some());
        let other = stop.clone();
        let asker = thread::spawn(move || other.ask(StopSignal::Terminate));
        assert!(stop.sleep_until(clock::now().plus(600_000)).is_none());
        asker.join().unwrap();
        assert_eq!(stop.asked(), Some(StopSignal::Terminate));
    }
}
