//! Folders of launchers, which go into PATH instead of the project's own folders.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::ProgramRecord;
use crate::folder::Folder;

/// Longer files aren't launchers.
const MAX_SIZE: u64 = 64 * 1024;

/// Recreates the launchers in the PATH of `environment` before a process uses them: only for
/// recorded programs that haven't changed. `launchers` is the folder for them, relative to `root`,
/// and `path` is the PATH that regreen was started with.
///
/// A launcher is a script and not a link: a Python started through a link outside of its
/// environment doesn't find the environment, and pnpm's programs don't find their packages.
///
/// # Errors
/// Returns an error if the launchers can't be written. The process must not start then, because
/// others may be in their place.
pub fn renew_launchers(
    root: &Path,
    launchers: &Path,
    environment: &[(String, String)],
    record: &ProgramRecord,
    path: &OsStr,
) -> io::Result<()> {
    let root = root.canonicalize()?;
    let set = environment.iter().rev().find(|(name, _)| name == "PATH");
    let folders = set.map(|(_, value)| std::env::split_paths(value));
    for folder in folders.into_iter().flatten() {
        let Ok(source) = folder.strip_prefix(root.join(launchers)) else {
            continue;
        };
        renew(&root, launchers, source, record, path)?;
    }
    Ok(())
}

/// Returns the folder of launchers for a folder of programs.
pub(crate) fn launcher_folder(root: &Path, launchers: &Path, source: &str) -> PathBuf {
    root.join(launchers).join(source)
}

fn renew(
    root: &Path,
    launchers: &Path,
    source: &Path,
    record: &ProgramRecord,
    path: &OsStr,
) -> io::Result<()> {
    let mut folder = Folder::open(root)?;
    for part in launchers.join(source).components() {
        folder = folder.enter_or_make(part.as_os_str())?;
    }
    let names = match source.to_str() {
        Some(source) => record.usable(root, source, path),
        None => Vec::new(),
    };
    for stale in entries(&root.join(launchers).join(source))? {
        if !names.iter().any(|name| OsStr::new(name) == stale) {
            remove(&folder, &stale)?;
        }
    }
    for name in names {
        let launcher = launcher(&root.join(source).join(name));
        if !is_there(&folder, name, &launcher) {
            folder.replace(OsStr::new(name), &launcher, 0o755)?;
        }
    }
    Ok(())
}

/// Removes anything that isn't a launcher. A folder may stay: it is never found as a program.
fn remove(folder: &Folder, name: &OsStr) -> io::Result<()> {
    match folder.remove_file(name) {
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(()),
        result => result,
    }
}

fn entries(folder: &Path) -> io::Result<Vec<OsString>> {
    let entries = fs::read_dir(folder)?;
    entries.map(|entry| Ok(entry?.file_name())).collect()
}

fn launcher(program: &Path) -> Vec<u8> {
    let program = program.to_string_lossy();
    let quoted = shell_words::quote(&program);
    format!("#!/bin/sh\nexec {quoted} \"$@\"\n").into_bytes()
}

/// Returns whether the folder already has exactly this launcher, so that it need not be written.
fn is_there(folder: &Folder, name: &str, launcher: &[u8]) -> bool {
    let name = OsStr::new(name);
    let is_program = folder
        .stat(name)
        .is_ok_and(|stat| stat.st_mode & 0o7777 == 0o755 && stat.st_nlink == 1);
    let mut bytes = Vec::new();
    let read = folder.file(name).and_then(|file| {
        let mut file = file.take(MAX_SIZE);
        file.read_to_end(&mut bytes)
    });
    is_program && read.is_ok() && bytes == launcher
}
