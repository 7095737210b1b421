//! `regreen init`: a new spec.

use std::path::Path;

use clap::Args;
use regreen_workspace::{CreateFileError, RealDisk, create_dir_all, create_file, workspace_root};

use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::current_dir;

const TEMPLATE: &str = include_str!("../../templates/tasks.md");

#[derive(Debug, Args)]
pub struct Init {
    /// Name of the spec; its folder is specs/NAME
    pub name: String,
}

pub fn run(arguments: &Init) -> Result<Exit, Problem> {
    let name = arguments.name.as_str();
    if !is_name(name) {
        return Err(Problem::BadName {
            name: name.to_owned(),
        });
    }
    let here = current_dir()?;
    let folder = workspace_root(&RealDisk, &here).join("specs").join(name);
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
    output::print(&created(shown, name))?;
    Ok(Exit::Success)
}

/// Whether a name is one folder, and gives neither a shell nor git trouble.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.chars().all(is_plain) && !name.starts_with(['.', '-'])
}

fn created(file: &Path, name: &str) -> String {
    let file = file.display();
    format!("Created {file}\nEdit it, then check it with: regreen lint {name}\n")
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
