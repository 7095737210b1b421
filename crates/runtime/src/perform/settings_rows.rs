//! The rows whose Files name regreen.toml because an agent, a check or a hook wrote that there. Only
//! Files as people wrote them permit a task to change the settings.

use regreen_documents::{RowId, TaskFile};
use regreen_model::TaskKey;
use regreen_workspace::{MAX_FILE, read_text_file};
use serde::{Deserialize, Serialize};

use super::settings_guard::FILE;
use crate::atomic_file::write_atomically;
use crate::performer::{PerformError, Performer};
use crate::spec_paths::SpecPaths;

/// A row whose Files permit nothing, until a person writes others.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct DeniedRow {
    spec: String,
    task: TaskKey,
    files: String,
}

/// Whether people have made changing the settings a part of a task.
pub(super) fn may_change_settings(performer: &mut Performer, plan: &TaskFile, row: RowId) -> bool {
    let Some((task, files)) = naming(plan, row) else {
        return false;
    };
    let denied = read_denied(&performer.paths);
    let is_denied = is_in(&denied, &performer.paths, &task, &files);
    if is_denied {
        performer.notices.add(format!(
            "task {} may not change {FILE}: its Files name it since foreign code changed them. To permit it, change these Files yourself",
            task.id
        ));
    }
    !is_denied
}

/// Denies the rows that foreign code made name the settings.
pub(super) fn deny_new_rows(
    performer: &Performer,
    before: &TaskFile,
    now: &TaskFile,
) -> Result<(), PerformError> {
    if now.text() == before.text() || !now.text().contains(FILE) {
        return Ok(());
    }
    let paths = &performer.paths;
    let mut denied = read_denied(paths);
    let known = denied.len();
    for (task, files) in now.rows().filter_map(|row| naming(now, row)) {
        let was = before.resolve(&task).and_then(|row| naming(before, row));
        let was_permitted = was.is_some_and(|(of, files)| {
            of.title == task.title && !is_in(&denied, paths, &of, &files)
        });
        if !was_permitted && !is_in(&denied, paths, &task, &files) {
            let spec = paths.spec_key();
            denied.push(DeniedRow { spec, task, files });
        }
    }
    if denied.len() > known {
        let text = serde_json::to_string(&denied).unwrap_or_default();
        write_atomically(&path(paths), text.as_bytes())?;
    }
    Ok(())
}

/// The task of a row and its Files, if these name the settings.
fn naming(plan: &TaskFile, row: RowId) -> Option<(TaskKey, String)> {
    let files = plan.task(row)?.fields.files?;
    files
        .contains(FILE)
        .then(|| Some((plan.key(row)?, files.clone())))?
}

fn is_in(denied: &[DeniedRow], paths: &SpecPaths, task: &TaskKey, files: &str) -> bool {
    let spec = paths.spec_key();
    let mut denied = denied.iter();
    denied.any(|one| one.spec == spec && one.task == *task && one.files == files)
}

fn read_denied(paths: &SpecPaths) -> Vec<DeniedRow> {
    let text = read_text_file(&path(paths), MAX_FILE).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn path(paths: &SpecPaths) -> std::path::PathBuf {
    paths.own().join("settings-rows.json")
}
