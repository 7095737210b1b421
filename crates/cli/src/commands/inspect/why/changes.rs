use std::fmt::Write as _;

use regreen_store::AttemptKey;
use regreen_workspace::{AttemptSpan, Git, LineCount};

use super::page::Page;
use crate::commands::inspect::snapshots::Around;

/// How many files are listed, and how much of a diff is shown.
const FILES: usize = 20;
const DIFF_BYTES: usize = 32 * 1024;

/// The changes of attempts, from git.
#[derive(Debug)]
pub(super) struct Changes {
    git: Option<Git>,
    /// Show the changed lines as well.
    pub(super) in_full: bool,
}

impl Changes {
    pub(super) fn new(root: &std::path::Path, in_full: bool) -> Self {
        Self {
            git: Git::open(root).ok(),
            in_full,
        }
    }

    /// `counted` is the number in the report, if someone saw the end of the attempt, and `way` is
    /// the command that shows everything.
    pub(super) fn tell(
        &self,
        page: &mut Page,
        attempt: &AttemptKey,
        counted: Option<u32>,
        way: &str,
    ) {
        let Some((git, span)) = self.around(attempt) else {
            match counted {
                None => page.detail("changes unknown"),
                Some(0) => page.detail("changed no file"),
                Some(1) => page.detail("changed 1 file"),
                Some(n) => page.detail(&format!("changed {n} files")),
            }
            return;
        };
        let counts = git.changed_lines(&span.before, &span.after);
        let counts = counts.unwrap_or_default();
        match counts.len() {
            0 => page.detail("changed no file"),
            1 => page.detail(&format!("changed 1 file: {way}")),
            n => page.detail(&format!("changed {n} files: {way}")),
        }
        for count in counts.iter().take(FILES) {
            page.indented_detail(1, &line_counts(count));
        }
        if counts.len() > FILES {
            page.indented_detail(1, &format!("and {} more", counts.len() - FILES));
        }
        if self.in_full && !counts.is_empty() {
            tell_diff(page, git, &span, way);
        }
    }

    fn around(&self, attempt: &AttemptKey) -> Option<(&Git, AttemptSpan)> {
        let git = self.git.as_ref()?;
        let kept = git.snapshots(Some(attempt.run.as_str())).ok()?;
        match Around::of(&kept, attempt) {
            Around::Both(span) => Some((git, span)),
            Around::OnlyBefore | Around::Nothing => None,
        }
    }
}

fn tell_diff(page: &mut Page, git: &Git, span: &AttemptSpan, way: &str) {
    let diff = git.diff(&span.before, &span.after, None, Some(DIFF_BYTES));
    let Ok(diff) = diff else { return };
    page.diff(&String::from_utf8_lossy(&diff.bytes));
    if diff.cut {
        page.indented_detail(1, &format!("| … and so on: {way} shows all of it"));
    }
}

/// Formats a count as `src/a.rs +3 -1`.
fn line_counts(count: &LineCount) -> String {
    let mut text = count.path.to_string();
    let Some((added, removed)) = count.lines else {
        return text + " (binary)";
    };
    if added > 0 {
        let _ = write!(text, " +{added}");
    }
    if removed > 0 {
        let _ = write!(text, " -{removed}");
    }
    text
}
