//! Repairs that regreen carries out itself.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use regreen_documents::shell_steps;
use regreen_engine::{RepairOrder, RepairTarget};
use regreen_model::{Failure, Inspection, PlannedRepair, RepairResult};
use regreen_repairs::{
    AppliedRepair, ProgramRecord, RepairContext, ToolCall, ToolQuery, ToolResult, ToolRunner,
    apply_repair, inspect, roll_back_interrupted,
};
use regreen_supervisor::{EndReason, Stdin, Stream};
use regreen_workspace::AttemptName;

use crate::clock;
use crate::execution::ExecutionContext;
use crate::log_file::{Excerpt, LogFile, read_tail};
use crate::performer::{PerformError, Performer};
use crate::process::{Job, Processes, Sink};

/// How much of the failed command's output an inspection reads.
const INSPECTED_BYTES: u64 = 64 * 1024;
/// How much of a repair's output is kept.
const KEPT_BYTES: usize = 4 * 1024;

/// A failure and its surroundings, as repairs see them.
#[derive(Debug)]
pub(crate) struct FailureSite<'a> {
    pub(crate) failure: &'a Failure,
    /// The commands that ran.
    pub(crate) commands: Vec<String>,
    /// Their output.
    pub(crate) log: PathBuf,
    /// Variables set by earlier repairs.
    pub(crate) environment: &'a [(String, String)],
}

/// A repair to carry out.
#[derive(Debug)]
pub(crate) struct RepairJob<'a> {
    pub(crate) repair: &'a PlannedRepair,
    /// A person has agreed to it.
    pub(crate) agreed: bool,
    /// It was started before, and interrupted.
    pub(crate) again: bool,
    /// Identifies it in its marker.
    pub(crate) purpose: String,
    pub(crate) log: LogFile,
}

impl Performer {
    /// Decides whether regreen may repair the failure of the task.
    pub(crate) fn inspect_repair(
        &mut self,
        scene: &RepairTarget,
    ) -> Result<Inspection, PerformError> {
        let site = self.failure_site(scene)?;
        self.context.inspect_repair(&site)
    }

    /// Carries out a fix; `None` if someone removed or ticked it.
    pub(crate) fn repair(
        &mut self,
        order: &RepairOrder,
    ) -> Result<Option<RepairResult>, PerformError> {
        if self.plan.read()?.open_row(&order.fix).is_none() {
            return Ok(None);
        }
        let folder = self.paths.task_folder(&self.run, &order.fix);
        let job = RepairJob {
            repair: &order.repair,
            agreed: order.agreed,
            again: order.again,
            purpose: format!("{}:repair", order.fix.id),
            log: LogFile::create(&folder, &order.attempt.to_string())?,
        };
        let site = self.failure_site(&order.target)?;
        let name = AttemptName::new(&self.run, &order.fix, order.attempt);
        let left_out = self.tree.before(&name, clock::now())?;
        self.notices.add_all(left_out);
        let result = self.context.repair(&site, job);
        let left = self.tree.after(&name, clock::now())?;
        self.notices.add_all(left.warnings);
        let moved = left
            .moved
            .map(|moved| format!("the repair {}: {moved}", order.fix.id));
        self.notices.add_all(moved);
        result.map(Some)
    }

    fn failure_site<'s>(
        &mut self,
        scene: &'s RepairTarget,
    ) -> Result<FailureSite<'s>, PerformError> {
        let folder = self.paths.task_folder(&self.run, &scene.task);
        Ok(FailureSite {
            failure: &scene.failure,
            commands: self.commands(scene)?,
            log: log_of_attempt(&folder, scene.attempt),
            environment: &scene.environment,
        })
    }

    /// Returns the task's own commands.
    fn commands(&mut self, scene: &RepairTarget) -> Result<Vec<String>, PerformError> {
        let file = self.plan.read()?;
        let row = file.resolve(&scene.task).and_then(|row| file.task(row));
        let steps = row.and_then(|task| task.fields.action.as_deref().map(shell_steps));
        let verify = scene.verify.iter().map(|verify| verify.command.clone());
        Ok(verify.chain(steps.unwrap_or_default()).collect())
    }
}

impl ExecutionContext {
    /// Decides whether regreen may repair a failure.
    pub(crate) fn inspect_repair(
        &self,
        site: &FailureSite<'_>,
    ) -> Result<Inspection, PerformError> {
        self.with_context(site, |context| inspect(context, site.failure))
    }

