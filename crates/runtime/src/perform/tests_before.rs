//! Earlier states of the work tree, checked out beside it, in which a check runs without touching the
//! user's files.
//!
//! The folder is outside the workspace: below it, a test runner would find the settings of the workspace,
//! which the agent may have changed. Installed packages are linked, other ignored files are copied, and
//! what builds leave is made anew.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use regreen_model::fnv1a;
use regreen_workspace::{Oid, RelPath};

use super::test_review::TestRun;
use crate::performer::Performer;

/// Folders of installed packages. Tests read them.
const LINKED: [&str; 7] = [
    "node_modules",
    ".venv",
    "venv",
    "env",
    "vendor",
    "bower_components",
    ".yarn",
];
/// What builds and tools leave, and make anew.
const LEFT_OUT: [&str; 14] = [
    ".regreen",
    "target",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".nyc_output",
    ".tox",
    ".nox",
    ".gradle",
    ".coverage",
    ".DS_Store",
    ".cache",
];
/// The most ignored files that are copied.
const MAX_COPIED: usize = 2_000;
/// The most bytes that are copied.
const MAX_COPIED_BYTES: u64 = 64 * 1024 * 1024;
/// The most folders within folders.
const MAX_DEPTH: usize = 32;
/// What no program can read as its code.
const GARBAGE: &str = "\u{1}}])>'\"` regreen: is this file read?\n";

/// Where earlier states are checked out, and what ran there.
#[derive(Debug, Default)]
pub(crate) struct TestsBefore {
    folder: Option<PathBuf>,
    /// What ran in this process, by state and command.
    known: Vec<(Oid, String, TestRun)>,
}

impl TestsBefore {
    /// Uses a folder of this workspace below `checkouts`. Removes what a killed process has left there.
    pub(crate) fn new(checkouts: Option<&Path>, root: &Path) -> Self {
        let name = format!("{:016x}", fnv1a(root.as_os_str().as_bytes()));
        let folder = checkouts.map(|checkouts| checkouts.join(name));
        if let Some(folder) = &folder {
            let _none = fs::remove_dir_all(folder);
        }
        Self {
            folder,
            known: Vec::new(),
        }
    }

    pub(super) fn known(&self, tree: &Oid, command: &str) -> Option<&TestRun> {
        let is_it = |(of, ran, _): &&(Oid, String, TestRun)| of == tree && ran == command;
        self.known.iter().find(is_it).map(|(.., run)| run)
    }

    pub(super) fn learn(&mut self, tree: &Oid, command: &str, run: &TestRun) {
        self.known
            .push((tree.clone(), command.to_owned(), run.clone()));
    }
}

/// A state of the work tree in a folder of its own, which is removed with it.
#[derive(Debug)]
pub(super) struct Checkout {
    folder: PathBuf,
    /// Its top.
    pub(super) root: PathBuf,
}

impl Checkout {
    /// Checks out a state; returns why if that can't be done.
    pub(super) fn of(performer: &mut Performer, tree: &Oid) -> Result<Self, String> {
        let folder = performer.tests_before.folder.clone();
        let folder = folder.ok_or_else(|| "there is no folder to check it out in".to_owned())?;
        let name = performer.paths.root.file_name();
        let checkout = Self {
            root: folder.join(name.unwrap_or(OsStr::new("workspace"))),
            folder,
        };
        let made = checkout.fill(performer, tree);
        made.map(|()| checkout)
            .map_err(|why| format!("it can't be checked out: {why}"))
    }

    fn fill(&self, performer: &mut Performer, tree: &Oid) -> Result<(), String> {
        let told = |error: io::Error| error.to_string();
        let _none = fs::remove_dir_all(&self.folder);
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(self.folder.join("files")).map_err(told)?;
        let made = performer.tree.check_out_beside(tree, &self.folder);
        made.map_err(|error| error.to_string())?;
        fs::rename(self.folder.join("files"), &self.root).map_err(told)?;
        let git = performer.tree.git().ok_or("there is no git")?;
        let ignored = git.ignored_entries().map_err(|error| error.to_string())?;
        let mut copying = Copying::default();
        for entry in &ignored {
            let path = entry.strip_suffix(b"/").unwrap_or(entry);
            let Ok(path) = RelPath::new(path) else {
                continue;
            };
            copying.add(&performer.paths.root, &self.root, &path)?;
        }
        Ok(())
    }

    /// Makes these files unreadable as code. Returns whether there was one.
    pub(super) fn spoil<'p>(&self, paths: impl Iterator<Item = &'p RelPath>) -> bool {
        let mut has_spoilt = false;
        let Ok(top) = self.root.canonicalize() else {
            return false;
        };
        for path in paths {
            let place = path.under(&self.root);
            let is_file = place.symlink_metadata().is_ok_and(|found| found.is_file());
            // A folder above it may be a link to somewhere else.
            let folder = place.parent().and_then(|folder| folder.canonicalize().ok());
            let is_inside = folder.is_some_and(|folder| folder.starts_with(&top));
            has_spoilt |= is_file && is_inside && fs::write(&place, GARBAGE).is_ok();
        }
        has_spoilt
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let _left_to_the_next_run = fs::remove_dir_all(&self.folder);
    }
}

/// How much was copied so far.
#[derive(Default)]
struct Copying {
    files: usize,
    bytes: u64,
}

