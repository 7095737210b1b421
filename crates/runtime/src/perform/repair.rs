//! Repairs that regreen carries out itself.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use regreen_documents::shell_steps;
use regreen_engine::{RepairOrder, RepairTarget};
use regreen_model::{Failure, Inspection, RepairResult};
use regreen_repairs::{Ran, Runner, Scene, ToolCall, carry_out, inspect, put_away_half_done};
use regreen_supervisor::{EndReason, Stdin, Stream};
use regreen_workspace::AttemptName;

use crate::clock;
use crate::end_of_file::end_of_file;
use crate::excerpt::Excerpt;
use crate::log_file::LogFile;
use crate::perform_error::PerformError;
use crate::performer::Performer;
use crate::process::{Job, Processes, Sink, set};

/// How much is looked at of what the failing command printed, and kept of what a repair prints.
const LOOKED_AT: u64 = 64 * 1024;
const KEPT: usize = 4 * 1024;

/// Whether a machine may repair what the task failed of.
pub(crate) fn inspect_repair(
    performer: &mut Performer,
    scene: &RepairTarget,
) -> Result<Inspection, PerformError> {
    let site = Site::of(performer, scene)?;
    inspect_at(performer, scene, &site)
}

/// As [`inspect_repair`], wherever it failed.
pub(crate) fn inspect_at(
    performer: &Performer,
    scene: &RepairTarget,
    site: &Site,
) -> Result<Inspection, PerformError> {
    with_scene(performer, scene, site, |seen, _| {
        inspect(seen, &scene.failure)
    })
}

/// Carries out a fix; `None` if somebody removed or ticked it.
pub(crate) fn repair(
    performer: &mut Performer,
    order: &RepairOrder,
) -> Result<Option<RepairResult>, PerformError> {
    if performer.plan.read()?.open_row(&order.fix).is_none() {
        return Ok(None);
    }
    let folder = performer.places.task_folder(&performer.run, &order.fix);
    let log = LogFile::create(&folder, &order.attempt.to_string())?;
    let site = Site::of(performer, &order.target)?;
    repair_at(performer, order, &site, log).map(Some)
}

/// As [`repair`], wherever it failed.
pub(crate) fn repair_at(
    performer: &mut Performer,
    order: &RepairOrder,
    site: &Site,
    log: LogFile,
) -> Result<RepairResult, PerformError> {
    let name = AttemptName::new(&performer.run, &order.fix, order.attempt);
    performer.tree.before(&name, clock::now())?;
    let mut runner = Tools {
        processes: performer.processes.clone(),
        environment: set(&order.target.environment),
        purpose: format!("{}:repair", order.fix.id),
        log,
    };
    let result = with_scene(performer, &order.target, site, |seen, failure| {
        // What was cut off is out of the way before anybody looks again.
        match order.again.then(|| put_away_half_done(seen, &order.repair)) {
            Some(Err(why)) => RepairResult::Failed { why },
            None | Some(Ok(())) => {
                carry_out(seen, failure, &order.repair, order.agreed, &mut runner)
            }
        }
    })?;
    let left = performer.tree.after(&name, clock::now())?;
    performer.notices.add_all(left.warnings);
    runner.log.write(told(&result).as_bytes());
    runner.log.finish()?;
    match performer.processes.stop.asked() {
        // What was cut off has not failed: it is looked at again when the run goes on.
        Some(_) if matches!(result, RepairResult::Failed { .. }) => Err(PerformError::Stopped),
        _ => Ok(settled(order, result)),
    }
}

/// What is done in one step and was cut off was done or not: where there is nothing left to do, it
/// was.
fn settled(order: &RepairOrder, result: RepairResult) -> RepairResult {
    let may_be_done = order.again && order.repair.action.is_one_step();
    match result {
        RepairResult::Failed { .. } if may_be_done => RepairResult::Done {
            did: format!("{}, before it was cut off", order.repair.does),
            environment: Vec::new(),
        },
        result => result,
    }
}

/// Where something failed.
#[derive(Debug)]
pub(crate) struct Site {
    /// What was run there.
    pub(crate) commands: Vec<String>,
    /// What that printed.
    pub(crate) log: PathBuf,
}

