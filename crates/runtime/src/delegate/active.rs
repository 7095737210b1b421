//! A delegation from start to end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regreen_agents::Prompts;
use regreen_diagnosis::{ChildFailure, Completion, unexplained_failure};
use regreen_engine::delegation::Conclusion;
use regreen_model::{DiagnosisAsk, FailureKind, FailureRecord, StopSignal, Timestamp};
use regreen_repairs::ManifestSnapshot;
use regreen_supervisor::Keepers;

use super::changes::FileTracker;
use super::log::{DelegationFolder, DelegationLog};
use super::work::DelegationOutcome;
use super::{DelegationEnd, DelegationObserver, DelegationResult, DelegationSetup};
use crate::asleep::SleepLedger;
use crate::clock;
use crate::execution::ExecutionContext;
use crate::observer::Memory;
use crate::performer::PerformError;
use crate::process::{Processes, workspace_masks};
use crate::project_programs::ProjectPrograms;
use crate::run::{RunError, open_store};
use crate::spec_paths::own_folder;
use crate::tree_lock::create_own_folder;

/// A delegation in progress.
pub(super) struct ActiveDelegation<'o> {
    pub(super) context: ExecutionContext,
    pub(super) observer: &'o mut dyn DelegationObserver,
    pub(super) folder: DelegationFolder,
    pub(super) log: DelegationLog,
    pub(super) tracker: FileTracker,
    pub(super) idle_timeout_ms: Option<u64>,
    pub(super) diagnosis_ask: DiagnosisAsk,
    pub(super) memory: Option<Box<dyn Memory>>,
    /// The first line of the prompt.
    pub(super) title: String,
    /// Variables set by repairs.
    pub(super) environment: Vec<(String, String)>,
    pub(super) waited_ms: u64,
    pub(super) files: BTreeSet<String>,
    pub(super) tools: BTreeMap<String, u32>,
    /// A description of what all attempts did to files.
    pub(super) steps: Vec<String>,
    began: Timestamp,
}

impl<'o> ActiveDelegation<'o> {
    pub(super) fn new(
        setup: DelegationSetup,
        observer: &'o mut dyn DelegationObserver,
    ) -> Result<Self, RunError> {
        let began = clock::now();
        let root = setup.root;
        let folder = make_folder(&root, began)?;
        let masks = workspace_masks(&root, &setup.secrets);
        let programs = ProjectPrograms::begin(&root, &folder.path, &setup.path);
        let logs = folder.path.strip_prefix(&root).unwrap_or(&folder.path);
        Ok(Self {
            log: DelegationLog {
                store: open_store(&root)?,
                masks: masks.clone(),
                id: folder.id.clone(),
                agent: setup.agent_name,
                logs: logs.to_owned(),
                rows: Vec::new(),
            },
            tracker: FileTracker::new(&root),
            idle_timeout_ms: setup.idle_timeout_ms,
            diagnosis_ask: setup.diagnosis_ask,
            memory: setup.memory,
            title: setup.prompt.lines().next().unwrap_or_default().to_owned(),
            context: ExecutionContext::new(
                setup.agent,
                setup.prompts,
                setup.path,
                ManifestSnapshot::read(&root),
                programs.map_err(PerformError::from)?,
                setup.verify_timeout_ms,
                Processes {
                    keepers: Keepers::new(setup.keeper),
                    root,
                    masks,
                    stop: setup.stop,
                    asleep: SleepLedger::default(),
                    // Not the prefix of runs: a run would mistake these processes for strays.
                    run: folder.id.clone(),
                    last_copy: None,
                },
            )
            .in_zone(setup.local_zone)
            .with_own_rules(setup.own_rules)
            .with_context_tokens(setup.context_tokens),
            observer,
            folder,
            environment: Vec::new(),
            waited_ms: 0,
            files: BTreeSet::new(),
            tools: BTreeMap::new(),
            steps: Vec::new(),
            began,
        })
    }

    pub(super) fn prompts(&self) -> &Prompts {
        &self.context.prompts
    }

    /// Builds the result for the caller.
    pub(super) fn into_result(
        self,
        verify: Option<String>,
        outcome: DelegationOutcome,
    ) -> DelegationResult {
        let is_done = outcome.end == Conclusion::Done;
        let failure = outcome.failure.filter(|_| !is_done);
        DelegationResult {
            completion: is_done.then(|| self.completion(verify, outcome.answer, outcome.flaky)),
            failure: failure.map(|failure| self.child_failure(&failure)),
            finished_parts: if is_done {
                String::new()
            } else {
                outcome.finished_parts
            },
            end: DelegationEnd::Ended(outcome.end),
            session_id: self.folder.id,
            attempts: self.log.rows,
        }
    }

    pub(super) fn stopped(mut self, signal: StopSignal) -> DelegationResult {
        // If even this cannot be stored, there is nothing left to do about it.
        let _ = self.log.stopped();
        DelegationResult {
            session_id: self.folder.id,
            end: DelegationEnd::Stopped(signal),
            completion: None,
            failure: None,
            finished_parts: String::new(),
            attempts: self.log.rows,
        }
    }

    fn completion(&self, verified: Option<String>, answer: String, flaky: bool) -> Completion {
        let rows = self.log.rows.iter();
        let helped = rows.clone().filter(|row| row.helped == Some(true));
        let recovered = helped.filter_map(|row| {
            let tried = row.tried.as_ref()?;
            let kind = row.kind.as_deref().unwrap_or("error");
            Some(format!("{kind}: {tried}"))
        });
        Completion {
            session_id: self.folder.id.clone(),
            answer,
            duration: seconds(self.duration_ms()),
            attempts: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            files_modified: self.files.iter().cloned().collect(),
            tool_usage: self.tools.clone(),
            verified: verified.map(|command| self.log.masks.mask(&command)),
            flaky,
            recovered: recovered.collect(),
        }
    }

    fn child_failure(&self, record: &FailureRecord) -> ChildFailure {
        let diagnosis = record.diagnosis.as_deref().cloned();
        let mut failure = diagnosis.unwrap_or_else(|| {
            unexplained_failure(FailureKind::IncompleteWork, record.error.clone())
        });
        failure.files_modified = self.files.iter().cloned().collect();
        // The last attempt may have done nothing even if earlier ones did.
        if failure.completed_steps.is_empty() {
            failure.completed_steps.clone_from(&self.steps);
        }
        failure.tool_usage.clone_from(&self.tools);
        // The check's command line may contain a secret.
        failure.message = self.log.masks.mask(&failure.message);
        let blocker = failure.blocked_on.as_deref();
        failure.blocked_on = blocker.map(|line| self.log.masks.mask(line));
        ChildFailure::of(&failure, &self.folder.id, self.duration_ms())
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

fn make_folder(root: &Path, now: Timestamp) -> Result<DelegationFolder, RunError> {
    let made = create_own_folder(root).and_then(|()| DelegationFolder::create(root, now));
    made.map_err(|source| RunError::Folder {
        path: own_folder(root),
        source,
    })
}
