//! Waits until a service is ready.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use regreen_engine::ServicesOrder;
use regreen_model::Service;

use super::{RunningService, how_it_ended, last_line};
use crate::clock::millis;
use crate::execution::ExecutionContext;
use crate::log_file::LogFile;
use crate::performer::{PerformError, Performer};
use crate::verify::Check;

/// How long a service without a readiness check must stay alive to count as ready.
const SETTLES_AFTER: Duration = Duration::from_secs(1);
/// The time between two readiness checks.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long one readiness check may take.
const LONGEST_LOOK: Duration = Duration::from_secs(10);

impl Performer {
    /// Waits until the service is ready; returns why if it isn't.
    pub(super) fn wait_until_ready(
        &self,
        running: &RunningService,
        order: &ServicesOrder,
    ) -> Result<Option<String>, PerformError> {
        let began = Instant::now();
        let limit = Duration::from_millis(order.ready_timeout_ms);
        let service = &running.service;
        let folder = self.paths.task_folder(&self.run, &service.task);
        let mut look = ReadyCheck::new(&self.context, service, &folder, order)?;
        loop {
            if let Some(exit) = running.exit() {
                return Ok(Some(how_it_ended(exit, &running.log)));
            }
            if look.is_ready(&self.context, began)? {
                return Ok(None);
            }
            if began.elapsed() >= limit {
                let tail = last_line(&running.log);
                return Ok(Some(format!("not ready within {limit:?}{tail}")));
            }
            if self.context.processes.stop.asked().is_some() {
                return Err(PerformError::Stopped);
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// Checks whether a service is ready.
struct ReadyCheck<'a> {
    check: Check<'a>,
    log: LogFile,
}

impl<'a> ReadyCheck<'a> {
    fn new(
        context: &ExecutionContext,
        service: &'a Service,
        folder: &Path,
        order: &'a ServicesOrder,
    ) -> Result<Self, PerformError> {
        let longest = context.verify_timeout_ms.min(millis(LONGEST_LOOK));
        let check = Check {
            purpose: format!("{}:ready", service.task.id),
            folder: folder.to_owned(),
            stem: "ready".to_owned(),
            commands: &service.ready,
            gate: None,
            timeout_ms: longest,
            deadline: None,
            environment: &order.environment,
        };
        let log = LogFile::create(folder, "ready")?;
        Ok(Self { check, log })
    }

    fn is_ready(
        &mut self,
        context: &ExecutionContext,
        began: Instant,
    ) -> Result<bool, PerformError> {
        let commands = context.runnable(&self.check);
        if commands.is_empty() {
            return Ok(began.elapsed() >= SETTLES_AFTER);
        }
        for command in &commands {
            let result = context.run_check(&self.check, command, &mut self.log)?;
            if result.has_failed() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
