use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::own_index::Filters;
use super::runner::GitCall;

/// Variables that would point git to another repository or index, or change how it reads paths.
/// They are set, for example, when a hook starts regreen.
const MISLEADING: &str = "\
    GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_PREFIX GIT_GRAFT_FILE GIT_SHALLOW_FILE \
    GIT_REFLOG_ACTION GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS \
    GIT_ICASE_PATHSPECS GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_QUARANTINE_PATH";

/// Keeps git from leaving background processes behind.
const QUIET: [&str; 3] = [
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Configuration that would run a program, disabled in every call that regreen makes for itself.
/// Settings that only matter in a transfer (`remote.*.uploadpack`, `core.gitProxy`,
/// `url.*.insteadOf`) are disabled along with transfers, by [`SHUT_OFF_VARIABLES`];
/// docs/design/git.md has the whole list.
const SHUT_OFF_SETTINGS: [&str; 5] = [
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=true",
    "credential.helper=",
    "log.showSignature=false",
    "submodule.recurse=false",
];

/// Variables that override configuration that would run a program, fetch or prompt.
const SHUT_OFF_VARIABLES: [(&str, &str); 9] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    // A replaced commit would have parents that a clone doesn't see.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // Denies every transport, whatever `protocol.*.allow` says, so that versions of git that don't
    // know `GIT_NO_LAZY_FETCH` fetch nothing either.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "true"),
    ("SSH_ASKPASS", "true"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_PROXY_COMMAND", "false"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
];

/// A call of git under construction.
#[derive(Debug)]
pub(super) struct Invocation {
    subcommand: &'static str,
    config: Vec<String>,
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    stdin: Vec<u8>,
    max_stdout: Option<usize>,
}

impl Invocation {
    /// Starts a call for the user's own commit, with the environment that their hooks expect: their
    /// language, pathspec settings and programs.
    pub(super) fn with_hooks(subcommand: &'static str) -> Self {
        let mut call = Self {
            subcommand,
            config: QUIET.map(String::from).to_vec(),
            args: Vec::new(),
            env: Vec::new(),
            stdin: Vec::new(),
            max_stdout: None,
        };
        call.env.extend(
            MISLEADING
                .split(' ')
                .map(|name| (OsString::from(name), None)),
        );
        call.env("GIT_TERMINAL_PROMPT", "0")
    }

    /// Starts a call that fetches, pushes or merges for the user, with their settings, helpers and
    /// hooks. It never asks for a password.
    pub(super) fn transferring(subcommand: &'static str) -> Self {
        let call = Self::with_hooks(subcommand);
        // The reasons of a refusal are read.
        call.env("LC_ALL", "C").env("GIT_LITERAL_PATHSPECS", "1")
    }

    /// Starts a call for changes that regreen makes for itself. Git runs no hook and none of the
    /// programs that a repository can configure, fetches nothing and asks nothing.
    pub(super) fn writing(subcommand: &'static str) -> Self {
        let mut call = Self::with_hooks(subcommand);
        call.config.extend(SHUT_OFF_SETTINGS.map(String::from));
        for (name, value) in SHUT_OFF_VARIABLES {
            call = call.env(name, value);
        }
        call.env("GIT_LITERAL_PATHSPECS", "1").env("LC_ALL", "C")
    }

    /// Starts a call that only reads: not even the index is refreshed.
    pub(super) fn reading(subcommand: &'static str) -> Self {
        Self::writing(subcommand).env("GIT_OPTIONAL_LOCKS", "0")
    }

    pub(super) fn subcommand(&self) -> &'static str {
        self.subcommand
    }

    pub(super) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        self.args.extend(args);
        self
    }

    pub(super) fn arg(self, arg: impl AsRef<OsStr>) -> Self {
        self.args([arg])
    }

    pub(super) fn config(mut self, setting: impl Into<String>) -> Self {
        self.config.push(setting.into());
        self
    }

    /// Keeps the configured value of a setting, in order to ask for it.
    pub(super) fn without_setting(mut self, key: &str) -> Self {
        let is_it = |setting: &String| setting.split('=').next() == Some(key);
        self.config.retain(|setting| !is_it(setting));
        self
    }

    pub(super) fn filters(mut self, filters: &Filters) -> Self {
        self.config.extend_from_slice(filters.settings());
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let (name, value) = (OsString::from(name), value.as_ref().to_owned());
        self.env.retain(|(known, _)| *known != name);
        self.env.push((name, Some(value)));
        self
    }

    /// Uses another index than the user's, without leaving a shared index beside theirs.
    pub(super) fn index(self, path: &Path) -> Self {
        self.config("core.splitIndex=false")
            .env("GIT_INDEX_FILE", path)
    }

    /// Uses another index if one is given, otherwise the user's.
    pub(super) fn maybe_index(self, path: Option<&Path>) -> Self {
        match path {
            Some(path) => self.index(path),
            None => self,
        }
    }

    pub(super) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Passes paths, each terminated by a zero byte.
    pub(super) fn stdin_paths<'a>(
        self,
        paths: impl IntoIterator<Item = &'a crate::RelPath>,
    ) -> Self {
        let mut bytes = Vec::new();
        for path in paths {
            bytes.extend_from_slice(path.as_bytes());
            bytes.push(0);
        }
        self.stdin(bytes)
    }

    pub(super) fn max_stdout(mut self, max: Option<usize>) -> Self {
        self.max_stdout = max;
        self
    }

    pub(super) fn into_call(self, folder: &Path) -> GitCall {
        let mut args = vec![OsString::from("--no-pager")];
        for setting in self.config {
            args.extend([OsString::from("-c"), OsString::from(setting)]);
        }
        args.push(self.subcommand.into());
        args.extend(self.args);
        GitCall {
            args,
            env: self.env,
            folder: folder.to_owned(),
            stdin: self.stdin,
            max_stdout: self.max_stdout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_get_their_usual_environment() {
        let call = Invocation::with_hooks("commit").into_call(Path::new("/w"));
        let set: Vec<_> = call
            .env
            .iter()
            .filter(|(_, value)| value.is_some())
            .collect();
        assert_eq!(
            set,
            [&("GIT_TERMINAL_PROMPT".into(), Some(OsString::from("0")))]
        );
    }

    #[test]
    fn calls_of_our_own_run_nothing_that_is_configured() {
        let call = Invocation::reading("log").into_call(Path::new("/w"));
        for setting in SHUT_OFF_SETTINGS {
            assert!(call.args.contains(&setting.into()), "{setting}");
        }
        for (name, value) in SHUT_OFF_VARIABLES {
            let set = (name.into(), Some(value.into()));
            assert!(call.env.contains(&set), "{name}");
        }
    }

    #[test]
    fn the_last_value_of_a_variable_wins() {
        let call = Invocation::reading("status").index(Path::new("/i"));
        let call = call.into_call(Path::new("/w"));
        let index = |(name, _): &&(OsString, _)| name == "GIT_INDEX_FILE";
        let values: Vec<_> = call.env.iter().filter(index).collect();
        assert_eq!(
            values,
            [&("GIT_INDEX_FILE".into(), Some(OsString::from("/i")))]
        );
    }
}
