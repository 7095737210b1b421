//! The task file: reading, editing, and its outline for views.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use regreen_documents::{EditError, TaskFile};
use regreen_model::{NextStep, PlanQuery, PlanStatus, TaskId, TaskKey};
use regreen_workspace::{
    Digest, EditFileError, EditReport, ReadError, RealDisk, edit_file, read_text,
};

use crate::history::EarlierRuns;
use crate::observer::RunObserver;
use crate::outline::Outliner;
use crate::performer::{PerformError, Performer};

/// How often to look whether rows that are gone come back: a program that saves a file in place empties it
/// before it writes it.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// After so many looks that find the same text, the rows have been removed.
const STEADY_LOOKS: u32 = 25;
const MAX_LOOKS: u32 = 250;
/// How often an edit starts again because it met a file without rows that were there.
const MAX_EDITS: u32 = 5;

/// The task file. Read for every question, but parsed again only if it has changed.
#[derive(Debug)]
pub(crate) struct PlanFile {
    path: PathBuf,
    last: Option<Rc<TaskFile>>,
    /// The last one that can't have been read while it was being saved.
    whole: Option<Rc<TaskFile>>,
    /// The ticks of this process since it last emptied a box.
    ticks: Vec<Tick>,
    /// The file that was last found to have all of them.
    checked: Option<Rc<TaskFile>>,
    pub(crate) outliner: Outliner,
}

/// A box that regreen has ticked.
#[derive(Clone, Debug)]
struct Tick {
    task: TaskKey,
    /// The digest of the file before.
    before: Digest,
}

/// Ticks of regreen's that the file no longer has.
#[derive(Debug)]
enum UndoneTicks {
    None,
    /// Only the last one: a person who unticks it by hand leaves the same bytes as an editor that
    /// saves the copy it had read before.
    Last(TaskKey),
    /// Several at once: an editor has saved what it had read before them.
    OlderCopy(Vec<TaskKey>),
}

pub(crate) type EditPlanError = EditFileError<EditError>;

