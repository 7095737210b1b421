//! The file that survives a crash, and the lock that only one process holds.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use regreen_forge::CiProgress;
use regreen_model::fnv1a;
use regreen_workspace::{MAX_FILE, read_text_file};

use super::CiError;
use crate::atomic_file::write_atomically;
use crate::spec_paths::SpecPaths;

/// What is known of a spec's pull request. Locked as long as it exists.
#[derive(Debug)]
pub(super) struct ProgressFile {
    path: PathBuf,
    _lock: File,
}

/// Returns the folder with everything about pull requests.
pub(super) fn ci_folder(paths: &SpecPaths) -> PathBuf {
    paths.own().join("ci")
}

impl ProgressFile {
    /// Opens the file of a spec and branch, and locks it.
    pub(super) fn lock(paths: &SpecPaths, branch: &str) -> Result<(Self, CiProgress), CiError> {
        let folder = ci_folder(paths);
        let spec = fnv1a(format!("{}\n{branch}", paths.spec_key()).as_bytes());
        let path = folder.join(format!("{spec:016x}.json"));
        let lock = lock_file(&folder, &path.with_extension("lock"))?;
        // An unreadable one is as good as none: everything but counts is asked again.
        let stored = read_text_file(&path, MAX_FILE).ok();
        let stored = stored.and_then(|text| serde_json::from_str::<CiProgress>(&text).ok());
        let stored = stored.filter(|progress| progress.branch == branch);
        let progress = stored.unwrap_or_else(|| CiProgress {
            branch: branch.to_owned(),
            ..CiProgress::default()
        });
        Ok((Self { path, _lock: lock }, progress))
    }

    pub(super) fn save(&self, progress: &CiProgress) -> Result<(), CiError> {
        let text = serde_json::to_string(progress).unwrap_or_default();
        write_atomically(&self.path, text.as_bytes()).map_err(|error| CiError::File {
            path: self.path.clone(),
            source: std::io::Error::other(error),
        })
    }
}

fn lock_file(folder: &Path, path: &Path) -> Result<File, CiError> {
    let failed = |source| CiError::File {
        path: path.to_owned(),
        source,
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).open(path);
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(CiError::Held),
        Err(fs::TryLockError::Error(source)) => Err(failed(source)),
    }
}
