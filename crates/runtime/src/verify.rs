//! Checks of the work: the commands of a task or a delegation.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regreen_diagnosis::{Scanner, SilentCheck, check_failure, evidence_of, signal_name};
use regreen_documents::{
    PathState, RedCommand, Shell, guarded_for, inputs_of, is_answer, is_search, says_no_with_one,
};
use regreen_model::{
    CommandResult, Ending, Evidence, Expectation, Failure, FailureRecord, RedTests, Source,
    Verdict, VerifyCommand,
};
use regreen_supervisor::{EndReason, Exit, Stdin, Stream};
use regreen_test_results::{TestCommand, ran_no_test};
use regreen_workspace::{Programs, RealDisk};

use crate::execution::ExecutionContext;
use crate::log_file::{Excerpt, LogFile};
use crate::observer::RunObserver;
use crate::performer::PerformError;
use crate::process::{Job, Sink, ending_of};
use crate::stop::Stop;

/// How much output is compared with what a command should print.
pub(crate) const COMPARED_BYTES: usize = 2 * 1024 * 1024;
/// How much output is quoted.
pub(crate) const QUOTED_BYTES: usize = 4 * 1024;
/// The most failed tests that are looked at by name.
const MAX_RED_TESTS: usize = 200;
/// How often a command runs if its keeper is killed each time: its result is then unknown.
const KEEPERS: u32 = 3;

/// Commands that must pass.
#[derive(Debug)]
pub(crate) struct Check<'a> {
    /// Identifies it in its marker.
    pub(crate) purpose: String,
    /// The folder for the log.
    pub(crate) folder: PathBuf,
    /// The file name of the log, without the extension.
    pub(crate) stem: String,
    pub(crate) commands: &'a [VerifyCommand],
    /// Runs if there are no other commands.
    pub(crate) gate: Option<&'a str>,
    pub(crate) timeout_ms: u64,
    /// When all commands must have ended.
    pub(crate) deadline: Option<Instant>,
    /// Variables set by repairs.
    pub(crate) environment: &'a [(String, String)],
}

impl Check<'_> {
    /// Returns how long the next command may take.
    pub(crate) fn time_left(&self) -> Duration {
        let timeout = Duration::from_millis(self.timeout_ms);
        let left = self
            .deadline
            .map(|end| end.saturating_duration_since(Instant::now()));
        left.map_or(timeout, |left| left.min(timeout))
    }
}

/// How a check ended.
#[derive(Debug)]
pub(crate) enum CheckResult {
    Passed,
    /// There was nothing to run.
    Unverified,
    /// It passed, but this command ran no test.
    RanNoTest {
        command: String,
    },
    Failed {
        failure: FailureRecord,
        evidence: Box<Evidence>,
        /// The tests that failed, if the command names them.
        tests: Option<Box<RedTests>>,
    },
}

impl CheckResult {
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// Returns the tests that failed, if the command names them.
    pub(crate) fn take_tests(&mut self) -> Option<Box<RedTests>> {
        match self {
            Self::Failed { tests, .. } => tests.take(),
            Self::Passed | Self::Unverified | Self::RanNoTest { .. } => None,
        }
    }

    /// Returns the verdict for the engine, with the diagnosis.
    pub(crate) fn into_verdict(self) -> (Verdict, Option<Box<Failure>>) {
        match self {
            Self::Passed => (Verdict::Green, None),
            Self::Unverified | Self::RanNoTest { .. } => (Verdict::Unverified, None),
            Self::Failed { failure, .. } => {
                let error = failure.error;
                (Verdict::Red { error }, failure.diagnosis)
            }
        }
    }
}

