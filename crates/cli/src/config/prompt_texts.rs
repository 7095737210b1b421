//! The texts of a run, read once from the folder that is set, if one is.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use regreen_agents::{PromptFile, Prompts, TemplateError};
use regreen_workspace::{Disk as _, ReadError, RealDisk, read_text};
use thiserror::Error;

use super::configuration::name_of;
use super::origin::Origin;
use super::owner::Owner;
use super::prompt_folder::PromptFolder;
use super::sourced::Sourced;
use crate::output;

/// What agents will be told.
#[derive(Clone, Debug, Default)]
pub struct PromptTexts {
    pub prompts: Prompts,
    /// Files of the folder that look like prompts but replace none: mistyped, most likely.
    pub ignored: Vec<PathBuf>,
}

#[derive(Debug, Error)]
pub enum PromptsError {
    #[error("the folder of prompts {folder} cannot be read")]
    Folder {
        folder: String,
        /// The file and line that say so.
        named_in: String,
        #[source]
        source: io::Error,
    },
    #[error("the prompt {file} leads out of the workspace")]
    Outside { file: String },
    #[error("{file}: {why}")]
    Template { file: String, why: TemplateError },
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl PromptTexts {
    /// # Errors
    /// If the folder or a prompt in it cannot be read or used; or if a repository's folder
    /// has links that lead out of it: what is there would be told to agents. Messages name
    /// files as seen from `here`.
    pub fn load(
        folder: &Sourced<PromptFolder>,
        root: &Path,
        here: &Path,
    ) -> Result<Self, PromptsError> {
        let mut texts = Self::default();
        let Some(path) = folder.value.path() else {
            return Ok(texts);
        };
        let path = output::inside(here, path);
        let names = names(path).map_err(|source| PromptsError::Folder {
            folder: path.display().to_string(),
            named_in: named_in(&folder.origin, here),
            source,
        })?;
        let inside = is_of_repository(&folder.origin).then_some(root);
        for name in names {
            let file = path.join(&name);
            match PromptFile::ALL.into_iter().find(|p| name == p.name()) {
                Some(prompt) => texts.replace(prompt, &file, inside)?,
                None if is_suspicious(&file) => texts.ignored.push(file),
                None => {}
            }
        }
        Ok(texts)
    }

    fn replace(
        &mut self,
        prompt: PromptFile,
        file: &Path,
        inside: Option<&Path>,
    ) -> Result<(), PromptsError> {
        let found = read_text(&RealDisk, file)?;
        let file = file.display().to_string();
        if inside.is_some_and(|root| !is_below(&found.path, root)) {
            return Err(PromptsError::Outside { file });
        }
        let replaced = self.prompts.replace(prompt, &found.text);
        replaced.map_err(|why| PromptsError::Template { file, why })
    }
}

fn is_of_repository(origin: &Origin) -> bool {
    let owner = match origin {
        Origin::File { owner, .. } => Some(*owner),
        Origin::Flag | Origin::Stored | Origin::Default => None,
    };
    owner == Some(Owner::Workspace)
}

/// What is in the folder, sorted.
fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = RealDisk.list(folder)?;
    names.sort();
    Ok(names)
}

fn named_in(origin: &Origin, here: &Path) -> String {
    match origin {
        Origin::File { owner, file, line } => format!("{}:{line}", name_of(*owner, file, here)),
        Origin::Flag | Origin::Stored | Origin::Default => String::new(),
    }
}

/// Whether a path without links lies below a folder.
fn is_below(real: &Path, folder: &Path) -> bool {
    let folder = RealDisk.resolve(folder);
    folder.is_ok_and(|folder| real.starts_with(folder))
}

fn is_suspicious(file: &Path) -> bool {
    let is_text = file.extension().is_some_and(|extension| extension == "md");
    let is_readme = file.file_name().is_some_and(|name| name == "README.md");
    is_text && !is_readme
}
