//! Running an agent, a check or a repair in a workspace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use regreen_agents::{
    Agent, Assignment, Invocation, LocalZone, Prompts, StdinContent, reset_in, reset_moment,
    service_trouble,
};
use regreen_diagnosis::{AttemptEnd, ObservedAttempt, OwnRules, agent_trouble, startup_error};
use regreen_model::{
    ApiTrouble, Ending, FailureKind, PlainLine, SUMMARY_CHARS, Transcript, TroubleClass,
};
use regreen_redaction::Masks;
use regreen_repairs::ManifestSnapshot;
use regreen_supervisor::{EndReason, Exit, ProcessEnd, StartStep, Stdin};
use regreen_workspace::{Programs, RealDisk};

use crate::clock;
use crate::listener::{Listener, TranscriptObserver};
use crate::log_file::LogFile;
use crate::performer::PerformError;
use crate::process::{Job, Processes, ending_of};
use crate::project_programs::ProjectPrograms;

/// Everything that runs and delegations need to start programs in a workspace.
#[derive(Debug)]
pub(crate) struct ExecutionContext {
    /// The workspace.
    pub(crate) root: PathBuf,
    pub(crate) agent: Agent,
    pub(crate) prompts: Prompts,
    pub(crate) programs: Programs,
    /// The value of PATH, where programs are looked up.
    pub(crate) path: OsString,
    /// For times that services give without a zone.
    pub(crate) local_zone: LocalZone,
    /// The user's own diagnosis rules.
    pub(crate) own_rules: Arc<OwnRules>,
    /// How many tokens a first prompt may spend on what is known about the project.
    pub(crate) context_tokens: Option<usize>,
    /// The packages that the workspace's manifests named when the work began.
    pub(crate) manifests: ManifestSnapshot,
    /// The workspace's own programs that may be added to PATH.
    pub(crate) project_programs: ProjectPrograms,
    pub(crate) verify_timeout_ms: u64,
    /// Whether checks name the tests that failed, so that known failures are excused.
    pub(crate) names_tests: bool,
    /// The shell that runs Verify commands.
    pub(crate) shell: PathBuf,
    pub(crate) processes: Processes,
    /// Whether the agent began to work when it was last started.
    has_begun: AtomicBool,
}

/// One run of the agent, for any purpose.
#[derive(Debug)]
pub(crate) struct AgentRun<'a> {
    pub(crate) assignment: Assignment<'a>,
    /// The folder for the log.
    pub(crate) folder: &'a Path,
    /// The file name of the log, without the extension.
    pub(crate) stem: String,
    pub(crate) timeout_ms: u64,
    pub(crate) idle_timeout_ms: Option<u64>,
    /// Variables set by repairs.
    pub(crate) environment: &'a [(String, String)],
    /// Where usage is saved while the agent works.
    pub(crate) usage_file: PathBuf,
    /// Identifies the run in its marker.
    pub(crate) purpose: String,
}

impl ExecutionContext {
    pub(crate) fn new(
        agent: Agent,
        prompts: Prompts,
        path: OsString,
        manifests: ManifestSnapshot,
        project_programs: ProjectPrograms,
        verify_timeout_ms: u64,
        processes: Processes,
    ) -> Self {
        let root = processes.root.clone();
        let programs = Programs::new(&path, &root);
        let shell = programs.find(&RealDisk, "bash");
        Self {
            shell: shell.unwrap_or_else(|| PathBuf::from("sh")),
            root,
            agent,
            prompts,
            programs,
            path,
            local_zone: LocalZone::default(),
            own_rules: Arc::default(),
            context_tokens: None,
            manifests,
            project_programs,
            verify_timeout_ms,
            names_tests: false,
            processes,
            has_begun: AtomicBool::default(),
        }
    }

    /// Has checks name the tests that failed.
    pub(crate) fn naming_tests(self, names_tests: bool) -> Self {
        Self {
            names_tests,
            ..self
        }
    }