impl ExecutionContext {
    /// Runs the commands in order until one fails.
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
            observer.activity(&self.processes.masks.mask(&command.command));
            let next = self.run_check(check, command, &mut log)?;
            // Without a test, nothing shows that it works, whatever other commands say.
            if next.has_failed() || !matches!(result, CheckResult::RanNoTest { .. }) {
                result = next;
            }
            if result.has_failed() {
                break;
            }
        }
        log.finish()?;
        Ok(result)
    }

    /// Runs a check, and runs it once more if it fails, because it may be flaky. Returns the last
    /// result, and whether it was the second one.
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

    /// Returns the commands of the check or, if it has none, the gate.
    pub(crate) fn runnable(&self, check: &Check<'_>) -> Vec<VerifyCommand> {
        let is_command = |command: &&VerifyCommand| self.programs.can_run(&RealDisk, command);
        let own: Vec<VerifyCommand> = check.commands.iter().filter(is_command).cloned().collect();
        match check.gate {
            Some(gate) if own.is_empty() => vec![VerifyCommand::always(gate)],
            _ => own,
        }
    }

    /// Returns the kind of shell: not every shell can report the stages of a pipeline.
    fn shell_kind(&self) -> Shell {
        match self.shell.file_name() {
            Some(name) if name == "bash" => Shell::Bash,
            _ => Shell::Posix,
        }
    }

    /// Runs a command until its result is known. If its keeper is killed, the command counts as not
    /// having run: it neither failed nor passed, whatever its expected outcome, and isn't flaky.
    pub(crate) fn run_check(
        &self,
        check: &Check<'_>,
        command: &VerifyCommand,
        log: &mut LogFile,
    ) -> Result<CheckResult, PerformError> {
        for _ in 0..KEEPERS {
            if let Some(result) = self.run_command(check, command, log)? {
                return Ok(result);
            }
            log.write(b"[the supervisor of this command was killed; its result is unknown]\n");
        }
        let error = format!(
            "Verify failed: `{}` did not end by itself: its supervisor was killed {KEEPERS} times",
            command.command
        );
        Ok(CheckResult::Failed {
            failure: FailureRecord::new(error),
            evidence: Box::default(),
            tests: None,
        })
    }

    /// Runs a command; `None` if its keeper was killed.
    fn run_command(
        &self,
        check: &Check<'_>,
        command: &VerifyCommand,
        log: &mut LogFile,
    ) -> Result<Option<CheckResult>, PerformError> {
        let timeout = check.time_left();
        let text = &command.command;
        log.write(format!("$ {}\n", self.processes.masks.mask(text)).as_bytes());
        let is_read = self.names_tests && command.expects.is_none();
        let test_command = is_read.then(|| TestCommand::parse(text)).flatten();
        // Names of tests stand in one stream, and what they belong to in the other.
        let script = match &test_command {
            Some(_) => format!("{text} 2>&1"),
            None => text.replace('\0', ""),
        };
        let job = Job {
            argv: self.shell_argv(&script, command.expects.as_ref()),
            env: self.project_programs.environment(check.environment)?,
            stdin: Stdin::Empty,
            timeout,
            idle: None,
            purpose: check.purpose.clone(),
        };
        let inputs = inputs_of(text, command.expects.as_ref());
        let programs = self.programs_with(check.environment);
        let lacked = programs.missing(&RealDisk, &inputs);
        let mut output = CheckOutput {
            log,
            stdout: Excerpt::new(COMPARED_BYTES),
            stderr: Excerpt::new(COMPARED_BYTES),
            all: Excerpt::new(match &test_command {
                Some(_) => COMPARED_BYTES,
                None => QUOTED_BYTES,
            }),
            scanner: Scanner::new(Source::Command).with_own_rules(self.own_rules.clone()),
        };
        let ended = self.processes.run(job, &mut output)?;
        if ended.reason == EndReason::Cancelled {
            return Err(why_cancelled(&self.processes.stop, output.log));
        }
        let ending = ending_of(&ended, timeout);
        if ended.exit == Exit::Unknown && !ending.timed_out {
            return Ok(None);
        }
        let code = ended.exit.shell_code();
        output.log.write(format!("[exit code {code}]\n").as_bytes());
        let has_passed = !ending.timed_out && output.is_expected(command, code);
        // The command may create the files that it reads.
        let missing = lacked
            .filter(|_| has_passed)
            .and_then(|_| programs.missing(&RealDisk, &inputs));
        if has_passed && missing.is_none() {
            return Ok(Some(output.passed(command)));
        }
        let tests = test_command.filter(|_| !ending.timed_out);
        let tests = tests.and_then(|tests| self.red_tests(text, &tests, &mut output.all));
        let printed = output.all.end(QUOTED_BYTES);
        let (finding, line) = self.finding(command, code, &printed);
        let error = match missing {
            Some(input) => format!("Verify failed: `{text}` proves nothing: {input}"),
            None => why_failed(command, ending, code, finding.as_deref(), &printed),
        };
        let scanned = output.scanner.finish();
        let evidence = evidence_of(scanned, Source::Command, Some(text.clone()), ending);
        let silent = is_silent(&printed).then_some(SilentCheck {
            exit_code: code,
            line: line.as_deref(),
            finding: finding.as_deref(),
        });
        let mut found = check_failure(&evidence, silent);
        if let Some(failure) = &mut found {
            self.own_rules.name_cause(failure, &evidence.output);
        }
        Ok(Some(CheckResult::Failed {
            failure: FailureRecord {
                diagnosis: found.map(Box::new),
                ..FailureRecord::new(error)
            },
            evidence: Box::new(evidence),
            tests: tests.map(Box::new),
        }))
    }

    /// Returns the arguments that run a script as a check.
    pub(crate) fn shell_argv(&self, script: &str, expects: Option<&Expectation>) -> Vec<OsString> {
        vec![
            self.shell.clone().into(),
            "-c".into(),
            OsString::from(guarded_for(script, self.shell_kind(), expects)),
        ]
    }

    /// Returns the tests that failed, unless there are too many or some of the output is missing.
    fn red_tests(&self, text: &str, tests: &TestCommand, all: &mut Excerpt) -> Option<RedTests> {
        if all.is_cut() {
            return None;
        }
        let failed = self.masked(&tests.results(&all.text()).failed);
        (!failed.is_empty() && failed.len() <= MAX_RED_TESTS).then(|| RedTests {
            command: text.to_owned(),
            failed,
        })
    }

    /// Masks names of tests, as everything is that a program prints.
    pub(crate) fn masked(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let masks = &self.processes.masks;
        names.iter().map(|name| masks.mask(name)).collect()
    }

    /// Finds programs as the check does: repairs may have set another PATH.
    fn programs_with(&self, environment: &[(String, String)]) -> Programs {
        let path = environment.iter().rev().find(|(name, _)| name == "PATH");
        match path {
            Some((_, path)) => Programs::new(OsStr::new(path), &self.root),
            None => self.programs.clone(),
        }
    }

    /// Describes what a command that printed nothing has found, by parsing it, and names the line
    /// that failed, if it is known.
    fn finding(
        &self,
        command: &VerifyCommand,
        code: i32,
        printed: &str,
    ) -> (Option<String>, Option<String>) {
        if !is_silent(printed) {
            return (None, None);
        }
        let red = RedCommand {
            text: &command.command,
            exit_code: code,
            path: &|path| path_state(&self.root.join(path)),
        };
        let number = failed_line(printed);
        let finding = match number {
            _ if command.expects.is_some() => None,
            Some(line) => red.finding_of_line(line),
            None => red.finding(),
        };
        (finding, red.failed_line(number).map(str::to_owned))
    }
}

