use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use regreen_workspace::{Disk, EditFileError, EditReport, edit_file};
use tempfile::TempDir;

pub(crate) const OPEN: &str = "# Plan\n\n- [ ] 1.1 Build it\n";
pub(crate) const DONE: &str = "# Plan\n\n- [x] 1.1 Build it\n";

/// A folder with a `tasks.md` that both a user and regreen write.
pub(crate) struct Folder {
    dir: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder::with(OPEN)
    }

    pub(crate) fn with(text: &str) -> Folder {
        let folder = Folder::empty(TempDir::new().unwrap());
        fs::write(folder.tasks(), text).unwrap();
        folder
    }

    /// Creates a folder in memory, for tests with thousands of files.
    pub(crate) fn in_memory() -> Folder {
        let dir = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new());
        let folder = Folder::empty(dir.unwrap());
        fs::write(folder.tasks(), OPEN).unwrap();
        folder
    }

    fn empty(dir: TempDir) -> Folder {
        Folder { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn tasks(&self) -> PathBuf {
        self.path("tasks.md")
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.tasks()).unwrap()
    }

    /// Returns the sorted names, to compare a whole folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn has_temps(&self) -> bool {
        self.names().iter().any(|name| name.contains(".regreen-"))
    }

    /// Returns all saves that were kept aside because they could not be put back.
    pub(crate) fn kept_aside(&self) -> Vec<String> {
        self.names()
            .iter()
            .filter(|name| name.contains(".saved-"))
            .map(|name| fs::read_to_string(self.path(name)).unwrap())
            .collect()
    }

    /// Saves as most editors do: a new file replaces the old one.
    pub(crate) fn save(&self, text: &str) {
        save_by_rename(&self.tasks(), text);
    }

    pub(crate) fn tick(&self, disk: &dyn Disk) -> Result<EditReport, EditFileError<Infallible>> {
        tick(disk, &self.tasks())
    }
}

pub(crate) fn save_by_rename(path: &Path, text: &str) {
    let beside = path.with_extension("editor");
    fs::write(&beside, text).unwrap();
    fs::rename(&beside, path).unwrap();
}

/// Returns a user's version of the plan, identified by its number.
pub(crate) fn version(number: usize) -> String {
    format!("# Plan, version {number} of a person\n\n- [ ] 1.1 Build it\n")
}

pub(crate) fn ticked(text: &str) -> String {
    text.replace("- [ ] 1.1", "- [x] 1.1")
}

pub(crate) fn tick(disk: &dyn Disk, path: &Path) -> Result<EditReport, EditFileError<Infallible>> {
    edit_file(disk, path, |text| {
        Ok(Some(ticked(text)).filter(|new| new != text))
    })
}
