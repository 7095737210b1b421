use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use regreen_workspace::{Programs, RealDisk, RelPath};

use crate::Declared;
use crate::folder::locate;

/// Where and for what a repair is thought of.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The workspace, with symlinks resolved.
    pub root: &'a Path,
    /// What the manifests named when the run began.
    pub declared: &'a Declared,
    /// The end of what the failing command printed.
    pub output: &'a str,
    /// What the task itself runs, each as a shell would read it.
    pub commands: &'a [String],
    /// What earlier repairs of the run have set.
    pub environment: &'a [(String, String)],
    /// The PATH that processes of the run find, before `environment`.
    pub path: &'a OsStr,
    /// What the markers of this workspace's own processes begin with; `None` if there are none.
    pub marker: Option<&'a str>,
    pub now: SystemTime,
}

impl Scene<'_> {
    /// The PATH that processes of the run find now.
    pub(crate) fn current_path(&self) -> &OsStr {
        let set = self
            .environment
            .iter()
            .rev()
            .find(|(name, _)| name == "PATH");
        set.map_or(self.path, |(_, value)| OsStr::new(value))
    }

    /// A program of that name outside the workspace: what lies in the tree may have been put
    /// there during the run.
    pub(crate) fn tool(&self, name: &str) -> Option<PathBuf> {
        let outside: Vec<PathBuf> = std::env::split_paths(self.current_path())
            .filter(|folder| folder.is_absolute() && !self.has(folder))
            .collect();
        let path = std::env::join_paths(outside).ok()?;
        Programs::new(&path, self.root).find(&RealDisk, name)
    }

    /// Whether a place is in the workspace, symlinks resolved.
    pub(crate) fn has(&self, path: &Path) -> bool {
        path.canonicalize()
            .is_ok_and(|real| real.starts_with(self.root))
    }
}

impl Scene<'_> {
    /// The place in the workspace that a text of the failing command means: from the root, or
    /// from a folder that the task changes to.
    pub(crate) fn locate(&self, text: &str) -> Option<RelPath> {
        let there = |path: &RelPath| path.under(self.root).symlink_metadata().is_ok();
        let here = locate(self.root, text);
        if here.as_ref().is_some_and(there) || text.starts_with('/') {
            return here;
        }
        let elsewhere = self
            .folders()
            .find_map(|folder| locate(self.root, &format!("{folder}/{text}")).filter(there));
        elsewhere.or(here)
    }

    /// The folders that the task changes to.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &str> {
        let words = self
            .commands
            .iter()
            .flat_map(|command| command.split_ascii_whitespace());
        let next = words.clone().skip(1);
        words
            .zip(next)
            .filter(|(word, _)| *word == "cd")
            .map(|(_, folder)| folder.trim_end_matches(';'))
    }

    /// Whether the task's own commands have this in them.
    pub(crate) fn runs(&self, text: &str) -> bool {
        self.commands.iter().any(|command| command.contains(text))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A scene in an empty workspace.
    pub(crate) fn with_scene(test: impl FnOnce(&Scene<'_>)) {
        let root = tempfile::tempdir().unwrap();
        let root_path = root.path().canonicalize().unwrap();
        let declared = Declared::read(&root_path);
        test(&Scene {
            root: &root_path,
            declared: &declared,
            output: "",
            commands: &[],
            environment: &[],
            path: OsStr::new("/usr/bin:/bin"),
            marker: None,
            now: SystemTime::now(),
        });
    }
}
