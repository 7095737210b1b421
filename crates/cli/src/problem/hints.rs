//! What to do about the errors of other crates.

use std::path::Path;

use regreen_runtime::{RunError, TreeLockError};
use regreen_store::{OpenError, StoreError};
use regreen_workspace::{ReadError, SpecError};

use crate::config::PromptsError;
use crate::exit::Exit;
use crate::output::path_from;

pub(super) fn run_exit(error: &RunError) -> Exit {
    match error {
        RunError::Lock(TreeLockError::Held { .. })
        | RunError::Read(_)
        | RunError::OtherAgent { .. } => Exit::BadInput,
        RunError::Contended { .. } => Exit::NeedsPerson,
        RunError::Lock(TreeLockError::Io { .. })
        | RunError::Folder { .. }
        | RunError::Store { .. }
        | RunError::Journal(_)
        | RunError::SetUp { .. } => Exit::SetUp,
    }
}

pub(super) fn run_hint(error: &RunError) -> Option<String> {
    Some(match error {
        RunError::Lock(TreeLockError::Held { .. }) => {
            "wait until it has ended, end it with `regreen stop`, or work beside it in a tree of your own: git worktree add ../another".into()
        }
        RunError::Store { path, source } => store_hint(path, source),
        RunError::Journal(error) => error.fault()?.advice().into(),
        RunError::Read(error) => read_hint(error)?,
        RunError::Contended { .. } => "stop saving it, then run this again: it goes on where it was".into(),
        RunError::Lock(TreeLockError::Io { path, .. }) | RunError::Folder { path, .. } => {
            format!("regreen keeps its journal in {}: make that folder writable", path.display())
        }
        RunError::OtherAgent { begun, found } => format!(
            "say which is meant: --agent '{}', or --agent '{}'; `agent` in your own configuration says it for all runs",
            begun.name(),
            found.name()
        ),
        RunError::SetUp { .. } => return None,
    })
}

fn store_hint(path: &Path, error: &OpenError) -> String {
    match error {
        OpenError::Store(StoreError::Damaged(_)) => set_aside_hint(path),
        error => error.advice().into(),
    }
}

/// Has the command on a line of its own, so that it can be copied.
fn set_aside_hint(database: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let database = path_from(&here, database);
    let aside = format!(
        "{}/damaged",
        database.rsplit_once('/').map_or(".", |(own, _)| own)
    );
    format!(
        "set it aside and run this again: the task file and the state file are enough to go on\n\
         mkdir -p {aside} && mv {database}* {aside}"
    )
}

pub(super) fn read_hint(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::NotFound { .. } => "check the path; `regreen init NAME` makes a new spec".into(),
        ReadError::IsDirectory { path } => {
            format!("name the file in it, for example {}", path.join("tasks.md").display())
        }
        ReadError::PermissionDenied { path } => {
            format!("allow it with: chmod u+r {}", path.display())
        }
        ReadError::NotUtf8 { .. } => {
            "task files are UTF-8 text; an older encoding can be converted: iconv -f latin1 -t utf-8 OLD > NEW"
                .into()
        }
        ReadError::Io { .. } => return None,
    })
}

pub(super) fn config_hint(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::NotFound { .. } | ReadError::Io { .. } => return None,
        ReadError::IsDirectory { path } => {
            format!("a text file is expected there: rename {}", path.display())
        }
        ReadError::PermissionDenied { path } => {
            format!("allow it with: chmod u+r {}", path.display())
        }
        ReadError::NotUtf8 { .. } => "save it as UTF-8 text".into(),
    })
}

pub(super) fn prompt_hint(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::NotFound { .. } => {
            "check the path, or give the text itself: --prompt TEXT".into()
        }
        ReadError::IsDirectory { .. } => "name a file in it".into(),
        error => return config_hint(error),
    })
}

pub(super) fn prompts_hint(error: &PromptsError) -> Option<String> {
    match error {
        PromptsError::Folder { named_in, .. } => Some(format!(
            "make the folder, or take `prompts` out of {named_in}"
        )),
        PromptsError::Outside { .. } => Some(
            "put the text itself there, not a link: agents would be told what is behind it".into(),
        ),
        PromptsError::Template { .. } => Some(
            "use one of these; for braces that stay as they are, put a space into them: {{ name }}"
                .into(),
        ),
        PromptsError::Read(error) => config_hint(error),
    }
}

pub(super) fn spec_hint(error: &SpecError, how: &str) -> String {
    match error.specs() {
        [] => "make one with: regreen init NAME".into(),
        specs => format!("{how}: {}", specs.join(", ")),
    }
}

pub(super) fn known_hint(known: &[String]) -> String {
    const SHOWN: usize = 12;
    match known {
        [] => "it has no tasks at all; `regreen lint FILE` says what regreen sees in it".into(),
        known => {
            let more = if known.len() > SHOWN { ", …" } else { "" };
            let shown: Vec<&str> = known.iter().take(SHOWN).map(String::as_str).collect();
            format!("its tasks: {}{more}", shown.join(", "))
        }
    }
}

pub(super) fn attempts_hint(known: &[u32]) -> String {
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    match known.as_slice() {
        [] => "`regreen status` shows what has been tried".into(),
        known => format!("the run has these: {}", known.join(", ")),
    }
}

pub(super) fn lines_hint(lines: &[usize]) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    format!("its rows with that id are on lines: {}", lines.join(", "))
}
