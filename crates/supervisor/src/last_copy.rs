use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// A longer file is not copied.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A file that the keeper copies if regreen is gone when everything has ended: the copy shows what
/// the program left, and what is different later came from someone else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCopy {
    /// The file.
    pub file: PathBuf,
    /// Where the copy goes.
    pub copy: PathBuf,
}

impl LastCopy {
    /// Makes the copy: all of it, or none.
    pub(crate) fn make(&self) -> io::Result<()> {
        let bytes = read_regular(&self.file)?;
        let new = self.copy.with_extension("new");
        // The program may have put a link or a pipe there.
        let _ = fs::remove_file(&new);
        let mut file = File::create_new(&new)?;
        file.write_all(&bytes)?;
        fs::rename(new, &self.copy)
    }
}

/// Reads a file. The program may have put a pipe or anything else in its place.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or(0);
    let file: File = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_copied_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let last = |name: &str| LastCopy {
            file: folder.path().join(name),
            copy: folder.path().join("copy"),
        };
        for refused in [folder.path(), Path::new("/dev/zero"), Path::new("missing")] {
            assert!(last(refused.to_str().unwrap()).make().is_err());
        }
        fs::write(folder.path().join("plan"), "as it was").unwrap();
        last("plan").make().unwrap();
        assert_eq!(fs::read(folder.path().join("copy")).unwrap(), b"as it was");
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert!(last("pipe").make().is_err());
    }

    #[test]
    fn a_link_where_the_copy_goes_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let (file, copy) = (folder.path().join("plan"), folder.path().join("copy"));
        let other = folder.path().join("other");
        fs::write(&file, "as it was").unwrap();
        fs::write(&other, "other").unwrap();
        std::os::unix::fs::symlink(&other, copy.with_extension("new")).unwrap();
        let last = LastCopy { file, copy };
        last.make().unwrap();
        assert_eq!(fs::read(&last.copy).unwrap(), b"as it was");
        assert_eq!(fs::read(&other).unwrap(), b"other");
    }
}
