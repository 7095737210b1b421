//! What differs between systems: adopting orphans, finding processes, signalling them.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(target_os = "linux")]
mod process_info;

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    POLL_INTERVAL, Process, adopt_orphans, cpu_time, descendants, any_left, marked, signal,
};
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::{
    POLL_INTERVAL, Process, adopt_orphans, cpu_time, descendants, process_exists, holders_of_file,
    any_left, is_running, listeners_on, marked, process_info, list_processes, signal,
};
#[cfg(target_os = "linux")]
pub(crate) use process_info::{process_exists, holders_of_file, is_running, listeners_on, process_info, list_processes};
