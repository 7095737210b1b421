//! The runs of this machine, over all workspaces of the user.
//!
//! A small record per spec in the user's state folder says where runs were started. Everything else
//! is read from the workspaces: whether a process is at work from the lock, which the system
//! releases whenever that process ends, and what it does from the journal.

use std::path::PathBuf;

use regreen_documents::TaskFile;
use regreen_model::{RunOutcome, TaskKey, Timestamp};
use regreen_overview::{Activity, JournalReader, OpenQuestion, RunView, TaskView};
use regreen_reporters::Status;
use regreen_runtime::{LockHolder, SpecPaths, TreeLock, now, open_store_read_only};
use regreen_workspace::{RealDisk, Spec, read_text};
use serde::{Deserialize, Serialize};

use crate::output;
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

/// The newest run of a spec.
#[derive(Debug)]
pub struct KnownRun {
    pub paths: SpecPaths,
    pub view: RunView,
    /// The process that is at work on it.
    pub holder: Option<LockHolder>,
}

/// Returns the newest run of every spec that was ever run, in order of their last activity of life.
/// Forgets specs that are gone.
pub fn known_runs() -> Vec<KnownRun> {
    let mut runs = Vec::new();
    for (record, place) in StateRecord::all::<RunPlace>(KIND) {
        let RunPlace { root, tasks, name } = place;
        let paths = SpecPaths::new(&root, Spec { name, tasks });
        if paths.database().exists() {
            // A workspace that can't be read must not hide the others.
            match KnownRun::read(paths) {
                Ok(run) => runs.extend(run),
                Err(problem) => {
                    let root = output::path_from_home(&root);
                    output::note(&format!("{root}: {problem}"));
                }
            }
        } else {
            record.forget();
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.last_sign()));
    runs
}

impl KnownRun {
    /// Reads the newest run of a spec; `None` if it has none.
    pub fn read(paths: SpecPaths) -> Result<Option<Self>, Problem> {
        // Before the journal: a run that ends in between has then recorded its end there.
        let holder = TreeLock::holder(&paths.root).filter(|holder| holder.runs(&paths));
        let Some(store) = open_store_read_only(&paths.root)? else {
            return Ok(None);
        };
        let runs = store.runs(usize::MAX).map_err(Problem::journal)?;
        let Some(run) = runs.into_iter().find(|run| run.spec == paths.spec_key()) else {
            return Ok(None);
        };
        let mut view = RunView::default();
        let mut reader = JournalReader::new(run.id);
        for (at, event) in reader.new_events(&store).map_err(Problem::from_reading)? {
            view.apply(at, &event);
        }
        view.settle(&store.choices(&paths.spec_key()).map_err(Problem::journal)?);
        Ok(Some(Self {
            paths,
            view,
            holder,
        }))
    }

    /// Returns when the run last gave a sign of life: its last event, or output of its agent.
    pub fn last_sign(&self) -> Timestamp {
        self.last_output().unwrap_or_default().max(self.view.last)
    }

    /// Returns when the current attempt last printed something.
    fn last_output(&self) -> Option<Timestamp> {
        let Activity::Attempt { attempt, .. } = self.view.activity else {
            return None;
        };
        let task = self.view.current.as_ref()?;
        let log = self.paths.log(&self.view.run, task, attempt);
        let written = log.metadata().ok()?.modified().ok()?;
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
        let text = read_text(&RealDisk, &self.paths.spec.tasks).ok()?.text;
        let file = TaskFile::read(text);
        let row = file.resolve(key)?;
        Some(file.task(row)?.line)
    }

    /// Returns its state in a word, as programs and people read it.
    pub fn state(&self) -> RunState {
        match (self.outcome(), &self.view.activity) {
            (None, _) if self.holder.is_none() => RunState::Killed,
            (None, Activity::Waiting { .. }) => RunState::Waiting,
            (None, Activity::Asking { .. }) => RunState::NeedsPerson,
            (None, _) => RunState::Running,
            (Some(RunOutcome::AllGreen | RunOutcome::OnlyDone), _) => RunState::Done,
            (Some(RunOutcome::NeedsPerson { .. }), _) => RunState::NeedsPerson,
            (Some(RunOutcome::Stopped { .. }), _) => RunState::Stopped,
            (Some(RunOutcome::TryLater { .. }), _) => RunState::TryLater,
            (Some(RunOutcome::SetUp { .. }), _) => RunState::SetUp,
            (
                Some(RunOutcome::Skipped | RunOutcome::Limit { .. } | RunOutcome::Regressed { .. }),
                _,
            ) => RunState::Failed,
        }
    }
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    Waiting,
    NeedsPerson,
    /// Its process is gone, without having recorded an end.
    Killed,
    Stopped,
    TryLater,
    SetUp,
    Failed,
    Done,
}

impl RunState {
    /// Returns the words for people: what it is, and how to go on.
    pub fn words(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::NeedsPerson => "needs your decision",
            Self::Killed => "killed; `regreen run` resumes it",
            Self::Stopped => "stopped; `regreen run` resumes it",
            Self::TryLater => "try again later; `regreen run` resumes it",
            Self::SetUp => "setup must be fixed; `regreen run` resumes it",
            Self::Failed => "ended; not everything is done",
            Self::Done => "done",
        }
    }

    pub fn status(self) -> Status {
        match self {
            Self::Running => Status::Run,
            Self::Waiting => Status::Wait,
            Self::NeedsPerson => Status::Ask,
            Self::Killed | Self::SetUp | Self::Failed => Status::Fail,
            Self::Stopped | Self::TryLater => Status::Stop,
            Self::Done => Status::Done,
        }
    }
}
