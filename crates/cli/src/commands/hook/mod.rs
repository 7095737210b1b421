//! `regreen hook stop`: Claude Code asks whether a session may stop.

mod hook_input;
mod plugin_settings;
mod situation;
mod transcript;
mod verdict;

use std::io::{self, Read as _};

use regreen_supervisor::Marker;
use serde_json::json;

use self::hook_input::HookInput;
use self::situation::Situation;
use self::verdict::Verdict;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

/// More than any hook is told.
const LONGEST_INPUT: u64 = 4 * 1024 * 1024;

/// A session that a run of regreen started is that run's: it does one task, and stops.
fn is_a_runs_own_session() -> bool {
    std::env::var_os(Marker::VARIABLE).is_some()
}

/// A hook never fails: whoever cannot answer lets the session stop.
pub fn stop() -> Result<Exit, Problem> {
    let mut text = Vec::new();
    // What could not be read is not there.
    let _ = io::stdin()
        .lock()
        .take(LONGEST_INPUT)
        .read_to_end(&mut text);
    let input = HookInput::read(&text).filter(|_| !is_a_runs_own_session());
    let situation = input.as_ref().and_then(Situation::find);
    match situation.map_or(Verdict::Stop, |situation| verdict::judge(&situation)) {
        Verdict::Stop => {}
        Verdict::StopSaying(why) => output::say(&why),
        Verdict::GoOn { reason, message } => output::print(&output::json(&json!({
            "decision": "block",
            "reason": reason,
            "systemMessage": message,
        })))?,
    }
    Ok(Exit::Success)
}
