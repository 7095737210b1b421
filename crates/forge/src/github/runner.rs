//! How `gh` is called, and what its exit means.

use std::{fmt, io};

use crate::check::one_line;
use crate::forge::ForgeError;

/// Runs the `gh` program. Processes are started elsewhere, under a supervisor.
pub trait GhRunner: fmt::Debug {
    /// Runs gh to its end.
    ///
    /// # Errors
    /// Returns an error if gh can't be started or its output can't be read. An exit code other than
    /// 0 isn't an error here.
    fn run(&self, call: &GhCall) -> io::Result<GhReply>;

    /// Does the same, but passes on the output as it arrives, until `take` returns false.
    ///
    /// # Errors
    /// Fails like [`GhRunner::run`].
    fn run_into(&self, call: &GhCall, take: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<GhReply>;
}

/// A call of gh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GhCall {
    /// The arguments after `gh`.
    pub args: Vec<String>,
    /// The standard input; gh gets none if this is empty.
    pub stdin: String,
}

/// The result of a [`GhCall`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GhReply {
    /// `None` if a signal ended it.
    pub exit: Option<i32>,
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The standard error.
    pub stderr: String,
}

/// gh has no login.
const NOT_LOGGED_IN: i32 = 4;

/// Describes why gh couldn't be started.
pub(super) fn not_run(error: io::Error) -> ForgeError {
    if error.kind() == io::ErrorKind::NotFound {
        ForgeError::Missing
    } else {
        ForgeError::NotRun(error)
    }
}

/// Returns the answer, or the reason why there is none.
pub(super) fn checked(reply: GhReply, what: &str) -> Result<Vec<u8>, ForgeError> {
    if reply.exit == Some(0) {
        return Ok(reply.stdout);
    }
    let said = message(&reply.stderr);
    if reply.exit == Some(NOT_LOGGED_IN) {
        return Err(ForgeError::NotLoggedIn { said });
    }
    let Some(status) = status(&reply.stderr) else {
        // Without a status, the request didn't get as far as an answer.
        return Err(ForgeError::Unavailable { said });
    };
    let what = what.to_owned();
    Err(match status {
        401 => ForgeError::NotLoggedIn { said },
        404 => ForgeError::NotFound { what },
        429 | 500..=599 => ForgeError::Unavailable { said },
        403 if said.contains("rate limit") => ForgeError::Unavailable { said },
        status => ForgeError::Refused { what, status, said },
    })
}

/// Reads the status from gh's message: `gh: Not Found (HTTP 404)`.
fn status(stderr: &str) -> Option<u16> {
    let (_, rest) = stderr.rsplit_once("(HTTP ")?;
    rest.split_once(')')?.0.parse().ok()
}

/// Returns the first line of what gh says, without its name.
fn message(stderr: &str) -> String {
    let mut lines = stderr.lines().map(one_line);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.strip_prefix("gh: ").unwrap_or(&line);
    let line = line.rsplit_once(" (HTTP ").map_or(line, |(said, _)| said);
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(exit: i32, stderr: &str) -> ForgeError {
        let reply = GhReply {
            exit: Some(exit),
            stdout: b"{\"message\":\"...\"}".to_vec(),
            stderr: stderr.to_owned(),
        };
        checked(reply, "pulls/7").unwrap_err()
    }

    #[test]
    fn every_exit_has_its_reason() {
        let error = why(1, "gh: Not Found (HTTP 404)\n");
        assert_eq!(error.to_string(), "GitHub does not know pulls/7");
        assert!(why(1, "gh: API rate limit exceeded for user (HTTP 403)").may_pass());
        assert!(why(1, "gh: Server Error (HTTP 502)").may_pass());
        assert!(why(1, "error connecting to api.github.com\ncheck your internet").may_pass());
        let refused = why(1, "gh: Must have admin rights (HTTP 403)");
        assert_eq!(
            refused.to_string(),
            "GitHub refused pulls/7: Must have admin rights (HTTP 403)"
        );
        for (exit, said) in [
            (
                4,
                "To get started with GitHub CLI, please run:  gh auth login",
            ),
            (1, "gh: Bad credentials (HTTP 401)"),
        ] {
            assert!(matches!(why(exit, said), ForgeError::NotLoggedIn { .. }));
        }
    }

    #[test]
    fn what_a_host_says_is_one_line_without_colours() {
        let error = why(1, "gh: \u{1b}[31mNo\u{1b}[0m (HTTP 422)\nmore\n");
        assert!(matches!(error, ForgeError::Refused { said, .. } if said == "No"));
    }
}
