//! Runs programs so that nothing of them is left behind.
//!
//! Every program runs under a *keeper*: regreen's own binary, started again, which adopts
//! whatever the program starts and ends all of it when the program ends, when regreen says
//! so, or when regreen is gone. [`Keepers::spawn`] starts a program, [`Running::wait`] passes
//! its output on and keeps its limits, [`keeper_main`] is the keeper. `docs/design/processes.md` says why.

mod child_signals;
mod ended;
mod ends;
mod farewell;
mod handle;
mod idle_watch;
mod keeper;
mod keeper_link;
mod keepers;
mod marker;
mod observer;
mod order;
mod process_table;
mod progress;
mod running;
mod source;
mod spec;
mod status;
mod stray;
mod system;
mod wire;

pub use ended::{EndReason, Ended, Exit, StartStep};
pub use ends::SpawnError;
pub use handle::{Handle, StdinClosed};
pub use keeper::{KEEPER_ARGUMENT, keeper_main};
pub use keepers::Keepers;
pub use marker::Marker;
pub use observer::{Chunk, Observer, Stream};
pub use process_table::{
    Holders, SeenProcess, end_process, has_process, holders_of_file, listeners_on, see_process,
    see_processes,
};
pub use running::Running;
pub use spec::{Spec, Stdin, TimeLimits};
pub use stray::{Stray, StraysEnded, end_strays, find_strays};
