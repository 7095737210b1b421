use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use regreen_diagnosis::{Scanner, evidence_of, rank};
use regreen_model::{
    Ending, Evidence, Failure, Source, TaskKey, Verdict, VerifyCommand, VerifyForm,
};
use regreen_supervisor::{EndReason, Stdin, Stream};
use regreen_workspace::RealDisk;

use crate::audience::Audience;
use crate::excerpt::Excerpt;
use crate::log_file::LogFile;
use crate::perform_error::PerformError;
use crate::performer::Performer;
use crate::process::{Job, Sink, set};
use crate::report;
use crate::stop::Stop;

/// What is kept of an output for judging it and for quoting it.
const JUDGED: usize = 2 * 1024 * 1024;
const QUOTED: usize = 4 * 1024;

/// What is to be checked.
#[derive(Debug)]
pub(crate) struct Check<'a> {
    /// What it is for, in its marker.
    pub(crate) purpose: String,
    /// Where its log is, and what it is called.
    pub(crate) folder: PathBuf,
    pub(crate) stem: String,
    pub(crate) commands: &'a [VerifyCommand],
    pub(crate) gate: Option<&'a str>,
    pub(crate) timeout_ms: u64,
    /// What repairs have set.
    pub(crate) environment: &'a [(String, String)],
}

impl<'a> Check<'a> {
    /// A check of a task of the plan.
    pub(crate) fn of(
        performer: &Performer,
        task: &TaskKey,
        stem: String,
        commands: &'a [VerifyCommand],
        environment: &'a [(String, String)],
    ) -> Self {
        Self {
            purpose: format!("{}:verify", task.id),
            folder: performer.places.task_folder(&performer.run, task),
            stem,
            commands,
            gate: None,
            timeout_ms: performer.verify_timeout_ms,
            environment,
        }
    }
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) verdict: Verdict,
    /// Why it is red.
    pub(crate) diagnosis: Option<Box<Failure>>,
    /// What the red command showed.
    pub(crate) evidence: Option<Box<Evidence>>,
}

impl From<Verdict> for Checked {
    fn from(verdict: Verdict) -> Self {
        Self {
            verdict,
            diagnosis: None,
            evidence: None,
        }
    }
}

/// Runs what there is to run, in order, until something is red.
pub(crate) fn verify(
    performer: &mut Performer,
    check: &Check<'_>,
    audience: &mut dyn Audience,
) -> Result<Checked, PerformError> {
    let commands = runnable(performer, check);
    if commands.is_empty() {
        return Ok(Checked::from(Verdict::Unverified));
    }
    let mut log = LogFile::create(&check.folder, &check.stem)?;
    let mut checked = Checked::from(Verdict::Green);
    for command in &commands {
        audience.activity(&command.command);
        checked = run_one(performer, check, command, &mut log)?;
        if checked.verdict != Verdict::Green {
            break;
        }
    }
    log.finish()?;
    Ok(checked)
}

/// The task's own commands; if it has none, the gate of the whole workspace.
fn runnable(performer: &Performer, check: &Check<'_>) -> Vec<VerifyCommand> {
    let is_command = |command: &&VerifyCommand| match command.form {
        VerifyForm::Always => true,
        VerifyForm::IfProgram => performer.programs.has(&RealDisk, command.program()),
    };
    let own: Vec<VerifyCommand> = check.commands.iter().filter(is_command).cloned().collect();
    match check.gate {
        Some(gate) if own.is_empty() => vec![VerifyCommand::always(gate)],
        _ => own,
    }
}

fn run_one(
    performer: &Performer,
    check: &Check<'_>,
    command: &VerifyCommand,
    log: &mut LogFile,
) -> Result<Checked, PerformError> {
    let timeout = Duration::from_millis(check.timeout_ms);
    let text = &command.command;
    log.write(format!("$ {}\n", performer.processes.masks.mask(text)).as_bytes());
    let job = Job {
        argv: vec![
            performer.shell.clone().into(),
            "-c".into(),
            OsString::from(text.replace('\0', "")),
        ],
        env: set(check.environment),
        stdin: Stdin::Empty,
        timeout,
        idle: None,
        purpose: check.purpose.clone(),
    };
    let mut output = Output {
        log,
        stdout: Excerpt::new(JUDGED),
        all: Excerpt::new(QUOTED),
        scanner: Scanner::new(Source::Command),
    };
    let ended = performer.processes.run(job, &mut output)?;
    if ended.reason == EndReason::Cancelled {
        return Err(why_cancelled(&performer.processes.stop, output.log));
    }
    let ending = report::ending(&ended, timeout);
    let code = ended.exit.shell_code();
    output.log.write(format!("[exit code {code}]\n").as_bytes());
    let is_green = !ending.timed_out
        && match &command.expects {
            None => code == 0,
            Some(expected) => expected.is_met(code, &output.stdout.text()),
        };
    if is_green {
        return Ok(Checked::from(Verdict::Green));
    }
    let error = why_red(command, ending, code, &output.all.end(QUOTED));
    let scanned = output.scanner.finish();
    let evidence = evidence_of(scanned, Source::Command, Some(text.clone()), ending);
    Ok(Checked {
        verdict: Verdict::Red { error },
        diagnosis: rank(&evidence).map(Box::new),
        evidence: Some(Box::new(evidence)),
    })
}

/// Programs are ended because somebody asked to stop, or because what they print would be lost.
fn why_cancelled(stop: &Stop, log: &mut LogFile) -> PerformError {
    match (stop.asked(), log.check()) {
        (None, Err(error)) => error.into(),
        _ => PerformError::Stopped,
    }
}

/// The command and what became of it, then the end of what it printed.
fn why_red(command: &VerifyCommand, ending: Ending, code: i32, said: &str) -> String {
    let text = &command.command;
    let fate = match (ending.limit_ms, &command.expects) {
        (Some(limit), _) => format!("was ended after {:?}", Duration::from_millis(limit)),
        (None, None) => format!("ended with exit code {code}"),
        (None, Some(expected)) => {
            format!("ended with exit code {code}, but `{expected}` was stated")
        }
    };
    format!("Verify failed: `{text}` {fate}\n{said}")
        .trim_end()
        .to_owned()
}

struct Output<'l> {
    log: &'l mut LogFile,
    stdout: Excerpt,
    all: Excerpt,
    scanner: Scanner,
}

impl Sink for Output<'_> {
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
    fn a_log_that_cannot_be_written_is_no_wish_to_stop() {
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
    fn a_red_verify_says_what_ran_what_came_of_it_and_what_it_printed() {
        let mut command = VerifyCommand::always("make test");
        let why = why_red(&command, Ending::default(), 2, "2 failed");
        assert_eq!(
            why,
            "Verify failed: `make test` ended with exit code 2\n2 failed"
        );
        command.expects = Some(Expectation::NoOutput);
        let why = why_red(&command, Ending::default(), 0, "");
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
            why_red(&command, ending, 143, ""),
            "Verify failed: `make test` was ended after 2s"
        );
    }
}
