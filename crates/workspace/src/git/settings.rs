//! The configuration of git, with the scope of each setting. It is read again only after one of its
//! files changed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use super::invocation::Invocation;
use super::repository::{Git, records};
use super::runner::GitError;
use super::scratch_index::Stamp;

/// The configuration scopes that belong to a repository, to which an agent can write.
const OF_THE_REPOSITORY: [&str; 2] = ["local", "worktree"];

/// A file written this shortly before it was read may have been written once more since, with the
/// same timestamp.
const TOO_YOUNG: Duration = Duration::from_millis(100);

/// One value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    scope: String,
    pub(super) key: String,
    /// `None` for a key without `=`.
    pub(super) value: Option<String>,
}

impl Setting {
    /// Returns whether it comes from the repository.
    pub(super) fn is_of_the_repository(&self) -> bool {
        OF_THE_REPOSITORY.contains(&self.scope.as_str())
    }
}

/// All settings, in the order in which git reads them.
#[derive(Debug, Default)]
pub(super) struct Settings(pub(super) Vec<Setting>);

impl Settings {
    fn parse(answer: &[u8]) -> Option<Self> {
        let mut fields = records(answer);
        let mut settings = Vec::new();
        while let Some(scope) = fields.next() {
            let setting = String::from_utf8_lossy(fields.next()?).into_owned();
            let (key, value) = match setting.split_once('\n') {
                Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
                None => (setting, None),
            };
            let scope = String::from_utf8_lossy(scope).into_owned();
            settings.push(Setting { scope, key, value });
        }
        Some(Self(settings))
    }

    /// Returns the value that is in effect.
    pub(super) fn last(&self, key: &str) -> Option<&Setting> {
        self.0.iter().rev().find(|setting| setting.key == key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.last(key).is_some()
    }

    /// Returns whether other files are included, which may depend on the branch.
    fn includes_files(&self) -> bool {
        let is_include = |key: &str| key.starts_with("include.") || key.starts_with("includeif.");
        self.0.iter().any(|setting| is_include(&setting.key))
    }
}

/// The settings as last read.
#[derive(Debug, Default)]
pub(super) struct SettingsMemory {
    was_asked: bool,
    /// The files that git reads besides the repository's own.
    files_of_the_user: Option<Vec<PathBuf>>,
    last: Option<(Vec<Stamp>, Arc<Settings>)>,
}

impl Git {
    /// Returns the settings as git would read them now, without regreen's own hooks path.
    pub(super) fn settings(&self) -> Result<Arc<Settings>, GitError> {
        let memory = &self.memory().settings;
        let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
        // A command that asks only once gains nothing.
        if !memory.was_asked {
            memory.was_asked = true;
            return self.ask_settings().map(Arc::new);
        }
        if memory.files_of_the_user.is_none() {
            memory.files_of_the_user = self.files_of_the_user()?;
        }
        let Some(files) = &memory.files_of_the_user else {
            return self.ask_settings().map(Arc::new);
        };
        let stamps = self.stamps_of(files);
        if let (Some(stamps), Some((seen, settings))) = (&stamps, &memory.last)
            && stamps == seen
        {
            return Ok(Arc::clone(settings));
        }
        let settings = Arc::new(self.ask_settings()?);
        let stamps = stamps.filter(|_| !settings.includes_files());
        memory.last = stamps.map(|stamps| (stamps, Arc::clone(&settings)));
        Ok(settings)
    }

    fn ask_settings(&self) -> Result<Settings, GitError> {
        let call = Invocation::reading("config").args(["-z", "--list", "--show-scope"]);
        // It would hide the user's own.
        let call = call.without_setting("core.hooksPath");
        self.ask_parsed(call, Settings::parse)
    }

    /// Returns the configuration files of the system and the user, whether they exist or not;
    /// `None` if git is too old to tell.
    fn files_of_the_user(&self) -> Result<Option<Vec<PathBuf>>, GitError> {
        let mut files = Vec::new();
        for which in ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"] {
            let reply = self.run(Invocation::reading("var").arg(which))?;
            match reply.exit {
                Some(0) => {
                    let lines = reply.stdout.split(|byte| *byte == b'\n');
                    let names = lines.filter(|line| !line.is_empty());
                    files.extend(names.map(|name| PathBuf::from(OsStr::from_bytes(name))));
                }
                // The file is disabled.
                Some(1) => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(files))
    }

    /// Returns the state of all configuration files; `None` if one of them was written just now.
    fn stamps_of(&self, files_of_the_user: &[PathBuf]) -> Option<Vec<Stamp>> {
        let own = [
            self.common().join("config"),
            self.dir().join("config.worktree"),
        ];
        let now = SystemTime::now();
        let stamps = own.iter().chain(files_of_the_user).map(|path| {
            let stamp = Stamp::of_path(path).ok()?;
            stamp.is_older_than(now, TOO_YOUNG).then_some(stamp)
        });
        stamps.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_keep_their_scope_and_order() {
        let answer = b"global\0core.x\nuser's\0local\0core.x\nits\nown\0local\0core.bare\0";
        let settings = Settings::parse(answer).unwrap();
        let last = settings.last("core.x").unwrap();
        assert_eq!(last.value.as_deref(), Some("its\nown"));
        assert!(last.is_of_the_repository());
        assert_eq!(settings.last("core.bare").unwrap().value, None);
        assert!(!settings.includes_files());
        let answer = b"local\0includeif.onbranch:x.path\nfile\0";
        assert!(Settings::parse(answer).unwrap().includes_files());
    }
}
