use std::fs;
use std::process::Command;

use crate::workspace::Workspace;

impl Workspace {
    /// Creates a workspace in a repository with everything committed.
    pub fn in_git(tasks: &str) -> Self {
        Self::with_tasks(tasks).git_repository()
    }

    /// Makes the workspace a repository, and commits its files.
    pub fn git_repository(self) -> Self {
        self.init_git();
        self.committed("before")
    }

    /// Runs `git init`, replacing the empty `.git` folder that marks the top of the workspace.
    pub fn init_git(&self) {
        let _ = fs::remove_dir(self.path(".git"));
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        for (key, value) in [
            ("user.name", "Tester"),
            ("user.email", "tester@example.com"),
            ("commit.gpgsign", "false"),
        ] {
            self.git(&["config", key, value]);
        }
    }

    /// Commits everything.
    pub fn committed(self, message: &str) -> Self {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self
    }

    /// Returns the output of a git command; panics if it fails.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.path("."))
            .env("HOME", self.path("user"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns all commits, oldest first, with the paths that each changed.
    pub fn history(&self) -> String {
        let format = "--format=* %s";
        self.git(&["log", "--reverse", "--name-status", format, "HEAD"])
    }
}
