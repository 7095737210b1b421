use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use regreen_model::{Failure, FailureKind, RepairAction};

use crate::context::RepairContext;
use crate::failure_text;
use crate::inspect::Proposal;
use crate::package_names;
use crate::plan::{Action, RepairPlan};

use super::python::use_venv;
use super::venv::{self, VenvSearch};

/// The folders in which projects keep their own programs, besides virtual environments.
const FOLDERS: [&str; 2] = ["node_modules/.bin", "vendor/bin"];

/// Handles a command that the project has, but that isn't in PATH.
pub(super) fn inspect_path(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    if failure.kind != FailureKind::MissingCommand {
        return None;
    }
    match failure_text::command(failure) {
        Some(command) => in_project(context, command),
        // A script may say it in its own words.
        None => failure_text::words(failure_text::blocker(failure))
            .into_iter()
            .filter(|word| package_names::is_command(word))
            .find_map(|word| in_project(context, word)),
    }
}

/// Proposes to add the folder of the project that has the command to PATH.
fn in_project(context: &RepairContext<'_>, command: &str) -> Option<Proposal> {
    if let VenvSearch::Venv(venv) = venv::find(context) {
        let environment = venv.environment(context);
        if is_program(context, &venv.bin(context).join(command)) && !environment.is_empty() {
            let plan = use_venv(&venv, environment);
            return Some(allowed_unless_new(context, &venv.bin_name(), command, plan));
        }
    }
    let folder = FOLDERS
        .iter()
        .find(|folder| is_program(context, &context.root.join(folder).join(command)))?;
    let known = [context.root.join(folder), context.launchers_of(folder)];
    if std::env::split_paths(context.current_path()).any(|other| known.contains(&other)) {
        return None;
    }
    let recorded = RepairAction::SetEnv {
        args: vec![format!("PATH={folder}")],
    };
    let plan = RepairPlan::new(
        recorded,
        format!("put {folder} first in PATH"),
        Action::Environment,
    );
    let plan = plan.with_environment(venv::first_in_path(context, folder));
    Some(allowed_unless_new(context, folder, command, plan))
}

/// Allows using a program, or lets a person decide: the program would judge the agent's work, and
/// may be the agent's own.
fn allowed_unless_new(
    context: &RepairContext<'_>,
    folder: &str,
    command: &str,
    plan: RepairPlan,
) -> Proposal {
    let is_known = context.programs.has(context.root, folder, command);
    let doubt =
        (!is_known).then(|| format!("{folder}/{command} was created or changed during the run"));
    Proposal::allowed_unless_doubtful(doubt, (folder, command), plan)
}

/// Returns whether this is a program of the workspace, and not a link out of it. (A virtual
/// environment's Python always is such a link.)
fn is_program(context: &RepairContext<'_>, path: &Path) -> bool {
    let is_executable = path
        .metadata()
        .is_ok_and(|stat| stat.is_file() && stat.permissions().mode() & 0o111 != 0);
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    is_executable && (context.has(path) || name.starts_with("python"))
}

/// Variables that make programs use UTF-8.
const SETTINGS: [(&str, &str); 3] = [
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("PYTHONUTF8", "1"),
];

/// Signs that a program is limited to ASCII; other encoding errors mean unexpected data.
const ASCII: [&str; 4] = ["'ascii'", "us-ascii", "ansi_x3.4", "locale"];

/// Handles programs that use ASCII because no locale is set.
pub(super) fn inspect_locale(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    let line = failure_text::blocker(failure).to_ascii_lowercase();
    let is_ascii = ASCII.iter().any(|word| line.contains(word));
    let is_set = context
        .environment
        .iter()
        .any(|(name, _)| name == "PYTHONUTF8");
    if failure.kind != FailureKind::LocaleEncoding || !is_ascii || is_set {
        return None;
    }
    let recorded = RepairAction::SetEnv {
        args: SETTINGS
            .map(|(name, value)| format!("{name}={value}"))
            .into(),
    };
    let environment = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let plan = RepairPlan::new(
        recorded,
        "use UTF-8 for the commands of the run",
        Action::Environment,
    );
    Some(Proposal::Allowed(plan.with_environment(environment.into())))
}
