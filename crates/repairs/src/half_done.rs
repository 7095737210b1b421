//! Repairs that were cut off: what they had begun to make is put away, so that an inspection
//! sees the workspace as it was before.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::Path;

use regreen_model::{PlannedRepair, RepairAction};
use regreen_workspace::{PathStatus, RelPath, path_status};
use serde::{Deserialize, Serialize};

use crate::deeds::set_aside;
use crate::folder::{Folder, is_draft_of};
use crate::plan::{Check, Deed, Plan};
use crate::scene::Scene;

/// In `.regreen`, while a repair is making something.
const MARK: &str = "repair-begun";
/// A longer one is not ours.
const MAX_MARK: u64 = 64 * 1024;

/// What a repair says before it begins.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    /// The repair, as planned.
    does: String,
    /// What it makes that was not there, from the root.
    makes: Vec<String>,
}

/// What a plan makes that is not there yet.
pub(crate) fn new_things(scene: &Scene<'_>, plan: &Plan) -> Vec<RelPath> {
    let made: Vec<RelPath> = match &plan.deed {
        Deed::CopyFile { to, .. } => vec![to.clone()],
        Deed::RunTools(run) => {
            let checked = match &run.check {
                Check::Exists(path) => RelPath::inside(scene.root, path).ok(),
                Check::ExitCode | Check::Passes(_) | Check::OwnEntriesOnly(_) => None,
            };
            run.makes.iter().cloned().chain(checked).collect()
        }
        _ => Vec::new(),
    };
    let is_new = |path: &RelPath| path.under(scene.root).symlink_metadata().is_err();
    made.into_iter().filter(is_new).collect()
}

/// Leaves a mark of what is about to be made.
pub(crate) fn begin(scene: &Scene<'_>, plan: &Plan, makes: &[RelPath]) -> io::Result<()> {
    let mark = Mark {
        does: plan.does.clone(),
        makes: makes.iter().map(ToString::to_string).collect(),
    };
    let text = serde_json::to_vec(&mark)?;
    own_folder(scene)?.replace(OsStr::new(MARK), &text, 0o600)
}

/// Takes the mark away: whatever was made is whole, or put away already.
pub(crate) fn end(scene: &Scene<'_>) -> io::Result<()> {
    match own_folder(scene)?.remove_file(OsStr::new(MARK)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn own_folder(scene: &Scene<'_>) -> io::Result<Folder> {
    Folder::open(scene.root)?.enter_or_make(OsStr::new(".regreen"))
}

/// After a repair was cut off, and before the workspace is inspected anew for it: what it had
/// begun to make goes to `.regreen/removed`. Without a mark of this very repair nothing is
/// done. The mark lies in the workspace, where others can write: only what such a repair
/// could have made is moved, and never what git tracks.
///
/// # Errors
/// If something half made cannot be put away; the sentence says what.
pub fn put_away_half_done(scene: &Scene<'_>, planned: &PlannedRepair) -> Result<(), String> {
    put_drafts_away(scene, planned)?;
    let Some(mark) = mark(scene).filter(|mark| mark.does == planned.does) else {
        return Ok(());
    };
    for path in &mark.makes {
        let place = RelPath::new(path.as_str()).ok();
        let place = place.filter(|place| could_be_made(scene, planned, place));
        if let Some(place) = place {
            put_away(scene, &place)?;
        }
    }
    end(scene).map_err(|error| format!(".regreen/{MARK} cannot be removed: {error}"))
}

fn put_away(scene: &Scene<'_>, place: &RelPath) -> Result<(), String> {
    match set_aside(scene, place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!(
            "{place} was begun and cannot be set aside: {error}"
        )),
        _ => Ok(()),
    }
}

fn mark(scene: &Scene<'_>) -> Option<Mark> {
    let file = own_folder(scene).ok()?.file(OsStr::new(MARK)).ok()?;
    let mut text = Vec::new();
    file.take(MAX_MARK).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Folders that package managers make.
const OF_MANAGERS: [&str; 4] = [".venv", "node_modules", "vendor", "vendor/bundle"];

fn could_be_made(scene: &Scene<'_>, planned: &PlannedRepair, place: &RelPath) -> bool {
    let is_named = match &planned.action {
        RepairAction::VenvCreate { path } => place.to_string() == *path,
        RepairAction::CopyFile { args } => args.get(1) == Some(&place.to_string()),
        _ => {
            let path = place.as_path();
            let is_of_manager = OF_MANAGERS.iter().any(|name| path.ends_with(name))
                || place.folders().any(|folder| {
                    [".venv", "node_modules"]
                        .iter()
                        .any(|name| folder.ends_with(name))
                });
            is_of_manager || scene.declared.is_made(path)
        }
    };
    let is_known = matches!(
        path_status(scene.root, place),
        PathStatus::Tracked | PathStatus::Unknown
    );
    is_named && !is_known
}

/// Drafts of a script whose line ends were being changed.
fn put_drafts_away(scene: &Scene<'_>, planned: &PlannedRepair) -> Result<(), String> {
    let RepairAction::CrlfToLf { path } = &planned.action else {
        return Ok(());
    };
    let Some(script) = scene.locate(path) else {
        return Ok(());
    };
    let folder = script.as_path().parent().unwrap_or(Path::new(""));
    let name = script.as_path().file_name().unwrap_or_default();
    let entries = std::fs::read_dir(scene.root.join(folder));
    let names: Vec<OsString> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|entry| is_draft_of(entry, name))
        .collect();
    names
        .iter()
        .filter_map(|draft| RelPath::inside(scene.root, &folder.join(draft)).ok())
        .try_for_each(|draft| put_away(scene, &draft))
}

/// Makes a folder that nothing of is ever committed, before anything is put into it.
pub(crate) fn make_ignored(folder: &Folder, name: &OsStr) -> io::Result<()> {
    let made = folder.enter_or_make(name)?;
    match made.new_file(OsStr::new(".gitignore"), 0o644) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
