//! Services that tasks need. Each runs under its own keeper, alongside everything else.

mod readiness;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use regreen_diagnosis::{Scanner, evidence_of, rank};
use regreen_engine::{ServiceOrder, ServicesOrder};
use regreen_model::{
    Failure, FailureRecord, Service, ServiceChange, ServiceReport, Source, Verdict,
};
use regreen_supervisor::{
    Chunk, EndReason, Exit, Handle, Observer, ProcessSpec, Stdin, TimeLimits,
};

use crate::clock::millis;
use crate::log_file::{LogFile, read_tail};
use crate::observer::RunObserver;
use crate::performer::{PerformError, Performer};
use crate::process::ProcessError;

/// The time between the request to end and the kill.
const GRACE: Duration = Duration::from_secs(2);
/// A service has no time limit: it ends with the run.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// Why a service doesn't run during a check.
const WITHHELD: &str = "its row was added during this run, so it doesn't run during the checks of other tasks; from the next run on, it does";
/// How much of a log is quoted, and how much is diagnosed.
const QUOTED_BYTES: u64 = 2 * 1024;
const SCANNED_BYTES: u64 = 64 * 1024;

/// The services that this process has started for a run.
#[derive(Debug, Default)]
pub(crate) struct Services {
    running: Vec<RunningService>,
    /// The services that should be running, each with why it is down, if it is.
    needed: Vec<NeededService>,
    /// Services that died and have not been restarted since.
    died: Vec<Service>,
}

/// A service that a task needs, and its current state.
#[derive(Clone, Debug)]
pub(crate) struct NeededService {
    pub(crate) service: Service,
    pub(crate) log: PathBuf,
    /// Why it is down.
    pub(crate) trouble: Option<String>,
}

#[derive(Debug)]
struct RunningService {
    service: Service,
    log: PathBuf,
    handle: Handle,
    /// How it exited. Ending the processes that it started then takes a moment.
    exit: Arc<Mutex<Option<Exit>>>,
    thread: Option<JoinHandle<()>>,
}

impl RunningService {
    fn exit(&self) -> Option<Exit> {
        *self.exit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, root: &Path, change: ServiceChange) -> ServiceReport {
        report(&self.service, &self.log, root, change)
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        self.handle.end(EndReason::ObserverDone);
        if let Some(thread) = self.thread.take() {
            // A panic in the thread loses only the rest of a log.
            let _ = thread.join();
        }
    }
}

impl Services {
    /// Returns the services that the next tasks need.
    pub(crate) fn needed(&self) -> &[NeededService] {
        &self.needed
    }

    /// Removes the services that have exited on their own.
    fn take_dead(&mut self, root: &Path) -> Vec<ServiceReport> {
        let mut reports = Vec::new();
        let mut alive = Vec::new();
        for service in self.running.drain(..) {
            match service.exit() {
                None => alive.push(service),
                Some(exit) => {
                    let why = how_it_ended(exit, &service.log);
                    reports.push(service.report(root, ServiceChange::Died { why }));
                    self.died.push(service.service.clone());
                }
            }
        }
        self.running = alive;
        reports
    }

    /// Ends the services that are no longer needed or must be restarted.
    fn end_others(&mut self, orders: &[ServiceOrder], root: &Path) -> Vec<ServiceReport> {
        let is_kept = |running: &RunningService| {
            let mut orders = orders.iter();
            orders.any(|order| {
                order.service.is_same(&running.service) && !order.fresh && !order.withheld
            })
        };
        let (kept, ended): (Vec<_>, Vec<_>) = self.running.drain(..).partition(is_kept);
        self.running = kept;
        let is_needed = |service: &Service| {
            let mut orders = orders.iter();
            orders.any(|one| one.service.is_same(service) && !one.withheld)
        };
        let reports = ended.iter().filter(|ended| !is_needed(&ended.service));
        reports
            .map(|ended| ended.report(root, ServiceChange::Ended))
            .collect()
    }

    fn is_running(&self, service: &Service) -> bool {
        self.running
            .iter()
            .any(|running| running.service.is_same(service))
    }
}

