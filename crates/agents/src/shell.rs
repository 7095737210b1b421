//! The agent that only runs the task's own commands.
//!
//! Each step, a code block or a line that is one code span, runs in its own shell in the workspace
//! root (`bash -e -o pipefail -c`), so that exports and `cd` end with the step. Steps are passed as
//! arguments, so nothing in them needs quoting. The first step that fails ends the attempt with the
//! four-line report of a failed task; its Error line is the headline of the step's output.

use regreen_model::{AgentEvent, ERROR_CHARS, Ending, PlainLine};

use crate::decoder::end_of_program;
use crate::headline::Headline;
use crate::message::Tail;
use crate::{Assignment, Decoder, Invocation, Reply, StdinContent, Stream};

const STEPS: &str = include_str!("shell/steps.sh");

const NO_STEPS: &str = "The task has no commands for the shell agent: write them in an `sh` code block, or choose another agent with --agent";

/// The script's own message is short.
const MAX_MESSAGE: usize = 8 * 1024;

/// The shell that runs the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpreter {
    /// `bash`.
    Bash,
    /// `sh`, used if bash isn't installed. It doesn't detect failures inside a pipe.
    Sh,
}

impl Interpreter {
    /// Returns its program.
    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Sh => "sh",
        }
    }

    fn run_step(self) -> &'static str {
        match self {
            Self::Bash => "run_step() { bash -e -o pipefail -c \"$1\"; }\n",
            Self::Sh => "run_step() { sh -e -c \"$1\"; }\n",
        }
    }
}

pub(crate) fn invocation(interpreter: Interpreter, assignment: &Assignment<'_>) -> Invocation {
    let script = format!("{}{STEPS}", interpreter.run_step());
    let title = PlainLine::flatten(assignment.title, ERROR_CHARS).to_string();
    let own = [
        interpreter.program().to_owned(),
        "-c".to_owned(),
        script,
        // The name of the script in the shell's messages.
        "regreen-steps".to_owned(),
        assignment.task_id.to_string(),
        title,
        NO_STEPS.to_owned(),
    ];
    // Arguments can't contain NUL.
    let steps = assignment.steps.iter().map(|step| step.replace('\0', ""));
    let argv = own.into_iter().chain(steps).collect();
    Invocation::new(argv, StdinContent::Protocol, assignment)
}

/// Reads the lines that the script prints between the output of steps. Only text after the last
/// step is the agent's message.
#[derive(Debug)]
pub(crate) struct ShellDecoder {
    names: Vec<String>,
    headline: Headline,
    /// The script's own message; `None` while steps run.
    message: Option<Tail>,
}

impl ShellDecoder {
    pub(crate) fn new(steps: &[String]) -> Self {
        let first_line = |step: &String| step.lines().next().unwrap_or_default().to_owned();
        Self {
            names: steps.iter().map(first_line).collect(),
            headline: Headline::default(),
            message: steps.is_empty().then(|| Tail::new(MAX_MESSAGE)),
        }
    }

    fn step_started(&mut self, number: usize) -> Reply {
        self.headline = Headline::default();
        self.message = None;
        Reply {
            events: vec![AgentEvent::ToolStarted {
                call: number.to_string(),
                name: self.name(number),
                // The name is already the command.
                input: String::new(),
            }],
            write: Vec::new(),
        }
    }

    fn step_ended(&mut self, number: usize, code: i32) -> Reply {
        let is_last = code != 0 || number == self.names.len();
        self.message = is_last.then(|| Tail::new(MAX_MESSAGE));
        let write = if code == 0 {
            Vec::new()
        } else {
            vec![self.error(number, code)]
        };
        Reply {
            events: vec![AgentEvent::ToolEnded {
                call: number.to_string(),
                name: self.name(number),
                ok: code == 0,
                exit: Some(code),
            }],
            write,
        }
    }

    fn error(&self, number: usize, code: i32) -> String {
        let name = self.name(number);
        self.headline
            .line()
            .or(&format!(
                "{name} printed nothing and ended with exit code {code}"
            ))
            .to_string()
    }

    fn name(&self, number: usize) -> String {
        let name = number.checked_sub(1).and_then(|at| self.names.get(at));
        name.cloned().unwrap_or_default()
    }
}

impl Decoder for ShellDecoder {
    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply {
        // Steps write to one stream, so that order is kept; the other is the shell's own.
        let marker = (stream == Stream::Out)
            .then(|| Marker::parse(line))
            .flatten();
        match marker {
            Some(Marker::Started { step }) => return self.step_started(step),
            Some(Marker::Ended { step, code }) => return self.step_ended(step, code),
            None => {}
        }
        match &mut self.message {
            Some(message) if stream == Stream::Out => message.push_line(line),
            Some(_) => {}
            None => self.headline.add(line),
        }
        Reply::default()
    }

    fn on_end(&mut self, ending: &Ending) -> Vec<AgentEvent> {
        let message = self.message.as_mut().map(Tail::text).unwrap_or_default();
        end_of_program(message, ending)
    }
}

/// A line of the script about a step. A command that prints such lines itself gets wrong tool
/// events and perhaps a worse Error line, but it can't turn a failed step into a passed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    Started { step: usize },
    Ended { step: usize, code: i32 },
}

impl Marker {
    fn parse(line: &[u8]) -> Option<Self> {
        let line = line.strip_prefix(b"[step ")?;
        let beginning = line.get(..line.len().min(64))?;
        let text = beginning.utf8_chunks().next()?.valid();
        let (numbers, rest) = text.split_once("] ")?;
        let (step, _total) = numbers.split_once('/')?;
        let step = step.parse().ok()?;
        match rest.strip_prefix("exit code ") {
            Some(code) => Some(Self::Ended {
                step,
                code: code.trim_end().parse().ok()?,
            }),
            None => rest.starts_with("$ ").then_some(Self::Started { step }),
        }
    }
}

#[cfg(test)]
mod tests;
