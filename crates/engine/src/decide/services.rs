//! Services: which of them run during a task, and how often they are started.

use regreen_model::{Event, Service, ServiceReport, Timestamp};

use super::Decision;
use super::turn::Turn;
use crate::command::{Command, ServiceOrder, ServicesOrder};
use crate::state::State;

/// How long a service may take to become ready.
pub const READY_TIMEOUT_MS: u64 = 60_000;

/// Keeps exactly the services running that the task needs, before whatever is issued next.
pub(super) fn keep(turn: &mut Turn<'_>) {
    let services = turn.task().map(|task| task.picked.services.clone());
    keep_these(turn, &services.unwrap_or_default(), For::Attempt);
}

/// What the services are kept for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    Attempt,
    /// A check, before which the task's own services are restarted if `fresh` is set.
    Check {
        fresh: bool,
    },
}

/// Like [`keep`], before a check. A service that the task itself declares is restarted after an
/// attempt, because the agent may have changed its program.
pub(super) fn keep_for_check(turn: &mut Turn<'_>, is_again: bool) {
    let Some(task) = turn.task() else { return };
    let is_attempted = task.attempts > 0;
    let services = task.picked.services.clone();
    let fresh = is_attempted && !is_again;
    keep_these(turn, &services, For::Check { fresh });
}

impl State {
    /// Whether a service must not run during the checks of other rows: an agent could make a check pass
    /// with it for as long as the run lasts.
    pub(super) fn is_withheld(&self, service: &Service) -> bool {
        !service.is_own && self.foreign_services.contains(&service.command)
    }
}

fn keep_these(turn: &mut Turn<'_>, services: &[Service], what: For) {
    let is_fresh = what == For::Check { fresh: true };
    // If no service was ever needed, there is nothing to say.
    if services.is_empty() && turn.state.services.is_empty() {
        return;
    }
    let order = |service: &Service| ServiceOrder {
        may_start: service.is_own || turn.state.may_start(service),
        fresh: is_fresh && service.is_own,
        withheld: what != For::Attempt && turn.state.is_withheld(service),
        service: service.clone(),
    };
    let order = ServicesOrder {
        services: services.iter().map(order).collect(),
        ready_timeout_ms: READY_TIMEOUT_MS,
        environment: turn.state.environment.clone(),
    };
    turn.ask_aside(Command::KeepServices(Box::new(order)));
}

/// Records what happened to services.
pub(super) fn changed(state: &State, now: Timestamp, reports: &[ServiceReport]) -> Decision {
    let mut turn = Turn::about_run(state, now);
    for report in reports {
        turn.emit(Event::ServiceChanged {
            report: report.clone(),
        });
    }
    turn.decision()
}
