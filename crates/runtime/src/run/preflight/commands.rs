//! The commands that a run would have the shell run.

use std::collections::BTreeSet;

use regreen_documents::{RowId, TaskFile};
use regreen_model::{RunConfig, TaskId, TaskKind, VerifyCommand};
use regreen_workspace::{Programs, RealDisk};

use super::makers::{Makers, TaskWords};
use crate::run::RunSetup;

/// A command of a task that is still to be done.
#[derive(Debug)]
pub(super) struct PlannedCommand {
    pub(super) task: TaskId,
    pub(super) text: String,
    /// What this task and those before it may still provide.
    pub(super) makers: Makers,
}

impl PlannedCommand {
    /// Returns the commands in the order of the plan: Verify or the gate, Service and Ready.
    pub(super) fn all(setup: &RunSetup, plan: &TaskFile, programs: &Programs) -> Vec<Self> {
        let mut words = TaskWords::default();
        let mut planned = Vec::new();
        for row in plan.rows().filter(|row| !plan.is_done(*row)) {
            let (Some(task), Some(key)) = (plan.task(row), plan.key(row)) else {
                continue;
            };
            let end = words.add(&task);
            if !is_run(&setup.config, plan, row) {
                continue;
            }
            let texts = texts(setup, plan, row, programs).into_iter();
            planned.extend(texts.map(|text| (key.id.clone(), text, end)));
        }
        let words = words.share();
        let planned = planned.into_iter().map(|(task, text, end)| Self {
            task,
            text,
            makers: Makers::until(&words, end),
        });
        planned.collect()
    }
}

/// Returns whether a run comes to this open row.
pub(super) fn is_run(config: &RunConfig, plan: &TaskFile, row: RowId) -> bool {
    let is_task = match plan.kind(row) {
        Some(TaskKind::Task) => config.include_optional || !plan.is_optional(row),
        Some(TaskKind::Optional) => config.include_optional,
        _ => false,
    };
    let is_asked_for = config
        .only
        .as_ref()
        .is_none_or(|only| plan.belongs_to(row, only));
    is_task && is_asked_for
}

fn texts(setup: &RunSetup, plan: &TaskFile, row: RowId, programs: &Programs) -> Vec<String> {
    let mut verify = plan.verify_commands(row);
    programs.settle(&RealDisk, &mut verify, &BTreeSet::new());
    let runs = |command: &VerifyCommand| programs.can_run(&RealDisk, command);
    let mut texts: Vec<String> = verify
        .into_iter()
        .filter(runs)
        .map(|command| command.command)
        .collect();
    if texts.is_empty() {
        texts.extend(setup.config.gate.clone());
    }
    if let Some(service) = plan.declared_service(row) {
        let ready = service.ready.into_iter().filter(runs);
        texts.push(service.command);
        texts.extend(ready.map(|command| command.command));
    }
    texts
}
