use std::io;

use super::runner::GitReply;

/// Why git did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("the program git is not installed, or not in the PATH")]
    Missing,
    #[error("git {doing} could not be run")]
    NotRun {
        doing: String,
        #[source]
        source: io::Error,
    },
    #[error("this folder is not the top of a git work tree")]
    NoWorkTree,
    /// Git refuses repositories of other users; what it says names the way out.
    #[error("git does not trust this repository, because another user owns it:\n{said}")]
    DubiousOwnership { said: String },
    /// Another git is at work, or one was killed and left its lock.
    #[error("another git program holds a lock:\n{said}")]
    Locked { said: String },
    #[error("git {doing} failed ({}): {said}", exit_words(*.exit))]
    Failed {
        doing: String,
        exit: Option<i32>,
        said: String,
    },
    #[error("git {doing} answered something that regreen does not understand")]
    NotUnderstood { doing: String },
}

fn exit_words(exit: Option<i32>) -> String {
    exit.map_or_else(
        || "ended by a signal".to_owned(),
        |code| format!("exit {code}"),
    )
}

impl GitError {
    pub(super) fn not_run(doing: &str, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            return Self::Missing;
        }
        Self::NotRun {
            doing: doing.to_owned(),
            source,
        }
    }

    /// Reads the reason from what git said. It was told to speak English.
    pub(super) fn from_reply(doing: &str, reply: &GitReply) -> Self {
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
                doing: doing.to_owned(),
                exit: reply.exit,
                said,
            }
        }
    }

    pub(super) fn not_understood(doing: &str) -> Self {
        Self::NotUnderstood {
            doing: doing.to_owned(),
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
    fn a_repository_of_another_user_is_told_with_the_way_out() {
        let error = reason(
            "fatal: detected dubious ownership in repository at '/srv/x'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /srv/x\n",
        );
        assert!(matches!(error, GitError::DubiousOwnership { .. }));
        assert!(error.to_string().ends_with("safe.directory /srv/x"));
    }

    #[test]
    fn other_reasons_keep_what_git_said() {
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