impl PlanFile {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            last: None,
            whole: None,
            ticks: Vec::new(),
            checked: None,
            outliner: Outliner::default(),
        }
    }

    /// Reads the file. If rows are gone, waits until they come back, or until the file has been without
    /// them for half a second.
    pub(crate) fn read(&mut self) -> Result<Rc<TaskFile>, ReadError> {
        let mut read = self.read_once();
        let mut steady = 0;
        for _ in 0..MAX_LOOKS {
            if self.is_whole(&read) || steady == STEADY_LOOKS {
                break;
            }
            thread::sleep(LOOK_INTERVAL);
            let next = self.read_once();
            steady = if is_same(&read, &next) { steady + 1 } else { 0 };
            read = next;
        }
        let file = read?;
        self.whole = Some(Rc::clone(&file));
        Ok(file)
    }

    /// Whether the file has all rows that it had before. One that was never read has none to lose.
    fn is_whole(&self, read: &Result<Rc<TaskFile>, ReadError>) -> bool {
        match (&self.whole, read) {
            (None, _) => true,
            (Some(whole), Ok(file)) => !lacks_rows(file, whole),
            (Some(_), Err(error)) => !matches!(error, ReadError::NotFound { .. }),
        }
    }

    fn read_once(&mut self) -> Result<Rc<TaskFile>, ReadError> {
        match read_text(&RealDisk, &self.path) {
            Ok(read) => Ok(self.parse(read.text)),
            Err(error) => {
                self.last = None;
                Err(error)
            }
        }
    }

    /// Returns the file as it was last read or written.
    pub(crate) fn latest(&mut self) -> Result<Rc<TaskFile>, ReadError> {
        match &self.last {
            Some(file) => Ok(Rc::clone(file)),
            None => self.read(),
        }
    }

    /// Edits the file as it is at that moment; the change states what must hold for it.
    pub(crate) fn edit(
        &mut self,
        mut change: impl FnMut(&TaskFile) -> Result<Option<TaskFile>, EditError>,
    ) -> Result<EditReport, EditPlanError> {
        let mut tries = 1;
        loop {
            let believes_all = tries == MAX_EDITS;
            if let (edited, true) = self.try_edit(&mut change, believes_all)? {
                return Ok(edited);
            }
            tries += 1;
            self.read().map_err(EditFileError::Read)?;
        }
    }

    /// Edits the file, unless rows are gone that it had when it was last whole. Returns whether it did.
    fn try_edit(
        &mut self,
        change: &mut impl FnMut(&TaskFile) -> Result<Option<TaskFile>, EditError>,
        believes_all: bool,
    ) -> Result<(EditReport, bool), EditPlanError> {
        let path = self.path.clone();
        let mut made = None;
        let mut is_whole = true;
        let edited = edit_file(&RealDisk, &path, |text| {
            let file = self.parse(text.to_owned());
            let whole = self.whole.as_ref();
            is_whole = believes_all || whole.is_none_or(|whole| !lacks_rows(&file, whole));
            if !is_whole {
                return Ok(None);
            }
            self.whole = Some(Rc::clone(&file));
            made = change(&file)?.map(Rc::new);
            Ok(made.as_ref().map(|file| file.text().to_owned()))
        })?;
        if made.is_some() {
            self.whole.clone_from(&made);
            self.last = made;
        }
        Ok((edited, is_whole))
    }

    /// Ticks or unticks a task; does nothing if the task is gone.
    pub(crate) fn set_box(
        &mut self,
        task: &TaskKey,
        done: bool,
    ) -> Result<EditReport, EditPlanError> {
        let mut before = None;
        let edited = self.edit(|file| {
            let set = file.box_set(task, done)?;
            before = set.is_some().then(|| Digest::of(file.text().as_bytes()));
            Ok(set)
        })?;
        match before {
            Some(before) if done => self.ticks.push(Tick {
                task: task.clone(),
                before,
            }),
            // From now on, an earlier text may be what regreen itself has written.
            Some(_) => self.ticks.clear(),
            None => {}
        }
        Ok(edited)
    }

    /// Reads the file, and finds ticks that it, byte for byte as it was before them, has undone.
    /// Forgets those that an older copy has undone.
    fn take_undone_ticks(&mut self) -> Result<UndoneTicks, ReadError> {
        let file = self.read()?;
        let is_same = |checked: &Rc<TaskFile>| Rc::ptr_eq(checked, &file);
        if self.ticks.is_empty() || self.checked.as_ref().is_some_and(is_same) {
            return Ok(UndoneTicks::None);
        }
        let now = Digest::of(file.text().as_bytes());
        let Some(first) = self.ticks.iter().position(|tick| tick.before == now) else {
            self.checked = Some(file);
            return Ok(UndoneTicks::None);
        };
        Ok(match &self.ticks[first..] {
            [last] => UndoneTicks::Last(last.task.clone()),
            _ => {
                let undone = self.ticks.split_off(first).into_iter();
                UndoneTicks::OlderCopy(undone.map(|tick| tick.task).collect())
            }
        })
    }

    fn parse(&mut self, text: String) -> Rc<TaskFile> {
        match &self.last {
            Some(file) if file.text() == text => Rc::clone(file),
            _ => {
                let file = Rc::new(TaskFile::read(text));
                self.last = Some(Rc::clone(&file));
                file
            }
        }
    }
}

/// Whether two reads found the same.
fn is_same(one: &Result<Rc<TaskFile>, ReadError>, other: &Result<Rc<TaskFile>, ReadError>) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => Rc::ptr_eq(one, other),
        (Err(_), Err(_)) => true,
        _ => false,
    }
}

/// Whether rows of the earlier file are gone.
fn lacks_rows(file: &TaskFile, earlier: &TaskFile) -> bool {
    !std::ptr::eq(file, earlier) && !ids(earlier).is_subset(&ids(file))
}

fn ids(file: &TaskFile) -> BTreeSet<(TaskId, u32)> {
    let keys = file.rows().filter_map(|row| file.key(row));
    keys.map(|key| (key.id, key.occurrence)).collect()
}

