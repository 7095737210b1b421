//! What differs between systems: adopting orphans, finding processes, signalling them.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(target_os = "linux")]
mod sight;
#[cfg(target_os = "linux")]
mod stat_line;

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    LOOK_AGAIN, Process, adopt_orphans, cpu_time, descendants, is_anyone_left, marked, signal,
};
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::{
    LOOK_AGAIN, Process, adopt_orphans, cpu_time, descendants, has_process, holders_of_file,
    is_anyone_left, is_running, listeners_on, marked, see, see_all, signal,
};
#[cfg(target_os = "linux")]
pub(crate) use sight::{has_process, holders_of_file, is_running, listeners_on, see, see_all};
