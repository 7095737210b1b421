//! The contents of a repository's own git directory: settings, hooks, excludes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::files::{MAX_FILE, read_file};

use super::invocation::Invocation;
use super::repository::{Git, records};
use super::runner::GitError;

impl Git {
    /// Returns the settings of the repository's own configuration: each key with its values.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn own_settings(&self) -> Result<BTreeMap<String, Vec<String>>, GitError> {
        let all = self.settings()?;
        let own = all.0.iter().filter(|one| one.is_of_the_repository());
        let mut settings: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for one in own {
            let values = settings.entry(one.key.clone()).or_default();
            values.push(one.value.clone().unwrap_or_default());
        }
        Ok(settings)
    }

    /// Returns the folder of the hooks for the user's commits.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn hooks_folder(&self) -> Result<PathBuf, GitError> {
        let settings = self.settings()?;
        match settings.last("core.hookspath").map(|one| &one.value) {
            None => return Ok(self.common().join("hooks")),
            // Git expands the home folder and its own prefix.
            Some(Some(plain)) if !plain.starts_with(['~', '%', ':']) => {
                return Ok(self.root().join(plain));
            }
            Some(_) => {}
        }
        let call = Invocation::reading("config").args(["--type=path", "--get", "core.hooksPath"]);
        let call = call.without_setting("core.hooksPath");
        let reply = self.run(call)?;
        if reply.succeeded() {
            let name = reply.stdout.strip_suffix(b"\n").unwrap_or(&reply.stdout);
            return Ok(self.root().join(OsStr::from_bytes(name)));
        }
        Ok(self.common().join("hooks"))
    }

    /// Returns the untracked files that match the patterns in this file.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn hidden_by(&self, excludes: &Path) -> Result<Vec<Vec<u8>>, GitError> {
        if !has_patterns(excludes) {
            return Ok(Vec::new());
        }
        let mut option = OsString::from("--exclude-from=");
        option.push(excludes);
        let call = Invocation::reading("ls-files").args(["-z", "--others", "--ignored"]);
        let answer = self.ask(call.arg("--directory").arg(option))?;
        Ok(records(&answer).map(<[u8]>::to_vec).collect())
    }

    /// Returns ignored files, and folders that are ignored as a whole.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn ignored_entries(&self) -> Result<Vec<Vec<u8>>, GitError> {
        let call = Invocation::reading("ls-files")
            .args(["-z", "--others", "--ignored", "--exclude-standard"])
            .arg("--directory");
        let answer = self.ask(call)?;
        Ok(records(&answer).map(<[u8]>::to_vec).collect())
    }
}

/// Returns whether an exclude file contains a pattern. The one that `git init` creates has only
/// comments.
fn has_patterns(excludes: &Path) -> bool {
    match read_file(excludes, MAX_FILE) {
        Ok(text) => text
            .split(|byte| *byte == b'\n')
            .any(|line| !line.starts_with(b"#") && line.iter().any(|byte| *byte != b' ')),
        Err(error) => error.kind() == ErrorKind::FileTooLarge,
    }
}
