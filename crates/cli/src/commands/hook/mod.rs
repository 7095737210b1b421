//! `regreen hook`: answers the hooks of a Claude Code session. `stop` says whether the session may
//! stop, `explain` why a command failed, `status` how far the spec is.

mod decision;
mod explain;
mod session;
mod status;
mod transcript;

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use regreen_documents::{InvalidState, StateDocument, TaskFile};
use regreen_supervisor::is_started_by_a_run;
use regreen_workspace::{RealDisk, current_spec_folder, read_text, workspace_root};
use serde_json::{Value, json};

use self::decision::StopDecision;
use self::session::{SessionFile, StopRecord, has_got_on, work_of};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

/// More than the input of any hook.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

#[derive(Debug, Subcommand)]
pub enum Hook {
    /// Claude Code's Stop hook: read its JSON from standard input, and keep the session going
    /// while the current spec has open tasks
    Stop,
    /// Claude Code's PostToolUseFailure hook: read its JSON from standard input, and tell the session
    /// why its shell command failed, if that is sure
    Explain,
    /// Claude Code's SessionStart hook: read its JSON from standard input, and tell the session how
    /// far the current spec is, if tasks are open
    Status,
}

/// Answers a hook. Never fails because of its input: without an answer, the session goes on as it
/// would without the hook.
pub fn run(hook: &Hook) -> Result<Exit, Problem> {
    let mut text = Vec::new();
    // Unreadable input counts as no input.
    let _ = io::stdin().lock().take(MAX_INPUT).read_to_end(&mut text);
    // A session that belongs to a run has a single task, and the run checks and explains the result.
    if is_started_by_a_run() {
        return Ok(Exit::Success);
    }
    match hook {
        Hook::Stop => stop(&text),
        Hook::Explain => tell("PostToolUseFailure", explain::explanation(&text)),
        Hook::Status => tell("SessionStart", status::status(&text)),
    }
}

/// Prints what the session should know, if anything.
fn tell(event: &str, context: Option<String>) -> Result<Exit, Problem> {
    if let Some(context) = context {
        output::print(&output::json(&json!({
            "hookSpecificOutput": {
                "hookEventName": event,
                "additionalContext": context,
            },
        })))?;
    }
    Ok(Exit::Success)
}

/// Answers a Stop hook: without an answer, the session may stop.
fn stop(input: &[u8]) -> Result<Exit, Problem> {
    let input = HookInput::read(input);
    let Some(context) = input.as_ref().and_then(StopContext::find) else {
        return Ok(Exit::Success);
    };
    match decision::decide(&context) {
        StopDecision::Stop => {}
        StopDecision::StopWithMessage(why) => output::say(&why),
        StopDecision::Continue {
            reason,
            message,
            log,
        } => {
            context.remember();
            if let Some(log) = log {
                output::say(&log);
            }
            output::print(&output::json(&json!({
                "decision": "block",
                "reason": reason,
                "systemMessage": message,
            })))?;
        }
    }
    Ok(Exit::Success)
}

/// The parts of a Stop hook's input that matter here.
#[derive(Debug, PartialEq, Eq)]
struct HookInput {
    cwd: PathBuf,
    transcript: Option<PathBuf>,
    session: Option<String>,
    /// Whether the session continues only because a Stop hook asked for it.
    is_continuation: bool,
}

impl HookInput {
    /// Returns `None` if the text is not JSON or names no working folder.
    fn read(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let path = |key: &str| {
            let text = value.get(key)?.as_str().filter(|text| !text.is_empty());
            text.map(PathBuf::from)
        };
        Some(Self {
            cwd: path("cwd")?,
            transcript: path("transcript_path"),
            session: value
                .get("session_id")
                .and_then(Value::as_str)
                .map(str::to_owned),
            is_continuation: value.get("stop_hook_active") == Some(&Value::Bool(true)),
        })
    }
}

/// The settings file of smart-ralph's plugin.
const SETTINGS: &str = ".claude/ralph-specum.local.md";
const STATE: &str = ".ralph-state.json";
const TASKS: &str = "tasks.md";
const PROGRESS: &str = ".progress.md";

/// A session that is about to stop, in a folder whose current spec has a state file.
#[derive(Debug)]
struct StopContext {
    spec: String,
    /// The spec's folder, relative to the workspace.
    shown: String,
    state: Result<StateDocument, InvalidState>,
    tasks: Option<TaskFile>,
    has_progress: bool,
    /// A hook has continued the session before, and nothing shows any progress since.
    is_stalled: bool,
    says_all_is_done: bool,
    /// Where the session's Stops are recorded.
    record: Option<SessionFile>,
    /// The number of Stops so far.
    stops: u32,
    /// A hash of the files that show progress.
    work: String,
}

