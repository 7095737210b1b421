//! `regreen init`: creates a spec, and sets a workspace up for Claude Code.

mod claude;

use std::path::Path;

use clap::Args;
use regreen_documents::TaskFile;
use regreen_runtime::SpecPaths;
use regreen_workspace::{
    CreateFileError, RealDisk, Spec, create_dir_all, create_file, current_spec_file, specs_folders,
    workspace_root,
};

use crate::commands::use_spec;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::current_dir;

const TEMPLATE: &str = include_str!("../../../templates/tasks.md");

#[derive(Debug, Args)]
pub struct Init {
    /// Name of the spec; its folder is specs/NAME
    #[arg(required_unless_present = "claude")]
    pub name: Option<String>,
    /// Add hooks to .claude/settings.json, which connect Claude Code sessions in this workspace with
    /// regreen
    #[arg(long)]
    pub claude: bool,
}

pub fn run(arguments: &Init) -> Result<Exit, Problem> {
    if let Some(name) = &arguments.name {
        create_spec(name)?;
    }
    if arguments.claude {
        claude::add_hooks()?;
    }
    Ok(Exit::Success)
}

fn create_spec(name: &str) -> Result<(), Problem> {
    if !is_name(name) {
        return Err(Problem::BadName {
            name: name.to_owned(),
        });
    }
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let folders = specs_folders(&RealDisk, &root);
    let specs = folders.first().cloned().unwrap_or_default();
    let folder = root.join(specs).join(name);
    let file = folder.join("tasks.md");
    create_dir_all(&RealDisk, &folder)?;
    let shown = file.strip_prefix(&here).unwrap_or(&file);
    let text = TEMPLATE.replace("{name}", name);
    create_file(&RealDisk, &file, &text).map_err(|error| match error {
        CreateFileError::AlreadyExists { .. } => Problem::Exists {
            path: shown.to_owned(),
        },
        error => Problem::from_create(error),
    })?;
    let paths = SpecPaths::new(
        &root,
        Spec {
            name: name.to_owned(),
            tasks: file.clone(),
        },
    );
    // Until someone starts work on its tasks, no hook keeps a session going for it.
    use_spec::create_state(&paths, &TaskFile::read(text), Some("tasks"))?;
    let is_first = !current_spec_file(&RealDisk, &root).exists();
    if is_first {
        use_spec::name_current(&paths)?;
    }
    output::print(&created(shown, name))
}

/// Whether a name is a single folder name that causes no trouble in a shell or in git.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.chars().all(is_plain) && !name.starts_with(['.', '-'])
}

fn created(file: &Path, name: &str) -> String {
    let file = file.display();
    format!(
        "Created {file}\nEdit it, then check it: regreen lint {name}\nRun it: regreen run {name}\nOr work on it in a Claude Code session: regreen use {name}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_plain_folder() {
        for name in ["login", "008-login.v2", "größe"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", "a/b", "-rf", "a b", "a\n", "../up", "$(x)"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
