//! Recovery templates: each strategy is used once per task, in order, and nothing runs that the user
//! hasn't written.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{Event, RecoveryTemplate, RepairAction, RunConfig, TaskKey};

use crate::world::Check;

/// The templates of the run, and what was used of them.
#[derive(Debug, Default)]
pub(super) struct Templates {
    config: RunConfig,
    used: BTreeMap<(TaskKey, String), u32>,
    /// Tasks that start over when they are picked again.
    closed: BTreeSet<TaskKey>,
}

impl Templates {
    pub(super) fn hear(&mut self, event: &Event) -> Check {
        match event {
            Event::RunStarted { config, .. } => {
                *self = Self {
                    config: config.clone(),
                    ..Self::default()
                };
            }
            Event::RunResumed {
                config: Some(config),
                ..
            } => self.config = RunConfig::clone(config),
            Event::Chosen { choice } => self.forget(&choice.task),
            Event::TaskPicked { task } if self.closed.remove(&task.task) => {
                self.forget(&task.task);
            }
            Event::TaskDone { task, .. }
            | Event::TaskGone { task }
            | Event::TaskSkipped { task } => drop(self.closed.insert(task.clone())),
            Event::FixesSuperseded { fixes, .. } => self.closed.extend(fixes.iter().cloned()),
            Event::TemplateApplied {
                task,
                template,
                step,
                ..
            } => {
                self.is_in_the_settings(event)?;
                let used = (task.clone(), template.clone());
                let last = self.used.insert(used, *step).unwrap_or(0);
                if *step <= last {
                    return Err(format!(
                        "{task} gets strategy {step} of template {template} after {last}"
                    ));
                }
            }
            Event::FixPlanned {
                repair: Some(repair),
                ..
            } if matches!(repair.action, RepairAction::UserProgram { .. }) => {
                let templates = self.config.templates.iter();
                let mut own = templates.filter_map(RecoveryTemplate::planned_repair);
                if !own.any(|own| own == *repair) {
                    return Err(format!("nobody has written this repair: {}", repair.does));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn forget(&mut self, task: &TaskKey) {
        self.used.retain(|(of, _), _| of != task);
    }

    /// Checks that the settings have the strategy, and that recovery is on.
    fn is_in_the_settings(&self, event: &Event) -> Check {
        let Event::TemplateApplied {
            template,
            owner,
            strategy,
            step,
            ..
        } = event
        else {
            return Ok(());
        };
        let position = usize::try_from(*step).unwrap_or(usize::MAX) - 1;
        let is_it = |one: &RecoveryTemplate| {
            one.name() == template
                && one.owner == *owner
                && one.first.get(position) == Some(strategy)
        };
        match self.config.recovery && self.config.templates.iter().any(is_it) {
            true => Ok(()),
            false => Err(format!("no template {template} has {strategy}")),
        }
    }
}
