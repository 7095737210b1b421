//! The signs that a check was weakened.

use std::fmt;

use serde::Deserialize;

/// A way to weaken a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// A test is gone although what it tests is not.
    TestRemoved,
    /// A test is skipped, or expected to fail.
    TestSkipped,
    /// Only some tests of a file run.
    TestFocused,
    /// A setting or an option leaves tests out.
    TestDeselected,
    /// A test asserts less than before.
    AssertionRemoved,
    /// An assertion can't fail.
    AssertionTrivial,
    /// An assertion accepts more than before.
    AssertionLoosened,
    /// An expected value was changed, and nothing that it could follow from.
    ExpectationChanged,
    /// A stored result was rewritten, and nothing that it could follow from.
    SnapshotRewritten,
    /// A limit that fails a check was moved.
    ThresholdMoved,
    /// A rule of a linter or a type checker is switched off.
    LintDisabled,
    /// Code is left out of the measured coverage.
    CoverageExcluded,
    /// A failure is caught, repeated away or reported as a success.
    FailureHidden,
    /// The exit code of a command is thrown away.
    ExitSwallowed,
    /// A script or CI file no longer runs a check.
    CheckDropped,
    /// A file that a Verify runs was edited.
    CheckEdited,
    /// A program or module stands where a check would find it before the real one.
    ProgramShadowed,
    /// Code behaves differently while it is tested.
    SpecialCased,
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TestRemoved => "removes a test",
            Self::TestSkipped => "skips a test",
            Self::TestFocused => "runs only some tests",
            Self::TestDeselected => "leaves tests out",
            Self::AssertionRemoved => "removes an assertion",
            Self::AssertionTrivial => "asserts what can't fail",
            Self::AssertionLoosened => "loosens an assertion",
            Self::ExpectationChanged => "changes only the expected value",
            Self::SnapshotRewritten => "rewrites a stored result",
            Self::ThresholdMoved => "moves a limit",
            Self::LintDisabled => "switches off a lint or type check",
            Self::CoverageExcluded => "leaves code out of the coverage",
            Self::FailureHidden => "hides a failure",
            Self::ExitSwallowed => "swallows an exit code",
            Self::CheckDropped => "no longer runs a check",
            Self::CheckEdited => "edits what a Verify runs",
            Self::ProgramShadowed => "shadows a program of a check",
            Self::SpecialCased => "behaves differently under test",
        })
    }
}

/// A sign, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TamperSign {
    /// The file, relative to the workspace.
    pub path: String,
    /// The line in the file as the attempt left it; `None` if it is about what is gone.
    pub line: Option<u32>,
    /// What the line does.
    pub sign: Sign,
    /// The line, or the name of what is gone.
    pub text: String,
}

impl fmt::Display for TamperSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, " {}: {}", self.sign, self.text)
    }
}
