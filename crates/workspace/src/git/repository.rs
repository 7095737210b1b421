use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::files::{MAX_FILE, read_file};

use super::invocation::Invocation;
use super::loose_object::{LooseObjects, ObjectHash};
use super::memory::Memory;
use super::plain_runner::PlainRunner;
use super::reference_files::{HeadFile, ReferenceFiles};
use super::runner::{GitError, GitReply, GitRunner};

/// The git repository whose work tree is the workspace.
#[derive(Clone, Debug)]
pub struct Git {
    runner: Arc<dyn GitRunner>,
    hook_runner: Arc<dyn GitRunner>,
    root: PathBuf,
    dir: PathBuf,
    common: PathBuf,
    null: Oid,
    memory: Arc<Memory>,
}

impl Git {
    /// Opens a repository.
    ///
    /// # Errors
    /// Returns an error if `root` isn't the top level of a work tree, git is missing, or it refuses
    /// the repository.
    pub fn open(root: &Path) -> Result<Self, GitError> {
        Self::open_with(root, Arc::new(PlainRunner::default()))
    }

    /// Opens a repository with the caller's runner.
    ///
    /// # Errors
    /// Fails like [`Git::open`].
    pub fn open_with(root: &Path, runner: Arc<dyn GitRunner>) -> Result<Self, GitError> {
        // The top of a work tree has a folder with this name, or a file that points to one.
        if root.join(".git").symlink_metadata().is_err() {
            return Err(GitError::NoWorkTree);
        }
        let call = Invocation::reading("rev-parse").args([
            "--is-inside-work-tree",
            "--show-object-format",
            "--show-cdup",
            "--absolute-git-dir",
        ]);
        let answer = ask(&*runner, root, call)?;
        let (null, dir) = parse_place(&answer).ok_or(GitError::NoWorkTree)?;
        Ok(Self {
            hook_runner: Arc::clone(&runner),
            runner,
            root: root.to_owned(),
            common: common_dir(&dir),
            dir,
            null,
            memory: Arc::default(),
        })
    }

    /// Uses a separate runner for commits, which run the user's hooks.
    #[must_use]
    pub fn with_hook_runner(self, hook_runner: Arc<dyn GitRunner>) -> Self {
        Self {
            hook_runner,
            ..self
        }
    }

    /// Returns the top level of the work tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the git directory of this work tree: `.git`, or a folder inside it.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the git directory shared by all work trees of the repository.
    #[must_use]
    pub fn common(&self) -> &Path {
        &self.common
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the references, if they can be read as files.
    pub(super) fn reference_files(&self) -> Option<ReferenceFiles<'_>> {
        ReferenceFiles::of(&self.dir, &self.common)
    }

    /// Returns where to write objects, unless that takes something that only git knows.
    pub(super) fn loose_objects(&self) -> Result<Option<LooseObjects>, GitError> {
        let settings = self.settings()?;
        let is_plain = !LEFT_TO_GIT.iter().any(|key| settings.has(key));
        let hash = ObjectHash::of(&self.null);
        Ok(is_plain.then(|| LooseObjects::new(&self.common, hash)))
    }

