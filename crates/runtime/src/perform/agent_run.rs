use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regreen_agents::{Assignment, Invocation, StdinContent};
use regreen_supervisor::{Ended, Stdin};

use crate::heard::{Heard, Listener, Told};
use crate::log_file::LogFile;
use crate::perform_error::PerformError;
use crate::performer::Performer;
use crate::process::{Job, set};
use crate::report;
use crate::why;

/// One run of the agent, whatever it is for.
#[derive(Debug)]
pub(crate) struct AgentRun<'a> {
    pub(crate) assignment: Assignment<'a>,
    /// Where its log is, and what it is called.
    pub(crate) folder: &'a Path,
    pub(crate) stem: String,
    pub(crate) timeout_ms: u64,
    pub(crate) idle_timeout_ms: Option<u64>,
    /// What repairs have set.
    pub(crate) environment: &'a [(String, String)],
    /// Where what it has used up is kept.
    pub(crate) usage_file: PathBuf,
    /// Says in the marker what it is.
    pub(crate) purpose: String,
}

impl AgentRun<'_> {
    /// Runs the agent to its end, and listens.
    pub(crate) fn run(
        self,
        performer: &Performer,
        told: &mut dyn Told,
    ) -> Result<(Ended, Heard), PerformError> {
        let log = LogFile::create(self.folder, &self.stem)?;
        let decoder = performer.agent.decoder(&self.assignment);
        let listener = Listener::new(log, decoder, told, self.usage_file.clone());
        let mut listener = listener.reading(performer.agent.output_kind(), self.assignment.prompt);
        let timeout = Duration::from_millis(self.timeout_ms);
        let invocation = performer.agent.invocation(&self.assignment);
        let job = self.job(invocation);
        let mut ended = performer.processes.run(job, &mut listener)?;
        ended.reason = listener.judged(ended.reason);
        let ending = report::ending(&ended, timeout);
        let (mut heard, log) = listener.finish(&ending, ended.reason);
        log.finish()?;
        let trouble = || why::own_trouble(&heard, ending);
        heard.trouble = heard.trouble.clone().or_else(trouble);
        Ok((ended, heard))
    }

    fn job(self, invocation: Invocation) -> Job {
        let repaired = set(self.environment).into_iter();
        let own = invocation.env_set.into_iter();
        let own = own.map(|(name, value)| (OsString::from(name), Some(OsString::from(value))));
        Job {
            argv: invocation.argv.into_iter().map(OsString::from).collect(),
            env: repaired.chain(own).collect(),
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
