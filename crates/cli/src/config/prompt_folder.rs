use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::bad_value::BadValue;
use super::owner::Owner;

/// The folder with texts that replace the built-in prompts, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct PromptFolder(Option<PathBuf>);

impl PromptFolder {
    /// A folder as a configuration file names it: relative to that file. A repository's has
    /// to stay inside; whether links lead out of it shows when it is read.
    pub fn named(text: &str, owner: Owner, file: &Path) -> Result<Self, BadValue> {
        let folder = Path::new(text);
        if text.trim().is_empty() || text.contains('\0') {
            return Err(BadValue::new(
                "no folder is named",
                "name one, such as \"prompts\", or leave it out for the built-in prompts",
            ));
        }
        if owner == Owner::Workspace && leads_out(folder) {
            return Err(BadValue::new(
                format!("`{text}` leads out of the workspace"),
                "name a folder inside it, such as \"prompts\"",
            ));
        }
        let base = file.parent().unwrap_or(Path::new(""));
        Ok(Self(Some(base.join(folder))))
    }

    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

/// Whether the words of a path could lead anywhere but downwards.
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
    fn a_repository_names_nothing_outside_itself() {
        for text in ["/etc", "..", "../p", "a/../../p", "a/.."] {
            let why = format!("`{text}` leads out of the workspace");
            assert_eq!(named(text, Owner::Workspace), Err(why));
        }
        assert!(named(" ", Owner::Workspace).is_err());
    }
}
