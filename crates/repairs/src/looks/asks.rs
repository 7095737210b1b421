use regreen_model::{Failure, FailureKind, RepairAction};

use crate::scene::Scene;
use crate::verdict::Verdict;

/// What is left: suggestions that are a person's to decide.
pub(super) fn look(_scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    if failure.kind == FailureKind::GitDirtyTree {
        return Some(Verdict::persons(
            "commit or stash the changes",
            "they are somebody's work",
        ));
    }
    let repair = failure.repair.as_ref()?;
    let shown: String = repair
        .arguments()
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .take(120)
        .collect();
    Some(match repair {
        RepairAction::Ask { .. } => Verdict::persons(&shown, "only a person can say"),
        RepairAction::AptInstall { .. } => Verdict::persons(
            &format!("install the system package {shown}"),
            "regreen changes nothing outside the workspace",
        ),
        RepairAction::RunFormatter { .. } => {
            Verdict::persons(&format!("run `{shown}`"), "it edits sources")
        }
        RepairAction::SetEnv { .. } => {
            Verdict::persons(&format!("set {shown}"), "the value is yours to give")
        }
        RepairAction::Run { .. } => {
            Verdict::persons(&format!("run `{shown}`"), why_not_run(failure.kind))
        }
        _ => return None,
    })
}

fn why_not_run(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::LockfileOutdated => "it rewrites a lock file that people review",
        FailureKind::DatabaseSchemaMissing => "the database may be one that others use",
        _ => "nothing is run because a text suggests it",
    }
}
