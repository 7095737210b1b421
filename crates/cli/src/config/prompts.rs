//! The folder with replacements for the built-in prompts, and the prompts in it.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::{fmt, io};

use regreen_agents::{PromptFile, Prompts, TemplateError};
use regreen_workspace::{Disk as _, ReadError, RealDisk, read_text};
use serde_json::{Value, json};
use thiserror::Error;

use super::files::name_of;
use super::key::Owner;
use super::read::{ConfigFault, ConfigLine};
use super::table::{Origin, Setting};
use super::value::{BadValue, SettingValue};
use crate::output;

/// The folder with replacements for the built-in prompts, if any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptFolder(Option<PathBuf>);

impl PromptFolder {
    /// Resolves a folder that a configuration file names, relative to that file. A repository's
    /// folder must stay inside the repository; links are checked when it is read.
    fn named(text: &str, owner: Owner, file: &Path) -> Result<Self, BadValue> {
        let folder = Path::new(text);
        if text.trim().is_empty() || text.contains('\0') {
            return Err(BadValue::new(
                "missing folder",
                "name one such as \"prompts\", or remove the setting to use the built-in prompts",
            ));
        }
        if owner == Owner::Workspace && leads_out(folder) {
            return Err(BadValue::new(
                format!("`{text}` is outside the workspace"),
                "use a folder inside it, such as \"prompts\"",
            ));
        }
        let base = file.parent().unwrap_or(Path::new(""));
        Ok(Self(Some(base.join(folder))))
    }

    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

/// Whether a path could lead anywhere but downwards.
fn leads_out(path: &Path) -> bool {
    let is_down = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    !path.components().all(is_down)
}

impl fmt::Display for PromptFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("built-in"),
            Some(folder) => folder.display().fmt(f),
        }
    }
}

impl SettingValue for PromptFolder {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        let named = Self::named(line.text()?, line.file.owner, &line.file.path);
        line.checked(named)
    }

    fn to_json(&self) -> Value {
        json!(self.0)
    }
}

#[derive(Clone, Debug, Default)]
pub struct PromptTexts {
    pub prompts: Prompts,
    /// Files in the folder that look like prompts but replace none, so their names are probably
    /// misspelled.
    pub ignored: Vec<PathBuf>,
}

/// Why the prompts in a folder can't be used.
#[derive(Debug, Error)]
pub enum PromptsError {
    #[error("cannot read the prompts folder {folder}")]
    Folder {
        folder: String,
        /// The file and line of the setting.
        named_in: String,
        #[source]
        source: io::Error,
    },
    #[error("the prompt {file} links outside the workspace")]
    Outside { file: String },
    #[error("{file}: {why}")]
    Template { file: String, why: TemplateError },
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl PromptTexts {
    /// Reads the prompts in a folder. Messages show paths relative to `here`.
    ///
    /// # Errors
    /// Returns an error if the folder or a prompt in it can't be read or used, or if links in a
    /// repository's folder lead out of it: agents would see what they point at.
    pub fn load(
        folder: &Setting<PromptFolder>,
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
    matches!(
        origin,
        Origin::File {
            owner: Owner::Workspace,
            ..
        }
    )
}

/// Lists a folder in sorted order.
fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = RealDisk.list(folder)?;
    names.sort();
    Ok(names)
}

fn named_in(origin: &Origin, here: &Path) -> String {
    match origin {
        Origin::File { owner, file, line } => format!("{}:{line}", name_of(*owner, file, here)),
        Origin::Flag | Origin::Remembered | Origin::Stored | Origin::Default => String::new(),
    }
}

/// Whether a path without links is below a folder.
pub(super) fn is_below(real: &Path, folder: &Path) -> bool {
    let folder = RealDisk.resolve(folder);
    folder.is_ok_and(|folder| real.starts_with(folder))
}

/// Whether a file looks like a prompt.
fn is_suspicious(file: &Path) -> bool {
    let is_text = file.extension().is_some_and(|extension| extension == "md");
    let is_readme = file.file_name().is_some_and(|name| name == "README.md");
    is_text && !is_readme
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, owner: Owner) -> Result<String, String> {
        let folder = PromptFolder::named(text, owner, Path::new("/w/regreen.toml"));
        folder
            .map(|folder| folder.to_string())
            .map_err(|error| error.problem)
    }

    #[test]
    fn a_folder_is_relative_to_the_file_that_names_it() {
        assert_eq!(
            named("a/prompts", Owner::Workspace).unwrap(),
            "/w/a/prompts"
        );
        assert_eq!(named("a/prompts", Owner::User).unwrap(), "/w/a/prompts");
        assert_eq!(named("/p", Owner::User).unwrap(), "/p");
        assert_eq!(named("../p", Owner::User).unwrap(), "/w/../p");
    }

    #[test]
    fn a_repository_cannot_name_a_folder_outside_itself() {
        for text in ["/etc", "..", "../p", "a/../../p", "a/.."] {
            let why = format!("`{text}` is outside the workspace");
            assert_eq!(named(text, Owner::Workspace), Err(why));
        }
        assert!(named(" ", Owner::Workspace).is_err());
    }
}
