//! The runs of this machine, over all workspaces of the user.
//!
//! A small record per spec in the user's state folder says where runs were started. Everything else
//! is read from the workspaces: whether a process is at work from the lock, which the system
//! releases whenever that process ends, and what it does from the journal.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use regreen_documents::TaskFile;
use regreen_model::{RunOutcome, TaskKey, Timestamp};
use regreen_overview::{Activity, JournalReader, OpenQuestion, RunState, RunView, TaskView};
use regreen_reporters::Status;
use regreen_runtime::{LockHolder, SpecPaths, TreeLock, now, open_store_read_only};
use regreen_store::{RunId, Store};
use regreen_workspace::{RealDisk, Spec, read_text};
use serde::{Deserialize, Serialize};

use crate::output;
use crate::plan::line_of;
use crate::problem::Problem;
use crate::user_state::StateRecord;

/// The kind of these records in the state folder.
const KIND: &str = "runs";

/// Where a run was started.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct RunPlace {
    root: PathBuf,
    tasks: PathBuf,
    name: String,
}

/// Remembers that a spec is run, so that other folders find it. Without a state folder, they don't.
pub fn remember(paths: &SpecPaths) {
    let place = RunPlace {
        root: paths.root.clone(),
        tasks: paths.spec.tasks.clone(),
        name: paths.spec.name.clone(),
    };
    if let Some(record) = StateRecord::new(KIND, (&paths.root, paths.spec_key())) {
        // The run matters more than the list.
        let _ = record.write(&place);
    }
}

/// Returns the name of a spec's place, if runs of it are remembered.
#[cfg(feature = "tui")]
pub fn place_of(paths: &SpecPaths) -> Option<String> {
    let record = StateRecord::new(KIND, (&paths.root, paths.spec_key()))?;
    record.read::<RunPlace>()?;
    Some(record.name())
}

/// Watches for specs that are run for the first time.
#[cfg(any(feature = "dashboard", feature = "mcp", feature = "tui"))]
pub fn watch() -> std::io::Result<regreen_overview::ChangeFeed> {
    let record = StateRecord::new(KIND, "").ok_or(std::io::ErrorKind::NotFound)?;
    record.watch()
}

/// The newest run of a spec.
#[derive(Clone, Debug)]
pub struct KnownRun {
    /// Names the place in addresses and on the screen.
    pub place: String,
    pub paths: SpecPaths,
    pub view: Arc<RunView>,
    /// The process that is at work on it.
    pub holder: Option<LockHolder>,
}

/// Returns the newest run of every spec that was ever run, in order of their last sign of life.
/// Forgets specs that are gone.
pub fn known_runs() -> Vec<KnownRun> {
    let (runs, problems) = FollowedRuns::default().refresh();
    for problem in problems {
        output::note(&problem);
    }
    runs
}

/// The newest runs of all specs, which reads only what is new each time.
#[derive(Debug, Default)]
pub struct FollowedRuns {
    runs: BTreeMap<PathBuf, FollowedRun>,
}

/// A run, as far as it was read.
#[derive(Debug)]
struct FollowedRun {
    reader: JournalReader,
    view: Arc<RunView>,
}

impl FollowedRuns {
    /// Reads what is new. Also returns what can't be read, for people.
    pub fn refresh(&mut self) -> (Vec<KnownRun>, Vec<String>) {
        let (mut runs, mut problems) = (Vec::new(), Vec::new());
        for (record, place) in StateRecord::all::<RunPlace>(KIND) {
            let RunPlace { root, tasks, name } = place;
            let paths = SpecPaths::new(&root, Spec { name, tasks });
            if paths.database().exists() {
                // A workspace that can't be read must not hide the others.
                match self.read(record.name(), paths) {
                    Ok(run) => runs.extend(run),
                    Err(problem) => {
                        let root = output::path_from_home(&root);
                        problems.push(format!("{root}: {problem}"));
                    }
                }
            } else {
                record.forget();
            }
        }
        runs.sort_by_key(|run| std::cmp::Reverse(run.last_sign()));
        (runs, problems)
    }

