//! Ends a command whose client doesn't want its result anymore.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Ends a command from another thread. Cheap to clone; all clones are the same.
#[derive(Clone, Default)]
pub struct Cancellation {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
enum State {
    #[default]
    Waiting,
    Armed(Box<dyn FnOnce() + Send>),
    Canceled,
}

impl Cancellation {
    /// Says how to end the command. If it is canceled already, ends it at once.
    pub fn on_cancel(&self, end: impl FnOnce() + Send + 'static) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Canceled) {
            // Not while the lock is held: it may take a while.
            drop(state);
            end();
        } else {
            *state = State::Armed(Box::new(end));
        }
    }

    /// Ends the command, now or as soon as it has started.
    pub fn cancel(&self) {
        let before = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *state, State::Canceled)
        };
        if let State::Armed(end) = before {
            end();
        }
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_command_is_ended_once_whether_it_has_started_or_not() {
        for is_early in [true, false] {
            let ended = Arc::new(AtomicU32::new(0));
            let counter = Arc::clone(&ended);
            let cancellation = Cancellation::default();
            if is_early {
                cancellation.cancel();
            }
            cancellation.on_cancel(move || {
                counter.fetch_add(1, Ordering::Relaxed);
            });
            cancellation.cancel();
            cancellation.cancel();
            assert_eq!(ended.load(Ordering::Relaxed), 1, "early: {is_early}");
        }
    }
}
