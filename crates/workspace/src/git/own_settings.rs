//! What a repository's own git directory says: settings, hooks, excludes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::invocation::Invocation;
use super::own_index::OF_THE_REPOSITORY;
use super::repository::{Git, records};
use super::runner::GitError;

impl Git {
    /// Returns the settings of the repository's own configuration: each key with its values.
    ///
    /// # Errors
    /// If git fails.
    pub fn own_settings(&self) -> Result<BTreeMap<String, Vec<String>>, GitError> {
        let call = Invocation::reading("config").args(["-z", "--list", "--show-scope"]);
        let answer = self.ask(call)?;
        let answer = String::from_utf8_lossy(&answer);
        let mut records = answer.split_terminator('\0');
        let mut settings: BTreeMap<String, Vec<String>> = BTreeMap::new();
        while let (Some(scope), Some(setting)) = (records.next(), records.next()) {
            if OF_THE_REPOSITORY.contains(&scope) {
                let (key, value) = setting.split_once('\n').unwrap_or((setting, ""));
                settings
                    .entry(key.to_owned())
                    .or_default()
                    .push(value.to_owned());
            }
        }
        Ok(settings)
    }

    /// Returns the folder from which git takes the hooks of the user's commits.
    ///
    /// # Errors
    /// If git fails.
    pub fn hooks_folder(&self) -> Result<PathBuf, GitError> {
        let call = Invocation::reading("config").args(["--type=path", "--get", "core.hooksPath"]);
        let call = call.without_setting("core.hooksPath");
        let reply = self.run(call)?;
        if reply.succeeded() {
            let name = reply.stdout.strip_suffix(b"\n").unwrap_or(&reply.stdout);
            return Ok(self.root().join(OsStr::from_bytes(name)));
        }
        Ok(self.common_dir()?.join("hooks"))
    }

    /// Returns the untracked files that the patterns in this file match.
    ///
    /// # Errors
    /// If git fails.
    pub fn hidden_by(&self, excludes: &Path) -> Result<Vec<Vec<u8>>, GitError> {
        if !excludes.is_file() {
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
    /// If git fails.
    pub fn ignored_entries(&self) -> Result<Vec<Vec<u8>>, GitError> {
        let call = Invocation::reading("ls-files")
            .args(["-z", "--others", "--ignored", "--exclude-standard"])
            .arg("--directory");
        let answer = self.ask(call)?;
        Ok(records(&answer).map(<[u8]>::to_vec).collect())
    }
}