    /// Reads times without a zone as times in this one.
    pub(crate) fn in_zone(self, local_zone: LocalZone) -> Self {
        Self { local_zone, ..self }
    }

    /// Uses the user's own diagnosis rules.
    pub(crate) fn with_own_rules(self, own_rules: Arc<OwnRules>) -> Self {
        Self { own_rules, ..self }
    }

    /// Tells agents what is known about the project, in at most this many tokens.
    pub(crate) fn with_context_tokens(self, context_tokens: Option<usize>) -> Self {
        Self {
            context_tokens,
            ..self
        }
    }

    /// Runs the agent to its end under the supervisor, and returns what was observed.
    pub(crate) fn attempt_once(
        &self,
        run: AgentRun<'_>,
        observer: &mut dyn TranscriptObserver,
    ) -> Result<ObservedAttempt, PerformError> {
        self.attempt_in(&self.processes, run, observer)
    }

    /// The same, with processes that may start in another folder.
    pub(crate) fn attempt_in(
        &self,
        processes: &Processes,
        run: AgentRun<'_>,
        observer: &mut dyn TranscriptObserver,
    ) -> Result<ObservedAttempt, PerformError> {
        let log = LogFile::create(run.folder, &run.stem)?;
        let decoder = self.agent.decoder(&run.assignment);
        let usage_file = run.usage_file.clone();
        let listener = Listener::new(log, decoder, observer, processes, usage_file);
        let mut listener = listener.reading(self.agent.output_kind(), run.assignment.prompt);
        let timeout = Duration::from_millis(run.timeout_ms);
        let idle_timeout_ms = run.idle_timeout_ms;
        let resumes = run.assignment.session.is_some();
        let invocation = self.agent.invocation(&run.assignment);
        let repaired = self.project_programs.environment(run.environment)?;
        let job = run.job(invocation, repaired);
        let mut ended = processes.run(job, &mut listener)?;
        ended.reason = listener.end_reason(ended.reason);
        let ending = ending_of(&ended, timeout);
        let (mut transcript, log) = listener.finish(&ending, ended.reason);
        log.finish()?;
        if transcript.trouble.is_none() {
            let trouble = agent_trouble(&transcript, ending);
            transcript.trouble = trouble.map(|trouble| ApiTrouble {
                resets: trouble.resets.or_else(|| reset_in(&trouble.message)),
                ..trouble
            });
        }
        if transcript.trouble.is_none() {
            transcript.trouble = self.startup_trouble(&transcript, ending, resumes);
        }
        Ok(self.observed(transcript, &ended, ending, idle_timeout_ms))
    }

    /// Returns the trouble of an agent that ended with an error before it began. One that began the
    /// last time may have met something that passes, so that only a second time counts.
    fn startup_trouble(
        &self,
        transcript: &Transcript,
        ending: Ending,
        resumes: bool,
    ) -> Option<ApiTrouble> {
        let error = startup_error(transcript, ending);
        let had_begun = self.has_begun.swap(error.is_none(), Ordering::Relaxed);
        let error = error?;
        if let Some(trouble) = service_trouble(&error) {
            return Some(trouble);
        }
        let (class, kind) = if resumes {
            (TroubleClass::Session, FailureKind::SessionLost)
        } else if had_begun {
            return None;
        } else {
            (TroubleClass::Fatal, FailureKind::BadUsage)
        };
        Some(ApiTrouble {
            class,
            kind,
            message: format!("{} ended before it started: {error}", self.agent.name()),
            status: None,
            resets: None,
        })
    }

