use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::RelPath;

/// The files and links of a workspace.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) files: Vec<(RelPath, Metadata)>,
    /// There were more files than allowed, or a folder that could not be listed.
    pub(crate) incomplete: bool,
}

/// Lists at most `max_files`, folders sorted by name, so that the limit cuts the list at the
/// same place every time. Lists links without following them.
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
        let Some(paths) = sorted_paths(folder) else {
            return false;
        };
        let named = |path: &PathBuf, test: fn(&[u8]) -> bool| {
            path.file_name().is_some_and(|name| test(name.as_bytes()))
        };
        // A cache tag at the root would hide the whole workspace.
        if folder != root && paths.iter().any(|path| named(path, marks_its_folder)) {
            return true;
        }
        for path in paths.iter().rev().filter(|path| is_folder(path)) {
            if !named(path, is_excluded_name) {
                folders.push(path.clone());
            }
        }
        paths.iter().all(|path| self.add(root, path, max_files))
    }

    /// Returns whether there was room for it. Skips pipes, sockets and devices.
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

fn sorted_paths(folder: &Path) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).ok()?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .ok()?;
    paths.sort();
    Some(paths)
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Folders that programs fill and that no one edits.
const NAMES: &str = "\
    .cache .direnv .git .gradle .hg .jj .mypy_cache .nox .pytest_cache .regreen .ruff_cache \
    .svn .terraform .tox .turbo .venv __pycache__ node_modules";

/// Files that mark a folder as a cache (such as cargo's `target`) or as a Python environment of
/// any name.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

pub(super) fn is_excluded_name(name: &[u8]) -> bool {
    NAMES.split(' ').any(|excluded| excluded.as_bytes() == name)
}

pub(super) fn marks_its_folder(name: &[u8]) -> bool {
    MARKS.iter().any(|mark| mark.as_bytes() == name)
}
