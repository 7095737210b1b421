use std::io;
use std::path::{Path, PathBuf};

/// One operation on the disk that failed: what was being done, where, and why not.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}", path.display())]
pub struct StepError {
    pub doing: &'static str,
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

/// Says of a failed call what it was for.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T, StepError>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T, StepError> {
        self.map_err(|source| StepError {
            doing,
            path: path.to_owned(),
            source,
        })
    }
}
