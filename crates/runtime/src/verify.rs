//! Checks of the work: the commands of a task, or of a delegation.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use regreen_diagnosis::{Scanner, evidence_of, rank};
use regreen_model::{
    Ending, Evidence, Failure, FailureRecord, Source, Verdict, VerifyCommand, VerifyForm,
};
use regreen_supervisor::{EndReason, Stdin, Stream};
use regreen_workspace::RealDisk;

use crate::execution::ExecutionContext;
use crate::log_file::{Excerpt, LogFile};
use crate::observer::RunObserver;
use crate::performer::PerformError;
use crate::process::{Job, Sink, ending_of, set};
use crate::stop::Stop;

/// How much of an output is compared with what the command is expected to print.
const COMPARED_BYTES: usize = 2 * 1024 * 1024;
/// How much of an output is quoted.
const QUOTED_BYTES: usize = 4 * 1024;

/// Commands that must pass.
#[derive(Debug)]
pub(crate) struct Check<'a> {
    /// Names it in its marker.
    pub(crate) purpose: String,
    /// The folder of its log.
    pub(crate) folder: PathBuf,
    /// The name of its log, without the ending.
    pub(crate) stem: String,
    pub(crate) commands: &'a [VerifyCommand],
    /// Runs where no other command does.
    pub(crate) gate: Option<&'a str>,
    pub(crate) timeout_ms: u64,
    /// Variables that repairs have set.
    pub(crate) environment: &'a [(String, String)],
}

/// How a check ended.
#[derive(Debug)]
pub(crate) enum CheckResult {
    Passed,
    /// There was nothing to run.
    Unverified,
    Failed {
        failure: FailureRecord,
        evidence: Box<Evidence>,
    },
}

impl CheckResult {
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// What the engine is told.
    pub(crate) fn into_verdict(self) -> (Verdict, Option<Box<Failure>>) {
        match self {
            Self::Passed => (Verdict::Green, None),
            Self::Unverified => (Verdict::Unverified, None),
            Self::Failed { failure, .. } => {
                let error = failure.error;
                (Verdict::Red { error }, failure.diagnosis)
            }
        }
    }
}

impl ExecutionContext {
    /// Runs the commands in order, until one fails.
    pub(crate) fn verify(
        &self,
        check: &Check<'_>,
        observer: &mut dyn RunObserver,
    ) -> Result<CheckResult, PerformError> {
        let commands = self.runnable(check);
        if commands.is_empty() {
            return Ok(CheckResult::Unverified);
        }
        let mut log = LogFile::create(&check.folder, &check.stem)?;
        let mut result = CheckResult::Passed;
        for command in &commands {
            observer.activity(&command.command);
            result = self.run_check(check, command, &mut log)?;
            if result.has_failed() {
                break;
            }
        }
        log.finish()?;
        Ok(result)
    }

    /// Runs a check, and once more if it failed: it may be flaky. Returns the last result, and
    /// whether it was the second one.
    pub(crate) fn verify_with_retry(
        &self,
        check: &Check<'_>,
        observer: &mut dyn RunObserver,
    ) -> Result<(CheckResult, bool), PerformError> {
        let first = self.verify(check, observer)?;
        if first.has_failed() {
            Ok((self.verify(check, observer)?, true))
        } else {
            Ok((first, false))
        }
    }

    /// The commands of the check; if it has none, the gate of the whole workspace.
    fn runnable(&self, check: &Check<'_>) -> Vec<VerifyCommand> {
        let is_command = |command: &&VerifyCommand| match command.form {
            VerifyForm::Always => true,
            VerifyForm::IfProgram => self.programs.has(&RealDisk, command.program()),
        };
        let own: Vec<VerifyCommand> = check.commands.iter().filter(is_command).cloned().collect();
        match check.gate {
            Some(gate) if own.is_empty() => vec![VerifyCommand::always(gate)],
            _ => own,
        }
    }

