use agent_client_protocol_schema::v1::{
    ContentBlock, SessionNotification, SessionUpdate, ToolCallContent, ToolCallStatus,
    ToolCallUpdate, ToolKind, UsageUpdate,
};
use regreen_model::{AgentEvent, Usage};
use serde_json::Value;

use crate::json_lines::{OpenTools, micro_usd, number, text, tool_input};
use crate::message::MessageBuffer;
use crate::trouble::ApiError;

/// This many messages in a row with nothing in between aren't work: an agent whose context is too
/// small may compact it for ever.
const MOST_MESSAGES: u32 = 8;

/// Collects an agent's updates about a prompt.
#[derive(Debug, Default)]
pub(super) struct Updates {
    tools: OpenTools,
    message: MessageBuffer,
    usage: Usage,
    /// The id of the message being written.
    message_id: Option<String>,
    /// The number of messages since anything else happened.
    messages: u32,
}

impl Updates {
    /// Notes that the reported usage is the total of the session.
    pub(super) fn counts_whole_session(&mut self) {
        self.usage.cumulative = true;
    }

    pub(super) fn updated(&mut self, params: Value) -> Vec<AgentEvent> {
        let Ok(notification) = serde_json::from_value::<SessionNotification>(params) else {
            return Vec::new();
        };
        match notification.update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                let message = chunk.message_id.map(|id| id.to_string());
                self.say(message, &chunk.content)
            }
            other => {
                self.messages = 0;
                self.besides(other)
            }
        }
    }

    /// Handles updates other than messages.
    fn besides(&mut self, update: SessionUpdate) -> Vec<AgentEvent> {
        match update {
            SessionUpdate::ToolCall(call) => self.tool(&call.into()),
            SessionUpdate::ToolCallUpdate(update) => self.tool(&update),
            SessionUpdate::UsageUpdate(update) => self.spend(update).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn say(&mut self, message: Option<String>, content: &ContentBlock) -> Vec<AgentEvent> {
        let ContentBlock::Text(piece) = content else {
            return Vec::new();
        };
        if piece.text.is_empty() {
            return Vec::new();
        }
        if message.is_some() && self.message_id != message {
            self.message_id = message;
            self.messages += 1;
            self.message.begin("");
        }
        self.message.add(&piece.text);
        let text = piece.text.clone();
        let said = AgentEvent::Text { text };
        [said].into_iter().chain(self.is_loop()).collect()
    }

    fn is_loop(&self) -> Option<AgentEvent> {
        const WHY: &str = "it keeps compacting its context and does nothing else";
        let is_loop = self.messages >= MOST_MESSAGES;
        is_loop.then(|| ApiError::named("context_length", WHY).into_event())
    }

    /// Reports usage as it grows, because an agent that is ended early has used it too. The context
    /// was sent at least once; more isn't known before the end. In a loaded session, it was paid
    /// for before.
    fn spend(&mut self, update: UsageUpdate) -> Option<AgentEvent> {
        let before = self.usage;
        if !self.usage.cumulative {
            self.usage.input_tokens = self.usage.input_tokens.max(update.used);
        }
        let cost = update.cost.and_then(|cost| serde_json::to_value(cost).ok());
        let dollars = cost.filter(|cost| text(cost, "/currency") == "USD");
        let cost = dollars.and_then(|cost| micro_usd(&cost, "/amount"));
        self.usage.cost_micro_usd = cost.or(self.usage.cost_micro_usd);
        (self.usage != before).then_some(AgentEvent::Usage(self.usage))
    }

    pub(super) fn tool(&mut self, update: &ToolCallUpdate) -> Vec<AgentEvent> {
        let (id, fields) = (update.tool_call_id.to_string(), &update.fields);
        let is_new = !self.tools.has(&id) && fields.status != Some(ToolCallStatus::Completed);
        let started = is_new.then(|| {
            // Text after this is another message.
            self.message.begin("");
            let title = fields.title.as_deref().unwrap_or_default();
            self.tools.started(&id, title, input(title, update))
        });
        let ok = match fields.status {
            Some(ToolCallStatus::Completed) => true,
            Some(ToolCallStatus::Failed) => false,
            _ => return started.into_iter().collect(),
        };
        let edited = if ok { edited(update) } else { Vec::new() };
        let ended = self.tools.ended(&id, ok, None);
        started.into_iter().chain(edited).chain([ended]).collect()
    }

    /// Returns the final message and the total usage.
    pub(super) fn finished(&mut self, answer: &Value) -> (AgentEvent, Usage) {
        // Gemini has its own field for this.
        const QUOTA: &str = "/result/_meta/quota/token_count";
        if let Some(usage) = answer.pointer("/result/usage") {
            self.usage.input_tokens = number(usage, "/inputTokens");
            self.usage.output_tokens = number(usage, "/outputTokens");
            self.usage.cached_tokens = number(usage, "/cachedReadTokens");
        } else if let Some(quota) = answer.pointer(QUOTA) {
            self.usage.input_tokens = number(quota, "/input_tokens");
            self.usage.output_tokens = number(quota, "/output_tokens");
        }
        (self.message.event(), self.usage)
    }
}

/// Returns what a tool is used on, unless its title already says so.
fn input(title: &str, update: &ToolCallUpdate) -> String {
    let fields = &update.fields;
    let input = fields.raw_input.as_ref().map(tool_input);
    // The location of a command is only its working folder.
    let is_command = fields.kind == Some(ToolKind::Execute);
    let mut places = fields.locations.iter().flatten();
    let first = places.next().filter(|_| !is_command);
    let path = || first.map(|place| place.path.to_string_lossy().into_owned());
    let input = input.filter(|input| !input.is_empty()).or_else(path);
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let is_news = |input: &String| !title.contains(&name(input));
    input.filter(is_news).unwrap_or_default()
}

fn edited(update: &ToolCallUpdate) -> Vec<AgentEvent> {
    let fields = &update.fields;
    let is_edit = fields.kind.is_none_or(|kind| kind == ToolKind::Edit);
    let content = fields.content.iter().flatten().filter(|_| is_edit);
    let files = content.filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(diff.path.to_string_lossy().into_owned()),
        _ => None,
    });
    files.map(|path| AgentEvent::FileEdited { path }).collect()
}
