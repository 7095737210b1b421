//! The known state of services.

use regreen_model::{Service, ServiceChange, ServiceReport};

use crate::state::{ServiceState, State};

/// How often a service is restarted during one task.
const RESTARTS: u32 = 1;

impl State {
    pub(super) fn change_service(&mut self, report: &ServiceReport) {
        let ServiceReport {
            task,
            command,
            log,
            change,
        } = report;
        let is_it = |known: &ServiceState| known.task == *task && known.command == *command;
        let at = match self.services.iter().position(is_it) {
            Some(at) => at,
            None => {
                self.services.push(ServiceState {
                    task: task.clone(),
                    command: command.clone(),
                    log: String::new(),
                    is_running: false,
                    trouble: None,
                    restarts: 0,
                });
                self.services.len() - 1
            }
        };
        let Some(known) = self.services.get_mut(at) else {
            return;
        };
        known.log.clone_from(log);
        known.is_running = matches!(change, ServiceChange::Started { .. });
        known.trouble = match change {
            ServiceChange::NotReady { why } | ServiceChange::Died { why } => Some(why.clone()),
            ServiceChange::Started { .. } | ServiceChange::Ended => None,
        };
        let is_spent = matches!(
            change,
            ServiceChange::Started { again: true, .. } | ServiceChange::NotReady { .. }
        );
        known.restarts += u32::from(is_spent);
    }

    /// Allows restarts again, because another task is being worked on.
    pub(super) fn renew_restarts(&mut self) {
        for service in &mut self.services {
            service.restarts = 0;
        }
    }

    /// Marks all services as ended: the process that ran them is gone.
    pub(super) fn lose_services(&mut self) {
        for service in &mut self.services {
            service.is_running = false;
        }
    }

    /// Whether a service may be started or restarted.
    pub(crate) fn may_start(&self, service: &Service) -> bool {
        let known = self
            .services
            .iter()
            .find(|known| known.task == service.task && known.command == service.command);
        known.is_none_or(|known| known.restarts < RESTARTS)
    }
}
