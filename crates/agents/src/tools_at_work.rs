use std::collections::BTreeMap;

use regreen_model::AgentEvent;

/// No agent has so many tools at work; calls whose ends were never told are forgotten.
const MOST: usize = 256;

/// The tools that have been started and have not ended: ends often do not say of what.
#[derive(Debug, Default)]
pub(crate) struct ToolsAtWork {
    names: BTreeMap<String, String>,
}

impl ToolsAtWork {
    pub(crate) fn started(&mut self, call: &str, name: &str) -> AgentEvent {
        if self.names.len() >= MOST {
            self.names.pop_first();
        }
        self.names.insert(call.to_owned(), name.to_owned());
        AgentEvent::ToolStarted {
            call: call.to_owned(),
            name: name.to_owned(),
        }
    }

    pub(crate) fn has(&self, call: &str) -> bool {
        self.names.contains_key(call)
    }

    pub(crate) fn ended(&mut self, call: &str, ok: bool, exit: Option<i32>) -> AgentEvent {
        AgentEvent::ToolEnded {
            call: call.to_owned(),
            name: self.names.remove(call).unwrap_or_default(),
            ok,
            exit,
        }
    }
}
