use std::time::Duration;

use regreen_supervisor::{end_process, process_info};

use crate::scene::Scene;

/// How long a process may take to end by itself.
const GRACE: Duration = Duration::from_secs(5);

/// Ends exactly the process that was looked at.
pub(super) fn carry_out(scene: &Scene<'_>, pid: i32, start: u64) -> Result<(), String> {
    let process = process_info(pid, scene.now).filter(|process| process.start == start);
    match process {
        None => Err(format!("process {pid} is another one by now")),
        Some(process) if end_process(&process, GRACE) => Ok(()),
        Some(_) => Err(format!("process {pid} does not end")),
    }
}
