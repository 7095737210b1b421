//! Restores files without losing a concurrent save.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::files::IoContext;
use crate::{Disk, RelPath, StepError};

use super::staging::is_absence;
use super::undo_plan::{ConflictReason, UndoConflict};

/// The stat data of a file. Saving the file changes it; moving the file doesn't.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileStamp {
    inode: (u64, u64),
    size: u64,
    mode: u32,
    modified: (i64, i64),
}

impl FileStamp {
    fn at(path: &Path) -> Option<Self> {
        let found = path.symlink_metadata().ok();
        found
            .filter(|found| !found.is_dir())
            .map(|found| Self::of(&found))
    }

    fn of(found: &Metadata) -> Self {
        Self {
            inode: (found.dev(), found.ino()),
            size: found.size(),
            mode: found.mode(),
            modified: (found.mtime(), found.mtime_nsec()),
        }
    }
}

/// The stamps of those paths that are files.
#[derive(Debug)]
pub(super) struct FileStamps(BTreeMap<RelPath, FileStamp>);

impl FileStamps {
    pub(super) fn of<'a>(root: &Path, paths: impl Iterator<Item = &'a RelPath>) -> Self {
        let stamps = paths.filter_map(|path| {
            let stamp = FileStamp::at(&path.under(root))?;
            Some((path.clone(), stamp))
        });
        Self(stamps.collect())
    }
}

/// Restores files by moving them in and out of the tree, never by writing in place. A file that
/// was moved out is compared with its stamp before it is removed.
pub(super) struct Restorer<'a> {
    disk: &'a dyn Disk,
    root: &'a Path,
    folder: PathBuf,
    stamps: &'a FileStamps,
    kept: Vec<UndoConflict>,
}

impl<'a> Restorer<'a> {
    /// Creates a new folder for drafts, because an older one may hold a file that a killed process
    /// moved there.
    pub(super) fn begin(
        disk: &'a dyn Disk,
        root: &'a Path,
        scratch: &Path,
        stamps: &'a FileStamps,
    ) -> Result<Self, StepError> {
        let mut number = 0_u32;
        let folder = loop {
            let folder = scratch.join(format!("undo-{number}"));
            match disk.create_folder(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                done => break done.map(|()| folder.clone()).context("create", &folder)?,
            }
        };
        Ok(Self {
            disk,
            root,
            folder,
            stamps,
            kept: Vec::new(),
        })
    }

    /// Returns the folder for the drafts, each at `files/<path>`.
    pub(super) fn drafts(&self) -> &Path {
        &self.folder
    }

    /// Removes a file from the tree, and the folders that this leaves empty.
    pub(super) fn remove(&mut self, path: &RelPath) -> Result<(), StepError> {
        let place = path.under(self.root);
        let aside = self.folder.join("removed");
        match self.disk.rename(&place, &aside) {
            Err(error) if is_absence(&error) => return Ok(()),
            done => done.context("move aside", &place)?,
        }
        if self.is_as_seen(path, &aside) {
            self.disk.remove(&aside).context("remove", &aside)?;
            self.remove_empty_folders(path);
            return Ok(());
        }
        self.keep(path);
        match self.disk.rename_new(&aside, &place) {
            // Saved again in the meantime: keep the newer version.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.disk.remove(&aside).context("remove", &aside)
            }
            done => done.context("restore", &place),
        }
    }

    /// Moves the draft of a path into the tree.
    pub(super) fn replace(&mut self, path: &RelPath) -> Result<(), StepError> {
        let place = path.under(self.root);
        let draft = path.under(&self.folder.join("files"));
        self.make_way(path)?;
        if !self.stamps.0.contains_key(path) {
            return match self.disk.rename_new(&draft, &place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.keep(path);
                    Ok(())
                }
                done => done.context("restore", &place),
            };
        }
        match self.disk.exchange(&draft, &place) {
            Err(error) if is_absence(&error) => {
                self.keep(path);
                return Ok(());
            }
            done => done.context("restore", &place)?,
        }
        if !self.is_as_seen(path, &draft) {
            self.keep(path);
            return self
                .disk
                .exchange(&draft, &place)
                .context("restore", &place);
        }
        self.disk.remove(&draft).context("remove", &draft)
    }

    /// Removes the drafts. Returns the paths that were kept because someone saved them.
    pub(super) fn end(self) -> Vec<UndoConflict> {
        let _only_regreens_own_drafts = fs::remove_dir_all(&self.folder);
        self.kept
    }

    fn is_as_seen(&self, path: &RelPath, now_at: &Path) -> bool {
        FileStamp::at(now_at).as_ref() == self.stamps.0.get(path)
    }

    fn keep(&mut self, path: &RelPath) {
        self.kept.push(UndoConflict {
            path: path.clone(),
            why: ConflictReason::ChangedMeanwhile,
        });
    }

    /// Creates the parent folders, and removes empty folders at the path itself.
    fn make_way(&self, path: &RelPath) -> Result<(), StepError> {
        let place = path.under(self.root);
        let _not_empty_or_no_folder = remove_empty_tree(&place);
        let above = place.parent().unwrap_or(self.root);
        fs::create_dir_all(above).context("create folder", above)
    }

    fn remove_empty_folders(&self, path: &RelPath) {
        for folder in path.folders() {
            if fs::remove_dir(self.root.join(folder)).is_err() {
                break;
            }
        }
    }
}

/// Removes a folder that contains only folders.
fn remove_empty_tree(folder: &Path) -> io::Result<()> {
    if !folder.symlink_metadata()?.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        remove_empty_tree(&entry?.path())?;
    }
    fs::remove_dir(folder)
}
