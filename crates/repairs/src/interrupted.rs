//! Rolls back interrupted repairs: sets aside what they had created, so that an inspection sees the
//! workspace as it was before.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::Path;

use regreen_model::{PlannedRepair, RepairAction};
use regreen_workspace::{PathStatus, RelPath, path_status};
use serde::{Deserialize, Serialize};

use crate::actions::set_aside;
use crate::context::RepairContext;
use crate::folder::{Folder, is_draft_of};
use crate::plan::{Action, Check, RepairPlan};

/// The file in `.regreen` that exists while a repair creates something.
const MARKER: &str = "repair-begun";
/// Longer files aren't ours.
const MAX_MARKER: u64 = 64 * 1024;

/// The record that a repair writes before it starts.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    /// The planned repair.
    does: String,
    /// The paths it creates, relative to the workspace.
    makes: Vec<String>,
}

/// Returns the paths that a plan creates and that don't exist yet.
pub(crate) fn new_paths(context: &RepairContext<'_>, plan: &RepairPlan) -> Vec<RelPath> {
    let made: Vec<RelPath> = match &plan.action {
        Action::CopyFile { to, .. } => vec![to.clone()],
        Action::RunTools(run) => {
            let checked = match &run.check {
                Check::Exists(path) => RelPath::inside(context.root, path).ok(),
                Check::ExitCode | Check::Passes(_) | Check::OwnEntriesOnly(_) => None,
            };
            run.creates.iter().cloned().chain(checked).collect()
        }
        _ => Vec::new(),
    };
    let is_new = |path: &RelPath| path.under(context.root).symlink_metadata().is_err();
    made.into_iter().filter(is_new).collect()
}

/// Writes the marker file.
pub(crate) fn begin(
    context: &RepairContext<'_>,
    plan: &RepairPlan,
    makes: &[RelPath],
) -> io::Result<()> {
    let marker = Marker {
        does: plan.does.clone(),
        makes: makes.iter().map(ToString::to_string).collect(),
    };
    let text = serde_json::to_vec(&marker)?;
    own_folder(context)?.replace(OsStr::new(MARKER), &text, 0o600)
}

/// Removes the marker file: whatever was created is complete, or has been set aside.
pub(crate) fn end(context: &RepairContext<'_>) -> io::Result<()> {
    match own_folder(context)?.remove_file(OsStr::new(MARKER)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn own_folder(context: &RepairContext<'_>) -> io::Result<Folder> {
    Folder::open(context.root)?.enter_or_make(OsStr::new(".regreen"))
}

/// Moves what an interrupted repair had created to `.regreen/removed`, before the workspace is
/// inspected again. Does nothing without a marker for this repair. The marker is in the workspace,
/// where others can write it, so this moves only what such a repair could have created, and never
/// anything that git tracks.
///
/// # Errors
/// Returns an error if something can't be moved; the message says what.
pub fn roll_back_interrupted(
    context: &RepairContext<'_>,
    planned: &PlannedRepair,
) -> Result<(), String> {
    roll_back_drafts(context, planned)?;
    let Some(marker) = marker(context).filter(|marker| marker.does == planned.does) else {
        return Ok(());
    };
    for path in &marker.makes {
        let place = RelPath::new(path.as_str()).ok();
        let place = place.filter(|place| could_have_created(context, planned, place));
        if let Some(place) = place {
            roll_back(context, &place)?;
        }
    }
    end(context).map_err(|error| format!("cannot remove .regreen/{MARKER}: {error}"))
}

fn roll_back(context: &RepairContext<'_>, place: &RelPath) -> Result<(), String> {
    match set_aside(context, place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!(
            "{place} is incomplete and cannot be moved aside: {error}"
        )),
        _ => Ok(()),
    }
}

fn marker(context: &RepairContext<'_>) -> Option<Marker> {
    let file = own_folder(context).ok()?.file(OsStr::new(MARKER)).ok()?;
    let mut text = Vec::new();
    file.take(MAX_MARKER).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Folders that package managers create.
const MANAGER_FOLDERS: [&str; 4] = [".venv", "node_modules", "vendor", "vendor/bundle"];

fn could_have_created(
    context: &RepairContext<'_>,
    planned: &PlannedRepair,
    place: &RelPath,
) -> bool {
    let is_named = match &planned.action {
        RepairAction::VenvCreate { path } => place.to_string() == *path,
        RepairAction::CopyFile { args } => args.get(1) == Some(&place.to_string()),
        _ => {
            let path = place.as_path();
            let is_of_manager = MANAGER_FOLDERS.iter().any(|name| path.ends_with(name))
                || place.folders().any(|folder| {
                    [".venv", "node_modules"]
                        .iter()
                        .any(|name| folder.ends_with(name))
                });
            is_of_manager || context.manifests.has_target_for(path)
        }
    };
    let is_tracked = matches!(
        path_status(context.root, place),
        PathStatus::Tracked | PathStatus::Unknown
    );
    is_named && !is_tracked
}

/// Sets aside drafts of a script whose line endings were being changed.
fn roll_back_drafts(context: &RepairContext<'_>, planned: &PlannedRepair) -> Result<(), String> {
    let RepairAction::CrlfToLf { path } = &planned.action else {
        return Ok(());
    };
    let Some(script) = context.locate(path) else {
        return Ok(());
    };
    let folder = script.as_path().parent().unwrap_or(Path::new(""));
    let name = script.as_path().file_name().unwrap_or_default();
    let entries = std::fs::read_dir(context.root.join(folder));
    let names: Vec<OsString> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|entry| is_draft_of(entry, name))
        .collect();
    names
        .iter()
        .filter_map(|draft| RelPath::inside(context.root, &folder.join(draft)).ok())
        .try_for_each(|draft| roll_back(context, &draft))
}

/// Creates a folder that git ignores from the start.
pub(crate) fn make_ignored(folder: &Folder, name: &OsStr) -> io::Result<()> {
    let made = folder.enter_or_make(name)?;
    match made.new_file(OsStr::new(".gitignore"), 0o644) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
