//! What failures are found to be, and what can be repaired.

use std::rc::Rc;

use regreen_documents::{RowId, TaskFile};
use regreen_model::{
    Confidence, Failure, FailureCategory, FailureKind, Inspection, PlannedRepair, RepairAction,
    RepairResult, RetryMode, TaskKey,
};

use super::hand;
use super::name::name_of;
use super::world::World;
use crate::command::{RepairOrder, RepairScene};

/// One of each class that a diagnosis tells apart.
const FOUND: [(FailureKind, FailureCategory, RetryMode); 4] = [
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

impl World {
    /// Why something failed; mostly nobody knows.
    pub(super) fn diagnosis(&mut self) -> Option<Box<Failure>> {
        if !self.dice.one_in(2) {
            return None;
        }
        let (kind, category, retry_mode) = self.dice.pick(FOUND)?;
        let percent = [90, 30][self.dice.index(2)];
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

    pub(super) fn inspect(&mut self, scene: &RepairScene) -> Inspection {
        let args = vec![format!("package{}", self.dice.roll(2))];
        let repair = PlannedRepair {
            does: format!("install {}", args.join(" ")),
            action: RepairAction::PipInstall { args },
        };
        let why = scene.failure.message.clone();
        match self.dice.roll(5) {
            4 => Inspection::Nothing,
            0 => Inspection::Ask { repair, why },
            1 => Inspection::Refused { why },
            _ => Inspection::Allowed(repair),
        }
    }

    /// A fix that is about to be carried out, unless somebody has just ticked it.
    pub(super) fn row_to_repair(&mut self, fix: &TaskKey) -> Option<RowId> {
        let file = Rc::clone(&self.file);
        let row = file.open_row(fix).and_then(|row| file.task(row));
        if let Some(row) = row.filter(|_| self.dice.one_in(8)) {
            let after = TaskFile::read(hand::with_box(&file, &row, true));
            self.watch.people_edited(&file, &after, false);
            self.file = Rc::new(after);
        }
        self.file.open_row(fix)
    }

    /// What is repaired may have been all that was missing.
    pub(super) fn repair(&mut self, order: &RepairOrder) -> RepairResult {
        if self.dice.one_in(4) {
            return RepairResult::Failed {
                why: "it cannot be installed".to_owned(),
            };
        }
        if self.dice.one_in(2) {
            self.works.insert(name_of(&order.scene.task), true);
        }
        self.watch.saw_repair(&name_of(&order.fix));
        RepairResult::Done {
            did: order.repair.does.clone(),
            environment: vec![("PATH".to_owned(), format!("/{}", self.dice.roll(2)))],
        }
    }
}