impl StopContext {
    /// Returns `None` if there is no reason to keep the session going.
    fn find(input: &HookInput) -> Option<Self> {
        let (root, folder) = current_spec(&input.cwd)?;
        let settings = [&input.cwd, &root].map(|folder| text(&folder.join(SETTINGS)));
        if settings.iter().flatten().any(|text| turn_off(text)) {
            return None;
        }
        let state = folder.join(STATE);
        if !state.is_file() {
            return None;
        }
        let tail = input.transcript.as_deref().map(transcript::tail);
        let state = StateDocument::read(&text(&state).unwrap_or_default()).map(|(state, _)| state);
        let tasks = text(&folder.join(TASKS)).map(TaskFile::read);
        let record = SessionFile::new(input.session.as_deref(), &folder);
        let last = record.as_ref().and_then(SessionFile::read);
        let last = last.filter(|_| input.is_continuation);
        let limit = state
            .as_ref()
            .map_or(0, StateDocument::max_global_iterations);
        let mut files = vec![folder.join(TASKS), folder.join(PROGRESS)];
        files.extend(tasks.iter().flat_map(|tasks| named_files(tasks, &root)));
        let work = work_of(&files);
        Some(Self {
            is_stalled: input.is_continuation && !has_got_on(last.as_ref(), &work, limit),
            stops: last.map_or(0, |last| last.stops),
            record,
            work,
            spec: folder.file_name()?.to_string_lossy().into_owned(),
            shown: folder
                .strip_prefix(&root)
                .unwrap_or(&folder)
                .display()
                .to_string(),
            state,
            tasks,
            has_progress: folder.join(PROGRESS).exists(),
            says_all_is_done: tail.is_some_and(|tail| transcript::says_all_is_done(&tail)),
        })
    }
}

impl StopContext {
    /// Records that the session was not allowed to stop.
    fn remember(&self) {
        if let Some(record) = &self.record {
            record.write(&StopRecord {
                stops: self.stops + 1,
                work: self.work.clone(),
            });
        }
    }
}

/// Returns the Files of all tasks: a change to any of them is progress.
fn named_files(tasks: &TaskFile, root: &Path) -> Vec<PathBuf> {
    let fields = tasks.tasks().into_iter().map(|task| task.fields.files);
    let words = fields.flatten().flat_map(|files| {
        let words = files.split([',', ' ', '\n', '`']);
        words.map(str::to_owned).collect::<Vec<_>>()
    });
    let is_inside = |word: &String| {
        !word.is_empty() && !word.starts_with('/') && !word.split('/').any(|part| part == "..")
    };
    words
        .filter(is_inside)
        .map(|word| root.join(word))
        .collect()
}

/// Finds the current spec in the session's folder, or else in the workspace around it. Returns the
/// folder that contains the specs, and the spec's own folder.
fn current_spec(cwd: &Path) -> Option<(PathBuf, PathBuf)> {
    let in_folder = |root: PathBuf| {
        let folder = current_spec_folder(&RealDisk, &root)?;
        Some((root, folder))
    };
    in_folder(cwd.to_owned()).or_else(|| in_folder(workspace_root(&RealDisk, cwd)))
}

fn text(path: &Path) -> Option<String> {
    read_text(&RealDisk, path).ok().map(|read| read.text)
}

/// Whether the plugin's settings turn it off, with `enabled: false` in their front matter.
fn turn_off(settings: &str) -> bool {
    let mut lines = settings.lines().map(str::trim_end);
    if lines.next() != Some("---") {
        return false;
    }
    let front_matter = lines.take_while(|line| *line != "---");
    let mut values = front_matter.filter_map(|line| line.strip_prefix("enabled:"));
    values.next().is_some_and(|value| {
        let value = value.split('#').next().unwrap_or_default();
        let value = value.trim().trim_matches(['"', '\'']);
        value.eq_ignore_ascii_case("false")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_hook_input_is_rejected() {
        for text in [
            "",
            "{",
            "null",
            "[]",
            "7",
            "{}",
            r#"{"cwd":""}"#,
            r#"{"cwd":7}"#,
        ] {
            assert_eq!(HookInput::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(HookInput::read(&[0xFF, 0xFE]), None);
    }

    #[test]
    fn missing_or_odd_fields_of_hook_input_are_ignored() {
        let read = |text: &str| HookInput::read(text.as_bytes()).unwrap();
        let plain = read(r#"{"cwd":"here"}"#);
        assert_eq!(plain.transcript, None);
        assert!(!plain.is_continuation);
        assert_eq!(
            read(r#"{"cwd":"here","stop_hook_active":"true","transcript_path":7,"more":{}}"#),
            plain
        );
        assert!(read(r#"{"cwd":"here","stop_hook_active":true}"#).is_continuation);
    }

    #[test]
    fn only_a_false_in_the_front_matter_turns_it_off() {
        for off in [
            "---\nenabled: false\n---\n",
            "---\nspecs: [a]\nenabled:  \"False\"  # for now\n---\ntext\n",
            "---\r\nenabled: 'FALSE'\r\n---\r\n",
        ] {
            assert!(turn_off(off), "{off:?}");
        }
        for on in [
            "",
            "enabled: false\n",
            "---\nenabled: true\n---\n",
            "---\nname: x\n---\nenabled: false\n",
            "---\n  enabled: false\n---\n",
            "---\nenabled: true\nenabled: false\n---\n",
        ] {
            assert!(!turn_off(on), "{on:?}");
        }
    }
}