/// Reads the file for the command that follows, and sets the ticks again that an editor has undone by
/// saving an older copy of it. Whose decision the loss of a single tick is can't be told: then a person
/// must say.
pub(crate) fn restore_ticks(performer: &mut Performer) -> Result<(), PerformError> {
    // A file that can't be read is told by the command that needs it.
    let undone = performer.plan.take_undone_ticks();
    match undone.unwrap_or(UndoneTicks::None) {
        UndoneTicks::None => Ok(()),
        UndoneTicks::Last(task) => Err(PerformError::Contended(format!(
            "task {task} has passed, but its box is empty again, and the task file is as it was before the tick: you may have unticked it, or an editor may have saved an older copy. Use `regreen done {task}` to keep it, or `regreen retry {task}` to do it again; then run again"
        ))),
        UndoneTicks::OlderCopy(tasks) => {
            for task in tasks {
                performer.set_box(&task, true)?;
                performer.notices.add(format!(
                    "task {task} has passed, and an older copy of the task file was saved in which it is open; ticked it again. To do it again, stop the run and use `regreen retry {task}`"
                ));
            }
            Ok(())
        }
    }
}

/// Reads the task file for the next decision of the run.
pub(crate) fn read_plan(
    performer: &mut Performer,
    query: &PlanQuery,
    earlier: &EarlierRuns<'_>,
    observer: &mut dyn RunObserver,
) -> Result<PlanStatus, PerformError> {
    // It was read just before, to look for lost ticks.
    let file = performer.plan.latest()?;
    observer.outline(&performer.plan.outliner.outline(&file));
    let mut status = file.plan_status(query);
    if let NextStep::Task(picked) = &mut status.next {
        picked.failed_before = earlier.failure(&picked.task)?;
        let programs = &performer.context.programs;
        programs.settle(&RealDisk, &mut picked.verify, &performer.known_commands);
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "- [ ] 1.1 One\n- [ ] 1.2 Two\n";

    /// Reads a plan that is then saved in place: empty for a while, or short for good.
    fn read_while(saves: impl FnOnce(&Path) + Send) -> (Rc<TaskFile>, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.md");
        std::fs::write(&path, PLAN).unwrap();
        let mut plan = PlanFile::new(&path);
        plan.read().unwrap();
        let read = thread::scope(|scope| {
            std::fs::write(&path, "").unwrap();
            scope.spawn(|| saves(&path));
            plan.read().unwrap()
        });
        let key = read.rows().next().and_then(|row| read.key(row));
        let _ = plan.set_box(&key.unwrap(), true).unwrap();
        (read, std::fs::read_to_string(&path).unwrap())
    }

    #[test]
    fn a_plan_that_is_being_saved_in_place_has_lost_no_row() {
        let (read, then) = read_while(|path| {
            thread::sleep(Duration::from_millis(80));
            std::fs::write(path, "- [ ] 1.1 One\n").unwrap();
            thread::sleep(Duration::from_millis(80));
            std::fs::write(path, PLAN).unwrap();
        });
        assert_eq!(read.text(), PLAN);
        assert_eq!(then, "- [x] 1.1 One\n- [ ] 1.2 Two\n");
    }

    #[test]
    fn a_row_that_stays_away_was_removed() {
        let (read, then) = read_while(|path| std::fs::write(path, "- [ ] 1.2 Two\n").unwrap());
        assert_eq!(read.text(), "- [ ] 1.2 Two\n");
        assert_eq!(then, "- [x] 1.2 Two\n");
    }

    #[test]
    fn an_edit_waits_for_the_rows_that_a_save_has_not_written_yet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.md");
        std::fs::write(&path, PLAN).unwrap();
        let mut plan = PlanFile::new(&path);
        let file = plan.read().unwrap();
        let key = file.rows().last().and_then(|row| file.key(row)).unwrap();
        std::fs::write(&path, "- [ ] 1.1 One\n").unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(80));
                std::fs::write(&path, PLAN).unwrap();
            });
            let _ = plan.set_box(&key, true).unwrap();
        });
        let then = std::fs::read_to_string(&path).unwrap();
        assert_eq!(then, "- [ ] 1.1 One\n- [x] 1.2 Two\n");
    }
}