fn path_state(path: &Path) -> PathState {
    match path.metadata() {
        Err(_) => PathState::Missing,
        Ok(found) if found.is_dir() => PathState::Folder,
        Ok(found) if found.len() == 0 => PathState::EmptyFile,
        Ok(_) => PathState::File,
    }
}

/// Whether a check printed nothing except which of its lines failed.
fn is_silent(printed: &str) -> bool {
    let mut said = printed.trim().lines();
    said.all(|line| failed_line(line).is_some())
}

/// Returns the line of a check that failed, as its guard reports it. A subshell reports before what
/// contains it.
fn failed_line(printed: &str) -> Option<usize> {
    let named = printed.trim().lines().next()?.strip_prefix("line ")?;
    let (number, rest) = named.split_once(' ')?;
    rest.starts_with("of Verify ended with")
        .then(|| number.parse().ok())?
}

/// Returns output without the lines at its end in which the guard of a check reports which line
/// failed: they explain nothing.
fn before_guard_lines(output: &[u8]) -> &[u8] {
    let mut rest = output;
    while let Some(text) = rest.strip_suffix(b"\n") {
        let start = text.iter().rposition(|byte| *byte == b'\n');
        let start = start.map_or(0, |at| at + 1);
        let line = std::str::from_utf8(&text[start..]).ok();
        if line.and_then(failed_line).is_none() {
            break;
        }
        rest = &rest[..start];
    }
    rest
}