impl Copying {
    fn add(&mut self, from: &Path, to: &Path, path: &RelPath) -> Result<(), String> {
        let (source, target) = (path.under(from), path.under(to));
        let name = source
            .file_name()
            .and_then(OsStr::to_str)
            .unwrap_or_default();
        let is_left_out = LEFT_OUT.contains(&name) || name.ends_with(".pyc");
        if is_left_out || target.symlink_metadata().is_ok() {
            return Ok(());
        }
        let made = match target.parent() {
            // Never through a link: what is below it is not in the checkout.
            Some(folder) => make_folder(to, folder),
            None => Ok(()),
        };
        let done = made.and_then(|()| match LINKED.contains(&name) {
            true => symlink(&source, &target),
            false => self.copy(&source, &target, 0),
        });
        done.map_err(|error| format!("{path}: {error}"))
    }

    fn copy(&mut self, from: &Path, to: &Path, depth: usize) -> io::Result<()> {
        let found = from.symlink_metadata()?;
        self.files += 1;
        self.bytes = self.bytes.saturating_add(found.len());
        if self.files > MAX_COPIED || self.bytes > MAX_COPIED_BYTES || depth > MAX_DEPTH {
            return Err(io::Error::other("too many ignored files to copy"));
        }
        let name = from.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if found.is_symlink() {
            symlink(fs::read_link(from)?, to)
        } else if found.is_dir() && LINKED.contains(&name) {
            symlink(from, to)
        } else if found.is_dir() {
            fs::create_dir(to)?;
            for entry in fs::read_dir(from)? {
                let entry = entry?;
                let is_left_out = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
                if !is_left_out {
                    self.copy(&entry.path(), &to.join(entry.file_name()), depth + 1)?;
                }
            }
            Ok(())
        } else if found.is_file() {
            fs::copy(from, to).map(drop)
        } else {
            // Sockets and pipes belong to running programs.
            Ok(())
        }
    }
}

/// Makes the folders between `top` and `folder`, unless one of them is a link.
fn make_folder(top: &Path, folder: &Path) -> io::Result<()> {
    let parts = folder.strip_prefix(top).unwrap_or(Path::new(""));
    let mut place = top.to_owned();
    for part in parts {
        place.push(part);
        match place.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::other("a folder is a link there")),
            Err(_) => fs::create_dir(&place)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_linked_build_results_left_out_and_the_rest_copied() {
        let from = tempfile::tempdir().unwrap();
        let to = tempfile::tempdir().unwrap();
        for file in [
            "node_modules/a/index.js",
            "target/debug/a",
            "data/x/y.json",
            ".env",
        ] {
            let path = from.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        symlink("/etc/hostname", from.path().join("data/link")).unwrap();
        let mut copying = Copying::default();
        for entry in ["node_modules", "target", "data", ".env"] {
            let path = RelPath::new(entry.as_bytes()).unwrap();
            copying.add(from.path(), to.path(), &path).unwrap();
        }
        let is_link = |name: &str| {
            let found = to.path().join(name).symlink_metadata();
            found.unwrap().is_symlink()
        };
        assert!(is_link("node_modules") && is_link("data/link"));
        assert!(!to.path().join("target").exists());
        let copied = fs::read_to_string(to.path().join("data/x/y.json")).unwrap();
        assert_eq!(copied, "data/x/y.json");
        assert!(!is_link(".env"));
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let from = tempfile::tempdir().unwrap();
        let to = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir(from.path().join("a")).unwrap();
        fs::write(from.path().join("a/.env"), "x").unwrap();
        symlink(elsewhere.path(), to.path().join("a")).unwrap();
        let path = RelPath::new(b"a/.env").unwrap();
        let added = Copying::default().add(from.path(), to.path(), &path);
        assert!(added.is_err());
        assert!(!elsewhere.path().join(".env").exists());
    }

    #[test]
    fn a_checkout_is_spoilt_only_inside_itself() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let root = folder.path().join("shop");
        fs::create_dir_all(root.join("src")).unwrap();
        for file in [root.join("src/a.py"), elsewhere.path().join("b.py")] {
            fs::write(file, "x = 1\n").unwrap();
        }
        symlink(elsewhere.path(), root.join("lib")).unwrap();
        symlink(elsewhere.path().join("b.py"), root.join("c.py")).unwrap();
        let checkout = Checkout {
            folder: folder.path().to_owned(),
            root: root.clone(),
        };
        let path = |name: &str| RelPath::new(name.as_bytes()).unwrap();
        let outside = [path("lib/b.py"), path("c.py"), path("missing.py")];
        assert!(!checkout.spoil(outside.iter()));
        let text = |place: PathBuf| fs::read(place).unwrap();
        assert_eq!(text(elsewhere.path().join("b.py")), b"x = 1\n");
        assert!(checkout.spoil([path("src/a.py")].iter().chain(&outside)));
        assert_eq!(text(root.join("src/a.py")), GARBAGE.as_bytes());
        assert_eq!(text(elsewhere.path().join("b.py")), b"x = 1\n");
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let checkouts = tempfile::tempdir().unwrap();
        let root = Path::new("/srv/shop");
        let before = TestsBefore::new(Some(checkouts.path()), root);
        let folder = before.folder.unwrap();
        fs::create_dir_all(folder.join("shop/src")).unwrap();
        let _next = TestsBefore::new(Some(checkouts.path()), root);
        assert!(!folder.exists());
    }
}