impl Performer {
    /// Runs exactly these services, and notes the changes. A service that can't be started doesn't
    /// stop the run: the check that needs it reports that.
    pub(crate) fn keep_services(
        &mut self,
        order: &ServicesOrder,
        observer: &mut dyn RunObserver,
    ) -> Result<(), PerformError> {
        let root = self.paths.root.clone();
        let mut reports = self.services.take_dead(&root);
        reports.extend(self.services.end_others(&order.services, &root));
        let mut needed = Vec::new();
        for one in &order.services {
            let (state, report) = self.keep_service(one, order, observer)?;
            needed.push(state);
            reports.extend(report);
        }
        self.services.needed = needed;
        self.service_reports.append(&mut reports);
        Ok(())
    }

    fn keep_service(
        &mut self,
        one: &ServiceOrder,
        order: &ServicesOrder,
        observer: &mut dyn RunObserver,
    ) -> Result<(NeededService, Option<ServiceReport>), PerformError> {
        let service = &one.service;
        let known = self.services.needed.iter();
        let mut known = known.filter(|known| known.service.is_same(service));
        let known = known.next_back().cloned();
        let state = |log: &Path, trouble| NeededService {
            service: service.clone(),
            log: log.to_owned(),
            trouble,
        };
        let known_log = known.as_ref().map(|known| known.log.clone());
        if one.withheld {
            let log = known_log.unwrap_or_default();
            return Ok((state(&log, Some(WITHHELD.to_owned())), None));
        }
        if self.services.is_running(service) {
            return Ok((state(&known_log.unwrap_or_default(), None), None));
        }
        if !one.may_start {
            let why = known.and_then(|known| known.trouble);
            let why = why.unwrap_or_else(|| "it ended and was started again once".to_owned());
            return Ok((state(&known_log.unwrap_or_default(), Some(why)), None));
        }
        let again = self.services.died.iter().any(|died| died.is_same(service));
        let began = Instant::now();
        observer.activity(&format!("service: {}", self.masked(&service.command)));
        let running = self.start_service(service, order)?;
        let log = running.log.clone();
        let trouble = self.wait_until_ready(&running, order)?;
        let change = match &trouble {
            None => ServiceChange::Started {
                again,
                took_ms: millis(began.elapsed()),
            },
            Some(why) => ServiceChange::NotReady { why: why.clone() },
        };
        let report = running.report(&self.paths.root, change);
        // A service that isn't ready is ended here, with everything that it started.
        if trouble.is_none() {
            self.services.died.retain(|died| !died.is_same(service));
            self.services.running.push(running);
        }
        Ok((state(&log, trouble), Some(report)))
    }

    fn masked(&self, text: &str) -> String {
        self.context.processes.masks.mask(text)
    }

    fn start_service(
        &self,
        service: &Service,
        order: &ServicesOrder,
    ) -> Result<RunningService, PerformError> {
        let folder = self.paths.task_folder(&self.run, &service.task);
        let mut log = LogFile::create(&folder, "service")?;
        log.write(format!("$ {}\n", self.masked(&service.command)).as_bytes());
        let path = log.path().to_owned();
        let context = &self.context;
        let processes = &context.processes;
        let command = service.command.replace('\0', "");
        let purpose = format!("{}:service", service.task.id);
        let spec = ProcessSpec {
            argv: vec![context.shell.clone().into(), "-c".into(), command.into()],
            cwd: processes.root.clone(),
            env: context.project_programs.environment(&order.environment)?,
            stdin: Stdin::Empty,
            limits: TimeLimits {
                hard: FOR_EVER,
                idle: None,
                grace: GRACE,
            },
            marker: processes.marker(&purpose),
            masks: Some(processes.masks.clone()),
            last_copy: processes.last_copy.clone(),
        };
        let running = processes.keepers.spawn(spec).map_err(ProcessError::from)?;
        let handle = running.handle();
        let exit = Arc::new(Mutex::new(None));
        let mut observer = ServiceObserver {
            log,
            exit: Arc::clone(&exit),
        };
        let thread = thread::Builder::new().name(purpose).spawn(move || {
            // Even if it could no longer be watched: nothing of it is left running.
            let end = running.wait(&mut observer);
            observer.exited(end.map_or(Exit::Unknown, |end| end.exit));
        })?;
        Ok(RunningService {
            service: service.clone(),
            log: path,
            handle,
            exit,
            thread: Some(thread),
        })
    }

