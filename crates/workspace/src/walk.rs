use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::RelPath;

/// The files and links of a workspace.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) files: Vec<(RelPath, Metadata)>,
    /// Whether there were more files than allowed, or a folder couldn't be listed.
    pub(crate) incomplete: bool,
}

/// Lists at most `max_files`. Folders are sorted by name, so that the limit always cuts the list at
/// the same place. Links are listed but not followed.
pub(crate) fn walk(root: &Path, max_files: usize) -> Walk {
    let mut walk = Walk::default();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        if !walk.list(root, &folder, &mut folders, max_files) {
            walk.incomplete = true;
        }
        if walk.files.len() >= max_files {
            walk.incomplete |= !folders.is_empty();
            break;
        }
    }
    walk
}

impl Walk {
    /// Returns whether the whole folder was listed.
    fn list(
        &mut self,
        root: &Path,
        folder: &Path,
        folders: &mut Vec<PathBuf>,
        max_files: usize,
    ) -> bool {
        let Some(entries) = sorted_entries(folder) else {
            return false;
        };
        let named = |path: &PathBuf, test: fn(&[u8]) -> bool| {
            path.file_name().is_some_and(|name| test(name.as_bytes()))
        };
        // A cache tag at the root would hide the whole workspace.
        let is_marked = |(path, _): &(PathBuf, Kind)| named(path, marks_its_folder);
        if folder != root && entries.iter().any(is_marked) {
            return true;
        }
        for (path, _) in entries
            .iter()
            .rev()
            .filter(|(_, kind)| *kind == Kind::Folder)
        {
            if !named(path, is_excluded_name) {
                folders.push(path.clone());
            }
        }
        let mut files = entries.iter().filter(|(_, kind)| *kind != Kind::Folder);
        files.all(|(path, _)| self.add(root, path, max_files))
    }

    /// Adds a file. Returns whether there was room for it. Skips pipes, sockets and devices.
    fn add(&mut self, root: &Path, path: &Path, max_files: usize) -> bool {
        let found = path.symlink_metadata().ok();
        let found = found.filter(|found| found.is_file() || found.is_symlink());
        let (Some(found), Ok(path)) = (found, RelPath::inside(root, path)) else {
            return true;
        };
        let has_place = self.files.len() < max_files;
        if has_place {
            self.files.push((path, found));
        }
        has_place
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    Other,
}

/// The entries of a folder by name. What they are comes with the list, without a call for each.
fn sorted_entries(folder: &Path) -> Option<Vec<(PathBuf, Kind)>> {
    let entries = fs::read_dir(folder).ok()?.map(|entry| {
        let entry = entry?;
        let is_folder = entry.file_type().is_ok_and(|found| found.is_dir());
        let kind = if is_folder { Kind::Folder } else { Kind::Other };
        Ok((entry.path(), kind))
    });
    let mut entries = entries.collect::<io::Result<Vec<_>>>().ok()?;
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    Some(entries)
}

/// Folders that programs fill and nobody edits.
const NAMES: &str = "\
    .cache .direnv .git .gradle .hg .jj .mypy_cache .nox .pytest_cache .regreen .ruff_cache \
    .svn .terraform .tox .turbo .venv __pycache__ node_modules";

/// Files that mark a folder as a cache (such as cargo's `target`) or, under any name, as a Python
/// environment.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

pub(super) fn is_excluded_name(name: &[u8]) -> bool {
    NAMES.split(' ').any(|excluded| excluded.as_bytes() == name)
}

pub(super) fn marks_its_folder(name: &[u8]) -> bool {
    MARKS.iter().any(|mark| mark.as_bytes() == name)
}
