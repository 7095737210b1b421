use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A file of regreen's own that is needed after a crash cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
pub(crate) struct WriteWholeError {
    path: PathBuf,
    source: io::Error,
}

/// Writes a file that others find with all of its content or not at all, even if the
/// machine ends meanwhile. Its folder is made.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteWholeError> {
    try_write(path, bytes).map_err(|source| WriteWholeError {
        path: path.to_owned(),
        source,
    })
}

/// Writes a small file that changes often. Who is killed meanwhile leaves the old content or
/// the new; only if the machine itself ends may the last of it be lost.
pub(crate) fn replace_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
    fn what_a_killed_process_began_to_write_is_neither_read_nor_in_the_way() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("run/paths");
        fs::create_dir(root.path().join("run")).unwrap();
        fs::write(draft_of(&path), "half of a very long text").unwrap();
        assert!(!path.exists());
        write_whole(&path, b"all").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"all");
        assert!(!draft_of(&path).exists());
    }
}
