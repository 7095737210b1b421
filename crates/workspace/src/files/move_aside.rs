use std::io;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::free_name::move_to_free_name;
use super::step::StepError;
use super::sync_names::sync_names;
use super::target::Target;

const CORRUPT: &str = "corrupt";

/// Why a file is still where it was.
#[derive(Debug, thiserror::Error)]
pub enum AsideError {
    #[error("{} does not exist", path.display())]
    NotFound { path: PathBuf },
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Moves a file that makes no sense to the first free `<name>.corrupt-<n>` beside it, so
/// that a sound one can take its place and nothing is lost. Returns where it went.
pub fn move_aside(disk: &dyn Disk, path: &Path) -> Result<PathBuf, AsideError> {
    let target = Target::name_in_folder(disk, path).map_err(|source| missing(path, source))?;
    disk.stat(&target.path)
        .map_err(|source| missing(path, source))?;
    let aside = move_to_free_name(disk, &target.path, &target, CORRUPT)?;
    sync_names(disk, &target.folder)?;
    Ok(aside)
}

fn missing(path: &Path, source: io::Error) -> AsideError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => AsideError::NotFound { path },
        _ => AsideError::Step(StepError {
            doing: "move aside",
            path,
            source,
        }),
    }
}