    /// Reads the newest run of a spec; `None` if it has none.
    fn read(&mut self, place: String, paths: SpecPaths) -> Result<Option<KnownRun>, Problem> {
        // Before the journal: a run that ends in between has then recorded its end there.
        let holder = TreeLock::holder(&paths.root).filter(|holder| holder.runs(&paths));
        let Some(store) = open_store_read_only(&paths.root)? else {
            return Ok(None);
        };
        let runs = store.runs(usize::MAX).map_err(Problem::journal)?;
        let Some(run) = runs.into_iter().find(|run| run.spec == paths.spec_key()) else {
            return Ok(None);
        };
        let followed = self
            .runs
            .entry(paths.spec.tasks.clone())
            .or_insert_with(|| FollowedRun::new(run.id.clone()));
        if *followed.reader.run() != run.id {
            *followed = FollowedRun::new(run.id);
        }
        let choices = store.choices(&paths.spec_key()).map_err(Problem::journal)?;
        followed.read_new(&store)?;
        // A view that is being shown is copied before it is changed, which a large one shouldn't be without need.
        if !followed.view.has_settled(&choices) {
            Arc::make_mut(&mut followed.view).settle(&choices);
        }
        Ok(Some(KnownRun {
            place,
            paths,
            view: Arc::clone(&followed.view),
            holder,
        }))
    }
}

impl FollowedRun {
    fn new(run: RunId) -> Self {
        Self {
            reader: JournalReader::new(run),
            view: Arc::default(),
        }
    }

    fn read_new(&mut self, store: &Store) -> Result<(), Problem> {
        let view = &mut self.view;
        let read = self.reader.for_each_new(store, |at, event| {
            Arc::make_mut(view).apply(at, &event);
        });
        read.map_err(Problem::from_reading)
    }
}

impl KnownRun {
    /// Reads the newest run of a spec; `None` if it has none.
    pub fn read(paths: SpecPaths) -> Result<Option<Self>, Problem> {
        FollowedRuns::default().read(String::new(), paths)
    }

    /// Returns when the run last gave a sign of life: its last event, or output of its agent.
    pub fn last_sign(&self) -> Timestamp {
        self.last_output().unwrap_or_default().max(self.view.last)
    }

    /// Returns the log of the current attempt.
    pub fn current_log(&self) -> Option<PathBuf> {
        let Activity::Attempt { attempt, .. } = self.view.activity else {
            return None;
        };
        let task = self.view.current.as_ref()?;
        Some(self.paths.log(&self.view.run, task, attempt))
    }

    /// Returns when the current attempt last printed something.
    fn last_output(&self) -> Option<Timestamp> {
        let written = self.current_log()?.metadata().ok()?.modified().ok()?;
        let since = written.duration_since(std::time::UNIX_EPOCH).ok()?;
        let millis = u64::try_from(since.as_millis()).ok()?;
        Some(Timestamp::from_millis(millis).min(now()))
    }

    /// Returns the outcome, unless a process is at work again.
    pub fn outcome(&self) -> Option<&RunOutcome> {
        self.view.outcome.as_ref().filter(|_| self.holder.is_none())
    }

    /// Returns the tasks that wait for a person. A task that someone has ticked is settled.
    pub fn questions(&self) -> Vec<(&TaskView, &OpenQuestion)> {
        let text = read_text(&RealDisk, &self.paths.spec.tasks);
        let file = text.ok().map(|read| TaskFile::read(read.text));
        let is_open = |task: &TaskView| match &file {
            Some(file) => file
                .resolve(&task.key)
                .is_some_and(|row| !file.is_done(row)),
            None => true,
        };
        let questions = self.view.questions();
        questions.filter(|(task, _)| is_open(task)).collect()
    }

    /// Returns the line of a task in its file.
    pub fn line_of(&self, key: &TaskKey) -> Option<usize> {
        line_of(&self.paths, key)
    }

    /// Returns its state in a word, as programs and people read it.
    pub fn state(&self) -> RunState {
        RunState::of(self.outcome(), &self.view.activity, self.holder.is_some())
    }
}

/// Returns the word that stands before a run in this state.
pub fn status(state: RunState) -> Status {
    match state {
        RunState::Running => Status::Run,
        RunState::Waiting => Status::Wait,
        RunState::NeedsPerson => Status::Ask,
        RunState::Killed | RunState::SetUp | RunState::Failed => Status::Fail,
        RunState::Stopped | RunState::TryLater => Status::Stop,
        RunState::Done => Status::Done,
    }
}
