use std::path::{Path, PathBuf};

use regreen_documents::{InvalidState, StateDocument, TaskFile};
use regreen_workspace::{RealDisk, current_spec_folder, read_text, workspace_root};

use super::hook_input::HookInput;
use super::{plugin_settings, transcript};

/// Where smart-ralph's plugin keeps its settings.
const SETTINGS: &str = ".claude/ralph-specum.local.md";
const STATE: &str = ".ralph-state.json";
const TASKS: &str = "tasks.md";

/// A session in a folder with a current spec that has a state file.
#[derive(Debug)]
pub(super) struct Situation {
    pub(super) spec: String,
    /// The spec's folder as people call it.
    pub(super) shown: String,
    pub(super) state: Result<StateDocument, InvalidState>,
    pub(super) tasks: Option<TaskFile>,
    pub(super) is_continuation: bool,
    pub(super) says_all_is_done: bool,
}

impl Situation {
    /// `None` where there is nothing that a session could be kept going for.
    pub(super) fn find(input: &HookInput) -> Option<Self> {
        let (root, folder) = current_spec(&input.cwd)?;
        let settings = [&input.cwd, &root].map(|folder| text(&folder.join(SETTINGS)));
        if settings
            .iter()
            .flatten()
            .any(|text| plugin_settings::turn_off(text))
        {
            return None;
        }
        let state = folder.join(STATE);
        if !state.is_file() {
            return None;
        }
        let tail = input.transcript.as_deref().map(transcript::tail);
        Some(Self {
            spec: folder.file_name()?.to_string_lossy().into_owned(),
            shown: folder
                .strip_prefix(&root)
                .unwrap_or(&folder)
                .display()
                .to_string(),
            state: StateDocument::read(&text(&state).unwrap_or_default()).map(|(state, _)| state),
            tasks: text(&folder.join(TASKS)).map(TaskFile::read),
            is_continuation: input.is_continuation,
            says_all_is_done: tail.is_some_and(|tail| transcript::says_all_is_done(&tail)),
        })
    }
}

/// The folder that specs are looked for in, and that of the current one: where the session
/// works, else in the workspace around it.
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