    /// Fails a check before it runs if a service that its own task declares is down.
    pub(crate) fn own_service_trouble(&self) -> Option<(Verdict, Option<Box<Failure>>)> {
        let mut own = self.services.needed.iter().filter(|one| one.service.is_own);
        let (down, why) = own.find_map(|one| Some((one, one.trouble.as_ref()?)))?;
        let log = read_tail(&down.log, QUOTED_BYTES).unwrap_or_default();
        let error = format!(
            "Service failed: `{}` {why}\n{}",
            down.service.command,
            log.trim_end()
        );
        let error = error.trim_end().to_owned();
        let diagnosis = diagnosed(&down.log).map(Box::new);
        Some((Verdict::Red { error }, diagnosis))
    }

    /// Adds the services that were down to a failed check.
    pub(crate) fn with_services_that_are_down(&self, verdict: Verdict) -> Verdict {
        let Verdict::Red { error } = verdict else {
            return verdict;
        };
        let down = self.services.needed.iter().filter_map(|one| {
            let why = one.trouble.as_ref()?;
            let (command, task) = (&one.service.command, &one.service.task.id);
            Some(format!(
                "\nThe service `{command}` of task {task} is down: {why}"
            ))
        });
        let down: String = down.collect();
        Verdict::Red {
            error: error + &down,
        }
    }
}

struct ServiceObserver {
    log: LogFile,
    exit: Arc<Mutex<Option<Exit>>>,
}

impl Observer for ServiceObserver {
    fn output(&mut self, chunk: Chunk<'_>) {
        // Anything else that writes there notices a full disk.
        self.log.write(chunk.bytes);
    }

    fn exited(&mut self, exit: Exit) {
        let mut known = self.exit.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert(exit);
    }
}

fn report(service: &Service, log: &Path, root: &Path, change: ServiceChange) -> ServiceReport {
    let shown = log.strip_prefix(root).unwrap_or(log);
    ServiceReport {
        task: service.task.clone(),
        command: service.command.clone(),
        log: shown.to_string_lossy().into_owned(),
        change,
    }
}

/// Describes how a service ended, with the cause if its log shows one.
fn how_it_ended(exit: Exit, log: &Path) -> String {
    match exit {
        Exit::Exited(code) => format!("ended with exit code {code}{}", last_line(log)),
        Exit::Signalled(signal) => format!("was ended by signal {signal}"),
        Exit::NotStarted { .. } => "could not be started".to_owned(),
        Exit::Unknown => "ended, and its exit code is unknown".to_owned(),
    }
}

/// Returns the most telling line of a log, to end a sentence with.
fn last_line(log: &Path) -> String {
    let told = diagnosed(log).and_then(|failure| failure.blocked_on);
    let tail = || {
        let text = read_tail(log, QUOTED_BYTES).unwrap_or_default();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let last = lines.next_back().filter(|line| !line.starts_with("$ "));
        last.map(str::to_owned)
    };
    let line = told.or_else(tail);
    line.map_or_else(String::new, |line| format!(": {line}"))
}

fn diagnosed(log: &Path) -> Option<Failure> {
    let text = read_tail(log, SCANNED_BYTES).ok()?;
    let mut scanner = Scanner::new(Source::Command);
    scanner.feed(text.as_bytes());
    let ending = regreen_model::Ending {
        exit_code: Some(1),
        ..regreen_model::Ending::default()
    };
    let evidence = evidence_of(scanner.finish(), Source::Command, None, ending);
    let failure = rank(&evidence)?;
    // An exit code alone says nothing here.
    let record = FailureRecord {
        diagnosis: Some(Box::new(failure.clone())),
        ..FailureRecord::default()
    };
    record
        .confident_diagnosis()
        .filter(|told| told.line.is_some())?;
    Some(failure)
}
