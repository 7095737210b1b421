//! Is part of the work done?

use regreen_model::{FailureCategory, FailureKind};

use super::compose::Diagnosis;
use super::signs::Signs;

/// Failures of the code itself: what passed or was compiled before is finished work. An
/// environment that fails stays one, whatever ran well before.
pub(crate) fn is_code(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::CompileError
            | FailureKind::TypeCheckError
            | FailureKind::LinkError
            | FailureKind::LintError
            | FailureKind::TestFailure
            | FailureKind::TestCollectionError
    )
}

/// The unit that failed was begun too.
const FAILED_UNIT: u64 = 1;

pub(crate) fn with_finished_work(mut diagnosis: Diagnosis, signs: &Signs) -> Diagnosis {
    let is_tested = matches!(diagnosis.kind, FailureKind::TestFailure) && signs.tests_passed > 0;
    let is_compiled = is_code(diagnosis.kind) && signs.units > FAILED_UNIT;
    if diagnosis.category() == FailureCategory::ToolError
        && (is_tested || is_compiled || signs.steps > 0)
    {
        diagnosis.category = Some(FailureCategory::Partial);
    }
    diagnosis
}
