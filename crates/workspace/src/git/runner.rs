use std::ffi::OsString;
use std::path::PathBuf;
use std::{fmt, io};

/// Runs the git program.
///
/// A commit runs the user's hooks, which must end with the run, so a process supervisor supplies
/// its own runner. [`super::PlainRunner`] starts git as an ordinary child.
pub trait GitRunner: fmt::Debug + Send + Sync {
    /// Runs git to its end.
    ///
    /// # Errors
    /// Returns an error if git can't be started or its output can't be read. A non-zero exit code
    /// isn't an error here.
    fn run(&self, call: &GitCall) -> io::Result<GitReply>;

    /// Passes the output to `take` as it arrives, until `take` returns false.
    ///
    /// # Errors
    /// Fails like [`GitRunner::run`].
    fn run_into(
        &self,
        call: &GitCall,
        take: &mut dyn FnMut(&[u8]) -> bool,
    ) -> io::Result<GitReply> {
        let reply = self.run(call)?;
        let is_enough = !take(&reply.stdout);
        Ok(GitReply {
            stdout: Vec::new(),
            cut: reply.cut || is_enough,
            ..reply
        })
    }
}

/// A call of git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitCall {
    /// The arguments after `git`.
    pub args: Vec<OsString>,
    /// Changes to the caller's environment; `None` removes a variable.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// The working directory.
    pub folder: PathBuf,
    /// The standard input; git gets none if this is empty.
    pub stdin: Vec<u8>,
    /// Git is killed after printing more than this.
    pub max_stdout: Option<usize>,
}

/// The result of a [`GitCall`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitReply {
    /// `None` if a signal ended it.
    pub exit: Option<i32>,
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The standard error of git and the hooks, or its end if it is very long.
    pub stderr: Vec<u8>,
    /// Whether the output was longer than requested, so that `stdout` is only its beginning.
    pub cut: bool,
}

impl GitReply {
    /// Returns whether git exited with 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.exit == Some(0)
    }
}

/// Why a git call failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// Git is not installed.
    #[error("git is not installed or not in PATH")]
    Missing,
    /// Git could not be started.
    #[error("cannot run git {subcommand}")]
    NotRun {
        /// The git subcommand.
        subcommand: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// There is no repository, or the folder is not its top level.
    #[error("this folder is not the top of a git work tree")]
    NoWorkTree,
    /// Git refuses another user's repository; its message names the fix.
    #[error("git does not trust this repository, because another user owns it:\n{said}")]
    DubiousOwnership {
        /// The message of git.
        said: String,
    },
    /// Another git process holds a lock, or a killed one left it behind.
    #[error("another git program holds a lock:\n{said}")]
    Locked {
        /// The message of git.
        said: String,
    },
    /// Git exited with an error.
    #[error("git {subcommand} failed ({}): {said}", exit_words(*.exit))]
    Failed {
        /// The git subcommand.
        subcommand: String,
        /// The exit code; `None` after a signal.
        exit: Option<i32>,
        /// The message of git.
        said: String,
    },
    /// The output of git wasn't understood.
    #[error("unexpected output from git {subcommand}")]
    NotUnderstood {
        /// The git subcommand.
        subcommand: String,
    },
}

fn exit_words(exit: Option<i32>) -> String {
    exit.map_or_else(
        || "killed by a signal".to_owned(),
        |code| format!("exit {code}"),
    )
}

impl GitError {
    pub(super) fn not_run(subcommand: &str, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            return Self::Missing;
        }
        Self::NotRun {
            subcommand: subcommand.to_owned(),
            source,
        }
    }

    /// Determines the reason from git's message, which is in English because of `LC_ALL`.
    pub(super) fn from_reply(subcommand: &str, reply: &GitReply) -> Self {
        let said = String::from_utf8_lossy(&reply.stderr).trim().to_owned();
        let says = |words: &str| said.contains(words);
        if says("dubious ownership") || says("unsafe repository") {
            Self::DubiousOwnership { said }
        } else if says("not a git repository") || says("must be run in a work tree") {
            Self::NoWorkTree
        } else if says(".lock': File exists") {
            Self::Locked { said }
        } else {
            Self::Failed {
                subcommand: subcommand.to_owned(),
                exit: reply.exit,
                said,
            }
        }
    }

    pub(super) fn not_understood(subcommand: &str) -> Self {
        Self::NotUnderstood {
            subcommand: subcommand.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(stderr: &str) -> GitError {
        let reply = GitReply {
            exit: Some(128),
            stderr: stderr.into(),
            ..GitReply::default()
        };
        GitError::from_reply("status", &reply)
    }

    #[test]
    fn a_repository_of_another_user_is_reported_with_the_fix() {
        let error = reason(
            "fatal: detected dubious ownership in repository at '/srv/x'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /srv/x\n",
        );
        assert!(matches!(error, GitError::DubiousOwnership { .. }));
        assert!(error.to_string().ends_with("safe.directory /srv/x"));
    }

    #[test]
    fn other_errors_keep_the_message_of_git() {
        assert!(matches!(
            reason("fatal: not a git repository (or any of the parent directories): .git"),
            GitError::NoWorkTree
        ));
        assert!(matches!(
            reason("fatal: Unable to create '/x/.git/index.lock': File exists.\n\nAnother git"),
            GitError::Locked { .. }
        ));
        assert_eq!(
            reason("fatal: out of luck\n").to_string(),
            "git status failed (exit 128): fatal: out of luck"
        );
    }
}
