//! Reads what an attempt changed for signs that it weakened a check.
//!
//! An agent that can't make a check pass can still make it easier: it skips a test, removes an
//! assertion, rewrites an expected value, or swallows an exit code. [`signs_of_tampering`] finds
//! these in the files before and after the attempt, and [`judge`] decides whether they fail it.
//!
//! ```
//! use regreen_tampering::{CheckContext, FileChange, Sign, signs_of_tampering};
//!
//! let change = FileChange {
//!     path: "tests/test_sum.py",
//!     before: Some("def test_sum():\n    assert sum_up([1, 2]) == 3\n"),
//!     after: Some("def test_sum():\n    assert True\n"),
//! };
//! let signs = signs_of_tampering(&[change], &CheckContext::default());
//! assert_eq!(signs[0].sign, Sign::AssertionTrivial);
//! assert_eq!(signs[0].line, Some(2));
//! ```

mod assertions;
mod change;
mod expected_values;
mod files_of_checks;
mod judgement;
mod line_rules;
mod roles;
mod sign;
mod swallowed;
mod test_functions;

pub use change::FileChange;
pub use judgement::{Judgement, judge};
pub use sign::{Sign, TamperSign};

use change::Edited;
use roles::{Role, roles};

/// What is known about the checks of the plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckContext<'a> {
    /// The Verify commands of all tasks, and the gate.
    pub commands: &'a [String],
    /// The files that the running task says it is about.
    pub own_files: &'a [String],
}

impl CheckContext<'_> {
    /// Returns whether the running task names the file.
    #[must_use]
    pub fn is_own(&self, path: &str) -> bool {
        self.own_files.iter().any(|own| own == path)
    }
}

/// Returns whether a file at this path is a test, or something that tests compare with or are set up by.
#[must_use]
pub fn is_part_of_tests(path: &str) -> bool {
    roles::is_part_of_tests(path)
}

/// The most signs that are reported.
const MAX_SIGNS: usize = 50;

/// Finds the signs that checks were weakened, in the order of the files and their lines.
#[must_use]
pub fn signs_of_tampering(
    changes: &[FileChange<'_>],
    context: &CheckContext<'_>,
) -> Vec<TamperSign> {
    let edited: Vec<Edited<'_>> = changes.iter().filter_map(Edited::new).collect();
    let mut signs = Vec::new();
    for file in &edited {
        let roles = roles(file);
        signs.extend(line_rules::signs(file, &roles));
        if roles.contains(&Role::Test) {
            signs.extend(assertions::signs(file, &edited));
            signs.extend(test_functions::signs(file, &edited));
        }
        signs.extend(expected_values::signs(file, &roles, &edited));
        signs.extend(swallowed::signs(file, &roles));
        signs.extend(files_of_checks::signs(file, &roles, context));
    }
    signs.sort();
    signs.dedup_by(|later, first| {
        later.path == first.path && later.sign == first.sign && later.line == first.line
    });
    signs.truncate(MAX_SIGNS);
    signs
}
