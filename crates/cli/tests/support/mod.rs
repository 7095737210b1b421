//! A program run as a person runs it: files, arguments, and everything it answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use snapbox::IntoData as _;

/// A folder of its own with some files, and what to do in it.
pub(crate) struct Test {
    folder: tempfile::TempDir,
}

/// What a run came to.
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Test {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The workspace ends here, whatever lies around it.
        fs::create_dir(folder.path().join(".git")).unwrap();
        Self { folder }
    }

    pub(crate) fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// What the user has configured is of no matter, unless it lies in the folder `user`.
    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        self.run_with(&[], arguments)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_regreen"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.path("user"))
            // Programs are quoted, whatever language the user speaks.
            .env("LC_ALL", "C")
            .env_remove("XDG_CONFIG_HOME");
        command
    }

    /// With variables that begin with the folder's own path.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Answer {
        let inside = variables.iter().map(|(name, path)| (name, self.path(path)));
        let output = self.command(arguments).envs(inside).output().unwrap();
        self.answer(&output)
    }

    pub(crate) fn answer(&self, output: &Output) -> Answer {
        Answer {
            code: output.status.code(),
            stdout: self.plain(&output.stdout),
            stderr: self.plain(&output.stderr),
        }
    }

    /// What was printed, wherever the folder happens to be.
    fn plain(&self, bytes: &[u8]) -> String {
        let real = fs::canonicalize(self.folder.path()).unwrap();
        let shown = |path: &Path| path.display().to_string();
        String::from_utf8(bytes.to_vec())
            .unwrap()
            .replace(&shown(&real), "[FOLDER]")
            .replace(&shown(self.folder.path()), "[FOLDER]")
    }
}

impl Answer {
    #[track_caller]
    pub(crate) fn prints(self, expected: impl snapbox::IntoData) -> Self {
        snapbox::assert_data_eq!(
            self.stdout.clone().into_data().raw(),
            expected.into_data().raw()
        );
        self
    }

    #[track_caller]
    pub(crate) fn complains(self, expected: impl snapbox::IntoData) -> Self {
        snapbox::assert_data_eq!(
            self.stderr.clone().into_data().raw(),
            expected.into_data().raw()
        );
        self
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self
    }
}