    /// Carries out a repair.
    pub(crate) fn repair(
        &self,
        site: &FailureSite<'_>,
        job: RepairJob<'_>,
    ) -> Result<RepairResult, PerformError> {
        let mut runner = RepairRunner {
            processes: self.processes.clone(),
            environment: self.project_programs.environment(site.environment)?,
            purpose: job.purpose,
            log: job.log,
        };
        let AppliedRepair { result, programs } = self.with_context(site, |context| {
            // An interrupted repair is rolled back before it is inspected again.
            match job
                .again
                .then(|| roll_back_interrupted(context, job.repair))
            {
                Some(Err(why)) => AppliedRepair {
                    result: RepairResult::Failed { why },
                    programs: ProgramRecord::default(),
                },
                None | Some(Ok(())) => {
                    apply_repair(context, site.failure, job.repair, job.agreed, &mut runner)
                }
            }
        })?;
        self.project_programs.add(programs)?;
        runner.log.write(log_line(&result).as_bytes());
        runner.log.finish()?;
        let has_failed = matches!(result, RepairResult::Failed { .. });
        if has_failed && self.processes.stop.asked().is_some() {
            // Interrupted, not failed: the next run inspects it again.
            return Err(PerformError::Stopped);
        }
        // An interrupted repair of one step has either happened or not. If nothing is left to do,
        // it has.
        if has_failed && job.again && job.repair.action.is_one_step() {
            return Ok(RepairResult::Done {
                did: format!("{}, before it was interrupted", job.repair.does),
                environment: Vec::new(),
            });
        }
        Ok(result)
    }

    fn with_context<T>(
        &self,
        site: &FailureSite<'_>,
        act: impl FnOnce(&RepairContext<'_>) -> T,
    ) -> Result<T, PerformError> {
        let root = self.root.canonicalize()?;
        let marker = format!("{}:", self.processes.run);
        let output = read_tail(&site.log, INSPECTED_BYTES).unwrap_or_default();
        let query = ConfigurationQuery(&self.processes);
        Ok(act(&RepairContext {
            root: &root,
            manifests: &self.manifests,
            programs: &self.project_programs.record(),
            launchers: &self.project_programs.launchers(),
            query: &query,
            output: &output,
            commands: &site.commands,
            environment: site.environment,
            path: &self.path,
            marker: Some(&marker),
            now: SystemTime::now(),
        }))
    }
}

fn log_line(result: &RepairResult) -> String {
    match result {
        RepairResult::Done { did, .. } => format!("[done: {did}]\n"),
        RepairResult::Failed { why } => format!("[failed: {why}]\n"),
    }
}

/// Returns the log of an attempt in a folder: Verify's log if it ran.
pub(crate) fn log_of_attempt(folder: &Path, attempt: u32) -> PathBuf {
    let verify = log_of_check(folder, attempt);
    verify.unwrap_or_else(|| folder.join(format!("{attempt}.log")))
}

/// Returns the log of the check after an attempt, if there was one.
pub(crate) fn log_of_check(folder: &Path, attempt: u32) -> Option<PathBuf> {
    newest_log(folder, &format!("{attempt}.verify"))
}

/// Returns the last existing log with this name.
fn newest_log(folder: &Path, stem: &str) -> Option<PathBuf> {
    let again = (2..).map(|n| folder.join(format!("{stem}-{n}.log")));
    let first = folder.join(format!("{stem}.log"));
    let all = [first].into_iter().chain(again);
    all.take_while(|path| fs::symlink_metadata(path).is_ok())
        .last()
}

/// How long a package manager may take to print its configuration.
const QUERY_TIME: Duration = Duration::from_secs(20);

/// Asks package managers for the user's own configuration. They run outside the workspace, whose
/// settings could name another registry.
#[derive(Debug)]
struct ConfigurationQuery<'p>(&'p Processes);

impl ToolQuery for ConfigurationQuery<'_> {
    fn ask(&self, call: &ToolCall) -> Option<String> {
        let processes = Processes {
            root: PathBuf::from("/"),
            ..self.0.clone()
        };
        let job = Job {
            argv: call.argv.clone(),
            env: call.environment.clone(),
            stdin: Stdin::Empty,
            timeout: QUERY_TIME,
            idle: None,
            purpose: "configuration".to_owned(),
        };
        let mut answer = Answer(Excerpt::new(KEPT_BYTES));
        let ended = processes.run(job, &mut answer).ok()?;
        let has_succeeded = ended.reason == EndReason::Normal && ended.exit.shell_code() == 0;
        has_succeeded.then(|| answer.0.text())
    }
}

/// Keeps a program's standard output.
struct Answer(Excerpt);

impl Sink for Answer {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        if stream == Stream::Stdout {
            self.0.push(bytes);
        }
        true
    }
}

/// Runs a repair's programs under a keeper, with all their output in the log.
struct RepairRunner {
    processes: Processes,
    /// Variables set by earlier repairs.
    environment: Vec<(OsString, Option<OsString>)>,
    purpose: String,
    log: LogFile,
}

impl ToolRunner for RepairRunner {
    fn run(&mut self, call: &ToolCall) -> ToolResult {
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
        let mut output = RepairOutput {
            log: &mut self.log,
            end: Excerpt::new(KEPT_BYTES),
        };
        let ended = processes.run(job, &mut output);
        let printed = output.end.end(KEPT_BYTES);
        match ended {
            Ok(ended) => ToolResult {
                exit: match ended.reason {
                    EndReason::Normal => Some(ended.exit.shell_code()),
                    _ => None,
                },
                output: printed,
            },
            Err(error) => ToolResult {
                exit: None,
                output: error.to_string(),
            },
        }
    }
}

struct RepairOutput<'l> {
    log: &'l mut LogFile,
    end: Excerpt,
}

impl Sink for RepairOutput<'_> {
    fn take(&mut self, _stream: Stream, bytes: &[u8]) -> bool {
        self.end.push(bytes);
        self.log.write(bytes)
    }
}