    /// Returns the commit of HEAD; `None` before the first commit of a branch.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn head(&self) -> Result<Option<Oid>, GitError> {
        let files = self.reference_files();
        let known = files.and_then(|files| match files.head()? {
            HeadFile::Branch(branch) => files.value(&branch),
            HeadFile::Detached(oid) => Some(oid),
        });
        self.known_commit(known, "HEAD^{commit}")
    }

    /// Returns the commit of a branch, given as a full reference.
    pub(super) fn tip(&self, branch: &str) -> Result<Option<Oid>, GitError> {
        let known = self.reference_files().and_then(|files| files.value(branch));
        self.known_commit(known, branch)
    }

    /// Returns the value from a file if git has already found that commit, otherwise asks git.
    fn known_commit(&self, known: Option<Oid>, name: &str) -> Result<Option<Oid>, GitError> {
        if let Some(known) = known.filter(|known| self.memory.is_commit(known)) {
            return Ok(Some(known));
        }
        let found = self.resolve(name)?;
        if let Some(found) = &found {
            self.memory.remember_commit(found);
        }
        Ok(found)
    }

    pub(super) fn resolve(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let call = Invocation::reading("rev-parse").args(["--verify", "--quiet", name]);
        let subcommand = call.subcommand();
        let reply = self.run(call)?;
        match reply.exit {
            Some(0) => parse_oid(subcommand, &reply.stdout).map(Some),
            Some(1) => Ok(None),
            _ => Err(GitError::from_reply(subcommand, &reply)),
        }
    }

    /// Returns the null object name, whose length depends on the repository's hash.
    pub(super) fn null_oid(&self) -> &Oid {
        &self.null
    }

    /// Returns the output of a call that must succeed.
    pub(super) fn ask(&self, call: Invocation) -> Result<Vec<u8>, GitError> {
        ask(&*self.runner, &self.root, call)
    }

    /// Parses the output of a call that must succeed.
    pub(super) fn ask_parsed<T>(
        &self,
        call: Invocation,
        parse: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, GitError> {
        let subcommand = call.subcommand();
        parse(&self.ask(call)?).ok_or_else(|| GitError::not_understood(subcommand))
    }

    /// Returns the object that a call created.
    pub(super) fn ask_oid(&self, call: Invocation) -> Result<Oid, GitError> {
        let subcommand = call.subcommand();
        parse_oid(subcommand, &self.ask(call)?)
    }

    pub(super) fn run(&self, call: Invocation) -> Result<GitReply, GitError> {
        run(&*self.runner, &self.root, call)
    }

    /// Runs git and passes its output on as it arrives.
    pub(super) fn run_into(
        &self,
        call: Invocation,
        take: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<GitReply, GitError> {
        let subcommand = call.subcommand();
        let call = call.into_call(&self.root);
        let reply = self.runner.run_into(&call, take);
        reply.map_err(|error| GitError::not_run(subcommand, error))
    }

    pub(super) fn run_with_hooks(&self, call: Invocation) -> Result<GitReply, GitError> {
        run(&*self.hook_runner, &self.root, call)
    }
}

pub(super) fn ask(
    runner: &dyn GitRunner,
    root: &Path,
    call: Invocation,
) -> Result<Vec<u8>, GitError> {
    let subcommand = call.subcommand();
    let reply = run(runner, root, call)?;
    if reply.succeeded() {
        Ok(reply.stdout)
    } else {
        Err(GitError::from_reply(subcommand, &reply))
    }
}

pub(super) fn run(
    runner: &dyn GitRunner,
    root: &Path,
    call: Invocation,
) -> Result<GitReply, GitError> {
    let subcommand = call.subcommand();
    let reply = runner.run(&call.into_call(root));
    reply.map_err(|source| GitError::not_run(subcommand, source))
}

/// Settings for how objects are stored. If one of them is set, only git writes objects.
const LEFT_TO_GIT: [&str; 4] = [
    "core.sharedrepository",
    "core.fsync",
    "core.fsyncobjectfiles",
    "extensions.compatobjectformat",
];

/// Finds the git directory shared by all work trees, as git does.
fn common_dir(dir: &Path) -> PathBuf {
    match read_file(&dir.join("commondir"), MAX_FILE) {
        Ok(name) => dir.join(OsStr::from_bytes(name.trim_ascii_end())),
        Err(_) => dir.to_owned(),
    }
}

/// Returns git's name for a work tree made by `git worktree add`, reduced to letters and digits.
#[must_use]
pub fn linked_work_tree(root: &Path) -> Option<String> {
    let text = read_file(&root.join(".git"), MAX_FILE).ok()?;
    let dir = text.trim_ascii_end().strip_prefix(b"gitdir: ")?;
    let dir = Path::new(OsStr::from_bytes(dir));
    if dir.parent()?.file_name()? != "worktrees" {
        return None;
    }
    let name = dir.file_name()?.to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    Some(name.chars().map(plain).collect())
}

/// Splits the output of `-z` into records.
pub(super) fn records(answer: &[u8]) -> impl Iterator<Item = &[u8]> {
    answer
        .split(|byte| *byte == 0)
        .filter(|record| !record.is_empty())
}

pub(super) fn parse_oid(subcommand: &str, answer: &[u8]) -> Result<Oid, GitError> {
    std::str::from_utf8(answer)
        .ok()
        .and_then(|text| Oid::parse(text.trim_end()))
        .ok_or_else(|| GitError::not_understood(subcommand))
}

/// Parses the null object name, and the git directory if the folder is the top level of a work
/// tree. The directory comes last because it may contain line breaks.
fn parse_place(answer: &[u8]) -> Option<(Oid, PathBuf)> {
    let answer = answer.strip_prefix(b"true\n")?;
    let (digits, rest) = match answer.strip_prefix(b"sha256\n") {
        Some(rest) => (64, rest),
        None => (40, answer.strip_prefix(b"sha1\n")?),
    };
    let dir = rest.strip_prefix(b"\n")?.strip_suffix(b"\n")?;
    Some((
        Oid::parse(&"0".repeat(digits))?,
        PathBuf::from(OsStr::from_bytes(dir)),
    ))
}

/// Disables hooks, and signing, which may ask for a password.
const SETTINGS: [(&str, &str); 2] = [("core.hooksPath", "/dev/null"), ("commit.gpgSign", "false")];

/// The author in a repository without a configured user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    /// As in `user.name`.
    pub name: &'a str,
    /// As in `user.email`.
    pub email: &'a str,
}

impl Git {
    /// Creates a repository without any of the user's settings: no hooks, no templates, its own
    /// identity.
    ///
    /// # Errors
    /// Returns an error if git is missing or fails.
    pub fn init(root: &Path, identity: Identity<'_>) -> Result<Self, GitError> {
        Self::init_with(root, identity, Arc::new(PlainRunner::default()))
    }

    /// Creates a repository with the caller's runner.
    ///
    /// # Errors
    /// Fails like [`Git::init`].
    pub fn init_with(
        root: &Path,
        identity: Identity<'_>,
        runner: Arc<dyn GitRunner>,
    ) -> Result<Self, GitError> {
        let call = Invocation::writing("init")
            .config("init.defaultBranch=main")
            .args(["--quiet", "--template="]);
        ask(&*runner, root, call)?;
        let who = [("user.name", identity.name), ("user.email", identity.email)];
        for (key, value) in who.into_iter().chain(SETTINGS) {
            let call = Invocation::writing("config").args(["--local", key, value]);
            ask(&*runner, root, call)?;
        }
        Self::open_with(root, runner)
    }
}

/// The full name of a git object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Oid(String);

impl Oid {
    /// Parses a full name of 40 or 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_full = matches!(text.len(), 40 | 64);
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (is_full && text.bytes().all(is_hex)).then(|| Self(text.to_owned()))
    }

    /// Returns the hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether this is the null object name.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'0')
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> Self {
        oid.0
    }
}

impl TryFrom<String> for Oid {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is not a git object"))
    }
}
