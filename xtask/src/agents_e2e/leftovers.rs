//! What is left of a run: processes that live in its home.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// What was told to end may need a moment.
const LONGEST: Duration = Duration::from_secs(10);

/// Waits until no process has this home any more; what still runs if it takes too long.
pub(crate) fn wait_for_none(home: &Path) -> Vec<String> {
    let begun = Instant::now();
    loop {
        let left = processes_of(home);
        if left.is_empty() || begun.elapsed() > LONGEST {
            return left;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn processes_of(home: &Path) -> Vec<String> {
    let mark = format!("HOME={}", home.display());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|process| {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|word| word == mark.as_bytes())
        })
        .map(|process| {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        })
        .collect()
}