/// Returns why a program was cancelled: someone asked to stop, or its output would be lost.
pub(crate) fn why_cancelled(stop: &Stop, log: &mut LogFile) -> PerformError {
    match (stop.asked(), log.check()) {
        (None, Err(error)) => error.into(),
        _ => PerformError::Stopped,
    }
}

/// Returns the signal that crashed a program, even if a shell reports it as an exit code.
fn crash_signal(ending: Ending, code: i32) -> Option<i32> {
    const BY_SHELL: i32 = 128;
    const CRASHES: [i32; 6] = [4, 6, 7, 8, 11, 31];
    let signal = ending.signal.unwrap_or(code - BY_SHELL);
    CRASHES.contains(&signal).then_some(signal)
}

/// Names the command and how it ended, then quotes the end of its output.
fn why_failed(
    command: &VerifyCommand,
    ending: Ending,
    code: i32,
    finding: Option<&str>,
    output: &str,
) -> String {
    let text = &command.command;
    let how = match (ending.limit_ms, &command.expects) {
        (Some(limit), _) => format!("was stopped after {:?}", Duration::from_millis(limit)),
        (None, None) => match (finding, crash_signal(ending, code)) {
            (Some(finding), _) => format!("ended with exit code {code}: {finding}"),
            (None, Some(signal)) => {
                format!("was killed by {} (exit code {code})", signal_name(signal))
            }
            (None, None) => format!("ended with exit code {code}"),
        },
        (None, Some(expected)) => {
            format!("ended with exit code {code}, but `{expected}` was expected")
        }
    };
    format!("Verify failed: `{text}` {how}\n{output}")
        .trim_end()
        .to_owned()
}

struct CheckOutput<'l> {
    log: &'l mut LogFile,
    /// What is compared with the expected output, before it is masked: a check may look for a secret. It is
    /// neither stored nor shown.
    stdout: Excerpt,
    stderr: Excerpt,
    /// What is quoted, masked.
    all: Excerpt,
    scanner: Scanner,
}

impl CheckOutput<'_> {
    /// Returns the result of a command that passed. Many test runners also pass if there is no test.
    fn passed(&mut self, command: &VerifyCommand) -> CheckResult {
        let command = &command.command;
        let printed = [self.stdout.text(), self.stderr.text()].concat();
        if !ran_no_test(command, &printed) {
            return CheckResult::Passed;
        }
        self.log.write(b"[no test ran]\n");
        CheckResult::RanNoTest {
            command: command.clone(),
        }
    }

    fn is_expected(&mut self, command: &VerifyCommand, exit_code: i32) -> bool {
        let Some(expected) = &command.expects else {
            return exit_code == 0;
        };
        let stderr = self.stderr.text();
        let stderr = String::from_utf8_lossy(before_guard_lines(stderr.as_bytes()));
        expected.is_met(CommandResult {
            exit_code,
            stdout: &self.stdout.text(),
            stderr: &stderr,
            is_cut: self.stdout.is_cut() || self.stderr.is_cut(),
            is_search: is_search(&command.command),
            says_no_with_one: says_no_with_one(&command.command),
            is_answer: is_answer(&command.command, exit_code),
        })
    }
}

