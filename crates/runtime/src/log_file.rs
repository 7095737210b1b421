use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a program printed, in full and masked. Never overwritten. What is printed is there at
/// once: people look into it while the program is at work.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    file: File,
    /// The first thing that went wrong; nothing is written after it.
    failed: Option<io::Error>,
}

/// The log cannot be written: whatever was printed would be lost.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
pub struct LogError {
    path: PathBuf,
    source: io::Error,
}

impl LogFile {
    /// Makes `<stem>.log` in a folder, or `<stem>-2.log` if that is there already.
    pub(crate) fn create(folder: &Path, stem: &str) -> Result<Self, LogError> {
        let failed = |path: &Path, source| LogError {
            path: path.to_owned(),
            source,
        };
        fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
        let mut n = 1_u32;
        loop {
            let name = match n {
                1 => format!("{stem}.log"),
                n => format!("{stem}-{n}.log"),
            };
            let path = folder.join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    return Ok(Self {
                        path,
                        file,
                        failed: None,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
                Err(source) => return Err(failed(&path, source)),
            }
        }
    }

    /// Whether it could be written.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        if self.failed.is_none() {
            self.failed = self.file.write_all(bytes).err();
        }
        self.failed.is_none()
    }

    /// Whether everything could be written so far. What went wrong is said once.
    pub(crate) fn check(&mut self) -> Result<(), LogError> {
        match self.failed.take() {
            None => Ok(()),
            Some(source) => Err(LogError {
                path: self.path.clone(),
                source,
            }),
        }
    }

    /// Says whether all of it is in the file.
    pub(crate) fn finish(mut self) -> Result<PathBuf, LogError> {
        self.check()?;
        Ok(self.path)
    }

    /// A log that is as full as a disk can be.
    #[cfg(test)]
    pub(crate) fn full() -> Self {
        let path = PathBuf::from("/dev/full");
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        Self {
            path,
            file,
            failed: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_there_is_never_touched() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [b"one", b"two"].map(|text| {
            let mut log = LogFile::create(folder.path(), "1").unwrap();
            assert!(log.write(text));
            log.finish().unwrap()
        });
        assert_eq!(fs::read(&paths[0]).unwrap(), b"one");
        assert_eq!(fs::read(&paths[1]).unwrap(), b"two");
        assert!(paths[1].ends_with("1-2.log"));
    }
}
