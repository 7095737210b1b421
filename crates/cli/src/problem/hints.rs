//! Hints for the errors of other crates.

use std::path::Path;

use regreen_forge::ForgeError;
use regreen_runtime::{CiError, RunError, TreeLockError};
use regreen_store::{OpenError, StoreError};
use regreen_workspace::{ReadError, SpecError};

use crate::config::PromptsError;
use crate::exit::Exit;
use crate::output::path_from;

/// What to do if regreen is wrong about what can start.
const PREFLIGHT_HINT: &str =
    "`--preflight warn` begins the run anyway; `regreen run --dry-run` shows all that was found";

pub(super) fn run_exit(error: &RunError) -> Exit {
    match error {
        RunError::Lock(TreeLockError::Held { .. })
        | RunError::Read(_)
        | RunError::OtherAgent { .. } => Exit::BadInput,
        RunError::Contended { .. } | RunError::SettingsChanged { .. } => Exit::NeedsPerson,
        RunError::Preflight(found) if found.is_only_unreadable() => Exit::BadInput,
        RunError::Preflight(_)
        | RunError::Lock(TreeLockError::Io { .. })
        | RunError::Folder { .. }
        | RunError::Store { .. }
        | RunError::Journal(_)
        | RunError::SetUp { .. } => Exit::SetUp,
    }
}

pub(super) fn run_hint(error: &RunError) -> Option<String> {
    Some(match error {
        RunError::Lock(TreeLockError::Held { .. }) => {
            "wait until it ends, stop it with `regreen stop`, or work in another tree: git worktree add ../another".into()
        }
        RunError::Store { path, source } => store_hint(path, source),
        RunError::Journal(error) => error.fault()?.advice().into(),
        RunError::Read(error) => read_hint(error)?,
        RunError::Contended { .. } => "stop editing the file, then run this command again to resume".into(),
        RunError::Lock(TreeLockError::Io { path, .. }) | RunError::Folder { path, .. } => {
            format!("make {} writable: regreen keeps its journal there", path.display())
        }
        RunError::OtherAgent { begun, found } => format!(
            "choose one: --agent '{}' or --agent '{}'; set `agent` in your user configuration to choose it for all runs",
            begun.name(),
            found.name()
        ),
        RunError::SettingsChanged { path, before } => settings_hint(path, before),
        RunError::Preflight(_) => PREFLIGHT_HINT.into(),
        RunError::SetUp { .. } => return None,
    })
}

fn settings_hint(path: &Path, before: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let (path, before) = (path_from(&here, path), path_from(&here, before));
    format!("if you changed it, accept it: rm {before}\nif not, restore it: cp {before} {path}")
}

fn store_hint(path: &Path, error: &OpenError) -> String {
    match error {
        OpenError::Store(StoreError::Damaged(_)) => set_aside_hint(path),
        error => error.advice().into(),
    }
}

/// Puts the command on its own line, so that it can be copied.
fn set_aside_hint(database: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let database = path_from(&here, database);
    let aside = format!(
        "{}/damaged",
        database.rsplit_once('/').map_or(".", |(own, _)| own)
    );
    format!(
        "move it away, then run this command again; the task file and the state file are enough to resume\n\
         mkdir -p {aside} && mv {database}* {aside}"
    )
}

pub(super) fn read_hint(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::NotFound { .. } => "check the path".into(),
        ReadError::IsDirectory { path } => {
            format!(
                "name a file in it, for example {}",
                path.join("tasks.md").display()
            )
        }
        ReadError::PermissionDenied { path } => {
            format!("run `chmod u+r {}` to allow it", path.display())
        }
        ReadError::NotAFile { .. } => "name a regular file".into(),
        ReadError::TooLarge { .. } => {
            "split it, or move what regreen does not need to another file".into()
        }
        ReadError::NotUtf8 { .. } => {
            "convert the file to UTF-8, for example: iconv -f latin1 -t utf-8 OLD > NEW".into()
        }
        ReadError::Io { .. } => return None,
    })
}

