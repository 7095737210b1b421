//! A run as a JUnit file, for systems that show test results.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::{fs, io};

use regreen_documents::TaskFile;
use regreen_reporters::{Junit, Reporter as _};
use regreen_runtime::{SpecPaths, outline_without_features, workspace_masks};
use regreen_store::Run;
use regreen_workspace::{RealDisk, read_tail, read_text};

use crate::history::SpecHistory;
use crate::problem::Problem;
use crate::spec_context::own_secrets;

/// How much of the end of a log is in the file.
const LOG_BYTES: u64 = 64 * 1024;
/// What the umask then restricts.
const MODE: u32 = 0o666;

/// Writes the report about a run.
pub(super) fn write(file: &Path, places: &SpecPaths, run: &Run) -> Result<(), Problem> {
    let history = SpecHistory::open(places)?;
    let mut junit = Junit::new(places.spec.name.as_str());
    let plan = TaskFile::read(read_text(&RealDisk, &places.spec.tasks)?.text);
    junit.outline(&outline_without_features(&plan));
    for (at, event) in history.events(run)? {
        junit.recall(at, &event);
    }
    let xml = junit.to_xml(&|task, attempt| {
        let log = places.log(run.id.as_str(), task, attempt);
        read_tail(&log, LOG_BYTES).ok()
    });
    let masks = workspace_masks(&places.root, &own_secrets());
    replace(file, &masks.mask(&xml))
}

/// Writes the report of a run that begins, so that a file of an earlier run can't be taken for its
/// result if it is killed.
pub fn begin(file: &Path, places: &SpecPaths) -> Result<(), Problem> {
    let junit = Junit::new(places.spec.name.as_str());
    replace(file, &junit.to_xml(&|_, _| None))
}

/// Writes the report of the newest run, which has just ended.
pub fn end(file: &Path, places: &SpecPaths) -> Result<(), Problem> {
    let run = SpecHistory::open(places)?.run_named(None, &places.spec.name)?;
    write(file, places, &run)
}

/// Replaces the file as a whole. A link that an agent put in its place is replaced, not followed.
fn replace(file: &Path, text: &str) -> Result<(), Problem> {
    try_replace(file, text).map_err(|source| Problem::WriteReport {
        path: file.to_owned(),
        flag: "--junit",
        source,
    })
}

fn try_replace(file: &Path, text: &str) -> io::Result<()> {
    if fs::symlink_metadata(file).is_ok_and(|found| found.is_dir()) {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut draft = tempfile::Builder::new()
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    draft.write_all(text.as_bytes())?;
    draft.persist(file)?;
    Ok(())
}