impl Sink for CheckOutput<'_> {
    fn read_unmasked(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Stdout => self.stdout.push(bytes),
            Stream::Stderr => self.stderr.push(bytes),
        }
    }

    fn take(&mut self, _stream: Stream, bytes: &[u8]) -> bool {
        self.all.push(bytes);
        self.scanner.feed(before_guard_lines(bytes));
        self.log.write(bytes)
    }
}

#[cfg(test)]
mod tests {
    use regreen_model::StopSignal;

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
    fn a_check_that_says_nothing_is_read() {
        let command = VerifyCommand::always("test -f ok");
        let why = why_failed(
            &command,
            Ending::default(),
            1,
            Some("ok does not exist"),
            "",
        );
        assert_eq!(
            why,
            "Verify failed: `test -f ok` ended with exit code 1: ok does not exist"
        );
        assert!(is_silent(" \n") && is_silent("line 2 of Verify ended with exit code 1\n"));
        assert!(!is_silent("no") && !is_silent("line 2\nline 3"));
        let guard = "line 2 of Verify ended with exit code 1\n";
        let output = format!("boom\n{guard}{guard}");
        assert_eq!(before_guard_lines(output.as_bytes()), b"boom\n");
        assert_eq!(before_guard_lines(guard.as_bytes()), b"");
        assert_eq!(before_guard_lines(b"boom\n\n"), b"boom\n\n");
        assert_eq!(
            failed_line("line 12 of Verify ended with exit code 1\n"),
            Some(12)
        );
    }

    #[test]
    fn the_report_of_the_guard_is_no_output_of_the_check() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogFile::create(folder.path(), "1").unwrap();
        let mut output = CheckOutput {
            log: &mut log,
            stdout: Excerpt::new(COMPARED_BYTES),
            stderr: Excerpt::new(COMPARED_BYTES),
            all: Excerpt::new(QUOTED_BYTES),
            scanner: Scanner::new(Source::Command),
        };
        let command = VerifyCommand {
            expects: Some(Expectation::NoOutput),
            ..VerifyCommand::always("cd src\ngrep -rn TODO .")
        };
        output.read_unmasked(Stream::Stderr, b"line 2 of Verify ended with exit code 1\n");
        assert!(output.is_expected(&command, 1));
        output.read_unmasked(Stream::Stderr, b"grep: a: Permission denied\n");
        assert!(!output.is_expected(&command, 1));
    }

    #[test]
    fn a_check_that_crashed_names_the_signal() {
        let command = VerifyCommand::always("./a.out");
        assert_eq!(
            why_failed(&command, Ending::default(), 139, None, ""),
            "Verify failed: `./a.out` was killed by SIGSEGV (exit code 139)"
        );
    }

    #[test]
    fn a_failed_verify_names_the_command_how_it_ended_and_its_output() {
        let mut command = VerifyCommand::always("make test");
        let why = why_failed(&command, Ending::default(), 2, None, "2 failed");
        assert_eq!(
            why,
            "Verify failed: `make test` ended with exit code 2\n2 failed"
        );
        command.expects = Some(Expectation::NoOutput);
        let why = why_failed(&command, Ending::default(), 0, None, "");
        assert_eq!(
            why,
            "Verify failed: `make test` ended with exit code 0, but `no output` was expected"
        );
        let ending = Ending {
            limit_ms: Some(2000),
            timed_out: true,
            ..Ending::default()
        };
        assert_eq!(
            why_failed(&command, ending, 143, None, ""),
            "Verify failed: `make test` was stopped after 2s"
        );
    }
}
