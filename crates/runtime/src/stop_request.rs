//! The request to stop after the current task: a file, because it may wait for hours.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use regreen_workspace::read_text_file;

use crate::atomic_file::write_atomically;
use crate::spec_paths::own_folder;
use crate::tree_lock::LockHolder;

/// More bytes than any process id has.
const MAX_SIZE: u64 = 64;

fn path(root: &Path) -> PathBuf {
    own_folder(root).join("stop-after-task")
}

/// Asks the run of a process to stop after its current task. Any other run ignores the request.
///
/// # Errors
/// Returns an error if the request cannot be written.
pub fn ask_to_stop_after_task(root: &Path, holder: &LockHolder) -> io::Result<()> {
    let pid = holder.pid.map(|pid| pid.to_string()).unwrap_or_default();
    write_atomically(&path(root), pid.as_bytes()).map_err(io::Error::other)
}

/// Whether the run of a process was asked to stop after its current task.
#[must_use]
pub fn is_asked_to_stop_after_task(root: &Path, process: u32) -> bool {
    let asked = read_text_file(&path(root), MAX_SIZE);
    asked.is_ok_and(|pid| pid.trim().parse() == Ok(process))
}

/// Removes requests when a run starts or ends.
pub(crate) fn forget_stop_request(root: &Path) {
    // If it can't be removed, it names a process that has ended.
    let _ = fs::remove_file(path(root));
}
