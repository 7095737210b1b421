//! Gemini CLI: `gemini --output-format stream-json`.

use std::collections::BTreeMap;

use regreen_model::{AgentEvent, ResetTime, Usage};
use serde_json::Value;

use crate::coding_agent::{Abilities, Adapter, Credentials, Flags};
use crate::json_lines::{
    JsonDecoder, JsonProtocol, OpenTools, edited, number, question, session, text, tool_input,
    written,
};
use crate::message::MessageBuffer;
use crate::trouble::{ApiError, passing};

const FIRST: &[&str] = &["--output-format", "stream-json", "--skip-trust"];

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "gemini",
    title: "Gemini CLI",
    flags: Flags {
        first: FIRST,
        first_of_resumed: FIRST,
        skip: "--yolo",
        model: "-m",
        session: Some("--resume"),
        last: &[],
    },
    decoder: JsonDecoder::<GeminiProtocol>::boxed,
    credentials: Credentials {
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        files: &[".gemini/oauth_creds.json"],
        elsewhere: &[
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_GENAI_USE_VERTEXAI",
        ],
    },
    abilities: Abilities {
        session: "at the start",
        resume: "yes",
        tools: "start and end",
        failed_commands: "no: reported as success",
        files: "edits",
        tokens: "yes",
        cost: "no",
        errors: "text; retries on stderr",
        end: "`result`",
    },
};

#[derive(Debug, Default)]
struct GeminiProtocol {
    tools: OpenTools,
    /// The files that open calls are about to edit, by call.
    files: BTreeMap<String, String>,
    message: MessageBuffer,
    retries: RetryLog,
    done: bool,
}

impl JsonProtocol for GeminiProtocol {
    fn on_object(&mut self, line: &Value) -> Vec<AgentEvent> {
        match text(line, "/type") {
            "init" => vec![session(text(line, "/session_id"))],
            "message" if text(line, "/role") == "assistant" => {
                let piece = text(line, "/content");
                self.message.add(piece);
                vec![written(piece)]
            }
            "tool_use" => vec![self.started(line)],
            "tool_result" => self.ended(line),
            "result" => {
                self.done = true;
                self.result(line)
            }
            _ => Vec::new(),
        }
    }

