use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use regreen_workspace::{Programs, RealDisk, RelPath};

use crate::ManifestSnapshot;
use crate::folder::locate;
use crate::plan::{ToolCall, ToolQuery};
use crate::programs::{ProgramRecord, launcher_folder};

/// Everything that an inspection may use.
#[derive(Clone, Copy, Debug)]
pub struct RepairContext<'a> {
    /// The workspace, with symlinks resolved.
    pub root: &'a Path,
    /// The manifests as they were when the run started.
    pub manifests: &'a ManifestSnapshot,
    /// The programs of the workspace that may be used.
    pub programs: &'a ProgramRecord,
    /// The folder for launchers of these programs, relative to the root.
    pub launchers: &'a Path,
    /// Answers questions about the user's own configuration.
    pub query: &'a dyn ToolQuery,
    /// The end of the failing command's output.
    pub output: &'a str,
    /// The commands of the task itself, as a shell would read them.
    pub commands: &'a [String],
    /// Environment variables that earlier repairs of the run set.
    pub environment: &'a [(String, String)],
    /// The PATH of the run's processes, before `environment`.
    pub path: &'a OsStr,
    /// The prefix of the markers of this workspace's own processes, if it has one.
    pub marker: Option<&'a str>,
    /// The current time.
    pub now: SystemTime,
}

impl RepairContext<'_> {
    /// Returns the current PATH of the run's processes.
    pub(crate) fn current_path(&self) -> &OsStr {
        let set = self
            .environment
            .iter()
            .rev()
            .find(|(name, _)| name == "PATH");
        set.map_or(self.path, |(_, value)| OsStr::new(value))
    }

    /// Returns the folder that goes into PATH in place of a folder with the workspace's programs.
    pub(crate) fn launchers_of(&self, folder: &str) -> PathBuf {
        launcher_folder(self.root, self.launchers, folder)
    }

    /// Finds a program outside the workspace. One inside may have been created during the run.
    pub(crate) fn tool(&self, name: &str) -> Option<PathBuf> {
        Programs::new(&self.outside_path()?, self.root).find(&RealDisk, name)
    }

    /// Returns the current PATH without the folders of the workspace.
    fn outside_path(&self) -> Option<OsString> {
        let folders = std::env::split_paths(self.current_path());
        let outside = folders.filter(|folder| folder.is_absolute() && !self.has(folder));
        std::env::join_paths(outside).ok()
    }

    /// Asks a program outside the workspace, without anything from the workspace taking part.
    pub(crate) fn ask(&self, argv: &[&str], unset: &[&str]) -> Option<String> {
        let (program, args) = argv.split_first()?;
        let tool = self.tool(program)?.into_os_string();
        let args = args.iter().map(OsString::from);
        let mut call = ToolCall::new(std::iter::once(tool).chain(args));
        call.environment.push(("PATH".into(), self.outside_path()));
        let unset = unset.iter().map(|name| ((*name).into(), None));
        call.environment.extend(unset);
        self.query.ask(&call)
    }

    /// Returns whether a path is in the workspace, with symlinks resolved.
    pub(crate) fn has(&self, path: &Path) -> bool {
        path.canonicalize()
            .is_ok_and(|real| real.starts_with(self.root))
    }

    /// Finds the path in the workspace that a word of the failing command refers to: relative to
    /// the root, or to a folder that the task changes to.
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

    /// Returns the folders that the task changes to.
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

    /// Returns whether the task's own commands contain this text.
    pub(crate) fn runs(&self, text: &str) -> bool {
        self.commands.iter().any(|command| command.contains(text))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[derive(Debug)]
    struct NoAnswers;

    impl ToolQuery for NoAnswers {
        fn ask(&self, _call: &ToolCall) -> Option<String> {
            None
        }
    }

    /// Runs a test in an empty workspace.
    pub(crate) fn with_context(test: impl FnOnce(&RepairContext<'_>)) {
        let root = tempfile::tempdir().unwrap();
        let root_path = root.path().canonicalize().unwrap();
        let manifests = ManifestSnapshot::read(&root_path);
        test(&RepairContext {
            root: &root_path,
            manifests: &manifests,
            programs: &ProgramRecord::default(),
            launchers: Path::new(".regreen/bin"),
            query: &NoAnswers,
            output: "",
            commands: &[],
            environment: &[],
            path: OsStr::new("/usr/bin:/bin"),
            marker: None,
            now: SystemTime::now(),
        });
    }
}
