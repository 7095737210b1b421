use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::farewell::{Deed, Farewell};
use crate::system::{self, Process};

/// How often strays are looked for while they end.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A process with our marker that has lost its keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    pub(crate) process: Process,
    pub marker: String,
    pub command: String,
}

/// What became of strays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StraysEnded {
    pub ended: u32,
    pub left: u32,
}

impl Stray {
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.process.pid().as_raw_nonzero().get()
    }
}

/// This user's processes whose marker begins with `marker_prefix`, whether or not they still
/// have a keeper: the caller knows which runs are over. A prefix that ends in a colon does not
/// mean `run-12` when it says `run-1:`. This process and its ancestors are
/// never among them. Finds nothing where the system does not show environments (macOS).
#[must_use]
pub fn find_strays(marker_prefix: &str) -> Vec<Stray> {
    system::marked(marker_prefix)
}

/// Ends what [`find_strays`] finds, also what appears meanwhile: asked first, killed when
/// `grace` is over. A pid that means another process by then is left alone.
pub fn end_strays(marker_prefix: &str, grace: Duration) -> StraysEnded {
    let mut farewell = Farewell::new(grace);
    let mut deed = farewell.told_to_end(Instant::now());
    let mut signalled = HashSet::new();
    loop {
        let strays = find_strays(marker_prefix);
        let signal = match deed {
            Deed::Ask => Some(Signal::TERM),
            Deed::Kill => Some(Signal::KILL),
            Deed::Wait(_) | Deed::GiveUp => None,
        };
        if strays.is_empty() || deed == Deed::GiveUp {
            return summary(&signalled, strays.len());
        }
        for stray in strays {
            if signal.is_some_and(|signal| system::signal(stray.process, signal)) {
                signalled.insert(stray.process);
            }
        }
        thread::sleep(LOOK_AGAIN);
        deed = farewell.next(Instant::now());
    }
}

fn summary(signalled: &HashSet<Process>, left: usize) -> StraysEnded {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    StraysEnded {
        ended: count(signalled.len()).saturating_sub(count(left)),
        left: count(left),
    }
}