pub(super) fn config_hint(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::NotFound { .. } | ReadError::Io { .. } => return None,
        ReadError::IsDirectory { path } => {
            format!("rename {}: regreen expects a file there", path.display())
        }
        ReadError::PermissionDenied { path } => {
            format!("run `chmod u+r {}` to allow it", path.display())
        }
        ReadError::NotAFile { path, .. } | ReadError::TooLarge { path, .. } => {
            format!(
                "move {} away: regreen expects a small file there",
                path.display()
            )
        }
        ReadError::NotUtf8 { .. } => "save it as UTF-8 text".into(),
    })
}

pub(super) fn prompt_hint(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::NotFound { .. } => {
            "check the path, or pass the text itself with --prompt TEXT".into()
        }
        ReadError::IsDirectory { .. } => "name a file in it".into(),
        ReadError::NotAFile { .. } => {
            "name a regular file, or pass the text itself with --prompt TEXT".into()
        }
        error => return config_hint(error),
    })
}

pub(super) fn prompts_hint(error: &PromptsError) -> Option<String> {
    match error {
        PromptsError::Folder { named_in, .. } => Some(format!(
            "create the folder, or remove `prompts` from {named_in}"
        )),
        PromptsError::Outside { .. } => Some(
            "replace the link with a copy of the file: agents would see what it points to".into(),
        ),
        PromptsError::Template { .. } => Some(
            "use one of these; to keep literal braces, put a space inside them: {{ name }}".into(),
        ),
        PromptsError::Read(error) => config_hint(error),
    }
}

pub(super) fn spec_hint(error: &SpecError, how: &str) -> String {
    match error.specs() {
        [] => "run `regreen init NAME` to create one".into(),
        specs => format!("{how}: {}", specs.join(", ")),
    }
}

pub(super) fn known_hint(known: &[String]) -> String {
    const SHOWN: usize = 12;
    match known {
        [] => "the file has no tasks; run `regreen lint FILE` to see how regreen reads it".into(),
        known => {
            let more = if known.len() > SHOWN { ", …" } else { "" };
            let shown: Vec<&str> = known.iter().take(SHOWN).map(String::as_str).collect();
            format!("known tasks: {}{more}", shown.join(", "))
        }
    }
}

pub(super) fn attempts_hint(known: &[u32]) -> String {
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    match known.as_slice() {
        [] => "run `regreen status` to see which tasks have attempts".into(),
        known => format!("attempts in that run: {}", known.join(", ")),
    }
}

pub(super) fn choice_of_line_hint(tasks: &[(usize, String)]) -> String {
    let ways = tasks
        .iter()
        .map(|(line, title)| format!("`--line {line}` ({title})"));
    format!("say which: {}", ways.collect::<Vec<_>>().join(", "))
}

pub(super) fn lines_hint(lines: &[usize]) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    format!("rows with that id are on lines: {}", lines.join(", "))
}

pub(super) fn ci_exit_and_hint(error: &CiError) -> (Exit, Option<String>) {
    let hint = |text: &str| Some(text.to_owned());
    match error {
        CiError::Forge(error) => match error {
            ForgeError::Missing => (
                Exit::SetUp,
                hint("install it: `apt-get install gh` on Debian, or see https://cli.github.com"),
            ),
            ForgeError::NotLoggedIn { .. } => (Exit::SetUp, hint("log in: `gh auth login`")),
            ForgeError::NotFound { .. } => (
                Exit::BadInput,
                hint(
                    "check the number and the repository, and that your login may see it: `gh auth status`",
                ),
            ),
            ForgeError::Refused { .. } => (
                Exit::SetUp,
                hint(
                    "your login needs the right to do this: `gh auth refresh --scopes repo,workflow`",
                ),
            ),
            ForgeError::Unavailable { .. } => (Exit::TryLater, None),
            ForgeError::NotRun(_) | ForgeError::NotUnderstood { .. } => (Exit::SetUp, None),
        },
        CiError::Git(_) | CiError::Log(_) | CiError::File { .. } => (Exit::SetUp, None),
        CiError::Read(error) => (Exit::BadInput, read_hint(error)),
        CiError::Edit(_) => (
            Exit::NeedsPerson,
            hint("nothing was written; run `regreen lint FILE` to see what is ambiguous in it"),
        ),
        CiError::Held => (
            Exit::BadInput,
            hint("wait until it ends, or stop it with Ctrl-C"),
        ),
        CiError::Usage { help, .. } => (Exit::BadInput, Some(help.clone())),
    }
}
