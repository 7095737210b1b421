use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use regreen_agents::Prompts;
use regreen_diagnosis::{ChildFailure, Completion};
use regreen_engine::delegation::End;
use regreen_model::{Failure, FailureKind, FailureNote, StopSignal, TaskId, TaskKey, Timestamp};
use regreen_repairs::ManifestSnapshot;
use regreen_supervisor::Keepers;
use regreen_workspace::{Programs, RealDisk, Spec};

use super::changes::Watched;
use super::diary::Diary;
use super::failure::of_kind;
use super::place::Place;
use super::pursuit::CameTo;
use super::{DelegateEnd, DelegateSetup, Delegated, Onlooker};
use crate::clock;
use crate::masks::workspace_masks;
use crate::notices::Notices;
use crate::performer::Performer;
use crate::places::Places;
use crate::plan_file::PlanFile;
use crate::process::Processes;
use crate::run::{RunError, open_store};
use crate::tree::Tree;
use crate::tree_lock::make_own_folder;

/// A delegation that is under way.
pub(super) struct Child<'o> {
    pub(super) performer: Performer,
    pub(super) onlooker: &'o mut dyn Onlooker,
    pub(super) place: Place,
    pub(super) diary: Diary,
    pub(super) watched: Watched,
    pub(super) idle_timeout_ms: Option<u64>,
    /// What it is called where things have the names of tasks.
    pub(super) key: TaskKey,
    /// What repairs have set.
    pub(super) environment: Vec<(String, String)>,
    pub(super) waited_ms: u64,
    pub(super) files: BTreeSet<String>,
    pub(super) tools: BTreeMap<String, u32>,
    began: Timestamp,
}

impl<'o> Child<'o> {
    pub(super) fn new(
        setup: DelegateSetup,
        onlooker: &'o mut dyn Onlooker,
    ) -> Result<Self, RunError> {
        let began = clock::now();
        let place = make_place(&setup.root, began)?;
        let places = places(&setup, &place);
        let store = open_store(&places)?;
        let masks = workspace_masks(&setup.root);
        Ok(Self {
            diary: Diary {
                store,
                masks: masks.clone(),
                id: place.id.clone(),
                agent: setup.agent_name.clone(),
                logs: PathBuf::from(places.shown(&place.folder)),
                rows: Vec::new(),
            },
            watched: Watched::new(&setup.root),
            idle_timeout_ms: setup.idle_timeout_ms,
            key: TaskKey {
                id: TaskId::from_position(1),
                occurrence: 0,
                title: setup.prompt.lines().next().unwrap_or_default().to_owned(),
            },
            performer: performer(setup, places, masks, &place.id),
            onlooker,
            place,
            environment: Vec::new(),
            waited_ms: 0,
            files: BTreeSet::new(),
            tools: BTreeMap::new(),
            began,
        })
    }

    pub(super) fn prompts(&self) -> &Prompts {
        &self.performer.prompts
    }

    /// What whoever delegated is told.
    pub(super) fn told(self, verify: Option<String>, came_to: CameTo) -> Delegated {
        let is_done = came_to.end == End::Done;
        let failure = came_to.failure.filter(|_| !is_done);
        Delegated {
            completion: is_done.then(|| self.completion(verify, came_to.answer, came_to.flaky)),
            failure: failure.map(|failure| self.child_failure(&failure)),
            end: DelegateEnd::Ended(came_to.end),
            session_id: self.place.id,
            attempts: self.diary.rows,
        }
    }

    pub(super) fn stopped(mut self, signal: StopSignal) -> Delegated {
        // Nothing more can be done about it now.
        let _ = self.diary.stopped();
        Delegated {
            session_id: self.place.id,
            end: DelegateEnd::Stopped(signal),
            completion: None,
            failure: None,
            attempts: self.diary.rows,
        }
    }

    fn completion(&self, verified: Option<String>, answer: String, flaky: bool) -> Completion {
        let rows = self.diary.rows.iter();
        let recovered = rows.clone().filter_map(|row| {
            let tried = row.tried.as_ref()?;
            let kind = row.kind.as_deref().unwrap_or("error");
            Some(format!("{kind}: {tried}"))
        });
        Completion {
            session_id: self.place.id.clone(),
            answer,
            duration: seconds(self.duration_ms()),
            attempts: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            files_modified: self.files.iter().cloned().collect(),
            tool_usage: self.tools.clone(),
            verified: verified.map(|command| self.diary.masks.mask(&command)),
            flaky,
            recovered: recovered.collect(),
        }
    }

    fn child_failure(&self, failure: &FailureNote) -> ChildFailure {
        let found = failure.diagnosis.as_deref();
        let mut found: Failure = match found {
            Some(found) => found.clone(),
            None => of_kind(FailureKind::IncompleteWork, failure.error.clone()),
        };
        found.files_modified = self.files.iter().cloned().collect();
        found.tool_usage.clone_from(&self.tools);
        // A check may be called with a secret.
        found.message = self.diary.masks.mask(&found.message);
        let blocker = found.blocked_on.as_deref();
        found.blocked_on = blocker.map(|line| self.diary.masks.mask(line));
        ChildFailure::of(&found, &self.place.id, self.duration_ms())
    }

    fn duration_ms(&self) -> u64 {
        clock::now().since(self.began)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "durations are far below 2^52 tenths"
)]
fn seconds(ms: u64) -> f64 {
    (ms.saturating_add(50) / 100) as f64 / 10.0
}

fn make_place(root: &std::path::Path, now: Timestamp) -> Result<Place, RunError> {
    let made = make_own_folder(root).and_then(|()| Place::make(root, now));
    made.map_err(|source| RunError::Folder {
        path: crate::places::own_folder(root),
        source,
    })
}

/// A delegation has no plan: nobody reads the file that stands for it here.
fn places(setup: &DelegateSetup, place: &Place) -> Places {
    let spec = Spec {
        name: place.id.clone(),
        tasks: place.folder.join("tasks.md"),
    };
    Places::new(&setup.root, spec)
}

fn performer(
    setup: DelegateSetup,
    places: Places,
    masks: regreen_redaction::Masks,
    id: &str,
) -> Performer {
    let root = setup.root.clone();
    let programs = Programs::new(&setup.path, &root);
    let shell = programs.find(&RealDisk, "bash");
    Performer {
        run: id.to_owned(),
        verify_timeout_ms: setup.verify_timeout_ms,
        shell: shell.unwrap_or_else(|| PathBuf::from("sh")),
        notices: Notices::default(),
        plan: PlanFile::new(&places.spec.tasks),
        tree: Tree::plain(&setup.root),
        processes: Processes {
            keepers: Keepers::new(setup.keeper),
            root: setup.root,
            masks,
            stop: setup.stop,
            // Not what a run looks for: it would take ours for what an earlier run left.
            run: id.to_owned(),
        },
        places,
        agent: setup.agent,
        prompts: setup.prompts,
        programs,
        declared: ManifestSnapshot::read(&root),
        path: setup.path,
    }
}
