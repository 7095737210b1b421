/// What a matching line is evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Why it failed.
    Cause,
    /// That it failed, not why; quoted only if nothing better is found.
    Symptom,
    /// Where it failed: gives its own kind to causes of certain kinds, which keep their line.
    Frame,
    /// A test that passed, or a count of them.
    Passed,
    /// A step of the work that is done.
    Step,
    /// A unit that was compiled or is about to be.
    Unit,
    /// That it went well in the end.
    Success,
    /// That nothing at all was done.
    Nothing,
    /// What follows is what a tested program printed, not what the test runner says.
    Aside,
    /// The runner speaks again.
    Resume,
    /// Looks like an error and is none: no other rule may speak about this line.
    Harmless,
}

impl Role {
    /// Whether lines of this role are only counted.
    pub(crate) fn is_counted(self) -> bool {
        matches!(self, Self::Passed | Self::Step | Self::Unit)
    }

    /// Whether lines of this role tell how it went and are never blamed.
    pub(crate) fn is_sign(self) -> bool {
        self.is_counted() || matches!(self, Self::Success | Self::Nothing)
    }

    /// Whether a line of this role can be what a failure is blamed on.
    pub(crate) fn is_blame(self) -> bool {
        match self {
            Self::Cause | Self::Symptom => true,
            Self::Frame
            | Self::Passed
            | Self::Step
            | Self::Unit
            | Self::Success
            | Self::Nothing
            | Self::Aside
            | Self::Resume
            | Self::Harmless => false,
        }
    }
}
