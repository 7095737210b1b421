use std::io;
use std::path::Path;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use regreen_documents::{InvalidState, StateDocument, TaskFile};
use regreen_model::StateFile;
use regreen_workspace::{
    EditFileError, EditReport, ReadError, RealDisk, create_dir_all, create_file, edit_file,
    move_aside, read_text,
};

use crate::performer::{PerformError, Performer};
use crate::spec_paths::SpecPaths;

/// How often, and how long, to wait for a program that saves the state file in place.
const LOOKS: u32 = 25;
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The state file as it was last read or written. It is read for every question, but parsed again only
/// if it has changed.
#[derive(Debug, Default)]
pub(crate) struct KnownState {
    last: Option<(String, Rc<StateDocument>)>,
}

impl KnownState {
    fn parse(&mut self, text: &str) -> Result<Rc<StateDocument>, InvalidState> {
        if let Some((known, state)) = &self.last
            && known == text
        {
            return Ok(Rc::clone(state));
        }
        let state = Rc::new(StateDocument::read(text)?.0);
        self.last = Some((text.to_owned(), Rc::clone(&state)));
        Ok(state)
    }

    /// Returns the text with a change, if that differs.
    fn edited(
        &mut self,
        text: &str,
        change: impl FnOnce(&mut StateDocument),
    ) -> Result<Option<String>, InvalidState> {
        let state = self.parse(text)?;
        self.last = None;
        let mut state = Rc::unwrap_or_clone(state);
        change(&mut state);
        let updated = state.to_text();
        let is_new = updated != text;
        self.last = Some((updated.clone(), Rc::new(state)));
        Ok(is_new.then_some(updated))
    }
}

/// Saves the state of the run. Creates the state file if it is missing or unreadable.
pub(crate) fn save_state(performer: &mut Performer, file: &StateFile) -> Result<(), PerformError> {
    let tasks = performer.plan.latest()?;
    let edited = match edit_state(performer, file, &tasks) {
        Err(EditFileError::Edit(_) | EditFileError::Read(_)) => {
            ensure_state_file(performer)?;
            edit_state(performer, file, &tasks)?
        }
        edited => edited?,
    };
    performer.notices.edited(&edited);
    Ok(())
}

fn edit_state(
    performer: &mut Performer,
    file: &StateFile,
    tasks: &TaskFile,
) -> Result<EditReport, EditFileError<InvalidState>> {
    let known = &mut performer.state;
    edit_file(&RealDisk, &performer.paths.state, |text| {
        known.edited(text, |state| state.record_run(file, tasks))
    })
}

/// Creates the state file if it is missing or unreadable. Keeps an unreadable one beside it.
pub(crate) fn ensure_state_file(performer: &mut Performer) -> Result<(), PerformError> {
    let path = performer.paths.state.clone();
    let last = settled_state(&path, &mut performer.state);
    match read_text(&RealDisk, &path) {
        Ok(file) => match StateDocument::read(&file.text) {
            Ok(_) => return Ok(()),
            Err(error) => set_aside(performer, &error.to_string())?,
        },
        Err(ReadError::NotFound { .. }) => {}
        Err(ReadError::NotUtf8 { .. }) => set_aside(performer, "not text")?,
        Err(error) => return Err(error.into()),
    }
    let tasks = performer.plan.read()?;
    if let Some(folder) = path.parent() {
        create_dir_all(&RealDisk, folder)?;
    }
    let mut state = StateDocument::from_tasks(&tasks)
        .with_identity(&performer.paths.spec.name, &folder_shown(performer));
    // Limits that a person has set outlive a file that was broken during the run.
    if let Some(last) = last.filter(|last| **last != StateDocument::default()) {
        state.take_limits_of(&last);
    }
    create_file(&RealDisk, &path, &state.to_text())?;
    Ok(())
}

fn folder_shown(performer: &Performer) -> String {
    let paths = &performer.paths;
    paths.shown(&paths.spec_folder())
}

fn set_aside(performer: &mut Performer, why: &str) -> Result<(), PerformError> {
    let path = &performer.paths.state;
    let aside = move_aside(&RealDisk, path).map_err(|error| PerformError::broken(&error))?;
    performer.notices.add(format!(
        "{} was {why}; kept it as {} and rebuilt it from the tasks",
        performer.paths.shown(path),
        performer.paths.shown(&aside)
    ));
    Ok(())
}

/// Remembers the limits in the state file before foreign code runs.
pub(crate) fn remember_limits(performer: &mut Performer) {
    let path = performer.paths.state.clone();
    performer.state_before = settled_state(&path, &mut performer.state);
}