    fn on_log(&mut self, line: &[u8]) -> Option<AgentEvent> {
        self.retries.on_line(line)
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl GeminiProtocol {
    fn started(&mut self, line: &Value) -> AgentEvent {
        let (call, name) = (text(line, "/tool_id"), text(line, "/tool_name"));
        // Text after a tool call is another message.
        self.message.begin("");
        if name == "ask_user" {
            return question(text(line, "/parameters/questions/0/question"));
        }
        if ["write_file", "replace", "edit"].contains(&name) {
            let path = text(line, "/parameters/file_path").to_owned();
            self.files.insert(call.to_owned(), path);
        }
        self.tools
            .started(call, name, tool_input(&line["parameters"]))
    }

    fn ended(&mut self, line: &Value) -> Vec<AgentEvent> {
        let call = text(line, "/tool_id");
        let ok = text(line, "/status") == "success";
        let file = self.files.remove(call).filter(|_| ok);
        let file = file.and_then(|path| edited(&path));
        let ended = self.tools.ended(call, ok, None);
        file.into_iter().chain([ended]).collect()
    }

    fn result(&mut self, line: &Value) -> Vec<AgentEvent> {
        let ok = text(line, "/status") == "success";
        let end = if ok {
            self.message.event()
        } else {
            ApiError::of(text(line, "/error/message")).into_event()
        };
        let input_tokens = number(line, "/stats/input_tokens");
        // Thoughts are only in the total.
        let thoughts_too = number(line, "/stats/total_tokens").saturating_sub(input_tokens);
        let usage = AgentEvent::Usage(Usage {
            input_tokens,
            output_tokens: number(line, "/stats/output_tokens").max(thoughts_too),
            cached_tokens: number(line, "/stats/cached"),
            cost_micro_usd: None,
            cumulative: false,
        });
        vec![usage, end, AgentEvent::Terminal { ok }]
    }
}

/// Longer messages of the service are cut.
const LONGEST_MESSAGE: usize = 4 * 1024;

/// Reads retried requests, which only the log reports: `Attempt 1 failed with status 429. Retrying
/// with backoff...`, `Attempt 1 failed: … Retrying after 6193ms...`. The service's message may have
/// several lines.
#[derive(Debug, Default)]
pub(crate) struct RetryLog {
    /// The message so far, without its end.
    open: Option<String>,
}

impl RetryLog {
    pub(crate) fn on_line(&mut self, line: &[u8]) -> Option<AgentEvent> {
        let line = String::from_utf8_lossy(line.get(..line.len().min(LONGEST_MESSAGE))?);
        let first = line.strip_prefix("Attempt ").and_then(|line| {
            let split = line.split_once(" failed: ");
            split.or_else(|| line.split_once(" failed "))
        });
        let message = match (first, self.open.take()) {
            (Some((_, why)), _) => why.to_owned(),
            (None, Some(open)) if open.len() < LONGEST_MESSAGE => format!("{open}\n{line}"),
            (None, _) => return None,
        };
        if let Some((why, retry)) = message.rsplit_once("Retrying") {
            // The rest is the service's answer, or nothing.
            let error = ApiError {
                resets: retry_delay(retry),
                ..ApiError::of(if retry.contains('{') {
                    &message
                } else {
                    why.trim_end_matches([' ', '.'])
                })
            };
            return Some(AgentEvent::Trouble(passing(&error)));
        }
        let is_over = message.contains("Max attempts reached");
        self.open = Some(message).filter(|_| !is_over);
        None
    }
}

/// Parses ` after 6193ms...`.
fn retry_delay(text: &str) -> Option<ResetTime> {
    let (millis, _) = text.strip_prefix(" after ")?.split_once("ms")?;
    millis.parse().ok().map(ResetTime::After)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn troubles(log: &str) -> Vec<(String, Option<ResetTime>)> {
        let mut retries = RetryLog::default();
        let events = log
            .lines()
            .filter_map(|line| retries.on_line(line.as_bytes()));
        let troubles = events.map(|event| match event {
            AgentEvent::Trouble(trouble) => (trouble.message, trouble.resets),
            other => panic!("{other:?}"),
        });
        troubles.collect()
    }

    #[test]
    fn a_retry_is_read_from_a_message_of_several_lines() {
        let log = "\
Loaded cached credentials.
Attempt 1 failed: You exceeded your current quota.
* Quota exceeded for metric: requests, limit: 2, model: gemini-2.5-pro
Please retry in 6.19s.. Retrying after 6193ms...
Attempt 2 failed: You exceeded your current quota.
Please retry in 5400.5s.. Retrying after 5400500ms...
    at retryWithBackoff (file:///x.js:1:1)
Attempt 3 failed: Resource has been exhausted. Max attempts reached
Please retry in 9s
";
        let message = "You exceeded your current quota. * Quota exceeded for metric: requests, \
                       limit: 2, model: gemini-2.5-pro Please retry in 6.19s";
        let long = "You exceeded your current quota. Please retry in 5400.5s";
        assert_eq!(
            troubles(log),
            [
                (message.to_owned(), Some(ResetTime::After(6193))),
                (long.to_owned(), Some(ResetTime::After(5_400_500))),
            ]
        );
    }

    #[test]
    fn a_retry_is_read_from_one_line() {
        let log = "Attempt 1 failed with status 503. Retrying with backoff... _ApiError: \
                   {\"error\":{\"code\":503,\"message\":\"Overloaded\",\"status\":\"UNAVAILABLE\"}}\n";
        assert_eq!(troubles(log), [("Overloaded".to_owned(), None)]);
    }

    #[test]
    fn thoughts_count_as_output() {
        let line = serde_json::json!({"type": "result", "status": "success", "stats": {
            "total_tokens": 1530, "input_tokens": 1000, "output_tokens": 96}});
        let events = GeminiProtocol::default().on_object(&line);
        let usage = events.iter().find_map(|event| match event {
            AgentEvent::Usage(usage) => Some((usage.input_tokens, usage.output_tokens)),
            _ => None,
        });
        assert_eq!(usage, Some((1000, 530)));
    }
}
