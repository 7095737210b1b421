use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::git_error::GitError;
use super::invocation::Invocation;
use super::oid::Oid;
use super::plain_runner::PlainRunner;
use super::runner::{GitReply, GitRunner};

/// The git repository whose work tree is the workspace.
#[derive(Clone, Debug)]
pub struct Git {
    runner: Arc<dyn GitRunner>,
    hook_runner: Arc<dyn GitRunner>,
    root: PathBuf,
    dir: PathBuf,
    null: Oid,
}

impl Git {
    /// # Errors
    /// If `root` is not the top of a work tree, git is missing, or it refuses the repository.
    pub fn open(root: &Path) -> Result<Self, GitError> {
        Self::open_with(root, Arc::new(PlainRunner::default()))
    }

    /// # Errors
    /// As [`Git::open`].
    pub fn open_with(root: &Path, runner: Arc<dyn GitRunner>) -> Result<Self, GitError> {
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
            dir,
            null,
        })
    }

    /// The same repository, with commits (and so the user's hooks) run in another way.
    #[must_use]
    pub fn with_hook_runner(self, hook_runner: Arc<dyn GitRunner>) -> Self {
        Self {
            hook_runner,
            ..self
        }
    }

    /// The top of the work tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// This work tree's own part of the repository: `.git`, or a folder inside it.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What HEAD is; `None` before the first commit of a branch.
    ///
    /// # Errors
    /// If git fails.
    pub fn head(&self) -> Result<Option<Oid>, GitError> {
        self.resolve("HEAD^{commit}")
    }

    pub(super) fn resolve(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let call = Invocation::reading("rev-parse").args(["--verify", "--quiet", name]);
        let doing = call.subcommand();
        let reply = self.run(call)?;
        match reply.exit {
            Some(0) => parse_oid(doing, &reply.stdout).map(Some),
            Some(1) => Ok(None),
            _ => Err(GitError::from_reply(doing, &reply)),
        }
    }

    /// The name this repository has for "no object".
    pub(super) fn null_oid(&self) -> &Oid {
        &self.null
    }

    /// The answer of a call that must succeed.
    pub(super) fn ask(&self, call: Invocation) -> Result<Vec<u8>, GitError> {
        ask(&*self.runner, &self.root, call)
    }

    /// The answer of a call that makes one object.
    pub(super) fn ask_oid(&self, call: Invocation) -> Result<Oid, GitError> {
        let doing = call.subcommand();
        parse_oid(doing, &self.ask(call)?)
    }

    pub(super) fn run(&self, call: Invocation) -> Result<GitReply, GitError> {
        run(&*self.runner, &self.root, call)
    }

    /// As `run`, but the output is handed on as it comes.
    pub(super) fn run_into(
        &self,
        call: Invocation,
        take: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<GitReply, GitError> {
        let doing = call.subcommand();
        let call = call.into_call(&self.root);
        let reply = self.runner.run_into(&call, take);
        reply.map_err(|error| GitError::not_run(doing, error))
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
    let doing = call.subcommand();
    let reply = run(runner, root, call)?;
    if reply.succeeded() {
        Ok(reply.stdout)
    } else {
        Err(GitError::from_reply(doing, &reply))
    }
}

pub(super) fn run(
    runner: &dyn GitRunner,
    root: &Path,
    call: Invocation,
) -> Result<GitReply, GitError> {
    let doing = call.subcommand();
    let reply = runner.run(&call.into_call(root));
    reply.map_err(|source| GitError::not_run(doing, source))
}

pub(super) fn parse_oid(doing: &str, answer: &[u8]) -> Result<Oid, GitError> {
    std::str::from_utf8(answer)
        .ok()
        .and_then(|text| Oid::parse(text.trim_end()))
        .ok_or_else(|| GitError::not_understood(doing))
}

/// Inside a work tree, at its very top: how long its object names are, and where the
/// repository is. The folder comes last and may itself hold line breaks.
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
