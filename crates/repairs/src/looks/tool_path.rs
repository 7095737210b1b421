use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use regreen_model::{Failure, FailureKind, RepairAction};

use super::python::use_venv;
use super::venv::{self, Found};
use crate::plan::{Deed, Plan};
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// Where projects keep programs of their own, besides a virtual environment.
const FOLDERS: [&str; 2] = ["node_modules/.bin", "vendor/bin"];

/// A command that the project has, only not in PATH.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    if failure.kind != FailureKind::MissingCommand {
        return None;
    }
    let command = text::command(failure)?;
    if let Found::Venv(venv) = venv::find(scene) {
        let environment = venv.environment(scene);
        if is_program(scene, &venv.bin(scene).join(command)) && !environment.is_empty() {
            return Some(Verdict::Allowed(use_venv(&venv, environment)));
        }
    }
    let folder = FOLDERS
        .iter()
        .find(|folder| is_program(scene, &scene.root.join(folder).join(command)))?;
    let full = scene.root.join(folder);
    if std::env::split_paths(scene.current_path()).any(|other| other == full) {
        return None;
    }
    let action = RepairAction::SetEnv {
        args: vec![format!("PATH={folder}")],
    };
    let plan = Plan::new(
        action,
        format!("put {folder} first in PATH"),
        Deed::Environment,
    );
    Some(Verdict::Allowed(
        plan.setting(venv::first_in_path(scene, &full)),
    ))
}

/// A program of the workspace, not one that a link leads to elsewhere. (Python itself is
/// always a link out of its environment.)
fn is_program(scene: &Scene<'_>, path: &Path) -> bool {
    let is_executable = path
        .metadata()
        .is_ok_and(|stat| stat.is_file() && stat.permissions().mode() & 0o111 != 0);
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    is_executable && (scene.has(path) || name.starts_with("python"))
}