    fn run_check(
        &self,
        check: &Check<'_>,
        command: &VerifyCommand,
        log: &mut LogFile,
    ) -> Result<CheckResult, PerformError> {
        let timeout = Duration::from_millis(check.timeout_ms);
        let text = &command.command;
        log.write(format!("$ {}\n", self.processes.masks.mask(text)).as_bytes());
        let job = Job {
            argv: vec![
                self.shell.clone().into(),
                "-c".into(),
                OsString::from(text.replace('\0', "")),
            ],
            env: set(check.environment),
            stdin: Stdin::Empty,
            timeout,
            idle: None,
            purpose: check.purpose.clone(),
        };
        let mut output = CheckOutput {
            log,
            stdout: Excerpt::new(COMPARED_BYTES),
            all: Excerpt::new(QUOTED_BYTES),
            scanner: Scanner::new(Source::Command),
        };
        let ended = self.processes.run(job, &mut output)?;
        if ended.reason == EndReason::Cancelled {
            return Err(why_cancelled(&self.processes.stop, output.log));
        }
        let ending = ending_of(&ended, timeout);
        let code = ended.exit.shell_code();
        output.log.write(format!("[exit code {code}]\n").as_bytes());
        let has_passed = !ending.timed_out
            && match &command.expects {
                None => code == 0,
                Some(expected) => expected.is_met(code, &output.stdout.text()),
            };
        if has_passed {
            return Ok(CheckResult::Passed);
        }
        let error = why_failed(command, ending, code, &output.all.end(QUOTED_BYTES));
        let scanned = output.scanner.finish();
        let evidence = evidence_of(scanned, Source::Command, Some(text.clone()), ending);
        Ok(CheckResult::Failed {
            failure: FailureRecord {
                diagnosis: rank(&evidence).map(Box::new),
                ..FailureRecord::new(error)
            },
            evidence: Box::new(evidence),
        })
    }
}

/// Programs are cancelled because someone asked to stop, or because their output would be lost.
fn why_cancelled(stop: &Stop, log: &mut LogFile) -> PerformError {
    match (stop.asked(), log.check()) {
        (None, Err(error)) => error.into(),
        _ => PerformError::Stopped,
    }
}

/// Names the command and how it ended, then quotes the end of its output.
fn why_failed(command: &VerifyCommand, ending: Ending, code: i32, output: &str) -> String {
    let text = &command.command;
    let how = match (ending.limit_ms, &command.expects) {
        (Some(limit), _) => format!("was ended after {:?}", Duration::from_millis(limit)),
        (None, None) => format!("ended with exit code {code}"),
        (None, Some(expected)) => {
            format!("ended with exit code {code}, but `{expected}` was stated")
        }
    };
    format!("Verify failed: `{text}` {how}\n{output}")
        .trim_end()
        .to_owned()
}

struct CheckOutput<'l> {
    log: &'l mut LogFile,
    stdout: Excerpt,
    all: Excerpt,
    scanner: Scanner,
}

impl Sink for CheckOutput<'_> {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        if stream == Stream::Stdout {
            self.stdout.push(bytes);
        }
        self.all.push(bytes);
        self.scanner.feed(bytes);
        self.log.write(bytes)
    }
}

#[cfg(test)]
mod tests {
    use regreen_model::{Expectation, StopSignal};

    use super::*;

    #[test]
    fn a_log_that_cannot_be_written_is_not_a_request_to_stop() {
        let mut log = LogFile::full();
        assert!(!log.write(b"said"));
        let stop = Stop::default();
        let why = why_cancelled(&stop, &mut log);
        assert!(
            matches!(why, PerformError::Broken(why) if why.starts_with("cannot write /dev/full: "))
        );
        stop.ask(StopSignal::Interrupt);
        assert_eq!(why_cancelled(&stop, &mut log), PerformError::Stopped);
    }

    #[test]
    fn a_failed_verify_names_the_command_how_it_ended_and_its_output() {
        let mut command = VerifyCommand::always("make test");
        let why = why_failed(&command, Ending::default(), 2, "2 failed");
        assert_eq!(
            why,
            "Verify failed: `make test` ended with exit code 2\n2 failed"
        );
        command.expects = Some(Expectation::NoOutput);
        let why = why_failed(&command, Ending::default(), 0, "");
        assert_eq!(
            why,
            "Verify failed: `make test` ended with exit code 0, but `no output` was stated"
        );
        let ending = Ending {
            limit_ms: Some(2000),
            timed_out: true,
            ..Ending::default()
        };
        assert_eq!(
            why_failed(&command, ending, 143, ""),
            "Verify failed: `make test` was ended after 2s"
        );
    }
}
