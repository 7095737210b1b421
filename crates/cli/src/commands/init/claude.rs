//! `regreen init --claude`: adds regreen's hooks to the workspace's settings for Claude Code.

use std::path::Path;

use regreen_documents::{EditError, with_claude_hooks};
use regreen_workspace::{
    Programs, ReadError, RealDisk, WriteMethod, create_dir_all, create_file, edit_file, read_text,
    workspace_root,
};

use crate::output;
use crate::problem::Problem;
use crate::spec_context::{current_dir, path_variable};

/// The hooks of the plugin for Claude Code.
const HOOKS: &str = include_str!("../../../../../plugin/hooks/hooks.json");
const SETTINGS: &str = ".claude/settings.json";
/// A new file; adding hooks keeps its layout.
const NEW: &str = "{\n  \"hooks\": {}\n}\n";

/// Adds the hooks that the workspace's settings lack.
pub(super) fn add_hooks() -> Result<(), Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let file = root.join(SETTINGS);
    let shown = file.strip_prefix(&here).unwrap_or(&file);
    let text = match read_text(&RealDisk, &file) {
        Ok(read) => Some(read.text),
        Err(ReadError::NotFound { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let is_new = text.is_none();
    let added = with_claude_hooks(text.as_deref().unwrap_or(NEW), HOOKS);
    let added = added.map_err(|why| Problem::ClaudeSettings {
        file: shown.to_owned(),
        why,
    })?;
    let has_changed = match added {
        Some(text) if is_new => created(&root, &file, &text)?,
        Some(_) => edited(&file)?,
        None => false,
    };
    if !Programs::new(&path_variable(), &root).has(&RealDisk, "regreen") {
        output::note("the hooks call `regreen`, which is not in your PATH");
    }
    let shown = shown.display();
    output::print_text(&if has_changed {
        format!(
            "Added hooks to {shown}\nNew Claude Code sessions here learn what is open and why a command failed, and continue while the current spec has open tasks\nChoose that spec: regreen use SPEC\n"
        )
    } else {
        format!("{shown} has the hooks already\n")
    })
}

fn created(root: &Path, file: &Path, text: &str) -> Result<bool, Problem> {
    create_dir_all(&RealDisk, &root.join(".claude"))?;
    create_file(&RealDisk, file, text).map_err(Problem::from_create)?;
    Ok(true)
}

fn edited(file: &Path) -> Result<bool, Problem> {
    // Settings that someone has made invalid meanwhile stay as they are.
    let edit = |text: &str| Ok::<_, EditError>(with_claude_hooks(text, HOOKS).ok().flatten());
    let report =
        edit_file(&RealDisk, file, edit).map_err(|error| Problem::from_edit(error, file))?;
    Ok(report.written != WriteMethod::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_of_the_plugin_is_a_command_of_regreen() {
        let text = with_claude_hooks("{}", HOOKS).unwrap().unwrap();
        for name in ["stop", "explain", "status"] {
            assert!(text.contains(&format!("\"regreen hook {name}\"")), "{text}");
        }
    }
}
