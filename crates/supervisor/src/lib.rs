//! Runs programs and leaves nothing of them behind.
//!
//! Every program runs under a *keeper*: regreen's own binary, started again, which adopts whatever
//! the program starts, and ends all of it when the program ends, when regreen says so, or when
//! regreen is gone. [`Keepers::spawn`] starts a program, [`Running::wait`] delivers its output and
//! enforces its limits, and [`keeper_main`] is the keeper. `docs/design/processes.md` explains why.
//!
//! Processes can also be inspected, as far as the system allows:
//!
//! ```
//! use std::time::SystemTime;
//!
//! use regreen_supervisor::{process_exists, process_info};
//!
//! let own = i32::try_from(std::process::id())?;
//! assert_ne!(process_exists(own), Some(false));
//! if let Some(process) = process_info(own, SystemTime::now()) {
//!     assert!(process.is_of_this_user && !process.is_zombie);
//! }
//! # Ok::<(), std::num::TryFromIntError>(())
//! ```

mod handle;
mod idle_watch;
mod keeper;
mod keepers;
mod last_copy;
mod order;
mod pipes;
mod process_end;
mod processes;
mod progress;
mod running;
mod sleep_watch;
mod spec;
mod system;
mod termination;

pub use handle::{Handle, StdinClosed};
pub use keeper::{KEEPER_ARGUMENT, keeper_main};
pub use keepers::Keepers;
pub use last_copy::LastCopy;
pub use pipes::{Chunk, Observer, SpawnError, Stream};
pub use process_end::{EndReason, Exit, ProcessEnd, StartStep};
pub use processes::{
    Holders, ProcessInfo, Stray, StraysEnded, end_process, end_strays, find_strays,
    holders_of_file, is_connected_by_a_run, is_started_by_a_run, list_processes, listeners_on,
    process_exists, process_info,
};
pub use running::Running;
pub use sleep_watch::{Asleep, Clocks, HEARTBEAT};
pub use spec::{Marker, ProcessSpec, Stdin, TimeLimits};
pub use system::ignores_hangup;
