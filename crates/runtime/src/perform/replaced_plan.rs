use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Who may have written a text of the plan that the review changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// regreen was there all the time.
    Agent,
    /// Nobody looked between the end of the process before and the beginning of this one.
    AgentOrPerson,
}

/// Keeps the texts that the review of an attempt replaces: nothing is ever lost.
#[derive(Debug)]
pub(crate) struct ReplacedPlan {
    folder: PathBuf,
    attempt: u32,
    author: Author,
    /// The last text that was kept, and where.
    kept: Option<(String, PathBuf)>,
}

impl ReplacedPlan {
    pub(crate) fn new(folder: PathBuf, attempt: u32, author: Author) -> Self {
        Self {
            folder,
            attempt,
            author,
            kept: None,
        }
    }

    /// Keeps a text that is about to be replaced. An edit that had to be tried again
    /// replaces what it finds then.
    pub(crate) fn keep(&mut self, text: &str) -> io::Result<()> {
        if matches!(&self.kept, Some((last, _)) if last == text) {
            return Ok(());
        }
        let path = self.write_new(text)?;
        self.kept = Some((text.to_owned(), path));
        Ok(())
    }

    /// What people are told, if anything was kept. A tick that was taken back is nothing to
    /// look for, unless a person may have made it.
    pub(crate) fn warning(
        &self,
        only_ticks: bool,
        shown: impl Fn(&Path) -> String,
    ) -> Option<String> {
        let path = shown(&self.kept.as_ref()?.1);
        match self.author {
            Author::Agent if only_ticks => None,
            Author::Agent => Some(format!(
                "not all that the agent did to the task file stays; its version is kept as {path}"
            )),
            Author::AgentOrPerson => Some(format!(
                "not all stays that was done to the task file while the attempt that was cut off \
                 had no end; it may have been a person who did it: that version is kept as {path}"
            )),
        }
    }

    /// Makes `<attempt>.plan.md`, or `<attempt>.plan-2.md` if that is there already.
    fn write_new(&self, text: &str) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.folder)?;
        let mut n = 1_u32;
        loop {
            let name = match n {
                1 => format!("{}.plan.md", self.attempt),
                n => format!("{}.plan-{n}.md", self.attempt),
            };
            let path = self.folder.join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(text.as_bytes())?;
                    file.sync_all()?;
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_replaced_text_is_kept_once_and_none_over_another() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("1.1");
        let mut replaced = ReplacedPlan::new(folder.clone(), 3, Author::Agent);
        for text in ["one", "one", "two"] {
            replaced.keep(text).unwrap();
        }
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(text("3.plan.md"), "one");
        assert_eq!(text("3.plan-2.md"), "two");
        assert!(!folder.join("3.plan-3.md").exists());
    }
}