impl Site {
    fn of(performer: &mut Performer, scene: &RepairTarget) -> Result<Self, PerformError> {
        Ok(Self {
            commands: commands(performer, scene)?,
            log: log_of(performer, scene),
        })
    }
}

fn told(result: &RepairResult) -> String {
    match result {
        RepairResult::Done { did, .. } => format!("[done: {did}]\n"),
        RepairResult::Failed { why } => format!("[failed: {why}]\n"),
    }
}

/// Looks at the workspace as the task that failed left it.
fn with_scene<T>(
    performer: &Performer,
    scene: &RepairTarget,
    site: &Site,
    look: impl FnOnce(&Scene<'_>, &Failure) -> T,
) -> Result<T, PerformError> {
    let root = performer.places.root.canonicalize()?;
    let marker = format!("{}:", performer.processes.run);
    let output = end_of_file(&site.log, LOOKED_AT).unwrap_or_default();
    let seen = Scene {
        root: &root,
        declared: &performer.declared,
        output: &output,
        commands: &site.commands,
        environment: &scene.environment,
        path: &performer.path,
        marker: Some(&marker),
        now: SystemTime::now(),
    };
    Ok(look(&seen, &scene.failure))
}

/// What the task itself runs.
fn commands(performer: &mut Performer, scene: &RepairTarget) -> Result<Vec<String>, PerformError> {
    let file = performer.plan.read()?;
    let row = file.resolve(&scene.task).and_then(|row| file.task(row));
    let steps = row.and_then(|task| task.fields.action.as_deref().map(shell_steps));
    let verify = scene.verify.iter().map(|verify| verify.command.clone());
    Ok(verify.chain(steps.unwrap_or_default()).collect())
}

/// The log of what failed: Verify's, if that ran.
fn log_of(performer: &Performer, scene: &RepairTarget) -> PathBuf {
    log_in(
        &performer.places.task_folder(&performer.run, &scene.task),
        scene.attempt,
    )
}

/// The log of an attempt in a folder: Verify's, if that ran.
pub(crate) fn log_in(folder: &Path, attempt: u32) -> PathBuf {
    let verify = newest(folder, &format!("{attempt}.verify"));
    verify.unwrap_or_else(|| folder.join(format!("{attempt}.log")))
}

/// The log that was made last of those called so.
fn newest(folder: &Path, stem: &str) -> Option<PathBuf> {
    let again = (2..).map(|n| folder.join(format!("{stem}-{n}.log")));
    let first = folder.join(format!("{stem}.log"));
    let all = [first].into_iter().chain(again);
    all.take_while(|path| fs::symlink_metadata(path).is_ok())
        .last()
}

/// Runs what repairs need, under a keeper, with everything that it prints in the log.
struct Tools {
    processes: Processes,
    /// What earlier repairs have set.
    environment: Vec<(OsString, Option<OsString>)>,
    purpose: String,
    log: LogFile,
}

impl Runner for Tools {
    fn run(&mut self, call: &ToolCall) -> Ran {
        let words: Vec<_> = call
            .argv
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        let shown = self.processes.masks.mask(&words.join(" "));
        self.log.write(format!("$ {shown}\n").as_bytes());
        let job = Job {
            argv: call.argv.clone(),
            env: [self.environment.clone(), call.environment.clone()].concat(),
            stdin: Stdin::Empty,
            timeout: call.time_limit,
            idle: None,
            purpose: self.purpose.clone(),
        };
        let processes = Processes {
            root: self.processes.root.join(&call.folder),
            ..self.processes.clone()
        };
        let mut output = Output {
            log: &mut self.log,
            end: Excerpt::new(KEPT),
        };
        let ended = processes.run(job, &mut output);
        let said = output.end.end(KEPT);
        match ended {
            Ok(ended) => Ran {
                exit: match ended.reason {
                    EndReason::Normal => Some(ended.exit.shell_code()),
                    _ => None,
                },
                output: said,
            },
            Err(error) => Ran {
                exit: None,
                output: error.to_string(),
            },
        }
    }
}

struct Output<'l> {
    log: &'l mut LogFile,
    end: Excerpt,
}

impl Sink for Output<'_> {
    fn take(&mut self, _stream: Stream, bytes: &[u8]) -> bool {
        self.end.push(bytes);
        self.log.write(bytes)
    }
}
