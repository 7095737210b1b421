//! What follows from red checks.

use std::collections::BTreeSet;
use std::fmt;

use regreen_model::{Failure, FailureKind, RetryMode};

use crate::check::Conclusion;
use crate::judge::Red;

/// How often what is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many fixes are pushed at most.
    pub cycles: u32,
    /// How often a check runs again for one commit.
    pub reruns: u32,
    /// How many fixes one failure gets.
    pub fixes_per_failure: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cycles: 10,
            reruns: 2,
            fixes_per_failure: 3,
        }
    }
}

/// Why a check is red, as far as that decides what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The change is wrong, as far as anyone can tell.
    Change,
    /// The machine, the network or a service failed, or the check was ended from outside.
    Infrastructure,
    /// A secret, a permission or an approval is missing.
    Person,
    /// There is neither a log nor a summary.
    Unknown,
}

/// A red check with everything that is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedCheck {
    /// The check.
    pub red: Red,
    /// What the log says.
    pub failure: Option<Failure>,
    /// The same check fails the same way on the base branch.
    pub is_broken_on_base: bool,
    /// It failed like this before and passed when it ran again.
    pub is_flaky: bool,
    /// How often it ran again for this commit.
    pub reruns: u32,
    /// How many fixes this failure got.
    pub fixes: u32,
}

/// What one red check needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// A fix task.
    Fix,
    /// To run again.
    Rerun,
    /// A person.
    Ask(AskReason),
}

/// Why a person has to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskReason {
    /// The base branch fails in the same way.
    BaseBroken,
    /// A secret, a permission or an approval is missing.
    Permission,
    /// It still failed after all reruns.
    StillInfrastructure,
    /// Several fixes didn't help.
    FixesDidNotHelp,
    /// Nothing says why it failed.
    NoEvidence,
}

impl AskReason {
    /// Says what to do about it.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::BaseBroken => "wait until the base branch is fixed, and merge it",
            Self::Permission => "provide it in the settings of the repository",
            Self::StillInfrastructure => "wait for a while",
            Self::FixesDidNotHelp => "read the log and the fixes so far",
            Self::NoEvidence => "look at the page of the check",
        }
    }
}

impl fmt::Display for AskReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BaseBroken => "the base branch fails in the same way",
            Self::Permission => "a secret, a permission or an approval is missing",
            Self::StillInfrastructure => "the machine or a service failed again after all reruns",
            Self::FixesDidNotHelp => "several fixes did not help",
            Self::NoEvidence => "there is no log and no summary",
        })
    }
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Make a fix task for these checks.
    Fix(Vec<usize>),
    /// Run these checks again.
    Rerun(Vec<usize>),
    /// Ask a person about these checks.
    Ask(Vec<(usize, AskReason)>),
    /// All fixes are used up.
    OutOfCycles,
}

/// Returns what kind of trouble a red check is.
#[must_use]
pub fn cause_of(conclusion: &Conclusion, failure: Option<&Failure>, summary: &str) -> Cause {
    match conclusion {
        Conclusion::Cancelled | Conclusion::Stale => return Cause::Infrastructure,
        Conclusion::StartupFailure | Conclusion::ActionRequired => return Cause::Person,
        _ => {}
    }
    match failure {
        Some(failure) => cause_of_failure(failure),
        None if *conclusion == Conclusion::TimedOut => Cause::Infrastructure,
        None if summary.is_empty() => Cause::Unknown,
        None => Cause::Change,
    }
}

fn cause_of_failure(failure: &Failure) -> Cause {
    let blocker = failure.blocked_on.as_deref().unwrap_or(&failure.message);
    match failure.kind {
        FailureKind::AuthFailed
        | FailureKind::PermissionDenied
        | FailureKind::MissingCredentialsInfo
        | FailureKind::NoCredit => Cause::Person,
        FailureKind::MissingEnvVar if names_secret(blocker) => Cause::Person,
        _ if is_missing_secret(blocker) => Cause::Person,
        FailureKind::DiskFull | FailureKind::OutOfMemory => Cause::Infrastructure,
        _ if is_lost_runner(blocker) => Cause::Infrastructure,
        _ if failure.retry_mode == RetryMode::AsIs => Cause::Infrastructure,
        _ => Cause::Change,
    }
}

/// Whether a line names something that only the owner of a repository can provide.
fn names_secret(line: &str) -> bool {
    const WORDS: [&str; 6] = [
        "token",
        "secret",
        "password",
        "api_key",
        "apikey",
        "credential",
    ];
    let line = line.to_ascii_lowercase();
    WORDS.iter().any(|word| line.contains(word))
}

/// Whether an action says that it got no secret: inputs of workflows are empty where secrets are
/// missing, as in pull requests from forks.
fn is_missing_secret(line: &str) -> bool {
    line.contains("Input required and not supplied") && names_secret(line)
}

/// Whether the code host says that it lost the machine.
fn is_lost_runner(line: &str) -> bool {
    const LINES: [&str; 3] = [
        "The runner has received a shutdown signal",
        "lost communication with the server",
        "The operation was canceled",
    ];
    LINES.iter().any(|words| line.contains(words))
}

/// Returns what one red check needs.
#[must_use]
pub fn response(red: &RedCheck, limits: &Limits) -> Response {
    if red.is_broken_on_base {
        return Response::Ask(AskReason::BaseBroken);
    }
    let cause = cause_of(
        &red.red.conclusion,
        red.failure.as_ref(),
        &red.red.check.summary,
    );
    // Only the code host's own jobs can run again.
    let can_rerun = red.red.check.job().is_some() && red.reruns < limits.reruns;
    match cause {
        Cause::Person => Response::Ask(AskReason::Permission),
        Cause::Infrastructure if can_rerun => Response::Rerun,
        Cause::Infrastructure => Response::Ask(AskReason::StillInfrastructure),
        Cause::Change if red.is_flaky && can_rerun => Response::Rerun,
        Cause::Change if red.fixes >= limits.fixes_per_failure => {
            Response::Ask(AskReason::FixesDidNotHelp)
        }
        Cause::Change => Response::Fix,
        Cause::Unknown => Response::Ask(AskReason::NoEvidence),
    }
}

/// Returns what follows from all red checks together. A fix comes first, because it makes all checks
/// run again; a person last, because the rest may pass without one.
#[must_use]
pub fn decide(red: &[RedCheck], cycles: u32, limits: &Limits) -> Next {
    let responses: Vec<Response> = red.iter().map(|red| response(red, limits)).collect();
    let all = |wanted: Response| -> Vec<usize> {
        let numbered = responses.iter().enumerate();
        let found = numbered.filter(|(_, response)| **response == wanted);
        found.map(|(at, _)| at).collect()
    };
    let fixes = all(Response::Fix);
    if !fixes.is_empty() {
        return if cycles < limits.cycles {
            Next::Fix(fixes)
        } else {
            Next::OutOfCycles
        };
    }
    let reruns = all(Response::Rerun);
    if !reruns.is_empty() {
        return Next::Rerun(reruns);
    }
    let asked = responses.iter().enumerate();
    Next::Ask(
        asked
            .filter_map(|(at, response)| match response {
                Response::Ask(reason) => Some((at, *reason)),
                Response::Fix | Response::Rerun => None,
            })
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
    )
}

#[cfg(test)]
mod tests;