/// Reads the state file. A program that saves it in place empties it first; if it stays unreadable,
/// returns the state that was last known, if any.
fn settled_state(path: &Path, known: &mut KnownState) -> Option<Rc<StateDocument>> {
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(LOOK_INTERVAL);
        }
        match read_text(&RealDisk, path) {
            Ok(file) => {
                if let Ok(state) = known.parse(&file.text) {
                    return Some(state);
                }
            }
            Err(ReadError::NotFound { .. }) => return Some(Rc::default()),
            Err(_) => {}
        }
    }
    known.last.as_ref().map(|(_, state)| Rc::clone(state))
}

/// Reverts what foreign code did to the limits in the state file, which the next run would use.
pub(super) fn restore_limits(performer: &mut Performer) -> Result<(), PerformError> {
    let Some(before) = performer.state_before.take() else {
        return Ok(());
    };
    if Rc::ptr_eq(&current_state(performer), &before) {
        return Ok(());
    }
    let mut names = Vec::new();
    let path = performer.paths.state.clone();
    let _settled = settled_state(&path, &mut performer.state);
    let known = &mut performer.state;
    let edited = edit_file(&RealDisk, &performer.paths.state, |text| {
        known.edited(text, |state| names = state.take_limits_of(&before))
    });
    match edited {
        // It is created again when the state is saved.
        Err(EditFileError::Edit(_) | EditFileError::Read(_)) => return Ok(()),
        edited => performer.notices.edited(&edited?),
    }
    if !names.is_empty() {
        performer.notices.add(format!(
            "{} was changed in {} while a task ran; that was restored. To change it, edit the file when nothing runs",
            performer.paths.shown(&performer.paths.state),
            names.join(", ")
        ));
    }
    Ok(())
}

/// Reads the state file; an empty state if there is none, or none that can be read.
pub(super) fn current_state(performer: &mut Performer) -> Rc<StateDocument> {
    let text = read_text(&RealDisk, &performer.paths.state);
    let state = text
        .ok()
        .and_then(|file| performer.state.parse(&file.text).ok());
    state.unwrap_or_default()
}

/// Reads and parses the state file; an empty state if there is none, or none that can be read.
pub(super) fn read_state(paths: &SpecPaths) -> StateDocument {
    let text = read_text(&RealDisk, &paths.state);
    let state = text
        .ok()
        .and_then(|file| StateDocument::read(&file.text).ok());
    state.map(|(state, _)| state).unwrap_or_default()
}

/// Removes the state file once all tasks are done, because other tools take it as a sign of
/// remaining work.
pub(crate) fn remove_state_file(performer: &Performer) -> Result<(), PerformError> {
    match std::fs::remove_file(&performer.paths.state) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(PerformError::broken(&error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_parsed_again_only_if_its_text_has_changed() {
        let mut known = KnownState::default();
        let text = "{\n  \"mine\": 1,\n  \"taskIndex\": 2\n}\n";
        let first = known.parse(text).unwrap();
        assert!(Rc::ptr_eq(&first, &known.parse(text).unwrap()));
        let other = text.replace('1', "7");
        assert!(!Rc::ptr_eq(&first, &known.parse(&other).unwrap()));
        assert!(known.parse("{").is_err());
    }

    #[test]
    fn a_state_that_is_being_saved_in_place_has_lost_no_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".ralph-state.json");
        let limits = "{\n  \"maxTaskIterations\": 2\n}\n";
        let mut known = KnownState::default();
        std::fs::write(&path, "").unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(80));
                std::fs::write(&path, limits).unwrap();
            });
            let state = settled_state(&path, &mut known).unwrap();
            assert_eq!(state.to_text(), limits);
        });
        // It stays empty: what was last known counts, and nothing else.
        std::fs::write(&path, "").unwrap();
        assert_eq!(settled_state(&path, &mut known).unwrap().to_text(), limits);
        assert!(settled_state(&path, &mut KnownState::default()).is_none());
        std::fs::remove_file(&path).unwrap();
        assert!(settled_state(&path, &mut KnownState::default()).is_some());
    }

    #[test]
    fn an_edit_sees_the_text_that_it_is_given_and_not_the_last_one() {
        let mut known = KnownState::default();
        let text = |mine: u32| format!("{{\n  \"mine\": {mine},\n  \"phase\": \"execution\"\n}}\n");
        let mut enable = |text: &str| known.edited(text, |state| state.set_recovery_mode(true));
        let once = enable(&text(1)).unwrap().unwrap();
        assert!(once.contains("\"mine\": 1") && once.contains("\"recoveryMode\": true"));
        // Someone saved an older text in between, with a key of their own.
        let again = enable(&text(9)).unwrap().unwrap();
        assert!(again.contains("\"mine\": 9") && again.contains("\"recoveryMode\": true"));
        assert_eq!(enable(&again).unwrap(), None);
        assert!(enable("[]").is_err());
    }
}
