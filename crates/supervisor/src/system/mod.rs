//! Differences between systems: adopting orphans, finding processes, signalling them.

#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(target_os = "linux")]
mod process_info;

#[cfg(target_os = "linux")]
pub(crate) use connection::is_connected_by_a_run;
#[cfg(target_os = "linux")]
pub use linux::ignores_hangup;
#[cfg(target_os = "linux")]
pub(crate) use linux::{
    POLL_INTERVAL, Process, adopt_orphans, any_left, command_line, cpu_time, descendants,
    is_below_keeper, marked, signal,
};
#[cfg(not(target_os = "linux"))]
pub use portable::ignores_hangup;
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::{
    POLL_INTERVAL, Process, adopt_orphans, any_left, command_line, cpu_time, descendants,
    holders_of_file, is_below_keeper, is_connected_by_a_run, is_running, list_processes,
    listeners_on, marked, process_exists, process_info, signal,
};
#[cfg(target_os = "linux")]
pub(crate) use process_info::{
    holders_of_file, is_running, list_processes, listeners_on, process_exists, process_info,
};
