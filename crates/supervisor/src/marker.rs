use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};

/// What every process under a keeper carries in its environment, so that it can be found
/// even if the keeper was killed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Marker(String);

impl Marker {
    /// The variable's name.
    pub const VARIABLE: &str = "REGREEN_KEEPER";

    /// A marker that no other run has: `prefix`, which says whose it is
    /// (`<run>:<attempt>`), and a random end.
    #[must_use]
    pub fn new(prefix: &str) -> Self {
        let random = RandomState::new().build_hasher().finish();
        // A NUL cannot be in an environment.
        Self(format!("{}:{random:016x}", prefix.replace('\0', "")))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn variable(&self) -> (OsString, OsString) {
        (Self::VARIABLE.into(), self.as_str().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_markers_of_one_attempt_differ_only_in_their_end() {
        let (a, b) = (Marker::new("run:1"), Marker::new("run:1"));
        assert_ne!(a, b);
        assert!(a.as_str().starts_with("run:1:") && b.as_str().starts_with("run:1:"));
    }
}
