use crate::{AgentEvent, ApiTrouble, Output, ToolUse, Unmasked, Usage, visible_line};

/// How many tools are counted by name at most.
const MAX_TOOL_NAMES: usize = 64;
/// How many characters are kept of the agent's last activity.
const ACTIVITY_CHARS: usize = 200;

/// The decoded output of an agent during one attempt.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// The agent's last message, masked.
    pub final_message: String,
    /// The same message before masking, for finding signals that a mask might hide.
    pub unmasked_message: Option<Unmasked>,
    /// The final message without lines that it repeats from the prompt.
    pub own_words: String,
    /// The agent's session.
    pub session: Option<String>,
    /// The tools that the agent used.
    pub tools: ToolUse,
    /// Why the agent can't reach its service; cleared once it works again.
    pub trouble: Option<ApiTrouble>,
    /// The agent's usage.
    pub usage: Option<Usage>,
    /// Whether the agent said, did or changed anything.
    pub worked: bool,
    /// The last tool call to end, with its exit code.
    pub last_tool: Option<(String, Option<i32>)>,
    /// The tool that the agent used last and on what, or else the last text it wrote, as one line.
    pub last_activity: Option<String>,
    /// The kind of text that the agent prints.
    pub output_kind: OutputKind,
    /// The part of the output that may come from commands.
    pub output: Option<Output>,
    /// The agent's open question, if it asked one.
    pub question: Option<AgentQuestion>,
    /// Whether the agent called its run a success; `None` until it says that the run is over.
    pub finished: Option<bool>,
}

/// The kind of text in an agent's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputKind {
    /// Protocol messages, which separate the agent's words from everything else.
    #[default]
    Messages,
    /// Only the output of commands, without any words of the agent.
    Commands,
    /// The agent's words and the output of commands in one stream.
    Mixed,
}

/// A question that an agent waits for someone to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentQuestion {
    /// The question.
    pub text: String,
    /// Whether it asks for permission.
    pub permission: bool,
}

impl Transcript {
    /// Asks a question about the final message as the agent wrote it, before masking.
    pub fn message_says<T: Copy + 'static>(&self, question: impl FnOnce(&str) -> T) -> T {
        match &self.unmasked_message {
            Some(message) => message.answer(question),
            None => question(&self.final_message),
        }
    }

    /// Adds an event.
    pub fn record(&mut self, event: AgentEvent) {
        let is_work = matches!(
            event,
            AgentEvent::Text { .. }
                | AgentEvent::ToolStarted { .. }
                | AgentEvent::ToolEnded { .. }
                | AgentEvent::FileEdited { .. }
        );
        if is_work {
            self.worked = true;
            // An agent that is working can reach its service.
            self.trouble = None;
        }
        match event {
            AgentEvent::Session { id } => self.session = Some(id),
            AgentEvent::ToolStarted { name, input, .. } => {
                self.note_activity(&format!("{name}: {input}"));
                self.count_tool(name);
            }
            AgentEvent::ToolEnded { name, ok, exit, .. } => {
                if ok {
                    self.tools.last_successful = Some(name.clone());
                }
                self.last_tool = Some((name, exit));
            }
            AgentEvent::Usage(usage) => self.usage = Some(usage),
            AgentEvent::Trouble(trouble) => self.trouble = Some(trouble),
            AgentEvent::FinalMessage { text } => self.final_message = text,
            AgentEvent::Question { text, permission } => {
                self.question = Some(AgentQuestion { text, permission });
            }
            // Once an agent has called its run a failure, a later success doesn't count.
            AgentEvent::Terminal { ok } => self.finished = Some(ok && self.finished != Some(false)),
            AgentEvent::Text { text } => {
                let last = text.lines().rfind(|line| !line.trim().is_empty());
                self.note_activity(last.unwrap_or_default());
            }
            AgentEvent::FileEdited { .. } => {}
        }
    }

    fn note_activity(&mut self, text: &str) {
        let line = visible_line(text.trim(), ACTIVITY_CHARS);
        let line = line.trim_end_matches([':', ' ']);
        if !line.is_empty() {
            self.last_activity = Some(line.to_owned());
        }
    }

    fn count_tool(&mut self, name: String) {
        let counts = &mut self.tools.counts;
        if counts.len() < MAX_TOOL_NAMES || counts.contains_key(&name) {
            *counts.entry(name).or_default() += 1;
        }
    }
}
