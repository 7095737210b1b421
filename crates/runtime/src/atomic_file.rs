use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A file that must survive a crash could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
pub(crate) struct AtomicWriteError {
    path: PathBuf,
    source: io::Error,
}

impl AtomicWriteError {
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        Self {
            path: path.to_owned(),
            source,
        }
    }
}

/// Writes a file durably: readers see all of it or nothing, even after a power cut. Creates the
/// parent folder if needed.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), AtomicWriteError> {
    try_write(path, bytes).map_err(|source| AtomicWriteError::new(path, source))
}

/// Replaces a small file that changes often. If the process is killed, readers see the old or the
/// new content; only a power cut can lose the last write.
pub(crate) fn replace_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    fs::write(&draft, bytes)?;
    fs::rename(&draft, path)
}

fn try_write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let draft = draft_of(path);
    let mut file = File::create(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    sync_folder(folder)
}

/// Makes new names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn draft_of(path: &Path) -> PathBuf {
    let mut draft = OsString::from(path);
    draft.push(".new");
    draft.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_of_a_killed_process_is_neither_read_nor_in_the_way() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("run/paths");
        fs::create_dir(root.path().join("run")).unwrap();
        fs::write(draft_of(&path), "half of a very long text").unwrap();
        assert!(!path.exists());
        write_atomically(&path, b"all").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"all");
        assert!(!draft_of(&path).exists());
    }
}
