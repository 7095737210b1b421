use super::git_error::GitError;
use super::invocation::Invocation;
use super::repository::Git;

/// Programs that the user's git runs over some files when it takes them in or writes them,
/// such as git-lfs: used as they are configured, or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filters {
    settings: Vec<String>,
}

impl Filters {
    /// Turns every filter off that is configured.
    pub(super) fn off(git: &Git) -> Result<Self, GitError> {
        let call = Invocation::reading("config").args([
            "-z",
            "--name-only",
            "--get-regexp",
            r"^filter\..*\.(clean|smudge|process|required)$",
        ]);
        let answer = git.ask(call)?;
        let answer = String::from_utf8_lossy(&answer);
        let settings = answer.split_terminator('\0').map(turned_off);
        Ok(Self {
            settings: settings.collect(),
        })
    }

    pub(super) fn are_off(&self) -> bool {
        !self.settings.is_empty()
    }

    pub(super) fn settings(&self) -> &[String] {
        &self.settings
    }
}

fn turned_off(key: &str) -> String {
    let value = if key.ends_with(".required") {
        "false"
    } else {
        ""
    };
    format!("{key}={value}")
}

/// Whether git gave up because a filter is missing or failed.
pub(super) fn is_filter_failure(error: &GitError) -> bool {
    matches!(error, GitError::Failed { said, .. }
        if said.contains("clean filter '") || said.contains("external filter '"))
}
