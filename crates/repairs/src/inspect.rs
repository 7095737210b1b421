use regreen_model::{Failure, Inspection};

use crate::looks::LOOKS;
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// What may be done about a failure, as the workspace is now. Changes nothing, and runs nothing
/// but git, to ask what it tracks and ignores.
#[must_use]
pub fn inspect(scene: &Scene<'_>, failure: &Failure) -> Inspection {
    verdict(scene, failure).into_inspection()
}

/// The first look that has something to say is heeded.
pub(crate) fn verdict(scene: &Scene<'_>, failure: &Failure) -> Verdict {
    if is_remark(text::blocker(failure)) {
        return Verdict::refused("the line does not explain the failure");
    }
    let said = LOOKS.iter().find_map(|(_, look)| look(scene, failure));
    said.unwrap_or(Verdict::Nothing)
}

/// Words of lines that tell of trouble which was dealt with.
const REMARKS: [&str; 9] = [
    " handled",
    "... ok",
    "skipped",
    "skipping",
    "falling back",
    "(ignored)",
    "xfail",
    "expected failure",
    "continuing without",
];

/// How lines begin that only report.
const REPORTS: [&str; 6] = ["warning", "[warn", "warn:", "debug", "info:", "[info"];

fn is_remark(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    let is_report = REPORTS.iter().any(|start| line.starts_with(start));
    is_report || REMARKS.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_about_trouble_that_was_dealt_with_explains_nothing() {
        for line in [
            "test_optional ... ok  (ModuleNotFoundError: No module named 'ujson' handled)",
            "WARNING: No module named 'ujson', using json",
            "ujson missing, falling back to json",
            "make: [Makefile:2: all] Error 1 (ignored)",
        ] {
            assert!(is_remark(line), "{line}");
        }
        assert!(!is_remark("ModuleNotFoundError: No module named 'ujson'"));
        assert!(!is_remark(
            "ImportError: Missing optional dependency 'openpyxl'."
        ));
    }
}
