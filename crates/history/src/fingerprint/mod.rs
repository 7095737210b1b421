//! What groups failures by cause: the kind of a failure, and its line without what varies.

mod token;
mod wrapper;

use std::fmt;

use regreen_model::{FailureKind, fnv1a};

use self::token::normal_form;
pub(crate) use self::wrapper::is_wrapper;
use self::wrapper::without_frame;

/// The version of the normal form. Another version gives the same failure another fingerprint, so
/// it is part of the fingerprint.
const VERSION: u32 = 1;

/// Kinds whose cause is a thing of a known name: another name is another cause. Everywhere else,
/// names are the project's own.
pub(crate) const NAMED: [FailureKind; 8] = [
    FailureKind::MissingPythonModule,
    FailureKind::MissingNodeModule,
    FailureKind::MissingRustCrate,
    FailureKind::MissingSystemLib,
    FailureKind::MissingCommand,
    FailureKind::MissingEnvVar,
    FailureKind::PackageNotFound,
    FailureKind::WrongToolVersion,
];

/// Groups failures by cause. Two failures with the same fingerprint have the same cause, wherever
/// they happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Returns the fingerprint of a failure of this kind, with the line that blocked it.
    ///
    /// A line that only says that something else failed (`make: *** [all] Error 1`) says nothing
    /// about the cause. Such failures are told apart by `own`, which names where they happened.
    #[must_use]
    pub fn of(kind: &str, line: &str, own: &str) -> Self {
        let template = template(kind, line);
        let text = if is_wrapper(&template) && !is_cause_by_itself(kind) {
            format!("{kind}\0{template}\0{own}")
        } else {
            format!("{kind}\0{template}")
        };
        Self(format!("{VERSION}-{:016x}", fnv1a(text.as_bytes())))
    }

    /// Names the place of a failure, for [`of`](Self::of).
    #[must_use]
    pub fn own(workspace: &str, task: &str) -> String {
        format!("{workspace}\0{task}")
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the line without what varies between projects and runs.
#[must_use]
pub fn template(kind: &str, line: &str) -> String {
    let kind = FailureKind::from_name(kind);
    let is_named = kind.is_some_and(|kind| NAMED.contains(&kind));
    normal_form(without_frame(line), is_named)
}

/// A time limit needs no line to be a cause.
fn is_cause_by_itself(kind: &str) -> bool {
    FailureKind::from_name(kind)
        .is_some_and(|kind| kind.category() == regreen_model::FailureCategory::Timeout)
}

#[cfg(test)]
mod tests;