    fn observed(
        &self,
        transcript: Transcript,
        ended: &ProcessEnd,
        ending: Ending,
        idle_timeout_ms: Option<u64>,
    ) -> ObservedAttempt {
        let agent = &self.agent;
        let resets = transcript
            .trouble
            .as_ref()
            .and_then(|trouble| trouble.resets.as_ref());
        let resets = resets.and_then(|resets| reset_moment(resets, clock::now(), &self.local_zone));
        // An agent that speaks a protocol prints a greeting before it does anything.
        let has_printed = ended.stdout_bytes + ended.stderr_bytes > 0 && !agent.has_sessions();
        ObservedAttempt {
            end: attempt_end(agent.program(), ended),
            idle_limit_ms: idle_timeout_ms.filter(|_| ended.reason == EndReason::IdleLimit),
            reports_end: agent.reports_end(),
            used_tools: agent
                .reports_tools()
                .then_some(!transcript.tools.counts.is_empty()),
            progressed: has_printed || transcript.worked,
            trouble_ends: resets.map(|resets| resets.at),
            trouble_end_is_assumed: resets.is_some_and(|resets| resets.is_assumed),
            left_running: left_running(&self.processes.masks, ended),
            ending,
            transcript,
        }
    }
}

/// Describes the processes that an agent left running when it exited, for people and prompts.
fn left_running(masks: &Masks, ended: &ProcessEnd) -> Vec<String> {
    let lines = ended.left_running.iter();
    let lines = lines.filter(|_| ended.reason == EndReason::Normal);
    lines
        .map(|line| PlainLine::flatten(&masks.mask(line), SUMMARY_CHARS * 4).to_string())
        .collect()
}

fn attempt_end(program: &str, ended: &ProcessEnd) -> AttemptEnd {
    match (ended.reason, ended.exit) {
        (EndReason::Cancelled, _) => AttemptEnd::Cancelled,
        (_, Exit::Unknown) => AttemptEnd::Unknown,
        (_, Exit::NotStarted { step, errno }) => AttemptEnd::NotStarted {
            why: not_started(program, step, errno),
        },
        _ => AttemptEnd::Exited,
    }
}

fn not_started(program: &str, step: StartStep, errno: i32) -> String {
    let why = std::io::Error::from_raw_os_error(errno);
    match step {
        StartStep::Folder => format!("cannot enter the workspace: {why}"),
        StartStep::Program => {
            format!(
                "cannot start the agent's program {program}: {why}. Install it, or choose another agent with --agent"
            )
        }
    }
}

impl AgentRun<'_> {
    fn job(self, invocation: Invocation, repaired: Vec<(OsString, Option<OsString>)>) -> Job {
        let own = invocation.env_set.into_iter();
        let own = own.map(|(name, value)| (OsString::from(name), Some(OsString::from(value))));
        Job {
            argv: invocation.argv.into_iter().map(OsString::from).collect(),
            env: repaired.into_iter().chain(own).collect(),
            stdin: match invocation.stdin {
                StdinContent::Empty => Stdin::Empty,
                StdinContent::Text(text) => Stdin::Bytes(text.into_bytes()),
                StdinContent::Protocol => Stdin::Pipe,
            },
            timeout: Duration::from_millis(self.timeout_ms),
            idle: self.idle_timeout_ms.map(Duration::from_millis),
            purpose: self.purpose,
        }
    }
}

#[cfg(test)]
mod tests {
    use regreen_supervisor::Asleep;

    use super::*;

    #[test]
    fn a_missing_agent_is_named_with_a_way_out() {
        let ended = |exit, reason| ProcessEnd {
            exit,
            reason,
            duration: Duration::from_secs(3),
            asleep: Asleep::default(),
            stdout_bytes: 0,
            stderr_bytes: 0,
            leftovers_ended: 0,
            unended: 0,
            left_running: Vec::new(),
        };
        let missing = Exit::NotStarted {
            step: StartStep::Program,
            errno: 2,
        };
        let end = attempt_end("claude", &ended(missing, EndReason::Normal));
        let AttemptEnd::NotStarted { why } = end else {
            panic!("{end:?}");
        };
        assert!(why.contains("claude") && why.contains("--agent"), "{why}");
        assert_eq!(
            attempt_end("claude", &ended(Exit::Signalled(15), EndReason::Cancelled)),
            AttemptEnd::Cancelled
        );
        assert_eq!(
            attempt_end("claude", &ended(Exit::Exited(3), EndReason::HardLimit)),
            AttemptEnd::Exited
        );
    }
}
