//! Diagnoses of failures, and their repairs.

use std::rc::Rc;

use regreen_documents::TaskFile;
use regreen_model::{
    Advice, Confidence, Experience, Failure, FailureCategory, FailureKind, Inspection,
    PlannedRepair, RepairAction, RepairResult, RetryMode, TaskKey,
};

use crate::task_lists;
use crate::world::World;
use crate::world::name_of;
use regreen_engine::{RepairOrder, RepairTarget};

/// One kind for each recovery class.
const FOUND: [(FailureKind, FailureCategory, RetryMode); 5] = [
    (
        FailureKind::NotExecutable,
        FailureCategory::ToolError,
        RetryMode::AfterRepair,
    ),
    (
        FailureKind::ConnectionRefused,
        FailureCategory::ToolError,
        RetryMode::AsIs,
    ),
    (
        FailureKind::MissingPythonModule,
        FailureCategory::ToolError,
        RetryMode::AfterRepair,
    ),
    (
        FailureKind::NeedsClarification,
        FailureCategory::MissingContext,
        RetryMode::AfterHuman,
    ),
    (
        FailureKind::ContradictoryRequirements,
        FailureCategory::InvalidTask,
        RetryMode::AfterHuman,
    ),
];

fn pip_install(number: u64) -> RepairAction {
    RepairAction::PipInstall {
        args: vec![format!("package{number}")],
    }
}

impl World {
    /// Picks a diagnosis; usually none.
    pub(crate) fn diagnosis(&mut self) -> Option<Box<Failure>> {
        if !self.rng.one_in(2) {
            return None;
        }
        let drawn = self.rng.pick(FOUND)?;
        let percent = [90, 90, 30][self.rng.index(3)];
        let (kind, category, retry_mode) = self.usual_failure().unwrap_or(drawn);
        Some(Box::new(Failure {
            category,
            kind,
            message: kind.words().to_owned(),
            blocked_on: Some(format!("it says {kind}")),
            line: Some(1),
            retryable: retry_mode.is_retryable(),
            retry_mode,
            completed_steps: vec![],
            files_modified: vec![],
            tool_usage: [].into(),
            last_successful_tool: None,
            suggested_actions: vec![],
            repair: None,
            rule: "sim".to_owned(),
            confidence: Confidence::percent(percent),
            fingerprint: kind.to_string(),
        }))
    }

    /// Returns how everything fails in a world with templates, so that their strategies run out.
    fn usual_failure(&self) -> Option<(FailureKind, FailureCategory, RetryMode)> {
        let seed = usize::try_from(self.config.max_wait_ms / 1_000).unwrap_or_default();
        let has_templates = !self.config.templates.is_empty();
        has_templates.then(|| FOUND[seed / 12 % FOUND.len()])
    }

    /// Picks what earlier failures show, which may be wrong.
    pub(crate) fn experience(&mut self) -> Option<Experience> {
        if self.rng.one_in(3) {
            return None;
        }
        let action = pip_install(self.rng.below(2));
        let advice = Advice {
            response: "fix task".to_owned(),
            helped: 1,
            tried: 1 + self.rng.below(3),
            workspaces: 1,
            here: true,
            notes: vec!["do it again".to_owned()],
        };
        Some(Experience {
            failures: 1 + self.rng.below(9),
            workspaces: 1,
            advice: vec![advice],
            useless: self
                .rng
                .one_in(2)
                .then(|| action.response())
                .into_iter()
                .collect(),
            nothing_helped: self.rng.one_in(2),
            ..Experience::default()
        })
    }

    pub(crate) fn inspect(&mut self, target: &RepairTarget) -> Inspection {
        let action = pip_install(self.rng.below(2));
        let repair = PlannedRepair {
            does: action.to_string(),
            action,
        };
        let why = target.failure.message.clone();
        match self.rng.below(8) {
            2 => Inspection::Nothing,
            0 => Inspection::Ask { repair, why },
            1 => Inspection::Refused { why },
            _ => Inspection::Allowed(repair),
        }
    }

    /// Lets a person tick a fix that is about to be carried out.
    pub(crate) fn people_may_tick(&mut self, fix: &TaskKey) {
        let file = Rc::clone(&self.file);
        let row = file.open_row(fix).and_then(|row| file.task(row));
        if let Some(row) = row.filter(|_| self.rng.one_in(8)) {
            let after = TaskFile::read(task_lists::with_box(&file, &row, true));
            self.watch.people_edited(&file, &after, false);
            self.file = Rc::new(after);
        }
    }

    /// Makes a repair, which may be all that the task needed.
    pub(crate) fn repair(&mut self, order: &RepairOrder) -> RepairResult {
        if self.rng.one_in(4) {
            return RepairResult::Failed {
                why: "it cannot be installed".to_owned(),
            };
        }
        if self.rng.one_in(2) {
            let name = name_of(&order.target.task);
            self.watch.work_changed(&name);
            self.works.insert(name, true);
        }
        self.watch.saw_repair(&name_of(&order.fix));
        RepairResult::Done {
            did: order.repair.does.clone(),
            environment: vec![("PATH".to_owned(), format!("/{}", self.rng.below(2)))],
        }
    }
}
