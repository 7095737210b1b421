use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::{Disk, FileKind};

/// Words that bash runs without a program of that name: builtins and keywords.
const BUILTINS: &str = "\
    . : [ [[ { alias bg break builtin case cd command continue declare dirs echo enable eval \
    exec exit export false fg for function getopts hash if jobs kill let local mapfile popd \
    printf pushd pwd read readarray readonly return select set shift shopt source test time \
    times trap true type typeset ulimit umask unset until wait while";

/// Finds programs as a shell in the workspace does.
#[derive(Clone, Debug)]
pub struct Programs {
    folders: Vec<PathBuf>,
    workspace: PathBuf,
}

impl Programs {
    /// Takes the value of the PATH variable.
    #[must_use]
    pub fn new(path: &OsStr, workspace: &Path) -> Self {
        Self {
            folders: std::env::split_paths(path).collect(),
            workspace: workspace.to_owned(),
        }
    }

    /// Returns whether a shell in the workspace could run this word.
    #[must_use]
    pub fn has(&self, disk: &dyn Disk, word: &str) -> bool {
        is_listed(BUILTINS, word) || self.find(disk, word).is_some()
    }

    /// Returns the program that a word means: a path relative to the workspace, or the first
    /// match in PATH.
    #[must_use]
    pub fn find(&self, disk: &dyn Disk, word: &str) -> Option<PathBuf> {
        if word.is_empty() {
            return None;
        }
        if word.contains('/') {
            let path = self.workspace.join(word);
            return is_program(disk, &path).then_some(path);
        }
        let mut paths = self.folders.iter().map(|folder| folder.join(word));
        paths.find(|path| is_program(disk, path))
    }
}

/// Returns whether a word is in a list of words that are separated by spaces.
pub(crate) fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

fn is_program(disk: &dyn Disk, path: &Path) -> bool {
    let Ok(real) = disk.resolve(path) else {
        return false;
    };
    let is_file = disk
        .stat(&real)
        .is_ok_and(|stat| stat.kind == FileKind::Regular);
    is_file && disk.check_executable(&real).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::RealDisk;

    #[test]
    fn programs_are_found_in_path_and_by_relative_path() {
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for (name, mode) in [("tool", 0o755), ("notes", 0o644)] {
            fs::write(bin.join(name), "").unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(bin.join("folder")).unwrap();
        let programs = Programs::new(bin.as_os_str(), root.path());
        for word in ["tool", "bin/tool", "./bin/tool", "cd", "[", "if"] {
            assert!(programs.has(&RealDisk, word), "{word}");
        }
        for word in ["notes", "folder", "bin/notes", "nothing", "", "tool "] {
            assert!(!programs.has(&RealDisk, word), "{word}");
        }
    }
}
