use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Runs the git program.
///
/// The seam exists because a commit runs the user's hooks: those must end with the run, so
/// whoever keeps processes brings its own runner. [`super::PlainRunner`] starts git as an
/// ordinary child.
pub trait GitRunner: fmt::Debug + Send + Sync {
    /// # Errors
    /// If git could not be started or its output not be read. An exit other than 0 is no
    /// error here.
    fn run(&self, call: &GitCall) -> io::Result<GitReply>;

    /// Hands the output on as it comes, instead of keeping it, until `take` wants no more.
    ///
    /// # Errors
    /// As [`GitRunner::run`].
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

/// One call of git: arguments, never a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitCall {
    pub args: Vec<OsString>,
    /// On top of the caller's own environment; `None` takes a variable away.
    pub env: Vec<(OsString, Option<OsString>)>,
    pub folder: PathBuf,
    /// Nothing means that git gets no standard input at all.
    pub stdin: Vec<u8>,
    /// Git is stopped once it has printed more than this.
    pub max_stdout: Option<usize>,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitReply {
    /// `None` if a signal ended it.
    pub exit: Option<i32>,
    pub stdout: Vec<u8>,
    /// What git and the hooks said; of a very long text the end.
    pub stderr: Vec<u8>,
    /// The output was longer than asked for, and `stdout` is its beginning.
    pub cut: bool,
}

impl GitReply {
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.exit == Some(0)
    }
}
