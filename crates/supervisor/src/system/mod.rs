//! What differs between systems: adopting orphans, finding processes, signalling them.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(target_os = "linux")]
mod stat_line;

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    LOOK_AGAIN, Process, adopt_orphans, cpu_time, descendants, is_anyone_left, marked, signal,
};
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::{
    LOOK_AGAIN, Process, adopt_orphans, cpu_time, descendants, is_anyone_left, marked, signal,
};
