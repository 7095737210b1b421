//! Asks the agent for the cause of a failure that the rules are not sure of.

use std::fs;
use std::path::{Path, PathBuf};

use regreen_agents::Assignment;
use regreen_diagnosis::{opinion, shown_output};
use regreen_engine::{Input, OpinionOrder};
use regreen_model::{CommandSeq, Failure, OutputKind, PromptKind, Usage};

use crate::driver::StepRecorder;
use crate::execution::{AgentRun, ExecutionContext};
use crate::listener::TranscriptObserver;
use crate::log_file::read_tail;
use crate::performer::{PerformError, Performer};
use crate::process::Processes;
use crate::repair::{log_of_attempt, log_of_check};

/// How much of the end of a log is read.
const READ_BYTES: u64 = 64 * 1024;

/// A question about the output of something that failed.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    /// Names what failed.
    pub(crate) task_id: &'a str,
    pub(crate) attempt: u32,
    /// The folder with the logs.
    pub(crate) folder: &'a Path,
    /// What the rules make of it.
    pub(crate) rules: &'a Failure,
    /// How long the answer may take.
    pub(crate) timeout_ms: u64,
    pub(crate) environment: &'a [(String, String)],
}

/// What the agent said.
#[derive(Debug, Default)]
pub(crate) struct GivenOpinion {
    pub(crate) diagnosis: Option<Failure>,
    pub(crate) usage: Option<Usage>,
    pub(crate) took_ms: u64,
}

/// Asks the agent about the failure of a task.
pub(crate) fn ask_opinion(
    performer: &mut Performer,
    seq: CommandSeq,
    order: &OpinionOrder,
    recorder: &mut StepRecorder<'_>,
) -> Result<Input, PerformError> {
    let folder = performer.paths.task_folder(&performer.run, &order.task);
    let question = Question {
        task_id: order.task.id.as_str(),
        attempt: order.attempt,
        folder: &folder,
        rules: &order.failure,
        timeout_ms: order.timeout_ms,
        environment: &order.environment,
    };
    recorder.observer.activity("asking the agent for the cause");
    let given = performer.context.ask_opinion(&question)?;
    Ok(Input::OpinionGiven {
        seq,
        diagnosis: given.diagnosis.map(Box::new),
        usage: given.usage,
        took_ms: given.took_ms,
    })
}

impl ExecutionContext {
    /// Asks the agent, in an empty folder of its own: it needs nothing but the text. An agent that
    /// fails to answer changes nothing.
    pub(crate) fn ask_opinion(
        &self,
        question: &Question<'_>,
    ) -> Result<GivenOpinion, PerformError> {
        let log = self.readable_log(question);
        let output = log.and_then(|log| read_tail(&log, READ_BYTES).ok());
        let shown = shown_output(&output.unwrap_or_default());
        if shown.trim().is_empty() {
            return Ok(GivenOpinion::default());
        }
        let stem = format!("{}.question", question.attempt);
        let empty = question.folder.join(&stem);
        fs::create_dir_all(&empty)?;
        let prompt = self.prompts.diagnose(&shown);
        let run = AgentRun {
            assignment: Assignment {
                task_id: question.task_id,
                title: "Find the cause of a failure",
                attempt: question.attempt,
                spec_dir: "",
                root: &empty.to_string_lossy(),
                session: self.agent.session(None),
                prompt: &prompt,
                kind: PromptKind::First,
                steps: &[],
            },
            folder: question.folder,
            usage_file: question.folder.join(format!("{stem}.usage")),
            purpose: format!("{}:{stem}", question.task_id),
            timeout_ms: question.timeout_ms,
            idle_timeout_ms: None,
            environment: question.environment,
            stem,
        };
        let processes = Processes {
            root: empty.clone(),
            ..self.processes.clone()
        };
        let seen = self.attempt_in(&processes, run, &mut Unobserved)?;
        if self.processes.stop.asked().is_some() {
            return Err(PerformError::Stopped);
        }
        let answer = opinion(&seen.transcript.final_message, &shown, question.rules);
        Ok(GivenOpinion {
            diagnosis: answer.ok(),
            usage: seen.transcript.usage,
            took_ms: seen.ending.duration_ms,
        })
    }

    /// Returns the log of what failed, unless it holds the messages of a protocol.
    fn readable_log(&self, question: &Question<'_>) -> Option<PathBuf> {
        let (folder, attempt) = (question.folder, question.attempt);
        match self.agent.output_kind() {
            OutputKind::Messages => log_of_check(folder, attempt),
            OutputKind::Commands | OutputKind::Mixed => Some(log_of_attempt(folder, attempt)),
        }
    }
}

/// The question is short, and has no session that is continued.
struct Unobserved;

impl TranscriptObserver for Unobserved {
    fn activity(&mut self, _line: &str) {}

    fn session(&mut self, _id: &str) {}
}
