//! The history of failures in all workspaces, in the user's state folder.
//!
//! It repeats what the workspaces' journals say. Feeding it never fails or delays a run: an error
//! is a note, and the next run or delegation in the workspace catches up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regreen_history::{
    Alert, Digest, Filter, History, Retention, Workspace, of_delegation, of_run,
};
use regreen_model::Event;
use regreen_runtime::{now, open_store_read_only};
use regreen_store::{Delegation, Run, StepNo, Store};
use serde_json::json;

use crate::config::Settings;
use crate::output;
use crate::problem::Problem;
use crate::user_program;
use crate::user_state::{create_private_folder, user_state_folder};

const FILE: &str = "history.db";
/// How many runs, and how old ones, a feed looks at. A workspace that regreen didn't work in for so
/// long has nothing to catch up on.
const MAX_RUNS: usize = 200;
const MAX_AGE_MS: i64 = 30 * 24 * 60 * 60 * 1000;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Adds what the workspace's journal says and the history doesn't know yet, unless the user or the
/// repository refuses.
pub fn learn(root: &Path, settings: &Settings) {
    if settings.history_record.value.is_on()
        && let Err(problem) = feed(root, settings)
    {
        output::note(&format!(
            "cannot update the history of failures; the next run will try again: {problem}"
        ));
    }
}

fn feed(root: &Path, settings: &Settings) -> Result<(), Problem> {
    let (Some(store), Some(file)) = (open_store_read_only(root)?, history_file()?) else {
        return Ok(());
    };
    let now = now_ms();
    let mut history = History::open(&file, now)?;
    let workspace = workspace(root);
    let digests = news(&store, &history, &workspace, now)?;
    if !digests.is_empty() {
        history.feed(&workspace, &digests, &retention(settings), now)?;
    }
    Ok(())
}

/// Returns what the history doesn't know yet.
fn news(
    store: &Store,
    history: &History,
    workspace: &Workspace,
    now_ms: i64,
) -> Result<Vec<Digest>, Problem> {
    let known = history.known(workspace)?;
    let since = history
        .forgotten_before(workspace)?
        .max(now_ms - MAX_AGE_MS);
    let runs = store.runs(MAX_RUNS).map_err(Problem::journal)?;
    let is_news = |run: &&Run| {
        let steps = known.get(run.id.as_str());
        run.started_ms >= since && steps.is_none_or(|steps| *steps < run.last_step.0)
    };
    let runs = runs.iter().filter(is_news);
    let mut digests: Vec<Digest> = runs.filter_map(|run| digest(store, run)).collect();
    let delegations = store.delegations_since(since).map_err(Problem::journal)?;
    let mut by_id: BTreeMap<String, Vec<Delegation>> = BTreeMap::new();
    for attempt in delegations {
        by_id.entry(attempt.id.clone()).or_default().push(attempt);
    }
    by_id.retain(|id, attempts| {
        known
            .get(id)
            .is_none_or(|steps| *steps < attempts.len() as u64)
    });
    digests.extend(
        by_id
            .values()
            .filter_map(|attempts| of_delegation(attempts)),
    );
    Ok(digests)
}

/// Returns the digest of a run; `None` if another version wrote events that this one doesn't know.
fn digest(store: &Store, run: &Run) -> Option<Digest> {
    let events = store.events(&run.id, StepNo::NONE).ok()?;
    let events: Option<Vec<(i64, Event)>> = events
        .map(|stored| {
            let stored = stored.ok()?;
            Some((stored.now_ms, stored.event.decode().ok()?))
        })
        .collect();
    of_run(
        run.id.as_str(),
        run.last_step.0,
        &spec_name(&run.spec),
        run.started_ms,
        &events?,
    )
}

/// Returns the name of a spec from the path of its task file: that of its folder, if it has one.
pub fn spec_name(tasks: &str) -> String {
    let path = Path::new(tasks);
    let folder = path.parent().and_then(Path::file_name);
    let is_usual = path.file_name().is_some_and(|name| name == "tasks.md");
    let name = folder.filter(|_| is_usual).unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Warns about what exceeds the thresholds in this workspace, and tells the user's program.
pub fn warn(root: &Path, settings: &Settings) {
    let filter = Filter {
        workspace: Some(workspace(root).path),
        ..Filter::default()
    };
    // A history that can't be read was already reported.
    let Ok(alerts) = alerts(settings, filter) else {
        return;
    };
    for alert in &alerts {
        output::note(&format!(
            "{}; see `regreen stats --here --since 24h`",
            alert.message
        ));
    }
    tell(root, settings, &alerts);
}

/// Returns what exceeds the thresholds, among what the filter selects in the last 24 hours.
pub fn alerts(settings: &Settings, filter: Filter) -> Result<Vec<Alert>, Problem> {
    let thresholds = settings.thresholds();
    if thresholds.is_empty() {
        return Ok(Vec::new());
    }
    let Some(history) = open_history()? else {
        return Ok(Vec::new());
    };
    let now = now_ms();
    let filter = Filter {
        since_ms: now - DAY_MS,
        ..filter
    };
    Ok(thresholds.alerts(&history.statistics(&filter, now)?))
}

/// Starts the user's program for alerts, if there are any.
pub fn tell(root: &Path, settings: &Settings, alerts: &[Alert]) {
    let argv = settings.on_alert.value.argv();
    if let Some(argv) = argv.filter(|_| !alerts.is_empty()) {
        let told = json!({ "workspace": workspace(root).path, "alerts": alerts });
        user_program::run("on_alert", argv, root, &format!("{told}\n"));
    }
}

/// Opens the history for reading; `None` if there is none yet.
pub fn open_history() -> Result<Option<History>, Problem> {
    match path() {
        Some(path) => Ok(History::open_read_only(&path, now_ms())?),
        None => Ok(None),
    }
}

/// Opens the history for writing.
pub fn open_history_to_change() -> Result<History, Problem> {
    let file = history_file()?.ok_or(Problem::NoStateFolder)?;
    Ok(History::open(&file, now_ms())?)
}

/// Returns the name of a workspace in the history.
pub fn workspace(root: &Path) -> Workspace {
    Workspace {
        path: root.to_string_lossy().into_owned(),
    }
}

pub fn retention(settings: &Settings) -> Retention {
    Retention {
        keep_ms: settings.history_keep.value.ms(),
        max_bytes: Retention::MAX_BYTES,
    }
}

pub fn now_ms() -> i64 {
    i64::try_from(now().as_millis()).unwrap_or(i64::MAX)
}

fn path() -> Option<PathBuf> {
    user_state_folder().map(|folder| folder.join(FILE))
}

/// Returns the path of the file, in a folder that exists.
fn history_file() -> Result<Option<PathBuf>, Problem> {
    let Some(file) = path() else {
        return Ok(None);
    };
    if let Some(folder) = file.parent() {
        create_private_folder(folder).map_err(|source| Problem::StateFolder {
            path: folder.to_owned(),
            source,
        })?;
    }
    Ok(Some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_has_the_name_of_its_folder_or_file() {
        assert_eq!(spec_name("specs/login/tasks.md"), "login");
        assert_eq!(spec_name("docs/todo.md"), "docs/todo.md");
        assert_eq!(spec_name("tasks.md"), "tasks.md");
    }
}
