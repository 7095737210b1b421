//! The inspections, one per kind of repair. Each returns `None` for failures that it doesn't
//! handle.

mod cache;
mod env_file;
mod environment;
mod generated;
mod lock;
mod managers;
mod missing_folder;
mod node;
mod own_processes;
mod own_words;
mod port;
mod project_setup;
mod python;
mod python_source;
mod registries;
mod scripts;
mod venv;

use regreen_model::{Failure, FailureKind, RepairAction};

use crate::context::RepairContext;
use crate::inspect::Proposal;

pub(crate) use lock::described;
pub(crate) use scripts::{crlf_script, why_not_executable};

type Inspect = fn(&RepairContext<'_>, &Failure) -> Option<Proposal>;

/// The order matters: those closest to the cause come first.
pub(crate) const INSPECTIONS: [(&str, Inspect); 20] = [
    ("submodule", project_setup::inspect_submodule),
    ("generated file", generated::inspect),
    ("named target", own_words::inspect_target),
    (".env from its example", env_file::inspect),
    ("missing folder", missing_folder::inspect),
    ("executable bit", scripts::inspect_executable),
    ("line endings", scripts::inspect_line_ends),
    ("stale lock", lock::inspect),
    ("port", port::inspect),
    ("PATH", environment::inspect_path),
    ("Python", python::inspect),
    ("Node.js", node::inspect),
    ("cargo", managers::inspect_cargo),
    ("Go", managers::inspect_go),
    ("Bundler and Composer", managers::inspect_vendored),
    ("locale", environment::inspect_locale),
    ("migration", project_setup::inspect_migration),
    ("cache", cache::inspect),
    ("own words", own_words::inspect),
    ("for a person", inspect_rest),
];

/// Handles everything else: suggestions that a person must decide about.
fn inspect_rest(_context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    if failure.kind == FailureKind::GitDirtyTree {
        return Some(Proposal::for_person(
            "commit or stash the changes",
            "they are someone's work",
        ));
    }
    let repair = failure.repair.as_ref()?;
    let words = repair.arguments().join(" ");
    let visible = words.chars().filter(|c| !c.is_control());
    let shown: String = visible.take(120).collect();
    let (what, why) = match repair {
        RepairAction::Ask { .. } => (shown, "only a person can decide"),
        RepairAction::AptInstall { .. } => (
            format!("install the system package {shown}"),
            "regreen changes nothing outside the workspace",
        ),
        RepairAction::RunFormatter { .. } => (format!("run `{shown}`"), "it edits sources"),
        RepairAction::SetEnv { .. } => (format!("set {shown}"), "only you know the value"),
        RepairAction::Run { .. } => (format!("run `{shown}`"), why_not_run(failure.kind)),
        _ => return None,
    };
    Some(Proposal::for_person(&what, why))
}

fn why_not_run(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::LockfileOutdated => "it rewrites a lock file that people review",
        FailureKind::DatabaseSchemaMissing => "others may use this database",
        _ => "regreen never runs a command because a text suggests it",
    }
}
