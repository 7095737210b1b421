use crate::{AgentEvent, ApiTrouble, Output, ToolUse, Unmasked, Usage, visible_line};

/// No more tools than these are counted by name.
const MAX_TOOL_NAMES: usize = 64;
/// How much is kept of what an agent does last.
const ACTIVITY_CHARS: usize = 200;

/// What an agent printed during one attempt, decoded.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// What the agent said last, masked.
    pub final_message: String,
    /// The same before it was masked, to read signals from: a mask may hide them.
    pub unmasked_message: Option<Unmasked>,
    /// The final message without the lines of the prompt that it repeats.
    pub own_words: String,
    /// The agent's session.
    pub session: Option<String>,
    /// The tools that the agent used.
    pub tools: ToolUse,
    /// What keeps the agent from its own service, unless it worked again since.
    pub trouble: Option<ApiTrouble>,
    /// What the agent used.
    pub usage: Option<Usage>,
    /// The agent said, did or changed something.
    pub worked: bool,
    /// The tool call that ended last, and its exit code.
    pub last_tool: Option<(String, Option<i32>)>,
    /// The tool that the agent used last and what on, or else what it wrote last, as one line.
    pub last_activity: Option<String>,
    /// What kind of text the agent prints.
    pub output_kind: OutputKind,
    /// The printed text that may be the output of commands.
    pub output: Option<Output>,
    /// The question that the agent asked.
    pub question: Option<AgentQuestion>,
    /// Set when the agent said that its run is over: whether it calls that a success.
    pub finished: Option<bool>,
}

/// What an agent's output consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputKind {
    /// Messages of a protocol, which tell the agent's words from everything else.
    #[default]
    Messages,
    /// What commands print, without any words of the agent's own.
    Commands,
    /// The agent's words and what commands print, in one stream.
    Mixed,
}

/// A question that an agent waits to have answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentQuestion {
    /// The question.
    pub text: String,
    /// It asks for a permission.
    pub permission: bool,
}

impl Transcript {
    /// Answers a question about what the agent said last, as the agent wrote it.
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
            // An agent that works has reached its service again.
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
            // Once an agent has called its run a failure, a later success does not count.
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
