//! The run to drive: a new one, or one that has not ended.

use std::path::Path;

use regreen_engine::State;
use regreen_model::RunOutcome;
use regreen_store::{NewRun, RunId, Store};
use regreen_workspace::linked_work_tree;

use super::RunError;
use crate::clock;
use crate::journal::Journal;
use crate::spec_paths::{SpecPaths, database};

/// Opens the workspace's journal.
///
/// # Errors
/// Returns an error if it can't be opened.
pub fn open_store(root: &Path) -> Result<Store, RunError> {
    let path = database(root);
    let opened = Store::open(&path, clock::stored_ms(clock::now()));
    opened.map_err(|source| RunError::Store { path, source })
}

/// Opens the workspace's journal read-only; `None` if it does not exist.
///
/// # Errors
/// Returns an error if it can't be read.
pub fn open_store_read_only(root: &Path) -> Result<Option<Store>, RunError> {
    let path = database(root);
    let opened = Store::open_read_only(&path, clock::stored_ms(clock::now()));
    opened.map_err(|source| RunError::Store { path, source })
}

/// Opens the journal, and checks all of it if its last user did not close it.
pub(super) fn open_checked(paths: &SpecPaths) -> Result<Store, RunError> {
    let store = open_store(&paths.root)?;
    if store.was_left_open() {
        store.check()?;
    }
    Ok(store)
}

/// The run to drive.
pub(super) struct OpenedRun {
    pub(super) journal: Journal,
    pub(super) state: State,
    /// How the previous run ended, if it was killed before it could report that.
    pub(super) unreported: Option<String>,
}

/// Resumes the run that has not ended, or starts a new one. A run that was killed between its end
/// and its report counts as ended.
pub(super) fn reopen_or_begin(mut store: Store, paths: &SpecPaths) -> Result<OpenedRun, RunError> {
    let mut unreported = None;
    if let Some(run) = store.unfinished_run(&paths.spec_key())? {
        let (mut journal, state) = Journal::reopened(store, run)?;
        match &state.outcome {
            Some(outcome) if !outcome.is_pause() => {
                journal.end(outcome)?;
                unreported = Some(late_report(&journal.run, outcome));
            }
            _ => {
                return Ok(OpenedRun {
                    journal,
                    state,
                    unreported,
                });
            }
        }
        store = journal.store;
    }
    let new = NewRun {
        spec: paths.spec_key(),
        started_ms: clock::stored_ms(clock::now()),
        tree: linked_work_tree(&paths.root),
    };
    let run = store.begin_run(&new)?;
    Ok(OpenedRun {
        journal: Journal::begun(store, run),
        state: State::default(),
        unreported,
    })
}

fn late_report(run: &RunId, outcome: &RunOutcome) -> String {
    let how = match outcome {
        RunOutcome::AllGreen => "all tasks were done",
        RunOutcome::OnlyDone => "the requested tasks were done",
        RunOutcome::Skipped => "some tasks were skipped",
        RunOutcome::Limit { message } | RunOutcome::Regressed { message } => message,
        RunOutcome::NeedsPerson { why }
        | RunOutcome::TryLater { why }
        | RunOutcome::SetUp { why } => why,
        RunOutcome::Stopped { .. } => "it was stopped",
    };
    format!("regreen was killed before it could report how run {run} had ended: {how}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use regreen_engine::{Decision, Input};
    use regreen_model::{Event, RunConfig};
    use regreen_workspace::Spec;

    use super::*;
    use crate::tree_lock::create_own_folder;

    /// A run that was killed after its outcome was stored, but before it was reported.
    fn killed_after(outcome: RunOutcome) -> (tempfile::TempDir, SpecPaths) {
        let root = tempfile::tempdir().unwrap();
        let tasks = root.path().join("specs/demo/tasks.md");
        fs::create_dir_all(tasks.parent().unwrap()).unwrap();
        fs::write(&tasks, "- [ ] 1.1 One\n").unwrap();
        let name = "demo".to_owned();
        let paths = SpecPaths::new(root.path(), Spec { name, tasks });
        create_own_folder(&paths.root).unwrap();
        let opened = reopen_or_begin(open_store(&paths.root).unwrap(), &paths).unwrap();
        assert_eq!(opened.unreported, None);
        let mut journal = opened.journal;
        let started = Event::RunStarted {
            run: journal.run.to_string(),
            config: RunConfig::default(),
            after_limit: false,
            lost: Vec::new(),
            earlier: Vec::new(),
            environment: Vec::new(),
        };
        let decision = Decision {
            events: vec![started, Event::RunEnded { outcome }],
            commands: Vec::new(),
        };
        let input = Input::Noticed { messages: vec![] };
        let appended = journal.append(clock::now(), &input, None, &decision, &[]);
        appended.unwrap();
        (root, paths)
    }

    #[test]
    fn an_unreported_end_is_reported_by_the_next_run() {
        let message = "ERROR: Max retries reached for task 1.1 after 5 attempts".to_owned();
        let (_root, paths) = killed_after(RunOutcome::Limit { message });
        let opened = reopen_or_begin(open_store(&paths.root).unwrap(), &paths).unwrap();
        let unreported = opened.unreported.unwrap();
        assert!(
            unreported
                .ends_with("had ended: ERROR: Max retries reached for task 1.1 after 5 attempts"),
            "{unreported}"
        );
        assert!(opened.state.run.is_empty(), "another run begins");
        // Reopening it has reported it.
        drop(opened.journal);
        let opened = reopen_or_begin(open_store(&paths.root).unwrap(), &paths).unwrap();
        assert_eq!(opened.unreported, None);
    }

    #[test]
    fn an_unreported_pause_is_resumed() {
        let why = "task 1.1: the agent could not split it".to_owned();
        let (_root, paths) = killed_after(RunOutcome::NeedsPerson { why });
        let opened = reopen_or_begin(open_store(&paths.root).unwrap(), &paths).unwrap();
        assert_eq!(opened.unreported, None);
        assert!(!opened.state.run.is_empty());
    }
}
