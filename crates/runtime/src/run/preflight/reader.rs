//! Programs that a look before a run starts: an interpreter that reads, and runs nothing of the
//! repository.

use std::ffi::OsString;

use regreen_redaction::Masks;
use regreen_supervisor::{Keepers, Stream};
use regreen_workspace::{Programs, RealDisk};

use crate::asleep::SleepLedger;
use crate::process::{Job, Processes, Sink};
use crate::run::{RunSetup, marker_prefix};

/// How much of what a program prints is kept.
const KEPT: usize = 4 * 1024 * 1024;

/// Returns what starts programs before the run has a name.
pub(super) fn processes(setup: &RunSetup, masks: &Masks) -> Processes {
    Processes {
        keepers: Keepers::new(setup.keeper.clone()),
        root: setup.paths.root.clone(),
        masks: masks.clone(),
        stop: setup.stop.clone(),
        run: format!("{}preflight", marker_prefix(&setup.paths.root)),
        asleep: SleepLedger::default(),
        last_copy: None,
    }
}

/// Finds a program, unless the repository provides it.
pub(super) fn trusted_program(
    setup: &RunSetup,
    programs: &Programs,
    name: &str,
) -> Option<OsString> {
    let found = programs.find(&RealDisk, name)?;
    let real = found.canonicalize().ok()?;
    let root = setup.paths.root.canonicalize().ok()?;
    (found.is_absolute() && !found.starts_with(&root) && !real.starts_with(&root))
        .then(|| found.into_os_string())
}

/// What a program prints to its standard output.
#[derive(Debug, Default)]
pub(super) struct Answers(Vec<u8>);

impl Answers {
    /// Runs a program to its end. Returns what it prints.
    pub(super) fn of(processes: &Processes, job: Job) -> Option<String> {
        let mut said = Self::default();
        processes.run(job, &mut said).ok()?;
        Some(String::from_utf8_lossy(&said.0).into_owned())
    }
}

impl Sink for Answers {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        let room = KEPT.saturating_sub(self.0.len());
        if stream == Stream::Stdout {
            self.0.extend(bytes.iter().take(room));
        }
        true
    }
}
