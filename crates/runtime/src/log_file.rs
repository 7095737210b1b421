//! Program output: full logs, excerpts, and the end of a log.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use regreen_workspace::open_file;

/// The full, masked output of a program. Never overwritten, and never buffered: people read it
/// while the program runs.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    file: File,
    /// The first error; nothing is written after it.
    failed: Option<io::Error>,
}

/// A log could not be written, so output would be lost.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
pub struct LogError {
    path: PathBuf,
    source: io::Error,
}

impl LogFile {
    /// Creates `<stem>.log` in a folder, or `<stem>-2.log` and so on if that exists.
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

    /// Returns the path of the log.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes bytes, and returns whether that succeeded.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        if self.failed.is_none() {
            self.failed = self.file.write_all(bytes).err();
        }
        self.failed.is_none()
    }

    /// Returns the first write error, once.
    pub(crate) fn check(&mut self) -> Result<(), LogError> {
        match self.failed.take() {
            None => Ok(()),
            Some(source) => Err(LogError {
                path: self.path.clone(),
                source,
            }),
        }
    }

    /// Returns the path, or the error if something could not be written.
    pub(crate) fn finish(mut self) -> Result<PathBuf, LogError> {
        self.check()?;
        Ok(self.path)
    }

    /// Returns a log on a full disk.
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

/// The beginning and end of an output of any size.
#[derive(Debug)]
pub(crate) struct Excerpt {
    head: Vec<u8>,
    tail: Vec<u8>,
    room: usize,
    cut: bool,
}

impl Excerpt {
    /// Keeps up to this many bytes of the beginning, and as many of the end.
    pub(crate) fn new(room: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: Vec::new(),
            room,
            cut: false,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let taken = bytes.len().min(self.room - self.head.len());
        let (head, rest) = bytes.split_at(taken);
        self.head.extend_from_slice(head);
        let start = rest.len().saturating_sub(self.room);
        self.cut |= start > 0;
        self.tail
            .extend_from_slice(rest.get(start..).unwrap_or_default());
        // Trim rarely: each trim moves everything that is kept.
        if self.tail.len() > 2 * self.room {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let surplus = self.tail.len().saturating_sub(self.room);
        self.cut |= surplus > 0;
        self.tail.drain(..surplus);
    }

    /// Returns the whole output, or its beginning and end.
    pub(crate) fn text(&mut self) -> String {
        self.trim();
        let gap: &[u8] = if self.cut { b"\n[...]\n" } else { b"" };
        let all = [&self.head, gap, &self.tail].concat();
        String::from_utf8_lossy(&all).into_owned()
    }

    /// Whether the middle is missing.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut || self.tail.len() > self.room
    }

    /// Returns the last lines, up to this many bytes.
    pub(crate) fn end(&mut self, bytes: usize) -> String {
        let text = self.text();
        let text = text.trim_end();
        let from = text.ceil_char_boundary(text.len().saturating_sub(bytes));
        let end = text.get(from..).unwrap_or_default();
        match end.split_once('\n') {
            Some((_, lines)) if from > 0 => lines.to_owned(),
            _ => end.to_owned(),
        }
    }
}

/// Reads the last bytes of a file as text.
pub(crate) fn read_tail(path: &Path, bytes: u64) -> io::Result<String> {
    let mut file = open_file(path)?;
    let start = file.metadata()?.len().saturating_sub(bytes);
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.take(bytes).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
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

    #[test]
    fn short_output_is_kept_whole_and_long_output_at_both_ends() {
        let mut short = Excerpt::new(4);
        short.push(b"abc");
        short.push(b"defg");
        assert!(!short.is_cut());
        assert_eq!(short.text(), "abcdefg");
        let mut long = Excerpt::new(4);
        for n in 0..100 {
            long.push(format!("{n:02}").as_bytes());
        }
        assert_eq!(long.text(), "0001\n[...]\n9899");
    }

    #[test]
    fn output_that_lacks_its_middle_is_known_before_anyone_reads_it() {
        for length in 0..20 {
            let mut excerpt = Excerpt::new(4);
            for _ in 0..length {
                excerpt.push(b"x");
            }
            assert_eq!(excerpt.is_cut(), length > 8, "{length}");
            assert_eq!(excerpt.text().contains("[...]"), length > 8, "{length}");
            assert_eq!(excerpt.is_cut(), length > 8, "{length}");
        }
    }

    #[test]
    fn the_end_begins_with_a_whole_line() {
        let mut excerpt = Excerpt::new(100);
        excerpt.push(b"first line\nsecond\nthird\n");
        assert_eq!(excerpt.end(8), "third");
        assert_eq!(excerpt.end(100), "first line\nsecond\nthird");
    }
}
